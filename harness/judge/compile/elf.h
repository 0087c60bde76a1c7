/* elf: which symbols a shared library defines, read from the file.
 *
 * The judge never loads a submission: its constructors would run. */
#ifndef JUDGE_COMPILE_ELF_H
#define JUDGE_COMPILE_ELF_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

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

/* The contents of the section of that name, from its offset in the file that is `bytes` long.
 * false: there is none, or the file is no 64-bit library. */
bool elf_section(const void *file, size_t bytes, const char *name, size_t *offset, size_t *length);

/* Do two libraries hold the same code, of the host and of the device (same_code.c)? What differs
 * only in where it stood in the source is the same. false if one cannot be read. */
bool elf_same_code(const char *a, const char *b);

#endif
