#!/bin/sh
# The judge is killed with SIGKILL while a submission holds a gigabyte of a card, and while an accepted one is timed:
# five seconds later that memory is free, no process of the judging is left, and the next judging is right.
#
#   tests/gpu/killed.sh JUDGE
#
# With namespaces and with Landlock, where they are to be had. Without a card it says so and ends with 77, CTest's
# status for a skipped test. Nobody else may use the card meanwhile.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd -P)
judge=${1:?the built judge}
if ! nvidia-smi -L >/dev/null 2>&1; then
    echo "skipped: there is no NVIDIA card here (nvidia-smi -L shows none)"
    exit 77
fi
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
export SCANJUDGE_ROOT="$root" SCANJUDGE_CACHE="$work/cache" SCANJUDGE_STATE="$work/state"
slack=64 # MiB: a driver that wakes keeps some for itself
failed=0

used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits | awk '{ s += $1 } END { print s }'; }
users() { nvidia-smi --query-compute-apps=pid,name --format=csv,noheader | grep -c runner; }
tell() {
    echo "$1"
    case $1 in "not ok"*) failed=1 ;; esac
}

# until_used LOW HIGH SECONDS [PID]: waits for a number of MiB in use between both, while that process runs
until_used() {
    until=$(($(date +%s) + $3))
    while now=$(used); [ "$now" -lt "$1" ] || [ "$now" -gt "$2" ]; do
        [ "$(date +%s)" -lt "$until" ] || return 1
        [ -z "${4:-}" ] || kill -0 "$4" 2>/dev/null || return 1
        sleep 0.1
    done
}

# killed WHAT FILE MIB: judges it, kills the judge when it holds so much more
killed() {
    before=$(used)
    "$judge" run multi-block-scan "$2" --device gpu >"$work/out" 2>&1 &
    pid=$!
    if ! until_used $((before + $3)) 999999 30 $pid; then
        kill -KILL $pid 2>/dev/null
        tell "not ok - $isolation: $1: the card was never in use, $now MiB after $before: $(tail -n 3 "$work/out")"
        return
    fi
    held=$now
    kill -KILL $pid
    wait $pid 2>/dev/null
    if until_used 0 $((before + slack)) 5 && [ "$(users)" = 0 ]; then
        tell "ok - $isolation: $1: $before MiB in use before, $held when the judge was killed, $now afterwards"
    else
        tell "not ok - $isolation: $1: $before MiB in use before, $held when it was killed, still $now; $(users) runners"
    fi
}

cat >"$work/holds.cu" <<'END'
#include <unistd.h>
extern "C" void exclusive_scan(const int *in, int *out, int n, void *workspace, size_t workspace_bytes,
                               cudaStream_t stream)
{
    void *p;
    cudaMalloc(&p, (size_t)1 << 30);
    cudaMemset(p, 1, (size_t)1 << 30);
    cudaDeviceSynchronize();
    sleep(8);
}
END
honest=$root/submissions/multi-block-scan/accepted/three_kernels.cu
"$judge" run multi-block-scan "$honest" --device gpu >"$work/first" 2>&1 # compiles, and wakes the driver

for isolation in namespaces landlock; do
    export SCANJUDGE_ISOLATION=$isolation
    if ! "$judge" doctor >"$work/doctor" 2>&1 && grep -q "MISSING isolation" "$work/doctor"; then
        echo "# $isolation: not to be had here: $(grep 'MISSING isolation' "$work/doctor")"
        continue
    fi
    killed "it holds a gigabyte" "$work/holds.cu" 1024
    killed "it is judged and timed" "$honest" 128
    if "$judge" run multi-block-scan "$honest" --device gpu --no-timing --verbose >"$work/out" 2>&1 &&
        grep -q "$isolation" "$work/out"; then
        tell "ok - $isolation: the next judging is right"
    else
        tell "not ok - $isolation: the next judging: $(tail -n 5 "$work/out")"
    fi
done
exit $failed
