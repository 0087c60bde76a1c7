#!/bin/sh
# card_test.sh CARD RANDOM FOLDER: card.c with the driver in FOLDER (fake_driver.c) against the CPU device.
set -eu
card=$1
random=$2
export LD_LIBRARY_PATH="$3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "card_test: $1" >&2
    exit 1
}

"$random" --quick 1 2 >"$work/here"
"$card" 1 2 >"$work/card"
cmp "$work/here" "$work/card" || fail "not what the CPU device gives"
[ "$("$card" 2 1 7 9 | wc -l)" = 2 ] || fail "two kernels named, not two lines"
[ "$("$card" --words 1 1 7 | wc -l)" = 129 ] || fail "--words: not a line for each thread and the counters"

# A kernel that the card ends, or that does not end, costs itself alone.
FAKE_ENDED=k7 "$card" 1 2 >"$work/ended"
sed 's/^\([12]\) 7 .*/\1 7 error-715/' "$work/here" | cmp - "$work/ended" || fail "a kernel that the card ends"
FAKE_ENDED=k7 "$card" --level 0 1 2 | cmp - "$work/here" || fail "--level 0"
FAKE_ENDLESS=k198 "$card" --seconds 1 1 1 >"$work/endless"
head -n 200 "$work/here" | sed 's/^1 198 .*/1 198 endless/' | cmp - "$work/endless" || fail "a kernel without end"
"$random" --quick 1 2 "$work/ended" >"$work/compared" 2>&1 && fail "ptx_random does not see an ended kernel"
grep -q '2 different from the card, 0 not in its list' "$work/compared" || fail "ptx_random counts ended kernels wrongly"

# What goes wrong whatever is in the kernel leaves nothing of it but start and end.
for how in FAKE_WRONG FAKE_ENDED; do
    env "$how=k5" "$card" --reduce 60 1 5 >"$work/reduced"
    sed -n '/^bar.sync 0;/,/^bar.sync 0;/p' "$work/reduced" | grep -vc '^bar.sync 0;' >"$work/left" || true
    [ "$(cat "$work/left")" = 0 ] || fail "--reduce with $how leaves $(cat "$work/left") lines"
done

# The whole of it, stopped and gone on with: the batch that is there already is not run again.
out=$work/out
script=$(dirname "$0")/card.sh
CARD=$card DEFAULT_SECONDS=0 "$script" card "$out" 1 1 >/dev/null
"$script" compare "$random" "$out" 1 1 >"$work/compared" 2>&1 || fail "card.sh compare: $(cat "$work/compared")"
mv "$out/parts/level_0.1-1" "$out/parts/level_0.1-4"
FAKE_WRONG=k5 CARD=$card REDUCE_SECONDS=60 "$script" card "$out" 1 5 >/dev/null
[ "$(cut -d ' ' -f 1 "$out/level_0.txt" | sort -u | tr '\n' ' ')" = "1 5 " ] || fail "card.sh runs what it has"
[ "$(tr '\n' ' ' <"$out/differ.txt")" = "1 5 5 5 " ] || fail "card.sh: levels differ for $(tr '\n' ',' <"$out/differ.txt")"
[ -s "$out/reduced/5.5.ptx" ] || fail "card.sh reduces nothing"
