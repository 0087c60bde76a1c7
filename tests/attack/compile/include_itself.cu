// expect: compile_error
#include __FILE__
