// expect: compile_error
// problem: bombs
#include "/dev/urandom"
