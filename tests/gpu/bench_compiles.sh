#!/bin/sh
# bench_compiles.sh NAME: the bench compiles with nvcc, and without a card it ends with 77 and a
# sentence. Skipped, with the reason, without nvcc.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
"$here/bench.sh" compile "$dir" "$1"
status=$?
[ $status -ne 77 ] || exit 77
[ $status -eq 0 ] && [ -x "$dir/$1" ] || { echo "$1 does not compile"; exit 1; }
! nvidia-smi -L >/dev/null 2>&1 || exit 0
said=$("$dir/$1" 2>&1)
status=$?
case $status:$said in
77:*skipped:*) ;;
*)
    echo "$1 without a card: expected status 77 and 'skipped: ...', got $status and: $said"
    exit 1
    ;;
esac
