#!/bin/sh
# The verdicts of a card against the labels, which are the CPU device's verdicts (tests/e2e and tests/faults
# see to that).
#
#   tests/gpu/compare.sh OUT      OUT/verdicts.txt and OUT/programs.txt as run.sh wrote them -> Markdown
#
# Exit status 0: every difference is explained, by a label `// gpu: VERDICT - why` or by card.tsv; 1: some are not.
set -u
root=${ROOT:-$(cd "$(dirname "$0")/../.." && pwd -P)}
here=$(cd "$(dirname "$0")" && pwd -P)
out=${1:?the folder that run.sh wrote}

# labels FILE...: "file<tab>verdict<tab>finding<tab>verdict on a card<tab>why" of judged files.
labels() {
    while read -r f; do
        awk -v file="$f" '
            /^\/\// && !body {
                if (sub(/^\/\/ expect: */, "")) verdict = $1
                else if (sub(/^\/\/ expect-finding: */, "")) finding = $1
                else if (sub(/^\/\/ gpu: */, "")) { card = $1; why = $0; sub(/^[a-z_]+ *-? */, "", why) }
                next }
            { body = 1 }
            END {
                if (verdict == "") {
                    verdict = "accepted"
                    if (file ~ /^submissions\//) { split(file, part, "/"); verdict = part[3] }
                }
                printf "%s\t%s\t%s\t%s\t%s\n", file, verdict, finding, card, why }' "$root/$f"
    done
}

# judged: a table row per file whose verdict differs from its label; sums in judged.sum.
judged() {
    cut -d ' ' -f 1 "$out/verdicts.txt" | labels >"$out/labels.tsv"
    awk -F'\t' -v sums="$out/judged.sum" '
        FILENAME == ARGV[1] { if ($0 !~ /^#/) { rule[$1] = $2; reason[$1] = $4 } next }
        FILENAME == ARGV[2] { label[$1] = $2; finding[$1] = $3; card[$1] = $4; why[$1] = $5; next }
        {
            split($0, word, " "); file = word[1]; got = word[2]
            total++
            expected = card[file] != "" ? card[file] : label[file]
            because = card[file] != "" ? why[file] : reason[finding[file]]
            if (card[file] == "" && label[file] == "cost_limit_exceeded") {
                expected = "accepted"; because = "a card counts nothing" }
            if (card[file] == "" && label[file] != "accepted" && rule[finding[file]] == "any")
                expected = "any"
            judged = got != "judge_error" && got != "none" && got != ""
            fits = judged && (expected == "any" || got == expected || got == label[file])
            if (got == label[file]) same++
            else if (fits) explained++
            if (!fits) { wrong++; because = "**not explained**" }
            if (got != label[file] || !fits) {
                name = finding[file] != "" ? " (" finding[file] ")" : ""
                printf "| %s | %s%s | %s | %s |\n", file, label[file], name, got, because }
        }
        END { printf "%d %d %d %d\n", total, same, explained, wrong >sums }' \
        "$here/card.tsv" "$out/labels.tsv" "$out/verdicts.txt" | sort
}

# programs: the same of the fault table: "file case status" per line; sums per kind in programs.sum.
programs() {
    cut -d ' ' -f 1 "$out/programs.txt" | sort -u | while read -r f; do
        awk -v file="$f" '
            function put() { if (name != "") print file, name, kind, card }
            /^\/\/ case / { put(); name = $3; sub(/:$/, "", name); kind = $4; card = "" }
            /^\/\/ gpu: / { card = $3 }
            END { put() }' "$root/$f"
    done >"$out/cases.txt"
    awk -F'\t' -v sums="$out/programs.sum" '
        function add(kind, what) { kinds[kind] = 1; count[kind, what]++ }
        FILENAME == ARGV[1] { if ($0 !~ /^#/) rule[$1] = $3; next }
        FILENAME == ARGV[2] { split($0, word, " "); kind[word[1] " " word[2]] = word[3]
            own[word[1] " " word[2]] = word[4]; next }
        {
            split($0, word, " "); id = word[1] " " word[2]; status = word[3]
            k = kind[id]
            ended = status == 0 ? "right" : status == 124 || status == 137 ? "hangs" : "fails"
            add(k, ended)
            must = k == "clean" ? "right" : k in rule ? rule[k] : "any"
            if (own[id] != "") must = own[id]
            if (k == "") must = "a case of that name"
            if (must != "any" && must != ended) {
                wrong++
                printf "| %s | %s | %s, status %s | **not explained**: %s |\n", id, k, ended, status, must }
        }
        END {
            for (k in kinds) printf "%s %d %d %d\n", k, count[k, "right"], count[k, "fails"], count[k, "hangs"] >sums
            printf "wrong %d\n", wrong >sums }' "$here/card.tsv" "$out/cases.txt" "$out/programs.txt"
}

status=0
if [ -s "$out/verdicts.txt" ]; then
    judged >"$out/judged.md"
    read -r total same explained wrong <"$out/judged.sum"
    echo "$total judgings: $same verdicts as the label says, $explained others explained, $wrong not."
    echo
    if [ -s "$out/judged.md" ]; then
        echo '| file | label | on the card | why |'
        echo '|---|---|---|---|'
        cat "$out/judged.md"
        echo
    fi
    [ "$wrong" = 0 ] || status=1
fi
if [ -s "$out/programs.txt" ]; then
    programs >"$out/programs.md"
    echo "The fault table, $(wc -l <"$out/programs.txt") programs run as they are, without any tool:"
    echo
    echo '| kind | cases | ended with status 0 | failed | hung |'
    echo '|---|---|---|---|---|'
    grep -v '^wrong ' "$out/programs.sum" | sort | awk '{ printf "| %s | %d | %d | %d | %d |\n", $1, $2 + $3 + $4, $2, $3, $4 }'
    echo
    if [ -s "$out/programs.md" ]; then
        echo '| case | kind | on the card | |'
        echo '|---|---|---|---|'
        cat "$out/programs.md"
        echo
    fi
    grep -q '^wrong 0$' "$out/programs.sum" || status=1
fi
exit $status
