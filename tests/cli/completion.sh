#!/bin/sh
# What the TAB key offers, asked from the shell itself. usage: completion.sh bash|zsh JUDGE SOURCE_ROOT
shell=$1 judge=$2 root=$3
command -v "$shell" >/dev/null || { echo "skipped: $shell is not installed"; exit 77; }
export SCANJUDGE_ROOT="$root" SCANJUDGE_STATE=/dev/null/state
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/sub dir" && touch "$work/my scan.cu" "$work/notes.txt" && cd "$work" || exit 1
"$judge" completion "$shell" >script || exit 1
"$shell" -n script || { echo "the script is not one of $shell"; exit 1; }

# Each block: the line up to the cursor, then what must be among the answers, one a line; a line
# that begins with '!' must not be.
cat >expected <<'END'
> judge.sh ru
run
!list
> judge.sh 
list
watch
completion
test
> judge.sh show multi-
multi-block-scan
!warp-scan
> judge.sh run warp-scan 
my\ scan.cu|my scan.cu
!notes.txt
> judge.sh run --de
--device
!--seed
> judge.sh run --device 
auto
gpu
> judge.sh run --device=c
--device=cpu|cpu
> judge.sh run --isolation 
namespaces
> judge.sh run --format 
json
> judge.sh run multi-block-scan --case n=102
n=1023|1023
!n=3|3
> judge.sh run multi-block-scan --case 'blocks of 256, n=76
blocks of 256, n=767
> judge.sh run multi-block-scan --case two\ levels,\ n=655
two levels, n=65536|65536
> judge.sh run --check races,un
races\,uninitialized|races,uninitialized
> judge.sh exec --stream-order l
late
> judge.sh help wat
watch
> judge.sh completion 
bash
zsh
> judge.sh new-problem --after warp
warp-scan
END

cat >ask.bash <<'END'
source ./script
# As readline takes the line apart: at blanks outside of quotes, and at = and : by themselves.
ask() {
    local line=$1 word= quote= c i
    COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=()
    for ((i = 0; i < ${#line}; i++)); do
        c=${line:i:1}
        if [[ $quote ]]; then
            word+=$c
            [[ $c == "$quote" ]] && quote=
        elif [[ $c == \\ ]]; then
            word+=$c${line:i+1:1}
            ((i++))
        elif [[ $c == [\'\"] ]]; then
            word+=$c quote=$c
        elif [[ $c == ' ' ]]; then
            [[ $word ]] && COMP_WORDS+=("$word")
            word=
        elif [[ $c == [=:] ]]; then
            [[ $word ]] && COMP_WORDS+=("$word")
            COMP_WORDS+=("$c")
            word=
        else
            word+=$c
        fi
    done
    COMP_WORDS+=("$word")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _scanjudge "${COMP_WORDS[0]}" "$word" ''
    printf '%s\n' "${COMPREPLY[@]}"
}
compopt() { :; } # only there while a line is edited
ask "$1"
END

cat >ask.zsh <<'END'
compdef() { :; }
_files() { print -l -- *.cu; }
compadd() { shift; print -l -- "$@"; }
source ./script
# Blanks outside of quotes end a word; quotes and backslashes stay in it, as in $words.
local line=$1
words=("${(@)${(z)line}}")
[[ $line == *' ' && $line != *\'* ]] && words+=('')
CURRENT=$#words
_scanjudge
END

bad=0 line= answers=
while IFS= read -r row; do
    case $row in
    '> '*)
        line=${row#> }
        answers=$("$shell" "ask.$shell" "$line")
        ;;
    '!'*)
        if printf '%s\n' "$answers" | grep -qxF -- "${row#!}"; then
            echo "'$line': ${row#!} is offered"
            bad=1
        fi
        ;;
    *)
        if ! printf '%s\n' "$answers" | grep -qxF -- "${row%%|*}" &&
            ! printf '%s\n' "$answers" | grep -qxF -- "${row#*|}"; then
            echo "'$line': $row is not offered, but:"
            printf '%s\n' "$answers" | head -5
            bad=1
        fi
        ;;
    esac
done <expected
exit $bad
