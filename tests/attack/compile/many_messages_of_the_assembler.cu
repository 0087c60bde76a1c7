// expect: compile_error
// problem: bombs
asm(".rept 100000000\n.warning \"accepted\"\n.endr");
