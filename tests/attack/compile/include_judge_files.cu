// expect: compile_error
// never: uniform(
// The cases of the problem, by way of the compiler's complaints about them.
#include ATTACK_ROOT_FILE
