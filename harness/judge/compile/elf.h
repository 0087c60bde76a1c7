/* elf: which symbols a shared library defines, read from the file.
 *
 * The judge never loads a submission: its constructors would run. */
#ifndef JUDGE_COMPILE_ELF_H
#define JUDGE_COMPILE_ELF_H

#include "base/err.h"

enum elf_found {
    ELF_MISSING,
    ELF_DEFINED, /* a function of exactly this name */
    ELF_CPP,     /* only a C++ function of this name, mangled */
    ELF_NOT_A_FUNCTION,
};

/* Looks `name` up among the symbols that the 64-bit library at `path` exports. -1 if the file is
 * not one, or is damaged. */
int elf_find(const char *path, const char *name, enum elf_found *found, struct err *e);

#endif
