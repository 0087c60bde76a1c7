#!/bin/sh
# run.sh by ssh, with a stand-in for ssh that runs here what it is given, in an environment of its own:
# what travels is complete, what was chosen here holds there, what came of it comes back, nothing is left there.
#
#   test_travel.sh BUILD    a build folder with judge, runner and both libraries
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
build=${1:?the build folder}
if ! command -v nvcc >/dev/null 2>&1 && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    echo "skipped: no nvcc in PATH or /usr/local/cuda"
    exit 77
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/bin" "$folder/there"
cat >"$folder/bin/ssh" <<EOF
#!/bin/sh
[ "\$1" = reachable ] || { echo "ssh: no route to \$1" >&2; exit 255; }
cd / && exec env -i PATH="\${PATH#*:}:/usr/local/cuda/bin" TMPDIR="$folder/there" HOME="$folder/there" sh -c "\$2"
EOF
chmod +x "$folder/bin/ssh"
failed=0

# travels WHAT STATUS WORDS HOST [SETTING...]
travels() {
    what=$1 status=$2 words=$3 host=$4
    shift 4
    env PATH="$folder/bin:$PATH" BUILD="$build" RESULTS="$folder/RESULTS.md" TMPDIR="$folder" "$@" \
        "$here/run.sh" ssh "$host" >"$folder/said" 2>&1
    got=$?
    cat "$folder/RESULTS.md" >>"$folder/said" 2>/dev/null
    left=$(ls "$folder/there")
    if [ $got != "$status" ] || ! grep -qF -e "$words" "$folder/said" || [ -n "$left" ]; then
        printf 'not ok - %s: status %s, left there: "%s", no "%s" in:\n' "$what" $got "$left" "$words"
        cat "$folder/said"
        failed=1
    else
        echo "ok - $what"
    fi
}

travels 'a host that is not there' 255 'no route to nowhere' nowhere
if ! nvidia-smi -L >/dev/null 2>&1; then
    travels 'a host without a card' 77 'skipped: there is no NVIDIA card' reachable
fi
[ ! -e "$folder/RESULTS.md" ] || { echo "not ok - a report of nothing"; failed=1; }
travels 'one file, there and back' 0 '1 judgings: 1 verdicts as the label says' reachable DEVICE=cpu PARTS=judged \
    ONLY='multi-block-scan/accepted/early_exit[.]cu'
exit $failed
