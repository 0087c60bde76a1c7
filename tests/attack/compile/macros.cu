// expect: compile_error
// problem: bombs
// Ten to the tenth words of source.
#define A(x) x x x x x x x x x x
#define B(x) A(A(x))
#define C(x) B(B(x))
#define D(x) C(C(x))
int many[] = {D(B(1, ))};
