// expect: compile_error
// problem: bombs
// A file that waits for somebody to type.
#include "/dev/stdin"
#include "/dev/tty"
