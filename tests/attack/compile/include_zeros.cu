// expect: compile_error
// problem: bombs
// A file without end.
#include "/dev/zero"
