#!/bin/sh
# compare.sh against verdicts that a card might have given: what is explained, what is not, and that a
# difference without a reason is noticed.
set -u
here=$(cd "$(dirname "$0")" && pwd -P)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# file VERDICT-FOLDER NAME LINE...: a labelled submission
file() {
    path=$folder/submissions/p/$1/$2.cu
    mkdir -p "${path%/*}"
    shift 2
    printf '%s\n' "$@" >"$path"
}
file accepted good '// expect: accepted'
file wrong_answer bad '// expect: wrong_answer' '' '// gpu: accepted - not in the head'
file run_time_error race '// expect: run_time_error' '// expect-finding: data_race'
file run_time_error null '// expect: run_time_error' '// expect-finding: null_pointer'
file run_time_error reasoned '// expect: run_time_error' '// gpu: wrong_answer - it shows there'
file cost_limit_exceeded slow '// expect: cost_limit_exceeded'
mkdir -p "$folder/reference/p" "$folder/tests/faults/wrong"
echo '// no labels' >"$folder/reference/p/r.cu"
printf '%s\n' '// case right: clean' '// case null: null_pointer' '// case race: data_race' '// case spin: deadlock' \
    '// case odd: null_pointer' '// gpu: hangs - nobody knows why' \
    >"$folder/tests/faults/wrong/t.cu"

# check WHAT STATUS WORDS: compare.sh of verdicts.txt and programs.txt gives that
check() {
    got=$(ROOT=$folder "$here/compare.sh" "$folder")
    status=$?
    if [ $status != "$2" ] || ! printf '%s\n' "$got" | grep -qF "$3"; then
        printf 'not ok - %s: status %s, no "%s" in:\n%s\n' "$1" $status "$3" "$got"
        failed=1
    else
        echo "ok - $1"
    fi
}
# row FILE VERDICT: a judging with that verdict among those that are as labelled
row() {
    {
        echo 'submissions/p/accepted/good.cu accepted 1.0'
        echo 'reference/p/r.cu accepted 1.0'
        echo "submissions/p/$1 $2 1.0"
    } >"$folder/verdicts.txt"
}

row wrong_answer/bad.cu wrong_answer
check 'the same' 0 '3 judgings: 3 verdicts as the label says, 0 others explained, 0 not.'
row wrong_answer/bad.cu accepted
check 'another one without a reason' 1 '| submissions/p/wrong_answer/bad.cu | wrong_answer | accepted | **not explained** |'
row run_time_error/race.cu accepted
check 'a race that does not show' 0 '| run_time_error (data_race) | accepted | which thread comes first is luck'
row run_time_error/race.cu judge_error
check 'a judge error is never luck' 1 '1 not.'
row run_time_error/race.cu none
check 'nor is no verdict' 1 '1 not.'
row run_time_error/null.cu accepted
check 'what a card must see' 1 '1 not.'
row run_time_error/reasoned.cu wrong_answer
check 'a label of its own' 0 '| wrong_answer | it shows there |'
row run_time_error/reasoned.cu accepted
check 'a label of its own that is wrong' 1 '1 not.'
row cost_limit_exceeded/slow.cu accepted
check 'a card counts nothing' 0 'a card counts nothing'

rm "$folder/verdicts.txt"
t=tests/faults/wrong/t.cu
printf '%s\n' "$t right 0" "$t null 1" "$t race 0" "$t spin 124" >"$folder/programs.txt"
check 'programs' 0 '| deadlock | 1 | 0 | 0 | 1 |'
printf '%s\n' "$t right 1" >"$folder/programs.txt"
check 'a right program that fails' 1 '**not explained**: right'
printf '%s\n' "$t null 0" >"$folder/programs.txt"
check 'a null pointer that nobody minds' 1 '**not explained**: fails'
printf '%s\n' "$t spin 0" >"$folder/programs.txt"
check 'a deadlock that ends' 1 '**not explained**: hangs'
printf '%s\n' "$t odd 124" >"$folder/programs.txt"
check 'a case with a label of its own' 0 '| null_pointer | 1 | 0 | 0 | 1 |'
printf '%s\n' "$t odd 0" >"$folder/programs.txt"
check 'a case that is not as its label says' 1 '**not explained**: hangs'
printf '%s\n' "$t unknown 0" >"$folder/programs.txt"
check 'a case that is not there' 1 '**not explained**'
exit $failed
