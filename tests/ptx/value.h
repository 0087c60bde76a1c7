/* value: one value of a case file. Private to the case reader. */
#ifndef TESTS_PTX_VALUE_H
#define TESTS_PTX_VALUE_H

#include "case.h"

/* PTX_NONE: not a type of case files. */
enum ptx_type type_by_text(const char *text, size_t length);
/* One token; `expected`: of an output, where "-", "nan" and tolerances mean something. Changes
 * `text`. False: not a value of this type, or one that does not fit. */
bool value_read(char *text, enum ptx_type t, bool expected, struct value *out);

#endif
