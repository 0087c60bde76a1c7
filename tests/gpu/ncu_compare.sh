#!/bin/sh
# The counters of the CPU device against those that ncu reads on a card, for the references and for
# kernels with one kind of access each (costs.cu). Both run the same PTX; on the card the driver
# compiles it.
#
#   tests/gpu/ncu_compare.sh card OUT         on a machine with a card, nvcc and ncu: OUT/ncu.*.csv
#   tests/gpu/ncu_compare.sh cpu BUILD OUT    with a build folder of the judge: OUT/cpu.*.tsv
#   tests/gpu/ncu_compare.sh compare OUT      a table, one line per kernel and counter
#
# With no card or no ncu, `card` says so and ends with 77, CTest's status for a skipped test.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
cd "$root" || exit 3

references='1:multi-block-scan/look_back 1:multi-block-scan/three_kernels
2:ordered-compaction/look_back 2:ordered-compaction/three_kernels
3:moe-counts-offsets/one_launch 3:moe-counts-offsets/shared_histogram'

metrics=l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
for op in st atom red; do
    metrics=$metrics,l1tex__t_sectors_pipe_lsu_mem_global_op_$op.sum
done
for op in ld st atom red; do
    metrics=$metrics,l1tex__t_requests_pipe_lsu_mem_global_op_$op.sum
done
for op in ld st atom; do
    metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_$op.sum
    metrics=$metrics,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_$op.sum
done
metrics=$metrics,smsp__inst_executed.sum,smsp__thread_inst_executed.sum

# build OUT: OUT/kernels, OUT/<problem>.<reference>
build() {
    mkdir -p "$1"
    flags='-std=c++17 -lineinfo -cudart shared -I. -gencode arch=compute_75,code=compute_75'
    # shellcheck disable=SC2086
    nvcc $flags -o "$1/kernels" tests/gpu/costs.cu &
    for r in $references; do
        name=$(echo "${r#*:}" | tr / .)
        # shellcheck disable=SC2086
        nvcc $flags -DPROBLEM="${r%%:*}" -DREFERENCE="\"reference/${r#*:}.cu\"" \
            -o "$1/$name" tests/gpu/costs.cu &
    done
    wait
}

programs() {
    echo kernels
    for r in $references; do echo "${r#*:}" | tr / .; done
}

card() {
    if [ ! -e /dev/nvidia0 ] || ! command -v ncu >/dev/null; then
        echo "skipped: there is no NVIDIA card with ncu here"
        exit 77
    fi
    build "$1/bin"
    {
        date -u +%Y-%m-%d
        nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
        nvcc --version | tail -n 2 | head -n 1
        ncu --version | tail -n 1
    } >"$1/machine.txt"
    for p in $(programs); do
        ncu --clock-control none --csv --metrics "$metrics" "$1/bin/$p" >"$1/ncu.$p.csv" 2>"$1/ncu.$p.err" ||
            { echo "ncu failed on $p:"; tail -n 5 "$1/ncu.$p.csv" "$1/ncu.$p.err"; }
    done
}

cpu() {
    build "$2/bin.cpu"
    for p in $(programs); do
        LD_LIBRARY_PATH=$1/lib SCANJUDGE_CHECKS=counters SCANJUDGE_PROFILE="$2/profile" \
            "$2/bin.cpu/$p" >/dev/null && "$1/bin/gpu_profile_csv" "$2/profile" >"$2/cpu.$p.tsv"
        rm -f "$2/profile"
    done
}

# Of both: "kernel<tab>what<tab>value". Kernels are named without result and arguments.
from_ncu() {
    grep -h '^"[0-9]' "$@" | awk -F'","' '
        { name = $5; metric = $(NF - 2); value = $NF
          gsub(/[",]/, "", value); sub(/^void /, "", name); sub(/\(.*/, "", name); gsub(/\(int\)/, "", name)
          gsub(/ /, "", name)
          if (metric ~ /t_sectors/) what = "global_sectors"
          else if (metric ~ /t_requests/) what = "global_requests"
          else if (metric ~ /bank_conflicts/) what = "shared_bank_conflicts"
          else if (metric ~ /wavefronts/) what = "wavefronts"
          else if (metric ~ /thread_inst/) what = "instructions"
          else what = "warp_instructions"
          sum[name "\t" what] += value }
        END { for (k in sum) printf "%s\t%.0f\n", k, sum[k] }'
}

from_cpu() {
    cat "$@" | awk -F'\t' '{ name = $1; sub(/^void /, "", name); sub(/\(.*/, "", name); gsub(/ /, "", name)
                             gsub(/true/, "1", name); gsub(/false/, "0", name)
                             sum[name "\t" $2] += $3 }
                           END { for (k in sum) printf "%s\t%.0f\n", k, sum[k] }'
}

compare() {
    for p in $(programs); do
        from_ncu "$1/ncu.$p.csv" >"$1/a.tsv"
        from_cpu "$1/cpu.$p.tsv" >"$1/b.tsv"
        awk -F'\t' -v program="$p" '
            FILENAME == ARGV[1] { card[$1 "\t" $2] = $3; next }
            ($1 "\t" $2) in card {
                c = card[$1 "\t" $2]
                if (c == 0 && $3 == 0) next
                printf "%s\t%s\t%s\t%.0f\t%.0f\t%+.2f%%\n", program, $1, $2, $3, c, c ? 100 * ($3 - c) / c : 100
            }' "$1/a.tsv" "$1/b.tsv" | sort
        rm -f "$1/a.tsv" "$1/b.tsv"
    done
}

case ${1:-} in
card) card "${2:?where to}" ;;
cpu) cpu "${2:?the build folder}" "${3:?where to}" ;;
compare) compare "${2:?the folder that card and cpu wrote}" ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
