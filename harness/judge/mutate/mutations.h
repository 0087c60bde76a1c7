/* mutations: one function per row of mutations.def (this folder only). */
#ifndef JUDGE_MUTATE_MUTATIONS_H
#define JUDGE_MUTATE_MUTATIONS_H

#include "judge/mutate/mutate.h"
#include "judge/mutate/tokens.h"

/* Does the mutation apply at token i? Then it adds its edits to `m`; else it leaves it alone. */
typedef void mutation_function(const struct tokens *t, size_t i, struct arena *arena,
                               struct mutant *m);

#define MUTATION(id, people) mutation_function mutation_##id;
#include "judge/mutate/mutations.def"
#undef MUTATION

#endif
