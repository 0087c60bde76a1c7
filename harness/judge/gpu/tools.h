/* tools: NVIDIA's programs that run a program and watch it, and where they are. */
#ifndef JUDGE_GPU_TOOLS_H
#define JUDGE_GPU_TOOLS_H

#include "base/arena.h"

/* The path of `name` ("compute-sanitizer", "ncu"): in $PATH, else in the CUDA Toolkit `home`, else
 * in the usual folders. NULL: it is not installed. */
const char *tool_find(const char *name, const char *home, struct arena *arena);

#endif
