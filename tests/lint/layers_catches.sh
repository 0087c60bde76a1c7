#!/bin/sh
# A made-up tree in which the judge includes device code must be refused, and one that does not passes.
here=$1
tree=$(mktemp -d) || exit 1
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/harness/base" "$tree/harness/judge" "$tree/harness/vm"
printf 'base:\njudge: base\nvm: base\n' >"$tree/harness/LAYERS"
printf '#include "base/err.h"\n' >"$tree/harness/judge/good.c"
"$here/layers.sh" "$tree" || { echo "a clean tree was refused"; exit 1; }
printf '#include "vm/vm.h"\n' >"$tree/harness/judge/bad.c"
"$here/layers.sh" "$tree" && { echo "judge -> vm was not noticed"; exit 1; }
printf '#include "good.h"\n' >"$tree/harness/judge/bad.c"
"$here/layers.sh" "$tree" && { echo "an include without its folder was not noticed"; exit 1; }
exit 0
