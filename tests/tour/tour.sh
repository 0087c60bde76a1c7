#!/bin/sh
# The pictures of .github/TOUR.md, made of what the judge really prints. Without --write: are they still what it
# prints, apart from times? usage: tour.sh SOURCE_ROOT BUILD_ROOT [--write]
root=$1 build=$2 mode=${3:-}
pictures=$root/.github/tour
export PATH="$PATH:${CUDA_HOME:-/usr/local/cuda}/bin:/usr/local/cuda/bin"
command -v nvcc >/dev/null || { echo "skipped: there is no nvcc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export SCANJUDGE_ROOT="$root" SCANJUDGE_COMMAND=./judge.sh SCANJUDGE_DEVICE=cpu SCANJUDGE_CACHE="$build/e2e-cache" CLICOLOR_FORCE=1 LC_ALL=C.UTF-8
unset NO_COLOR
bad=0

# Times, and how wide they make a column; nothing else changes from run to run.
stable() {
    sed -e 's/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' -e 's/, compiled before//; s/, of which nvcc [0-9.]* m\{0,1\}s//' \
        -e 's/ *[0-9.][0-9.]* m\{0,1\}s/ TIME/g' | grep -v '^ *$'
}

# draw NAME COMMAND [FILTER]: the picture NAME.svg of the command and of what FILTER leaves of its output.
draw() {
    export SCANJUDGE_STATE="$work/state"
    call=$(printf '%s' "$2" | sed "s|^\./judge.sh|\"$build/bin/judge\"|")
    cp -r state before
    [ "$mode" = --write ] && eval "$call" >/dev/null 2>&1 # compiled before: the compiler's time is no news
    rm -rf state && mv before state
    {
        printf '\033[2m$\033[0m \033[1m%s\033[0m\n' "$2"
        eval "$call" 2>&1 | ${3:-cat}
    } >text
    "$build/bin/terminal_svg" <text >"$1.svg" || bad=1
    if [ "$mode" = --write ]; then
        cp "$1.svg" "$pictures/"
    elif ! [ -f "$pictures/$1.svg" ]; then
        echo "there is no picture $1.svg"
        bad=1
    else
        stable <"$pictures/$1.svg" >as_drawn
        stable <"$1.svg" >as_printed
        diff as_drawn as_printed >difference || { echo "$1.svg shows (<) what is not printed any more (>):"; cat difference; bad=1; }
    fi
}

mkdir -p state/problems
echo "solved /home/student/warp-scan.cu" >state/problems/warp-scan
echo "tried /home/student/block-scan.cu" >state/problems/block-scan
draw list './judge.sh list --lang en' 'sed s/.(remembered.in.*//'
cp "$root/submissions/block-scan/run_time_error/no_barrier_after_the_sums.cu" scan.cu
draw race './judge.sh run block-scan scan.cu --case n=257 --seed 7'
draw hint './judge.sh hint block-scan --lang en'
cp "$root/submissions/multi-block-scan/wrong_answer/inclusive_for_exclusive.cu" scan.cu
draw wrong './judge.sh run multi-block-scan scan.cu --case n=1025 --seed 7'
cp "$root/submissions/block-scan/accepted/grid_stride.cu" scan.cu
draw accepted './judge.sh run block-scan scan.cu --seed 7'
cp "$root/submissions/conflict-free-blelloch/cost_limit_exceeded/no_free_words.cu" scan.cu
draw cost './judge.sh run conflict-free-blelloch scan.cu --seed 7 --profile' "awk NR<=24"

# The curve: recorded figures of a card, drawn as bench --plot draws them. A picture of gnuplot differs from version
# to version, so what is held against each other is the script.
awk '/^bench: multi-block-scan on / { on = 1; title = $0; sub(/^bench: /, "", title); sub(/,.*/, "", title) }
     on && /^```/ { on = 0 }
     on && /^n=/ { n = $1; sub(/n=/, "", n); sub(/,/, "", n) }
     on && NF >= 6 && $3 + 0 > 0 { if (!($1 in of)) order[++count] = $1; of[$1] = of[$1] n " " $4 "\n" }
     END {
         print "set terminal svg size 900,520 noenhanced background \"white\"\nset output \"curve.svg\"\nset title \"" title "\""
         print "set logscale x 2\nset xlabel \"n\"\nset format x \"%.0b %B\"\nset ylabel \"GB/s: bytes that the problem moves, over time\""
         print "set yrange [0:*]\nset grid\nset key left top"
         for (i = 1; i <= count; i++) printf "$d%d << END\n%sEND\n", i, of[order[i]]
         for (i = 1; i <= count; i++)
             printf "%s$d%d using 1:2 with linespoints linewidth 2 title \"%s\"", i == 1 ? "plot " : ", ", i, order[i]
         print ""
     }' "$root/tests/gpu/RESULTS.md" >curve.gp
grep -q '^134217728 [0-9]' curve.gp || { echo "tests/gpu/RESULTS.md has no bench of multi-block-scan any more"; bad=1; }
if [ "$mode" = --write ]; then
    gnuplot curve.gp && cp curve.svg curve.gp "$pictures/"
else
    diff "$pictures/curve.gp" curve.gp || { echo "curve.svg was drawn of other figures than RESULTS.md has"; bad=1; }
    [ -s "$pictures/curve.svg" ] || { echo "there is no curve.svg"; bad=1; }
fi

# Each picture is on the page, and each on the page is there.
for name in $(cd "$pictures" && ls ./*.svg); do
    grep -qF "tour/${name#./}" "$root/.github/TOUR.md" || { echo "TOUR.md does not show $name"; bad=1; }
done
[ $bad = 0 ] && echo "the pictures are what the judge prints"
exit $bad
