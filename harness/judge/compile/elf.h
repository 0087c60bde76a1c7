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

/* The first exported function, if there is one, that has the name of a function of the CUDA runtime
 * or driver, or of one of the C library that a runner calls (interposed.def): who defines it may
 * mean to be called in its place. "" if there is none. */
enum { ELF_NAME_BYTES = 128 };
int elf_interposes(const char *path, char name[ELF_NAME_BYTES], struct err *e);

#endif
