#!/bin/sh
# Every #include "..." under harness/ names a header of the file's own folder or of a folder that
# harness/LAYERS allows, written from harness/ on ("judge/problem/problem.h").
# usage: layers.sh SOURCE_ROOT
cd "$1/harness" || exit 1
find . -name '*.[ch]' | sed 's|^\./||' | sort | xargs awk '
    BEGIN {
        while ((getline line < "LAYERS") > 0) {
            if (line ~ /^#/ || line !~ /:/) continue
            split(line, part, ":")
            known[part[1]] = 1
            n = split(part[2], may, " ")
            for (i = 1; i <= n; i++) allowed[part[1], may[i]] = 1
        }
    }
    function folder(path) { sub(/\/[^\/]*$/, "", path); return path }
    FNR == 1 {
        from = folder(FILENAME)
        if (!(from in known)) { print "harness/" FILENAME ": the folder " from " is not in LAYERS"; bad = 1 }
    }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, quoted, "\"")
        to = folder(quoted[2])
        if (to == quoted[2]) {
            print "harness/" FILENAME ":" FNR ": include \"" quoted[2] "\" by its path from harness/"; bad = 1
        } else if (to != from && !((from, to) in allowed)) {
            print "harness/" FILENAME ":" FNR ": " from " may not include " to " (harness/LAYERS)"; bad = 1
        }
    }
    END { exit bad }'
