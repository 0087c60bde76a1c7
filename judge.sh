#!/bin/sh
# scanjudge: sets itself up on first use, then runs build/bin/judge.
#   ./judge.sh COMMAND ...     ./judge.sh help lists them
#   ./judge.sh test [LABEL]    builds and runs the test suite; with `all` what CI runs: also under sanitizers
# Once everything is built this costs one `find` over the sources. Exit status 3: the machine lacks
# something; a sentence says what to do about it.
set -u

self=$0
[ -h "$self" ] && self=$(readlink -f "$self")
case $self in
*/*) root=${self%/*} ;;
*) root=. ;;
esac
root=$(cd "$root" && pwd -P) || exit 3

packages="cmake ninja-build gcc g++ pkg-config libyaml-dev libjansson-dev libffi-dev libzstd-dev nettle-dev libseccomp-dev bubblewrap libcmocka-dev"
test_packages="clang clang-format clang-tidy zsh libxml2-utils cmark-gfm python3-jsonschema python3-junitparser python3-yaml gnuplot-nox slurm-wlm munge"

fail() {
    printf 'judge: %s\n' "$*" >&2
    exit 3
}

# Rewritten in place on a terminal, a line of its own elsewhere.
progress() {
    if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
        printf '\r\033[K%s' "$*" >&2
    else
        printf '%s\n' "$*" >&2
    fi
}

progress_end() {
    if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then printf '\r\033[K' >&2; fi
}

# watched TEXT LOG COMMAND...: runs the command with its output in LOG; on a terminal TEXT says so meanwhile,
# with how far ninja has come and since when. What draws it ends with us, whatever ends us.
watched() {
    what=$1 log=$2
    shift 2
    progress "judge: $what"
    : >"$log"
    ticker=
    if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
        (
            seconds=0
            while sleep 1 && kill -0 $$ 2>/dev/null; do
                seconds=$((seconds + 1))
                step=$(tail -n 1 "$log" | sed -n 's/^\(\[[0-9]*\/[0-9]*\]\).*/ \1/p')
                printf '\r\033[Kjudge: %s%s, %s s' "$what" "$step" "$seconds" >&2
            done
        ) 9>&- &
        ticker=$!
    fi
    "$@" >"$log" 2>&1 9>&-
    watched_status=$?
    if [ -n "$ticker" ]; then
        kill "$ticker" 2>/dev/null
        wait "$ticker" 2>/dev/null
    fi
    progress_end
    return $watched_status
}

# configure_and_build PRESET ARGUMENT...
configure_and_build() {
    preset=$1
    shift
    cd "$root" && cmake --preset "$preset" && cmake --build --preset "$preset" "$@"
}

# Puts nvcc's folder into PATH when it is not there: PATH, CUDA_HOME, /usr/local/cuda.
find_nvcc() {
    command -v nvcc >/dev/null 2>&1 && return 0
    for home in "${CUDA_HOME:-}" /usr/local/cuda; do
        if [ -n "$home" ] && [ -x "$home/bin/nvcc" ]; then
            PATH=$home/bin:$PATH
            export PATH
            return 0
        fi
    done
    return 1
}

# Whoever builds also needs the headers, which CMake looks for in CUDA_HOME.
need_nvcc() {
    if find_nvcc; then
        if [ -z "${CUDA_HOME:-}" ]; then
            # nvcc itself tells: it may be a link, or a script that starts an nvcc elsewhere.
            CUDA_HOME=$(nvcc -dryrun -x cu /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')
            CUDA_HOME=$(cd "${CUDA_HOME:-/usr/local/cuda}" 2>/dev/null && pwd -P)
            export CUDA_HOME
        fi
        return 0
    fi
    cat >&2 <<'END'
judge: there is no nvcc: not in PATH, not in $CUDA_HOME/bin, not in /usr/local/cuda/bin.
Install the CUDA Toolkit 13.0; a graphics card and a driver are not needed. On Debian 12:
  wget https://developer.download.nvidia.com/compute/cuda/repos/debian12/x86_64/cuda-keyring_1.1-1_all.deb
  sudo dpkg -i cuda-keyring_1.1-1_all.deb && sudo apt-get update
  sudo apt-get install cuda-toolkit-13-0
Other systems: https://developer.nvidia.com/cuda-downloads
If it is installed elsewhere: export CUDA_HOME=/where/it/is
END
    exit 3
}

# need_packages PACKAGE...: installs those that are missing, or prints the line that does.
need_packages() {
    missing=
    for package in "$@"; do
        case $(dpkg-query -W -f='${Status}' "$package" 2>/dev/null) in
        *" installed") ;;
        *) missing="$missing $package" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 || fail "these Debian packages, or their like, are missing:$missing"
    if [ "$(id -u)" = 0 ]; then
        sudo=
    elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
        sudo="sudo -n"
    else
        fail "packages are missing. Please run: sudo apt-get install -y$missing"
    fi
    log=$root/build/install.log
    mkdir -p "$root/build" || exit 3
    # shellcheck disable=SC2086
    if ! watched "installing$missing" "$log" \
        $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; then
        # The lists may be older than the mirror.
        if ! { watched "looking for packages" "$log" $sudo apt-get update && watched "installing$missing" "$log" \
            $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; }; then
            tail -n 20 "$log" >&2
            fail "apt-get could not install the packages. Please run: apt-get install -y$missing"
        fi
    fi
}

