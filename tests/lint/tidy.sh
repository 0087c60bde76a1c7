#!/bin/sh
# clang-tidy over everything that the build compiles. usage: tidy.sh SOURCE_ROOT BUILD_ROOT
cd "$1" || exit 1
command -v clang-tidy >/dev/null || { echo "skipped: clang-tidy is not installed"; exit 77; }
[ -f "$2/compile_commands.json" ] || { echo "no compile_commands.json in $2"; exit 1; }
# The handlers are one source built per instruction set: look at each file once.
find harness -name '*.c' | sort |
    xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$2" 2>/dev/null >"$2/tidy.log"
status=$?
grep -E 'warning:|error:' "$2/tidy.log" | sort -u
exit $status
