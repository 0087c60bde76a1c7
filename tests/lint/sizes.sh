#!/bin/sh
# A file past 600 lines says why in its first 12 lines ("long because ..."). usage: sizes.sh SOURCE_ROOT
cd "$1" || exit 1
bad=0
for file in $(find harness tests -name '*.[ch]' | sort); do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 600 ] && ! head -12 "$file" | grep -qi 'long because'; then
        echo "$file has $lines lines and no reason (\"long because ...\") at its top"
        bad=1
    fi
done
exit $bad
