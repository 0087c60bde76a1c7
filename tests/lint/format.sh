#!/bin/sh
# Layout is what .clang-format says. usage: format.sh SOURCE_ROOT
cd "$1" || exit 1
command -v clang-format >/dev/null || { echo "skipped: clang-format is not installed"; exit 77; }
find harness tests -name '*.[ch]' | sort | xargs clang-format --dry-run -Werror
