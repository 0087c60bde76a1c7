// expect: compile_error
// A flood of messages; what is kept of it is cut, and says so.
#define A(x) x x x x x x x x x x
#define B(x) A(A(A(x)))
_Pragma("nv_diag_error 177")
void f()
{
    B(undeclared();)
    B(undeclared();)
    B(undeclared();)
}