# is_stale: is a source newer than the last complete build? Folders count, so that a removed file does.
is_stale() {
    [ -x "$root/build/bin/judge" ] && [ -e "$root/build/.stamp" ] || return 0
    [ -n "$(find "$root/harness" "$root/CMakeLists.txt" "$root/CMakePresets.json" \
        -newer "$root/build/.stamp" ! -name '*.md' -print -quit)" ]
}

# locked COMMAND...: one build at a time; whoever waited looks again whether it is still needed.
locked() {
    # Tried first: a failed `exec` redirection would end the shell with a status of its own.
    if ! mkdir -p "$root/build" 2>/dev/null || ! ( : >>"$root/build/.lock" ) 2>/dev/null; then
        fail "the sources are newer than the build in $root/build, and $(id -un) may not write there. Ask its owner to run $self once, or work in a clone of your own"
    fi
    exec 9>>"$root/build/.lock"
    if ! flock -n 9; then
        progress "judge: another judge.sh is building; waiting for it"
        flock 9 || exit 3
    fi
    "$@"
    status=$?
    exec 9>&-
    return $status
}

build() {
    is_stale || return 0
    # shellcheck disable=SC2086
    need_packages $packages
    log=$root/build/build.log
    touch "$root/build/.stamp.new" # before the first source is read
    if ! (watched "building (once; one to three minutes)" "$log" \
        configure_and_build release --target judge runner sj_cudart); then
        tail -n 40 "$log" >&2
        fail "the build failed; the whole log is in $log"
    fi
    mv "$root/build/.stamp.new" "$root/build/.stamp"
}

# ---- the test suite ----

build_preset() {
    log=$root/build/test-$1.log
    if ! (watched "building the preset $1" "$log" configure_and_build "$1"); then
        tail -n 40 "$log" >&2
        fail "the preset $1 does not build; the whole log is in $log"
    fi
}

# run_tests PRESET ARGUMENT...: ctest; its own closing lines stand at the end. A skipped test prints
# why, which ctest shows only on request.
run_tests() {
    preset=$1
    shift
    printf '== preset %s\n' "$preset"
    (cd "$root" && ctest --preset "$preset" -j "$(nproc)" "$@") 9>&-
}

# Why tests were skipped: the first line that each printed.
skip_reasons() {
    file=$root/$1/Testing/Temporary/LastTest.log
    [ -f "$file" ] || return 0
    awk '/^[0-9]+\/[0-9]+ Test: / { name = $3; first = "" }
         /^-{20,}$/ { in_output = 1; next }
         in_output && first == "" && !/^<end of output>/ { first = $0 }
         /^<end of output>/ { in_output = 0 }
         /^Test (Skipped|Passed|Failed)/ { if (/Skipped/) printf "skipped %s: %s\n", name, first }' "$file"
}

# What the cases of each problem are worth, as its verify test said.
mutant_figures() {
    file=$root/$1/Testing/Temporary/LastTest.log
    [ -f "$file" ] || return 0
    sed -n 's/^\(ok    \|FAIL  \)\([a-z0-9-]*\): mutants: /\2: mutants: /p' "$file" | sort -u
}

labels="unit ptx vm e2e verify attack golden lint fuzz slow bench gpu"

# Tests that need minutes or a card run on request (./judge.sh test slow).
later="slow|gpu|bench"
# What is left to `all`, so that the suite takes less than ten minutes on two cores.
long="long|verify"
# What others among `all` do as well.
again="again"
# What a second build would only repeat, slowly.
not_in_asan="$later|lint|fuzz|e2e|verify"

# verdict STATUS...: the last line, and a status of 0 if each of them is.
verdict() {
    for one; do
        [ "$one" = 0 ] || {
            echo 'some tests failed, see above'
            return 1
        }
    done
    echo 'all tests passed'
}

run_suite() {
    # shellcheck disable=SC2086
    need_packages $packages $test_packages
    label=${1:-}
    build_preset ci
    if [ -z "$label" ]; then
        run_tests ci -LE "$later|$long"
        status=$?
        skip_reasons build-ci
        echo "(the rest of what CI runs: $0 test all)"
        verdict $status
        return
    fi
    if [ "$label" != all ]; then
        run_tests ci -L "^$label\$"
        status=$?
        skip_reasons build-ci
        mutant_figures build-ci
        verdict $status
        return
    fi
    build_preset asan
    run_tests asan -LE "$not_in_asan"
    asan=$?
    run_tests ci -LE "$later|$again"
    status=$?
    skip_reasons build-ci
    mutant_figures build-ci
    verdict $asan $status
}

SCANJUDGE_COMMAND=$0
SCANJUDGE_ROOT=$root
export SCANJUDGE_COMMAND SCANJUDGE_ROOT

if [ "${1:-}" = test ]; then
    [ $# -le 2 ] || {
        printf 'judge: test takes at most one label\n' >&2
        exit 2
    }
    case " $labels all " in
    *" ${2:-unit} "*) ;;
    *)
        printf 'judge: there is no label %s; the labels are %s, and all\n' "$2" "$labels" >&2
        exit 2
        ;;
    esac
    need_nvcc
    locked run_suite "${2:-}" && exit 0
    exit 1
fi

if is_stale; then
    need_nvcc # its headers are needed to build
    locked build || exit 3
fi
# Commands that compile look for nvcc themselves; the others do without.
exec "$root/build/bin/judge" "$@"
