#!/bin/sh
# A driver whose libraries are in a folder of their own, as in many containers, is found by what runs in a box.
#
#   tests/gpu/driver_folder.sh JUDGE FAKE_NVML FAKE_CUDA
#
# The card is a fake, and its libcuda.so.1 ends whoever loads it: a judging that says so has come by it. Ends with 77
# where there is no nvcc, whose libcudart is what loads it.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
judge=$1 nvml=$2 cuda=$3
if ! command -v nvcc >/dev/null && [ ! -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then
    echo "skipped: there is no nvcc"
    exit 77
fi
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
mkdir "$work/driver" "$work/locks" && chmod 755 "$work" "$work/driver" || exit 3
cp "$nvml" "$work/driver/libnvidia-ml.so.1" && cp "$cuda" "$work/driver/libcuda.so.1" || exit 3
export SCANJUDGE_ROOT="$root" SCANJUDGE_CACHE="$work/cache" SCANJUDGE_STATE="$work/state" SCANJUDGE_LOCKS="$work/locks"
export FAKE_NVML='GPU-1122-b;Fake;7.5;143000' LD_LIBRARY_PATH="$work/driver"
status=0 tried=0
for isolation in namespaces landlock; do
    "$judge" run multi-block-scan "$root/submissions/multi-block-scan/accepted/three_kernels.cu" --case n=33 \
        --device gpu --isolation $isolation >"$work/out" 2>&1
    if grep -q 'is not to be had here' "$work/out"; then
        echo "# $isolation: $(grep 'is not to be had here' "$work/out")"
        continue
    fi
    tried=$((tried + 1))
    if grep -q 'killed by signal 6' "$work/out"; then
        echo "ok - $isolation"
    else
        echo "not ok - $isolation: the driver was not found:"
        cat "$work/out"
        status=1
    fi
done
[ $tried -gt 0 ] || exit 77
exit $status
