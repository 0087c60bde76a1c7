/* For the checker of a problem: a C or CUDA program that says whether an answer is right.
 *
 *   #include "checker.h"
 *
 *   int main(void)
 *   {
 *       const int *out = checker_got("out");
 *       size_t n = checker_count("out");
 *       for (size_t i = 1; i < n; i++)
 *           if (out[i - 1] > out[i])
 *               checker_wrong("out[%zu] is larger than what follows it", i - 1);
 *       checker_accept();
 *   }
 *
 * The program runs shut in, without arguments that matter, in a folder with these files:
 *   case.txt        a line each: `case NAME`, `variable NAME VALUE`, `input|output NAME TYPE COUNT`
 *   in.NAME         the bytes of an input (of an inout: before the call)
 *   got.NAME        what the submission left in an output
 *   expected.NAME   what the oracle or the reference says
 * It ends with status 42: accepted, or 43: wrong. What it prints is shown to the student as the
 * reason; so it says nothing that gives the data of a hidden case away. Any other end is a fault of
 * the problem, not of the submission. */
#ifndef CHECKER_H
#define CHECKER_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKER_ACCEPTED = 42, CHECKER_WRONG = 43, CHECKER_BROKEN = 1 };

static inline void checker_broken(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", what, name);
    exit(CHECKER_BROKEN);
}

/* The bytes of a file, one after the other. */
static inline void *checker_file(const char *kind, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s.%s", kind, name);
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0)
        checker_broken("there is no such file", path);
    long size = ftell(f);
    rewind(f);
    void *bytes = calloc(1, (size_t)size + 1);
    if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size)
        checker_broken("cannot be read", path);
    fclose(f);
    return bytes;
}

/* Arrays of elements of the type that problem.yaml gives. In C++: cast. */
static inline void *checker_in(const char *name)
{
    return checker_file("in", name);
}
static inline void *checker_got(const char *name)
{
    return checker_file("got", name);
}
static inline void *checker_expected(const char *name)
{
    return checker_file("expected", name);
}

/* The word behind `what NAME` in case.txt, the `skip`-th of them. */
static inline long long checker_number(const char *what, const char *name, int skip)
{
    char line[1024], kind[32], found[256], first[256], second[256];
    FILE *f = fopen("case.txt", "r");
    while (f && fgets(line, sizeof line, f)) {
        second[0] = '\0';
        if (sscanf(line, "%31s %255s %255s %255s", kind, found, first, second) >= 3 &&
            strstr(what, kind) && strcmp(found, name) == 0) {
            fclose(f);
            return strtoll(skip ? second : first, NULL, 10);
        }
    }
    checker_broken("case.txt does not name", name);
    return 0;
}

/* A variable of the case. */
static inline long long checker_variable(const char *name)
{
    return checker_number("variable", name, 0);
}

/* The elements of an input or output. */
static inline size_t checker_count(const char *name)
{
    return (size_t)checker_number("input output", name, 1);
}

static inline void checker_accept(void)
{
    exit(CHECKER_ACCEPTED);
}

/* Wrong, and why, in a sentence. */
static inline void checker_wrong(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    exit(CHECKER_WRONG);
}

#endif
