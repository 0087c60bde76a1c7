#!/bin/sh
# The judge on a real card, in one command.
#
#   tests/gpu/run.sh                here, with a card: builds, runs everything, writes its sections of RESULTS.md
#   tests/gpu/run.sh ssh HOST       builds here, travels to HOST, which has a card and nvcc, and runs there
#   tests/gpu/run.sh pack FILE      what travels, for another way of travelling: unpack it, run
#                                   `tests/gpu/run.sh card OUT` inside, bring OUT back
#   tests/gpu/run.sh report OUT     RESULTS.md from what came back
#   tests/gpu/run.sh check OUT      here, with a card and a built judge: no report, the exit status tells
#
# What runs there: every reference but the serial ones and every labelled submission through `judge run
# --device gpu`, the programs of tests/faults as they are, `judge bench` of every problem beside CUB, and the benches
# of bench/. Nothing has to be installed there: the judge is linked statically. With no card, `card` says so and ends
# with 77, CTest's status for a skipped test. PARTS="judged programs opponents bench" chooses; JOBS, LIMIT_S (per file),
# ONLY (a pattern of file names) as they say, also through ssh. RESULTS is the report's file.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
cd "$root" || exit 3

parts=${PARTS:-judged programs opponents bench}
jobs=${JOBS:-$(nproc)}
limit_s=${LIMIT_S:-60}   # a kernel that hangs costs the problem's time limit
program_s=${program_s:-${PROGRAM_S:-10}} # the same for a program of the fault table
hang_s=${HANG_S:-3}        # for one that is known to hang
device=${DEVICE:-gpu}    # cpu: to try this script
build_dir=${BUILD:-build-portable}
judge=${JUDGE:-$root/build-portable/bin/judge}
cache=${CACHE:-${TMPDIR:-/tmp}/scanjudge-gpu}

build() {
    [ "$build_dir" = build-portable ] || return 0 # somebody built it already
    cmake --preset portable >/dev/null && cmake --build --preset portable --target judge runner launcher sj_cudart
}

# What travels, as a tar: the tree, with stripped programs.
pack() {
    build >&2 || return 1
    stage=$(mktemp -d) || return 1
    mkdir -p "$stage/build-portable/bin" "$stage/build-portable/lib" "$stage/tests/gpu"
    for f in bin/judge bin/runner bin/launcher lib/libcudart.so.13 lib/libsj_meter.so; do
        strip -o "$stage/build-portable/$f" "$build_dir/$f" || return 1
    done
    cp -r problems reference submissions "$stage/"
    cp -r tests/faults "$stage/tests/"
    cp -r tests/gpu/. "$stage/tests/gpu/"
    git rev-parse --short HEAD >"$stage/COMMIT" 2>/dev/null
    tar -C "$stage" -czf - .
    status=$?
    rm -rf "$stage"
    return $status
}

# ---- on the card ----

files() {
    for f in reference/*/*.cu submissions/*/*/*.cu; do
        case $f in */serial.cu) continue ;; esac # minutes on a card
        echo "$f"
    done | grep -e "${ONLY:-.}"
}

# A kernel that hangs takes a part of the card from all others until it is ended: those come last.
hanging='deadlock\|divergent_barrier\|warp_sync\|step_limit'
hangs() { grep -q -e '^// expect: *time_limit' -e "^// expect-finding: *\($hanging\)" "$1"; }

now() { date +%s.%N; }
since() { echo "$1 $(now)" | awk '{ printf "%.1f", $2 - $1 }'; }

