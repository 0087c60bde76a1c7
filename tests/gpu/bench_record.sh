#!/bin/sh
# bench.sh record: the section is appended to a RESULTS.md without one, replaced in one with it, and
# nothing else changes.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/tests/gpu" "$dir/out"
cp "$here/bench.sh" "$dir/tests/gpu/"
results=$dir/tests/gpu/RESULTS.md

# expect NAME TEXT
expect() {
    printf '%s\n' "$2" | cmp - "$results" && return 0
    echo "$1: wrong:"
    cat "$results"
    exit 1
}

section() {
    printf '## Benches of the references\n\n%s\n' "$1" >"$dir/out/bench.md"
    "$dir/tests/gpu/bench.sh" record "$dir/out" || { echo "record failed"; exit 1; }
}

printf '# Seen\n\n## Other\n\ntext\n' >"$results"
section one
expect appended '# Seen

## Other

text

## Benches of the references

one'
section two
expect 'replaced at the end' '# Seen

## Other

text

## Benches of the references

two'
printf '\n## Last\n\n### Part\n' >>"$results"
section three
expect 'replaced in the middle' '# Seen

## Other

text

## Benches of the references

three

## Last

### Part'
rm "$dir/out/bench.md"
"$dir/tests/gpu/bench.sh" record "$dir/out" 2>/dev/null && { echo "recorded nothing, and said nothing"; exit 1; }
exit 0
