#!/bin/sh
# harness/README.md names every folder of harness/, and every folder it names exists.
# usage: map.sh SOURCE_ROOT
cd "$1/harness" || exit 1
bad=0
for folder in $(grep -v '^#' LAYERS | sed -n 's/^\([a-z/]*\):.*/\1/p'); do
    [ -d "$folder" ] || { echo "LAYERS names $folder, which does not exist"; bad=1; }
    grep -q "\`$folder/\`" README.md || { echo "README.md does not mention \`$folder/\`"; bad=1; }
done
for folder in $(find . -name '*.[ch]' | sed 's|^\./||; s|/[^/]*$||' | sort -u); do
    grep -q "^$folder:" LAYERS || { echo "LAYERS does not mention $folder"; bad=1; }
done
exit $bad
