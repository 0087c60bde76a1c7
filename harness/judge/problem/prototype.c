/* The declaration that a submission's entry must match, as the statement prints it. */
#include "base/text.h"
#include "judge/problem/problem.h"

const char *problem_prototype(const struct problem *p, struct arena *arena)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "extern \"C\" void %s(", p->entry);
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *m = &p->params[i];
        if (i)
            text_add(&t, ", ");
        if (m->kind == PARAM_STREAM)
            text_addf(&t, "cudaStream_t %s", m->name);
        else if (m->kind == PARAM_SCALAR)
            text_addf(&t, "%s %s", wire_type_c_name(m->type), m->name);
        else
            text_addf(&t, "%s%s *%s", m->is_const ? "const " : "", wire_type_c_name(m->type),
                      m->name);
    }
    text_add(&t, ")");
    const char *prototype = arena_strdup(arena, text_str(&t));
    text_release(&t);
    return prototype;
}
