#!/bin/sh
# What judge.sh shows while it builds for the first time: on a terminal how far it has come and since when, elsewhere one
# line, and nothing once everything is built. The build is a stand-in. usage: first_build.sh SOURCE_ROOT
command -v script >/dev/null || { echo "skipped: script (bsdutils) is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tools" "$work/tree/harness" && cd "$work" || exit 1
cp "$1/judge.sh" tree/
touch tree/harness/a.c tree/CMakeLists.txt tree/CMakePresets.json
cat >tools/cmake <<'END'
#!/bin/sh
[ "$1" = --build ] || exit 0
echo "[1/9] Building C object a.c.o"
echo "[4/9] Building C object b.c.o"
sleep 3
[ -z "$BREAK" ] || { echo "b.c:1: error: no"; exit 1; }
mkdir -p build/bin
printf '#!/bin/sh\necho judged\n' >build/bin/judge
chmod +x build/bin/judge
END
printf '#!/bin/sh\n' >tools/nvcc
printf '#!/bin/sh\necho install ok installed\n' >tools/dpkg-query # whatever is wanted
chmod +x tools/*
export PATH="$work/tools:$PATH" CUDA_HOME="$work" TERM=xterm
bad=0
# wants WHAT FILE WORDS; lacks WHAT FILE WORDS
wants() { grep -qF -- "$3" "$2" || { echo "$1: nothing says '$3':"; cat -v "$2"; bad=1; }; }
lacks() { if grep -qF -- "$3" "$2"; then echo "$1: it says '$3':"; cat -v "$2"; bad=1; fi; }

script -qec "tree/judge.sh list" seen >/dev/null </dev/null
wants "on a terminal" seen "judge: building (once; one to three minutes) [4/9], 1 s"
wants "on a terminal" seen "judged"
tree/judge.sh list >seen 2>&1 </dev/null
lacks "built before" seen "building"
wants "built before" seen "judged"
rm -rf tree/build
tree/judge.sh list >seen 2>&1 </dev/null
wants "into a file" seen "judge: building (once; one to three minutes)"
lacks "into a file" seen "[4/9]"
lacks "into a file" seen "$(printf '\033')"
rm -rf tree/build
TERM=dumb script -qec "tree/judge.sh list" seen >/dev/null </dev/null
lacks "on a dumb terminal" seen "[4/9]"
rm -rf tree/build
BREAK=1 tree/judge.sh list >seen 2>&1 </dev/null
[ $? = 3 ] || { echo "a build that fails: the exit status is not 3"; bad=1; }
wants "a build that fails" seen "b.c:1: error: no"
wants "a build that fails" seen "the build failed; the whole log is in"
[ $bad = 0 ] && echo "a first build says how far it is"
exit $bad