# one FILE: a line "FILE VERDICT SECONDS"
one() {
    began=$(now)
    problem=${1#*/}
    json=$(SCANJUDGE_ROOT=$root SCANJUDGE_CACHE=$cache timeout -k 5 "$limit_s" "$judge" run "${problem%%/*}" \
        "$1" --device "$device" $share --first-failure --format json 2>"$out/stderr.$$")
    verdict=$(printf '%s\n' "$json" | sed -n 's/^ *"verdict": "\([a-z_]*\)".*/\1/p' | head -n 1)
    echo "$1 ${verdict:-none} $(since "$began")"
    { echo "== $1"; head -c 2000 "$out/stderr.$$"
      printf '%s\n' "$json" | grep -v -e '^ *"[a-z_]*": \([0-9.-]*\|true\|false\),*$' | head -c 3000; } >"$out/judged/$(echo "$1" | tr / _).txt"
    rm -f "$out/stderr.$$"
}

judged() {
    # Correctness only, so that judgings may share the card: contexts are what takes the time.
    share=
    [ "$device" = cpu ] || share=--share-card
    export out share device judge limit_s cache
    mkdir -p "$out/judged"
    files | while read -r f; do
        if hangs "$f"; then echo "$f" >>"$out/late.txt"; else echo "$f"; fi
    done | xargs -r -P "$jobs" -n 1 "$0" one >"$out/verdicts.txt"
    [ ! -e "$out/late.txt" ] || xargs -r -P 16 -n 1 "$0" one <"$out/late.txt" >>"$out/verdicts.txt"
    rm -f "$out/late.txt"
    tar -C "$out" -czf "$out/judged.tar.gz" judged && rm -r "$out/judged"
}

binary_of() { echo "$out/bin/$(echo "$1" | tr / _)"; }

compile() {
    bin=$(binary_of "$1")
    nvcc -std=c++17 -O3 -lineinfo -arch="${ARCH:-native}" -o "$bin" "$1" >"$bin.log" 2>&1 ||
        { echo "$1:"; cat "$bin.log"; } >>"$out/failed.txt"
}

# program FILE CASE: a line "FILE CASE STATUS"
program() {
    timeout -k 2 "${program_s:?}" "$(binary_of "$1")" "$2" >/dev/null 2>&1 </dev/null
    echo "$1 $2 $?"
}

programs() {
    export out
    mkdir -p "$out/bin"
    tables=$(printf '%s\n' tests/faults/*/*.cu | grep -e "${ONLY:-.}")
    echo "$tables" | xargs -r -P "$jobs" -n 1 "$0" compile
    for f in $tables; do
        sed -n "s|^// case \([a-z0-9_]*\): *\([a-z_]*\).*|$f \1 \2|p" "$f"
    done >"$out/all.txt"
    grep -v " \($hanging\)\$" "$out/all.txt" | cut -d ' ' -f 1,2 |
        program_s=$program_s xargs -r -P "$jobs" -n 2 "$0" program >"$out/programs.txt"
    grep " \($hanging\)\$" "$out/all.txt" | cut -d ' ' -f 1,2 |
        program_s=$hang_s xargs -r -P 4 -n 2 "$0" program >>"$out/programs.txt"
    rm -r "${out:?}/bin" "$out/all.txt"
}

# Every rung of every problem, a plain copy and CUB.
opponents() {
    for pair in multi-block-scan:scan ordered-compaction:compaction moe-counts-offsets:moe; do
        id=${pair%%:*}
        SCANJUDGE_ROOT=$root SCANJUDGE_CACHE=$cache timeout -k 5 "${BENCH_S:-120}" "$judge" bench "$id" \
            --with "tests/gpu/rivals/${pair#*:}_cub.cu" --format json --output "$out/bench.$id.json" \
            >"$out/opponents.$id.txt" 2>&1 || echo "judge bench $id: status $?" >>"$out/failed.txt"
    done
}

# A goal that is not kept (1) is no failure of the run: bench.md says it.
bench() {
    [ "$device" = gpu ] || return 0
    COMMIT=$(sed -n 4p "$out/machine.txt") tests/gpu/bench.sh card "$out/bench" 2>"$out/bench.log"
    status=$?
    [ $status -le 1 ] || echo "benches: status $status" >>"$out/failed.txt"
    rm -rf "${out:?}/bench/bin"
}

card() {
    if [ "$device" = gpu ] && ! nvidia-smi -L >/dev/null 2>&1; then
        echo "skipped: there is no NVIDIA card here (nvidia-smi -L shows none)"
        exit 77
    fi
    mkdir -p "$1"
    out=$(cd "$1" && pwd -P)
    {
        date -u +%Y-%m-%d
        if [ "$device" = gpu ]; then nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1; else echo none; fi
        nvcc --version | sed -n 's/.*V\([0-9.]*\)$/\1/p'
        cat COMMIT 2>/dev/null || git rev-parse --short HEAD 2>/dev/null || echo unknown
    } >"$out/machine.txt"
    began=$(now)
    for part in $parts; do
        $part
        echo "$part $(since "$began")" >>"$out/times.txt"
    done
}

# ---- back here ----

# section TITLE FILE: that section of RESULTS.md, whatever stood there, is FILE now.
section() {
    results=${RESULTS:-tests/gpu/RESULTS.md}
    [ -e "$results" ] || echo '# Seen on a card' >"$results"
    awk -v title="## $1" -v body="$2" '
        function put() { print title; print ""; while ((getline line <body) > 0) print line; done = 1 }
        $0 == title { put(); skip = 1; next }
        /^## / { skip = 0 }
        !skip { print }
        END { if (!done) { print ""; put() } }' "$results" >"$results.new" && mv "$results.new" "$results"
}

report() {
    out=$1
    { read -r day && read -r card && read -r nvcc && read -r commit; } <"$out/machine.txt"
    echo 0 >"$out/compare.status"
    if [ -s "$out/verdicts.txt" ] || [ -s "$out/programs.txt" ]; then
        {
            echo "$day, $card, CUDA $nvcc, commit $commit: \`tests/gpu/run.sh\`."
            echo
            tests/gpu/compare.sh "$out"
            echo $? >"$out/compare.status"
        } >"$out/report.md"
        section "The labelled files, judged on the card" "$out/report.md"
    fi
    if ls "$out"/opponents.*.txt >/dev/null 2>&1; then
        {
            echo "$day, $card, CUDA $nvcc, commit $commit: \`judge bench PROBLEM --with tests/gpu/rivals/..._cub.cu\`."
            echo "Times are medians of interleaved calls with a cold L2, from before the call to behind it, as"
            echo "\`judge/timing\` takes them."
            for f in "$out"/opponents.*.txt; do
                echo
                echo '```'
                cat "$f"
                echo '```'
            done
        } >"$out/opponents.md"
        section "Every rung, a copy and CUB, by judge bench" "$out/opponents.md"
    fi
    [ ! -e "$out/bench/bench.md" ] || tests/gpu/bench.sh record "$out/bench"
    return "$(cat "$out/compare.status")"
}

here() {
    out=$(mktemp -d) || exit 3
    build >/dev/null && (card "$out")
    status=$?
    [ $status = 0 ] && { report "$out"; status=$?; }
    echo "what the card said is in $out"
    exit $status
}

# What was chosen here holds there: NAME='value' for each that is set.
settings() {
    for name in PARTS JOBS LIMIT_S PROGRAM_S HANG_S BENCH_S ONLY DEVICE; do
        eval "value=\${$name:-}"
        [ -z "$value" ] || printf "%s='%s' " $name "$(printf %s "$value" | sed "s/'/'\\\\''/g")"
    done
}

# Everything happens in a folder of its own, which is gone afterwards.
by_ssh() {
    out=$(mktemp -d) || exit 3
    pack >"$out/travels.tar.gz" || exit 3
    # shellcheck disable=SC2029
    ssh "$1" 'd=$(mktemp -d) && cd "$d" && tar -xzf - && '"$(settings)"'CACHE=$d/cache tests/gpu/run.sh card OUT >&2
        status=$?; [ $status = 0 ] && tar -C OUT -czf - .; cd / && rm -rf "$d"; exit $status' \
        <"$out/travels.tar.gz" >"$out/back.tar.gz" || exit $?
    tar -C "$out" -xzf "$out/back.tar.gz" && report "$out"
    status=$?
    echo "what the card said is in $out"
    return $status
}

case ${1:-} in
'') here ;;
ssh) by_ssh "${2:?which host}" ;;
pack) pack >"${2:?into which file}" ;;
card) card "${2:?where to}" ;;
check)
    rm -rf "${2:?where to}"
    card "$2"
    tests/gpu/compare.sh "$2"
    ;;
one) one "$2" ;;
compile) compile "$2" ;;
program) program "$2" "$3" ;;
report) report "${2:?the folder that came back}" ;;
*)
    sed -n '2,17s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
