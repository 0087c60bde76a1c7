/* err: why something that is not the submission's fault failed.
 *
 * Three kinds of failure are never mixed: the submission failed (data: a verdict and findings),
 * we or the machine failed (-1 and a filled struct err), the impossible (BUG).
 * A message is a whole sentence that names the file or the value. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

struct err {
    char text[1024];
};

/* Fills `e` (may be NULL) and returns -1, so that `return err_set(...)` reads well. */
int err_set(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same with ": strerror(errno)" added. */
int err_set_errno(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A state that only a fault in this program can reach: prints and aborts. */
#define BUG(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_at(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
