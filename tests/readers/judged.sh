#!/bin/sh
# Submissions that print every special sequence, under a name of that kind, really judged: each format
# before its reader, held against the JSON of the same judging.
# usage: judged.sh JUDGE SOURCE_ROOT SCRATCH
judge=$1 root=$2 scratch=$3
here=$root/tests/readers
command -v nvcc >/dev/null || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ] ||
    { echo 'skipped: there is no nvcc'; exit 77; }
rm -rf "$scratch" && mkdir -p "$scratch/class" && cd "$scratch/class" || exit 1
export SCANJUDGE_ROOT="$root" SCANJUDGE_STATE="$scratch/state" READERS_CACHE="${READERS_CACHE:-$scratch}"
# Nobody's CI but what is set here.
unset GITHUB_WORKSPACE GITHUB_STEP_SUMMARY CI_PROJECT_DIR
bad=0 skipped=

fail() {
    echo "not ok - $*"
    bad=1
}

# try FORMAT REPORT RESULT.json
try() {
    /usr/bin/python3 "$here/read.py" "$@"
    case $? in
    0) ;;
    77) skipped=1 ;;
    *) bad=1 ;;
    esac
}

# every FILE.json: all formats of it
every() {
    for format in jsonl junit gradescope github markdown classroom prairielearn sarif tap; do
        extension=out
        "$judge" report "$1" --format $format >"$1.$format.$extension" || fail "report --format $format"
        if [ "$format" = jsonl ]; then
            cmp -s "$1.jsonl.out" "$1" && fail 'json and jsonl are the same bytes'
            mv "$1.jsonl.out" "$1.jsonl"
            try jsonl "$1.jsonl" "$1"
        else
            try $format "$1.$format.$extension" "$1"
        fi
        if grep -q "$(printf '[\001-\010\013-\037\177]')" "$1.$format.$extension" 2>/dev/null; then
            fail "a control character in $format"
        fi
    done
}

name="]]> %0A::error file=x::y,z|\`<b> \"'#;\$(id)&.cu"
mkdir -p "alice & bob"
cp "$here/hostile.cu" "alice & bob/$name"
cp "$here/refused.cu" refused.cu
cp "$root/reference/multi-block-scan/three_kernels.cu" good.cu

"$judge" run multi-block-scan "alice & bob/$name" --device cpu --format json >hostile.json
[ $? = 1 ] || fail 'the hostile submission is not told to be wrong'
grep -q 'not from the judge' hostile.json || fail 'what it prints is not in the JSON'
try json hostile.json hostile.json
every hostile.json

"$judge" run multi-block-scan refused.cu --device cpu --format json >refused.json
[ $? = 1 ] || fail 'what does not compile is not told to be wrong'
try json refused.json refused.json
every refused.json
grep -q '^::error file=refused.cu,line=3,.*title=compile error::' refused.json.github.out ||
    fail 'no annotation at the line of the #error'

"$judge" run multi-block-scan good.cu --device cpu --format json --output good.json >good.txt ||
    fail 'a good submission is not accepted'
grep -q '^accepted: multi-block-scan, good.cu' good.txt || fail '--output leaves stdout without the text'
try json good.json good.json
every good.json

# Straight from a judging, as in a job: the names are those of the repository, the page is appended to.
mkdir -p "$scratch/other" && cd "$scratch/other" || exit 1
echo 'of another step' >"$scratch/page.md"
GITHUB_WORKSPACE="$scratch/class" GITHUB_STEP_SUMMARY="$scratch/page.md" \
    "$judge" run multi-block-scan ../class/refused.cu --device cpu --format github >job.log
[ $? = 1 ] || fail 'run --format github has another exit status'
grep -q '^::error file=refused.cu,line=3,' job.log || fail 'the file is not named from the root of the repository'
sed -n 1p "$scratch/page.md" | grep -q 'of another step' || fail 'the page of the job is overwritten'
grep -q '^### ' "$scratch/page.md" || fail 'nothing is on the page of the job'

# No card: a report that says so, and the exit status of a failure that is not the student's.
CUDA_VISIBLE_DEVICES=-1 "$judge" run multi-block-scan ../class/good.cu --device gpu --format junit >no_card.xml 2>no_card.txt
[ $? = 3 ] || fail 'no card: another exit status than 3'
grep -q '<skipped message=' no_card.xml || fail "no card: nothing is skipped: $(cat no_card.txt)"

[ $bad = 0 ] || exit 1
[ -z "$skipped" ] || exit 77
echo 'all as it should be'
