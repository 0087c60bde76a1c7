#!/bin/sh
# The references against the libraries, on a real card: every tests/gpu/bench/*_bench.cu.
#
#   tests/gpu/bench.sh               on a machine with a card: compile, run, record
#   tests/gpu/bench.sh compile DIR   only with nvcc: DIR/NAME for every bench, or for those named after DIR
#   tests/gpu/bench.sh card OUT      on a machine with a card: compiles what OUT/bin lacks, runs all,
#                                    one after the other, and writes OUT/bench.md
#   tests/gpu/bench.sh record OUT    anywhere: OUT/bench.md becomes the section of RESULTS.md
#
# Exit status: 0; 1 a goal was not kept; 2 an answer was wrong; 3 something else failed; 77, CTest's
# for a skipped test, without nvcc or without a card. ARCH=sm_90 is what to compile for (native where
# there is a card), LIMIT_S=300 how long one bench may take.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
cd "$root" || exit 3
results=tests/gpu/RESULTS.md
heading='## Benches of the references'

names() {
    for f in tests/gpu/bench/*_bench.cu; do
        f=${f##*/}
        echo "${f%.cu}"
    done
}

find_nvcc() {
    for home in "${CUDA_HOME:-}" /usr/local/cuda; do
        if [ -n "$home" ] && [ -x "$home/bin/nvcc" ]; then PATH=$PATH:$home/bin; fi
    done
    command -v nvcc >/dev/null 2>&1 && return 0
    echo "skipped: no nvcc in PATH, CUDA_HOME or /usr/local/cuda"
    exit 77
}

find_card() {
    nvidia-smi -L >/dev/null 2>&1 && return 0
    echo "skipped: there is no NVIDIA card here (nvidia-smi -L shows none)"
    exit 77
}

# compile DIR [NAME...]
compile() {
    dir=$1
    shift
    arch=sm_90
    ! nvidia-smi -L >/dev/null 2>&1 || arch=native
    mkdir -p "$dir" || exit 3
    pids=
    for name in ${*:-$(names)}; do
        [ ! -x "$dir/$name" ] || continue
        nvcc -O3 -std=c++17 -arch="${ARCH:-$arch}" -o "$dir/$name" "tests/gpu/bench/$name.cu" &
        pids="$pids $!"
    done
    for pid in $pids; do wait "$pid" || exit 3; done
}

# run OUT NAME: its part of bench.md. The status is the bench's.
run() {
    timeout -k 5 "${LIMIT_S:-300}" "$1/bin/$2" >"$1/$2.txt" 2>&1
    status=$?
    [ $status -le 2 ] || echo "ended with status $status" >>"$1/$2.txt"
    printf '\n### %s: %s\n\n```text\n' "$2" "$(tail -n 1 "$1/$2.txt")"
    cat "$1/$2.txt"
    printf '```\n'
    return $status
}

card() {
    compile "$1/bin"
    worst=0
    {
        printf '%s\n\n' "$heading"
        printf '%s, %s, CUDA %s, commit %s: `tests/gpu/bench.sh card OUT` there, `record OUT` here.\n' \
            "$(date -u +%Y-%m-%d)" \
            "$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader |
                sed -n '1s/, \(.*\)/ (driver \1)/p')" \
            "$(nvcc --version | sed -n 's/.*release .*, V\([0-9.]*\).*/\1/p')" \
            "${COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}"
    } >"$1/bench.md"
    for name in $(names); do
        echo "$name ..." >&2
        run "$1" "$name" >>"$1/bench.md"
        status=$?
        [ $status -le 2 ] || status=3
        [ $status -le $worst ] || worst=$status
        tail -n 1 "$1/$name.txt" >&2
    done
    return $worst
}

# Replaces the section, or appends it where there is none.
record() {
    if [ ! -s "$1/bench.md" ]; then
        echo "$1/bench.md is not there: tests/gpu/bench.sh card $1 writes it, on a machine with a card" >&2
        exit 3
    fi
    awk -v heading="$heading" -v file="$1/bench.md" '
        function put(line) { while ((getline line < file) > 0) print line; done = 1 }
        $0 == heading { put(); inside = 1; next }
        /^## / { if (inside) print ""; inside = 0 }
        !inside { print }
        END { if (!done) { print ""; put() } }' "$results" >"$1/RESULTS.md" &&
        cp "$1/RESULTS.md" "$results"
}

case ${1:-all} in
compile)
    find_nvcc
    : "${2:?where to}"
    shift
    compile "$@"
    ;;
card)
    find_card
    find_nvcc
    mkdir -p "${2:?where to}" && card "$2"
    ;;
record) record "${2:?the folder that card wrote}" ;;
all)
    find_card
    find_nvcc
    out=$(mktemp -d) || exit 3
    card "$out"
    status=$?
    record "$out"
    rm -rf "$out"
    exit $status
    ;;
*)
    sed -n '2,14s/^# \{0,1\}//p' "$0"
    exit 3
    ;;
esac
