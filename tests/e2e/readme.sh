#!/bin/sh
# Every command of README.md and of the manual is run as it stands there, and does what it promises.
# A command without a row in readme.tsv fails the test, and so does a row without its command.
# usage: readme.sh SOURCE_ROOT BUILD_ROOT FAKE_NVML
root=$1 build=$2 nvml=$3
here=$root/tests/e2e
pages="$root/README.md $root/.github/MANUAL.md"
export PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin"
command -v nvcc >/dev/null || { echo "skipped: there is no nvcc"; exit 77; }
command -v zsh >/dev/null || { echo "skipped: there is no zsh"; exit 77; }
command -v gnuplot >/dev/null || { echo "skipped: there is no gnuplot"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/student/folder" "$work/root/problems" && cd "$work/student" || exit 1
export TMPDIR="$work" SCANJUDGE_STATE="$work/state" SCANJUDGE_CACHE="$build/e2e-cache" SCANJUDGE_COMMAND=./judge.sh
export SCANJUDGE_LOCKS="$work" FAKE_NVML="GPU-77;NVIDIA Fake;9.0;16000|GPU-78;NVIDIA Fake;9.0;16000"
unset CUDA_VISIBLE_DEVICES NO_COLOR CLICOLOR_FORCE GITHUB_STEP_SUMMARY

# As judge.sh, without its build: the judge that is tested.
printf '#!/bin/sh\nexec "%s" "$@"\n' "$build/bin/judge" >judge.sh
chmod +x judge.sh
ln -s "$root/submissions" submissions
cp "$here/programs/printf_assert.cu" my_program.cu
cp "$here/programs/common.cuh" .
mkdir -p class/anna
cp "$root/submissions/warp-scan/accepted/textbook.cu" class/anna/warp-scan.cu

# Lines of code blocks and pieces of text in backticks that call judge.sh.
awk '/^ *```/ { in_block = !in_block; next }
     in_block { if ($0 ~ /^\.\/judge\.sh/) print; next }
     { count = split($0, part, "`"); for (i = 2; i <= count; i += 2) if (part[i] ~ /\.\/judge\.sh/) print part[i] }' \
    $pages | sort -u >in_pages
grep -v '^#' "$here/readme.tsv" | cut -f 5 | sort -u >in_table
bad=0
comm -23 in_pages in_table | sed 's/^/not in readme.tsv, so nobody runs it: /' >lacking
comm -13 in_pages in_table | sed 's/^/in readme.tsv, but on no page: /' >>lacking
[ -s lacking ] && { cat lacking; bad=1; }

# run HOW COMMAND: its output in `said`, its status in $status.
run() {
    command=$2
    export SCANJUDGE_ROOT="$root"
    case $1 in
    plain) ;;
    tiny)
        SCANJUDGE_ROOT=$here/verify
        command=$(printf '%s' "$command" | sed 's/block-scan/tiny/') ;;
    card)
        SCANJUDGE_ROOT=$build/tests/judge/timing/root
        command=$(printf '%s' "$command" | sed 's/ P / small-scan /; s/ block-scan / small-scan /') ;;
    new) SCANJUDGE_ROOT=$work/root ;;
    watch)
        # With job control, since without it a shell makes what it starts aside deaf to Ctrl-C.
        bash -c 'set -m # $0 is the command
            $0 >said 2>&1 </dev/null &
            for _ in $(seq 240); do
                grep -q "^next: " said && break
                sleep 0.5
            done
            kill -INT $!
            wait $!' "$command"
        status=$?
        return ;;
    zsh)
        zsh -fc "autoload -U compinit && compinit -u -D && $command" >said 2>&1
        status=$?
        return ;;
    suite) # this test is part of it; which labels there are, judge.sh says itself
        word=${command#./judge.sh test}
        sed -n 's/^labels="\(.*\)"/ \1 all  /p' "$root/judge.sh" | grep -qF -- "${word:- } " &&
            grep -qF 'judge.sh" test all' "$root/.ci/run"
        status=$?
        echo "${word:-everything}" >said
        return ;;
    esac
    if [ "$1" = card ]; then
        yes '' 2>/dev/null | env SCANJUDGE_NVML="$nvml" SCANJUDGE_GPU_CUDART="$build/lib/libcudart.so.13" PATH="$here/tools:$PATH" \
            timeout 300 bash -c "$command" >said 2>&1
    else
        yes '' 2>/dev/null | timeout 300 bash -c "$command" >said 2>&1
    fi
    status=$?
}

count=0
while IFS='	' read -r how mine wanted words command; do
    case $how in '#'*) continue ;; esac
    [ "$mine" = - ] || cp "$root/$mine" my.cu
    [ "$how" = card ] && cp my.cu other.cu
    typed=$command
    run "$how" "$command"
    count=$((count + 1))
    case ,$wanted, in *",$status,"*) right=1 ;; *) right=0 ;; esac
    if [ $right = 0 ] || { [ "$words" != - ] && ! grep -qF -- "$words" said; }; then
        echo "not ok $count - $typed"
        echo "# status $status instead of $wanted, and '$words' should be in:"
        sed 's/^/#   /' said | head -30
        bad=1
    else
        echo "ok $count - $typed"
    fi
done <"$here/readme.tsv"
[ -s curve.svg ] && [ -s a.json ] && [ -s t.jsonl ] && [ -s result.json ] || { echo "a file is missing"; bad=1; }
echo "1..$count"
exit $bad
