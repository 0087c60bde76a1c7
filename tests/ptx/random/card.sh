#!/bin/sh
# The random programs on a card, and here.
#
#   card.sh card OUT [FROM TO]            on a machine with a card and a C compiler: batches FROM to TO
#                                         (1 to 500) at level 0 of the driver's compiler, then at its default
#                                         level, then what is left of programs for which the two differ
#   card.sh compare RANDOM OUT [FROM TO]  here, RANDOM being build/bin/ptx_random: level 0 and the CPU device
#
# OUT gets machine.txt, level_0.txt, default.txt, differ.txt (BATCH KERNEL) and reduced/. What a run that was
# stopped has finished is kept: the same line goes on. DEFAULT_SECONDS (100) and REDUCE_SECONDS (30) limit the
# second and third step, 0 leaves out the second; JOBS processes run side by side (as many as there are
# processors). With no card it ends with 77, CTest's status for a skipped test.
set -eu
here=$(cd "$(dirname "$0")" && pwd -P)
jobs=${JOBS:-$(nproc)}

usage() {
    sed -n '2,14s/^# \{0,1\}//p' "$0"
    exit 2
}

# part CARD OUT LEVEL FROM TO: up to four batches, whose file is there only when they are done
part() {
    to=$(($4 + 3))
    [ "$to" -le "$5" ] || to=$5
    file=$2/parts/$3.$4-$to
    [ ! -e "$file" ] || return 0
    if [ "$3" = default ]; then
        "$1" --seconds 3 "$4" $((to - $4 + 1)) >"$file.begun"
    else
        "$1" --level 0 "$4" $((to - $4 + 1)) >"$file.begun"
    fi
    mv "$file.begun" "$file"
}

# level CARD OUT LEVEL FROM TO SECONDS
level() {
    seq "$4" 4 "$5" | timeout "$6" xargs -P "$jobs" -I '{}' sh "$0" part "$1" "$2" "$3" '{}' "$5" ||
        echo "level $3: not all batches are done" | tee -a "$2/machine.txt"
    # A part that was stopped counts as far as it came, its last line only if it is whole.
    find "$2/parts" -name "$3.*" -exec cat '{}' + | grep -E '^[0-9]+ [0-9]+ ([0-9a-f]{16}|error-[0-9]+|endless)$' |
        sort -k 1n -k 2n >"$2/$3.txt" || true
    echo "$3: $(wc -l <"$2/$3.txt") programs, $(($(date +%s) - began)) s" | tee -a "$2/machine.txt"
}

run_card() {
    out=$1 from=${2:-1} to=${3:-500}
    card=${CARD:-$out/card}
    mkdir -p "$out/parts" "$out/reduced"
    if [ -z "${CARD:-}" ]; then
        [ -e /dev/nvidia0 ] || { echo "skipped: there is no NVIDIA card here (no /dev/nvidia0)"; exit 77; }
        cc -O2 -std=gnu17 -o "$card" "$here/card.c" "$here/program.c" -ldl
        { date -u +%Y-%m-%d; nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; } >>"$out/machine.txt"
    fi
    export CUDA_CACHE_DISABLE=1
    began=$(date +%s)
    level "$card" "$out" level_0 "$from" "$to" 3600
    [ "${DEFAULT_SECONDS:-100}" = 0 ] || level "$card" "$out" default "$from" "$to" "${DEFAULT_SECONDS:-100}"
    [ -e "$out/default.txt" ] || : >"$out/default.txt"
    awk 'NR == FNR { said[$1, $2] = $3; next }
         ($1, $2) in said && said[$1, $2] != $3 { print $1, $2 }' "$out/level_0.txt" "$out/default.txt" >"$out/differ.txt"
    # By kernel: a sample over all batches.
    sort -k 2n -k 1n "$out/differ.txt" | timeout "${REDUCE_SECONDS:-30}" xargs -r -P "$jobs" -L 1 sh -c \
        '"$0" --seconds 1 --reduce 10 $2 $3 >"$1/reduced/$2.$3.ptx"' "$card" "$out" || true
    find "$out/reduced" -size 0 -delete
    echo "the two levels differ for $(wc -l <"$out/differ.txt") of $(wc -l <"$out/default.txt") programs" |
        tee -a "$out/machine.txt"
}

compare() {
    random=$1 out=$2 from=${3:-1} to=${4:-500}
    "$random" --quick "$from" $((to - from + 1)) "$out/level_0.txt"
}

case ${1:-} in
card) shift && run_card "${1:?where to}" ${2:+"$2"} ${3:+"$3"} ;;
part) shift && part "$@" ;;
compare) shift && compare "${1:?build/bin/ptx_random}" "${2:?the folder that card wrote}" ${3:+"$3"} ${4:+"$4"} ;;
*) usage ;;
esac
