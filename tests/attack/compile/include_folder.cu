// expect: compile_error
#include "/"
