/* file: reading, writing and naming files. Every descriptor is close-on-exec. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/* The whole regular file into `out` (initialised, cleared first). More than `max_bytes`, a folder
 * or a device is an error that says so. */
int file_read(const char *path, size_t max_bytes, struct text *out, struct err *e);

/* Writes to a temporary name beside `path` and renames: readers see the old file or the new. */
int file_write(const char *path, const void *bytes, size_t count, struct err *e);

int file_make_dirs(const char *path, struct err *e); /* mkdir -p */
int file_remove_tree(const char *path, struct err *e);
int file_copy(const char *from, const char *to, struct err *e);
bool file_exists(const char *path);
bool file_is_dir(const char *path);

/* The part after the last '/'. Points into `path`. */
const char *file_base_name(const char *path);

/* A fresh private folder under $TMPDIR or /tmp, its name in `path`. The caller removes it. */
int file_make_temp_dir(char *path, size_t path_bytes, const char *prefix, struct err *e);

#endif
