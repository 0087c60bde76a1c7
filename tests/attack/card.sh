#!/bin/sh
# What a submission may try with its times, on a real card, and honest ones beside it.
#
#   tests/attack/card.sh OUT [JUDGE]    judges tests/attack/timing with --device gpu; OUT/attacks.txt
#   HONEST='FILE...' tests/attack/card.sh OUT [JUDGE]
#                                       these files (submissions/P/accepted/X.cu, reference/P/X.cu) instead:
#                                       all are to be accepted, and no time is to be in doubt
#
# Ends with 1 if one file did not get what its label says. With no card it says so and ends with 77,
# CTest's status for a skipped test.
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

# timed PROBLEM FILE VERDICT FINDING: judged and timed, it gets that verdict, and its times are in doubt for that
# reason; without one, not at all where it is accepted.
timed() {
    json=$out/$1.$(basename "$2" .cu).json
    SCANJUDGE_ROOT=$root timeout -k 5 60 "$judge" run "$1" "$2" --device gpu --format json >"$json" 2>"$out/stderr"
    got=$(sed -n 's/^  "verdict": "\([a-z_]*\)".*/\1/p' "$json" | head -n 1)
    doubts=$(sed -n '/^  "timing": \[/,$p' "$json" | sed -n 's/^ *"kind": "\([a-z_0-9]*\)".*/\1/p' |
        sort -u | tr '\n' ' ')
    result=ok
    [ "$got" = "$3" ] || result="NOT OK"
    case " $doubts" in
    *" $4 "*) ;;
    *) [ -z "$4" ] || result="NOT OK" ;;
    esac
    [ -n "$4" ] || [ -z "$doubts" ] || [ "$got" != accepted ] || result="NOT OK"
    [ "$result" = ok ] || status=1
    echo "$result $2 expected: $3 $4 got: ${got:-none} $doubts" >>"$out/attacks.txt"
}

cd "$root" || exit 3
if [ -n "${HONEST:-}" ]; then
    for f in $HONEST; do
        problem=${f#*/}
        timed "${problem%%/*}" "$f" accepted ''
    done
else
    for f in tests/attack/timing/*.cu tests/attack/timing/card/*.cu; do
        timed multi-block-scan "$f" "$(sed -n 's|^// expect: *\([a-z_]*\).*|\1|p' "$f" | head -n 1)" \
            "$(sed -n 's|^// expect-finding: *\([a-z_0-9]*\).*|\1|p' "$f" | head -n 1)"
    done
fi
cat "$out/attacks.txt"
exit $status
