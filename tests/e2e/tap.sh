# What tests in shell share: TAP-like lines as those of e2e.c, and the last call of the judge.
# Sourced; needs $judge. `call` leaves stdout and stderr in the files out and errors, and $status.

checks=0 failures=0

# check WHAT WHY: good if WHY is empty.
check() {
    checks=$((checks + 1))
    if [ -z "$2" ]; then
        echo "ok $checks - $1"
    else
        failures=$((failures + 1))
        echo "not ok $checks - $1"
        printf '%s\n' "$2" | head -n 40 | sed 's/^/#   /'
    fi
}

call() {
    "$judge" "$@" >out 2>errors
    status=$?
}

# check_status WHAT STATUS: of the last call.
check_status() {
    check "$1" "$([ "$status" = "$2" ] || { echo "status $status, expected $2"; cat errors out; })"
}

# check_says WHAT TEXT: the last call printed it.
check_says() {
    check "$1" "$(grep -qF -e "$2" out errors || { echo "nothing says '$2':"; cat errors out; })"
}

check_count() {
    check "$1" "$([ "$2" = "$3" ] || echo "$3, expected $2")"
}

done_testing() {
    echo "1..$checks"
    [ "$failures" = 0 ] || echo "# $failures of $checks failed"
    [ "$failures" = 0 ] && [ "$checks" -gt 0 ]
    exit
}
