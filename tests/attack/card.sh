#!/bin/sh
# What a submission may try with its times, on a real card, and honest ones beside it.
#
#   tests/attack/card.sh OUT [JUDGE]    judges tests/attack/timing with --device gpu; OUT/attacks.txt
#
# With no card it says so and ends with 77, CTest's status for a skipped test.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
out=${1:?where to}
judge=${2:-$root/build-portable/bin/judge}
if [ ! -e /dev/nvidia0 ]; then
    echo "skipped: there is no NVIDIA card here (no /dev/nvidia0)"
    exit 77
fi
mkdir -p "$out"
: >"$out/attacks.txt"
status=0
for f in "$root"/tests/attack/timing/*.cu "$root"/tests/attack/timing/card/*.cu; do
    verdict=$(sed -n 's|^// expect: *\([a-z_]*\).*|\1|p' "$f" | head -n 1)
    finding=$(sed -n 's|^// expect-finding: *\([a-z_0-9]*\).*|\1|p' "$f" | head -n 1)
    json=$out/$(basename "$f" .cu).json
    SCANJUDGE_ROOT=$root timeout -k 5 60 "$judge" run multi-block-scan "$f" --device gpu \
        --format json >"$json" 2>"$out/stderr"
    got=$(sed -n 's/^  "verdict": "\([a-z_]*\)".*/\1/p' "$json" | head -n 1)
    doubts=$(sed -n '/^  "timing": \[/,$p' "$json" | sed -n 's/^ *"kind": "\([a-z_0-9]*\)".*/\1/p' |
        sort -u | tr '\n' ' ')
    result=ok
    [ "$got" = "$verdict" ] || result="NOT OK"
    case " $doubts" in
    *" $finding "*) ;;
    *) [ -z "$finding" ] || result="NOT OK" ;;
    esac
    [ -n "$finding" ] || [ -z "$doubts" ] || [ "$got" != accepted ] || result="NOT OK"
    [ "$result" = ok ] || status=1
    echo "$result $(basename "$f") expected: $verdict $finding got: ${got:-none} $doubts" >>"$out/attacks.txt"
done
cat "$out/attacks.txt"
exit $status
