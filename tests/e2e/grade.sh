#!/bin/sh
# `judge grade` from the outside: hostile names, copies, what arrives late, kills at any moment, torn
# lines, two calls at once. Compilations are few, and shared through the cache of these tests.
# usage: grade.sh SOURCE_ROOT BUILD_ROOT
set -u
root=$1 build=$2
command -v nvcc >/dev/null || PATH=${CUDA_HOME:-/usr/local/cuda}/bin:$PATH
command -v nvcc >/dev/null || { echo "1..0 # skipped: no nvcc in PATH, CUDA_HOME or /usr/local/cuda"; exit 77; }
judge=$build/bin/judge
export SCANJUDGE_ROOT="$root" SCANJUDGE_CACHE="$build/e2e-cache" SCANJUDGE_DEVICE=cpu SCANJUDGE_COMMAND=judge LC_ALL=C
top=$(mktemp -d "${TMPDIR:-/tmp}/grade.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
cd "$top" || exit 1

. "$root/tests/e2e/tap.sh"

# submission KIND NUMBER: one of a few contents; a judging of each takes a fraction of a second.
submission() {
    case $1 in
    right) cat "$root/submissions/warp-scan/accepted/textbook.cu" ;;
    wrong) cat "$root/problems/warp-scan/starter.cu" ;;
    esac
    printf '\n// %s\n' "$2"
}

# records FOLDER: how many lines with a result there are.
records() {
    count=$(grep -c '^{"key"' "$1/results.jsonl" 2>/dev/null)
    echo "${count:-0}"
}
# wait_for_records FOLDER COUNT PID
wait_for_records() {
    while [ "$(records "$1")" -lt "$2" ] && kill -0 "$3" 2>/dev/null; do sleep 0.05; done
}
# verdicts FOLDER: who got what, and how; without times and dates.
verdicts() { sed 's/,"seed":.*//' "$1/grades.jsonl" | sort; }

# ---- a class ----

tab=$(printf '\t') newline='
'
mkdir class
for student in anna bob "-rf" "; reboot" "a${newline}b$tab" "=cmd|' !A0" '$(id)' 'é%s"'; do
    mkdir -p "class/$student"
    submission right 1 >"class/$student/warp-scan.cu"
done
mkdir class/bob/block-scan class/cy
submission wrong 2 >class/cy/warp-scan.cu
submission right 1 >class/bob/block-scan/its-name.cu # for another problem: does not compile
ln -s /etc/passwd class/cy/block-scan.cu
submission right 1 >class/cy/wrap-scan.cu

call grade class --jobs 2
check_status 'a class is graded, whatever its verdicts' 0
check_says 'what is no submission is told' "cy/wrap-scan.cu: there is no problem 'wrap-scan'; did you mean 'warp-scan'?"
check_says 'a link is not followed' 'cy/block-scan.cu: it is a link'
check_says 'copies are judged once' '10 submissions of 9 students: 8 accepted; 7 the same as another one; 3 judged now'
check_count 'each content has one record' 3 "$(records class-results)"
check 'no cell of the CSV begins like a formula' "$(grep -nE '(^|,)"?[=+@-]' class-results/grades.csv)"
check 'a name is in the lines as it is' "$(grep -q '"student":"a\\nb\\t"' class-results/grades.jsonl || cat class-results/grades.jsonl)"
check 'nothing that a terminal would obey' "$(tr -d '\n\40-\176\200-\377' <out | od -c | head -n 2 | grep -v '^0000000$')"

call grade class
check_says 'a second call judges nothing' '; 0 judged now'

# ---- reports ----

call grade class --format json
check 'a report for each, under its own name' "$(grep -q '"submission": "bob/warp-scan.cu"' class-results/reports/json/bob/warp-scan.cu.json || ls -R class-results/reports)"
check 'nobody is named in the report of a copy' "$(grep -l 'anna\|-rf' class-results/reports/json/bob/warp-scan.cu.json)"
call grade class --format jsonl
check_count 'one document about all' 10 "$(wc -l <class-results/report.jsonl)"

