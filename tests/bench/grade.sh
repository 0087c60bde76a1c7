#!/bin/sh
# How much of the machine `grade` leaves to nvcc: the same files through bare nvcc with the judge's
# own flags, JOBS at a time, and then through `grade --jobs`, with nothing compiled before; the
# ratio of the two wall times, from one run. The files are copies of the labelled submissions, each
# with a comment of its own, so that no two are the same.
# usage: grade.sh SOURCE_ROOT BUILD_ROOT [COUNT [JOBS [NVCC_AT_A_TIME]]]
set -eu
root=$1 build=$2 count=${3:-200} jobs=${4:-2} bare_jobs=${5:-2}
command -v nvcc >/dev/null || PATH=${CUDA_HOME:-/usr/local/cuda}/bin:$PATH
command -v nvcc >/dev/null || { echo "skipped: no nvcc"; exit 77; }
top=$(mktemp -d "${TMPDIR:-/tmp}/bench-grade.XXXXXX")
trap 'rm -rf "$top"' EXIT
export SCANJUDGE_ROOT="$root" SCANJUDGE_CACHE="$top/cache" SCANJUDGE_DEVICE=cpu

# Evenly out of all labels and problems.
find "$root/submissions" -name '*.cu' | sort >"$top/all"
all=$(wc -l <"$top/all")
n=0
while [ "$n" -lt "$count" ]; do
    file=$(sed -n "$((n * all / count % all + 1))p" "$top/all")
    problem=${file#"$root/submissions/"}
    problem=${problem%%/*}
    folder=$top/class/student$n
    mkdir -p "$folder"
    { cat "$file"; printf '\n// copy %s\n' "$n"; } >"$folder/$problem.cu"
    n=$((n + 1))
done

# One judging beforehand: what is asked once of a toolkit and of a machine is asked by then.
"$build/bin/judge" run multi-block-scan "$root/problems/multi-block-scan/starter.cu" >/dev/null || :

now() { date +%s.%N; }
compile() {
    find "$top/class" -name '*.cu' -print0 | sort -z |
        xargs -0 -P "$bare_jobs" -I{} sh -c '
            problem=${1##*/}; problem=${problem%.cu}
            target=$(sed -n "s/^target: *//p" "$2/problems/$problem/problem.yaml")
            target=${target:-75}
            nvcc -O3 -shared -Xcompiler -fPIC -Xlinker --no-undefined -cudart shared -lineinfo \
                --no-compress --no-device-link -t0 \
                -gencode "arch=compute_$target,code=[compute_$target,sm_$target]" \
                -o "$1.so" "$1" >/dev/null 2>&1 || :' sh {} "$root"
}
start=$(now)
compile
middle=$(now)
find "$top/class" -name '*.so' -delete
"$build/bin/judge" grade "$top/class" --jobs "$jobs" >"$top/table" 2>"$top/errors" || {
    cat "$top/table" "$top/errors"
    exit 1
}
end=$(now)
tail -n 2 "$top/table" | head -n 1
echo "$start $middle $end" | awk -v n="$count" -v bare="$bare_jobs" -v jobs="$jobs" '{
    printf "bare nvcc, %d at a time: %.1f s (%.2f a second)\n", bare, $2 - $1, n / ($2 - $1)
    printf "grade --jobs %d: %.1f s (%.2f a second)\n", jobs, $3 - $2, n / ($3 - $2)
    printf "throughput of grade / bare nvcc: %.3f\n", ($2 - $1) / ($3 - $2)
}'
