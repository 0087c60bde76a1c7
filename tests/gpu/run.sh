#!/bin/sh
# The labelled files on a real card.
#
#   tests/gpu/run.sh build        here: build-portable/, which needs nothing installed on the other machine
#   tests/gpu/run.sh card OUT     on a machine with a card and nvcc: judges every reference and every
#                                 labelled submission with --device gpu, writes OUT/verdicts.txt
#   tests/gpu/run.sh compare OUT  here: against the labels, which are the CPU device's verdicts
#
# With no card, `card` says so and ends with 77, CTest's status for a skipped test.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
cd "$root" || exit 3

# How long one judging may take: a kernel that hangs costs its time limit, case by case.
limit_s=${LIMIT_S:-60}
jobs=${JOBS:-8}
device=${DEVICE:-gpu} # cpu: to try this script

build() {
    cmake --preset portable >/dev/null && cmake --build --preset portable --target judge runner sj_cudart
}

# files: "PROBLEM FILE EXPECTED" per line. The serial references are minutes on a card.
files() {
    for f in reference/*/*.cu; do
        case $f in */serial.cu) continue ;; esac
        problem=${f#*/}
        echo "${problem%/*} $f accepted"
    done
    for f in submissions/*/*/*.cu; do
        problem=${f#*/}
        problem=${problem%%/*}
        expected=$(sed -n 's|^// expect: *\([a-z_]*\).*|\1|p' "$f" | head -n 1)
        if [ -z "$expected" ]; then
            expected=${f%/*}
            expected=${expected##*/}
        fi
        echo "$problem $f $expected"
    done
}

# one OUT PROBLEM FILE EXPECTED: a line "FILE EXPECTED VERDICT SECONDS"
one() {
    out=$1
    shift
    expected=$3
    [ "$device:$3" != gpu:cost_limit_exceeded ] || expected=accepted # a card counts nothing
    began=$(date +%s.%N)
    verdict=$(SCANJUDGE_ROOT=$root XDG_CACHE_HOME=/tmp/scanjudge-cache timeout -k 5 "$limit_s" \
        build-portable/bin/judge run "$1" "$2" --device "$device" --format json 2>"$out/stderr.$$" |
        tee "$out/last.$$.json" | sed -n 's/^ *"verdict": "\([a-z_]*\)".*/\1/p' | head -n 1)
    ended=$(date +%s.%N)
    echo "$2 $expected ${verdict:-none} $(echo "$began $ended" | awk '{ printf "%.1f", $2 - $1 }')"
    if [ "$verdict" != "$expected" ]; then
        { echo "== $2"; cat "$out/stderr.$$"; head -c 3000 "$out/last.$$.json"; } >>"$out/differ.txt"
    fi
    rm -f "$out/stderr.$$" "$out/last.$$.json"
}

card() {
    if [ "$device" = gpu ] && [ ! -e /dev/nvidia0 ]; then
        echo "skipped: there is no NVIDIA card here (no /dev/nvidia0)"
        exit 77
    fi
    mkdir -p "$1"
    : >"$1/differ.txt"
    {
        date -u +%Y-%m-%d
        [ "$device" = cpu ] || nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
        nvcc --version | tail -n 2 | head -n 1
    } >"$1/machine.txt"
    files | grep -e "${ONLY:-.}" | xargs -P "$jobs" -L 1 "$0" one "$1" >"$1/verdicts.txt"
}

compare() {
    awk '$2 == $3 { same++; next }
         { differ[$1] = $2 " by the label, " $3 " on the card" }
         END { printf "%d the same\n", same
               for (f in differ) print f ": " differ[f] }' "$1/verdicts.txt" | sort
}

case ${1:-} in
build) build ;;
card) card "${2:?where to}" ;;
one) one "$2" "$3" "$4" "$5" ;;
compare) compare "${2:?the folder that card wrote}" ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