# ---- changes ----

submission right 3 >class/anna/warp-scan.cu
call grade class
check_says 'what has changed is judged again, and nothing else' '; 1 judged now'
call grade class --require-accepted
check_status '--require-accepted' 1

# ---- killed ----

# Of 8 contents, so that each kill comes while something is judged.
mkdir killed
for n in 1 2 3 4; do
    mkdir -p "killed/s$n/warp-scan"
    submission right "k$n" >"killed/s$n/warp-scan/right.cu"
    submission wrong "k$n" >"killed/s$n/warp-scan/wrong.cu"
done
for wanted in 1 4; do
    "$judge" grade killed --jobs 2 --results killed-results --seed 7 >/dev/null 2>&1 &
    pid=$!
    wait_for_records killed-results $wanted $pid
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
done
before=$(records killed-results)
check 'killed in the middle, twice' "$([ "$before" -ge 4 ] && [ "$before" -lt 8 ] || echo "$before records")"
call grade killed --jobs 2 --seed 7
check_says 'the rest is judged, and only that' "; $((8 - before)) judged now"
check_count 'each once' 8 "$(sed -n 's/^{"key": "\([0-9a-f]*\)".*/\1/p' killed-results/results.jsonl | sort -u | wc -l)"
check_count 'none twice' 8 "$(records killed-results)"
call grade killed --jobs 1 --results unkilled --seed 7
verdicts killed-results >a
verdicts unkilled >b
check 'the same results as without' "$(diff a b)"

# ---- torn ----

size=$(wc -c <killed-results/results.jsonl)
truncate -s $((size - 40)) killed-results/results.jsonl
call grade killed --seed 7
check_says 'a torn line is told' 'the last line is torn'
check_says 'and judged again' '; 1 judged now'
check_count 'the file is whole again' 8 "$(records killed-results)"

# ---- a judge that dies ----

mkdir -p dies/a dies/b
submission right d1 >dies/a/warp-scan.cu
submission wrong d2 >dies/b/warp-scan.cu
"$judge" grade dies --jobs 1 >out 2>errors &
pid=$!
child=
while [ -z "$child" ] && kill -0 $pid 2>/dev/null; do child=$(cat /proc/$pid/task/*/children 2>/dev/null); done
# shellcheck disable=SC2086 # one number
kill -9 $child 2>/dev/null
wait $pid
status=$?
check_status 'a judge that dies is an error of ours' 3
check_says 'told for that one' 'judge!'
check_says 'the others are judged' '1 judge error (judged again by the next call)'
call grade dies
check_status 'and it is judged by the next call' 0
check_says 'only that one' '; 1 judged now'

# ---- late ----

mkdir -p late/a late/b
submission right l1 >late/a/warp-scan.cu
"$judge" grade late --jobs 1 >out 2>errors &
pid=$!
while [ ! -e late-results/results.jsonl ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
submission right l2 >late/b/warp-scan.cu
"$judge" grade late >out2 2>&1
second=$?
wait $pid
status=$?
check_status 'what arrives meanwhile' 0
check_says 'is judged by the call that runs' '2 submissions of 2 students: 2 accepted; 2 judged now'
check 'a second call at the same time is told so' "$([ $second = 3 ] && grep -q 'another `grade` is at work' out2 || { echo "status $second"; cat out2; })"

# ---- calls that are wrong ----

mkdir empty
call grade empty
check_status 'an empty folder' 2
check_says 'says what belongs there' '<student>/<problem>.cu'
call grade nowhere
check_status 'no folder' 2
printf '{"student": "x", "problem": "warp-scan", "file": "class/bob/warp-scan.cu"}\n' >list.jsonl
call grade list.jsonl
check_status 'a manifest' 0
check_says 'judges what it names' '1 submission of 1 student: 1 accepted'
printf 'student,file\n' >>list.jsonl
call grade list.jsonl
check_status 'a manifest that is none' 2
check_says 'says where' 'list.jsonl:2: this line is no JSON'
call grade class --chunk 3
check_status 'options of --slurm without it' 2
done_testing
