/* The YAML comes first and is loaded like any other; the rest is written from what was loaded, so
 * that the signature in a statement or a starter cannot be another one than the judge's. */
#include "judge/problem/scaffold.h"

#include "base/text.h"
#include "judge/problem/problem.h"

#include <ctype.h>
#include <string.h>

enum { VARIABLES_MAX = 16 };

/* ---- the description ---- */

int scaffold_add_buffer(struct scaffold *s, const char *words, bool is_output, struct arena *arena,
                        struct err *e)
{
    const char *type = strchr(words, ':'), *shape = type ? strchr(type + 1, ':') : NULL;
    if (!type || !shape || !shape[1] || type == words || shape == type + 1)
        return err_set(
            e, "'%s' is not name:type:shape, such as in:int32:n or a:float32:rows,columns", words);
    if (s->buffer_count == SCAFFOLD_BUFFERS_MAX)
        return err_set(e, "more than %d inputs and outputs", SCAFFOLD_BUFFERS_MAX);
    const char *name = arena_strndup(arena, type + 1, (size_t)(shape - type - 1));
    size_t length = strlen(name);
    if (wire_type_find(name, length) == WIRE_TYPE_COUNT || strcmp(name, "void") == 0) {
        const char *list = "";
        for (int t = 0; t < WIRE_TYPE_COUNT; t++)
            if (t != WIRE_void)
                list = arena_printf(arena, "%s%s%s", list, list[0] ? ", " : "",
                                    wire_type_name((enum wire_type)t));
        return err_set(e, "'%s': there is no element type '%s'; allowed: %s", words, name, list);
    }
    s->buffers[s->buffer_count++] =
        (struct scaffold_buffer){arena_strndup(arena, words, (size_t)(type - words)), name,
                                 arena_strdup(arena, shape + 1), is_output};
    return 0;
}

/* The names in all shapes, each once, in order: those are the variables of a case. */
static unsigned find_variables(const struct scaffold *s, struct arena *arena,
                               const char *names[VARIABLES_MAX])
{
    static const char *const FUNCTIONS[] = {"min", "max", "ceil_div", "align_up"};
    unsigned count = 0;
    for (unsigned b = 0; b < s->buffer_count; b++)
        for (const char *at = s->buffers[b].shape; *at;) {
            size_t length = 0;
            while (isalnum((unsigned char)at[length]) || at[length] == '_')
                length++;
            bool known = length == 0 || isdigit((unsigned char)*at) || count == VARIABLES_MAX;
            const char *name = arena_strndup(arena, at, length);
            for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++)
                known |= strcmp(FUNCTIONS[i], name) == 0;
            for (unsigned i = 0; i < count; i++)
                known |= strcmp(names[i], name) == 0;
            if (!known)
                names[count++] = name;
            at += length ? length : 1;
        }
    return count;
}

/* ---- problem.yaml ---- */

/* A text in single quotes, which YAML takes as it stands. */
static void add_quoted(struct text *t, const char *s)
{
    text_addc(t, '\'');
    for (; *s; s++)
        text_add(t, *s == '\'' ? "''" : (char[2]){*s, '\0'});
    text_addc(t, '\'');
}

/* Small values, with zeros and equal ones among them; or large ones, which a half-precision answer
 * or a sum in a smaller type gets wrong. As far as the type has room. */
static const char *generator_for(const char *type, bool large)
{
    enum wire_type t = wire_type_find(type, strlen(type));
    unsigned bytes = wire_type_bytes(t);
    char kind = wire_type_kind(t);
    if (!large)
        return kind == 'u' ? "uniform(0, 9)" : "uniform(-9, 9)";
    if (kind == 'f')
        return bytes > 2 ? "uniform(-99999, 99999)" : "uniform(-99, 99)";
    if (bytes < 4)
        return kind == 'u' ? (bytes == 1 ? "uniform(0, 255)" : "uniform(0, 65535)")
                           : (bytes == 1 ? "uniform(-128, 127)" : "uniform(-32768, 32767)");
    if (kind == 'u')
        return bytes == 4 ? "uniform(0, 999999)" : "uniform(0, 99999999999)";
    return bytes == 4 ? "uniform(-999999, 999999)" : "uniform(-99999999999, 99999999999)";
}

static void add_inputs(struct text *t, const struct scaffold *s, bool large)
{
    for (unsigned i = 0; i < s->buffer_count; i++)
        if (!s->buffers[i].is_output)
            text_addf(t, ", %s: \"%s\"", s->buffers[i].name,
                      generator_for(s->buffers[i].type, large));
    text_add(t, "}\n");
}

/* A sweep over the first variable; the others take small values. */
static void add_sweep(struct text *t, const struct scaffold *s, const char *const *names,
                      unsigned count, const char *label, const char *values, const char *others,
                      bool visible)
{
    text_addf(t, "  - {name: \"%s%s={%s}", label, names[0], names[0]);
    for (unsigned i = 1; i < count; i++)
        text_addf(t, " %s={%s}", names[i], names[i]);
    text_addf(t, "\"%s, %s: [%s]", visible ? ", public: true" : "", names[0], values);
    for (unsigned i = 1; i < count; i++)
        text_addf(t, ", %s: [%s]", names[i], others);
    add_inputs(t, s, !visible);
}

static void add_cases(struct text *t, const struct scaffold *s, const char *const *names,
                      unsigned count)
{
    text_add(t, "cases:\n"
                "  # Shown to students: small, and around warps and blocks.\n");
    add_sweep(t, s, names, count, "", "0, 1, 2, 31, 32, 33, 255, 256, 257, 1024", "1", true);
    text_add(t,
             "  # Hidden: sizes that one does not think of, large values, many blocks, more than "
             "16 bits.\n");
    add_sweep(t, s, names, count, "hidden ", "3, 63, 65, 511, 512, 513, 1023, 2049, 4100", "2, 3",
              false);
    /* Not multiples of four: nvcc unrolls a loop whose counter is too short so that only the rest
     * of its turns, and with it the last items, go wrong. */
    add_sweep(t, s, names, count, "large ", "33003, 65539, 70003", "3", false);
    if (count > 1)
        add_sweep(t, s, names, count, "wide ", "2", "40001", false);
}

/* A shape is a list of expressions; commas outside of brackets part them. */
static void add_buffer(struct text *t, const struct scaffold_buffer *b)
{
    int depth = 0;
    text_addf(t, "  - {name: %s, type: %s*, role: %s, shape: [\"", b->name, b->type,
              b->is_output ? "output" : "input");
    for (const char *c = b->shape; *c; c++) {
        depth += (*c == '(') - (*c == ')');
        if (*c == ',' && depth == 0)
            text_add(t, "\", \"");
        else if (*c != '"')
            text_addc(t, *c);
    }
    text_add(t, "\"]}\n");
}

static const char *make_yaml(const struct scaffold *s, const char *const *names, unsigned count,
                             struct arena *arena)
{
    struct text t;
    text_init(&t);
    text_add(&t, "# Every key is explained in problems/README.md.\nformat: 1\ntitle: {en: ");
    add_quoted(&t, s->title);
    if (s->title_zh) {
        text_add(&t, ", zh: ");
        add_quoted(&t, s->title_zh);
    }
    text_addf(&t, "}\ndifficulty: %s\ntags: []\nafter: [", s->difficulty);
    for (unsigned i = 0; i < s->after_count; i++)
        text_addf(&t, "%s%s", i ? ", " : "", s->after[i]);
    text_addf(&t, "]\n\nentry: %s\nvariables:\n", s->entry);
    for (unsigned i = 0; i < count; i++)
        text_addf(&t, "  %s: {type: int32, min: %d}\n", names[i], i > 0);
    text_add(&t, "parameters:\n");
    for (unsigned i = 0; i < s->buffer_count; i++)
        add_buffer(&t, &s->buffers[i]);
    for (unsigned i = 0; i < count; i++)
        text_addf(&t, "  - {name: %s, type: int32, value: %s}\n", names[i], names[i]);
    text_add(&t, "  - {name: stream, type: stream}\n\ncheck:\n");
    for (unsigned i = 0; i < s->buffer_count; i++)
        if (s->buffers[i].is_output)
            text_addf(&t, "  %s: exact\n", s->buffers[i].name);
    text_add(&t, "reference: serial.cu # what it computes is right\n\n");
    add_cases(&t, s, names, count);
    text_add(&t, "\nlimits: {time: 10 s, memory: 2 GiB, compile_time: 180 s, output: 1 MiB}\n");
    const char *yaml = arena_strdup(arena, text_str(&t));
    text_release(&t);
    return yaml;
}

/* ---- statements ---- */

static void add_example(struct text *t, const struct problem *p)
{
    text_add(t, "```example\n");
    for (unsigned i = 0; i < p->variable_count; i++)
        text_addf(t, "%s = %d\n", p->variables[i].name, i ? 1 : 4);
    struct arena arena;
    struct problem_case c = {.name = "example"};
    struct case_data data;
    struct err e;
    arena_init(&arena);
    c.values = arena_array(&arena, p->variable_count, sizeof *c.values);
    for (unsigned i = 0; i < p->variable_count; i++)
        c.values[i] = i ? 1 : 4;
    bool sized = problem_case_sizes(p, &c, 1, &arena, &data, &e) == 0;
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct problem_param *m = &p->params[i];
        if (m->kind != PARAM_BUFFER)
            continue;
        text_addf(t, "%s =", m->name);
        static const int VALUES[] = {3, 1, 7, 0, 4, 1, 6, 3};
        for (uint64_t k = 0; sized && !problem_is_output(m) && k < data.buffers[i].count; k++)
            text_addf(t, " %d", VALUES[k % 8]);
        text_add(t, problem_is_output(m) ? " ?\n" : "\n");
    }
    text_add(t, "```\n");
    arena_release(&arena);
}

static const char *make_statement(const struct scaffold *s, const struct problem *p, bool chinese,
                                  struct arena *arena)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "# %s\n\n%s\n\n```cuda\n%s;\n```\n\n%s\n\n",
              chinese && s->title_zh ? s->title_zh : s->title,
              chinese ? "用一句话说明要计算什么。" : "Say in a sentence what is to be computed.",
              problem_prototype(p, arena),
              chinese ? "给出公式，然后是例子（`?` 的内容由 `judge.sh verify` 告诉你）："
                      : "Give the formula; then examples (`judge.sh verify` tells what belongs "
                        "where a `?` is):");
    add_example(&t, p);
    text_add(&t, chinese ? "\n## 约定\n\n- 数组都在设备内存里，互不重叠。\n- 长度为 0 时会怎样？\n"
                           "- 输入不许改动。\n- 所有工作都放在 `stream` 上。\n"
                         : "\n## Rules\n\n- All arrays are device memory and do not overlap.\n"
                           "- What happens when there is nothing to do?\n"
                           "- Inputs stay unchanged.\n- All work goes on `stream`.\n");
    const char *text = arena_strdup(arena, text_str(&t));
    text_release(&t);
    return text;
}

/* ---- the .cu files ---- */

/* "const int *in, int *out, int n": the parameters without the stream. */
static const char *kernel_parameters(const struct problem *p, struct arena *arena)
{
    const char *prototype = problem_prototype(p, arena), *open = strchr(prototype, '(') + 1;
    const char *stream = strstr(open, ", cudaStream_t");
    return arena_strndup(arena, open, (size_t)(stream - open));
}

static const char *arguments(const struct problem *p, struct arena *arena)
{
    const char *list = "";
    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].kind != PARAM_STREAM)
            list = arena_printf(arena, "%s%s%s", list, i ? ", " : "", p->params[i].name);
    return list;
}

static const char *make_reference(const struct problem *p, struct arena *arena)
{
    return arena_printf(
        arena,
        "// The plainest solution: one thread, one loop. Its answers are the expected ones.\n"
        "__global__ void %s_serial(%s)\n{\n    // Fill this in.\n}\n\n%s\n{\n"
        "    %s_serial<<<1, 1, 0, stream>>>(%s);\n}\n",
        p->entry, kernel_parameters(p, arena), problem_prototype(p, arena), p->entry,
        arguments(p, arena));
}

static const char *make_starter(const struct problem *p, struct arena *arena)
{
    return arena_printf(arena,
                        "__global__ void %s_kernel(%s)\n{\n    int i = blockIdx.x * blockDim.x + "
                        "threadIdx.x;\n    // Your code.\n    (void)i;\n}\n\n%s\n{\n    int blocks "
                        "= 1; // how many do you need?\n    %s_kernel<<<blocks, 256, 0, "
                        "stream>>>(%s);\n}\n",
                        p->entry, kernel_parameters(p, arena), problem_prototype(p, arena),
                        p->entry, arguments(p, arena));
}

static const char *make_wrong(const struct problem *p, struct arena *arena)
{
    return arena_printf(arena,
                        "// expect: wrong_answer\n// Launches nothing: what was there stays.\n"
                        "%s\n{\n    (void)stream;\n}\n",
                        problem_prototype(p, arena));
}

int scaffold_files(const struct scaffold *s, struct arena *arena,
                   struct scaffold_file files[SCAFFOLD_FILES_MAX], unsigned *count, struct err *e)
{
    const char *names[VARIABLES_MAX];
    unsigned variables = find_variables(s, arena, names);
    struct problem p;
    unsigned outputs = 0;
    for (unsigned i = 0; i < s->buffer_count; i++)
        outputs += s->buffers[i].is_output;
    if (outputs == 0 || outputs == s->buffer_count)
        return err_set(e, "a problem needs an input and an output at least");
    if (variables == 0)
        return err_set(e, "no shape names a variable, such as the n of in:int32:n: every case "
                          "would be the same size");
    const char *file = arena_printf(arena, "problems/%s/problem.yaml", s->id);
    const char *yaml = make_yaml(s, names, variables, arena);
    if (problem_parse(file, yaml, strlen(yaml), arena, &p, e) != 0)
        return -1;
    const struct scaffold_file all[] = {
        {file, yaml},
        {arena_printf(arena, "problems/%s/statement.md", s->id),
         make_statement(s, &p, false, arena)},
        {arena_printf(arena, "problems/%s/statement.zh.md", s->id),
         make_statement(s, &p, true, arena)},
        {arena_printf(arena, "problems/%s/starter.cu", s->id), make_starter(&p, arena)},
        {arena_printf(arena, "reference/%s/serial.cu", s->id), make_reference(&p, arena)},
        {arena_printf(arena, "submissions/%s/wrong_answer/writes_nothing.cu", s->id),
         make_wrong(&p, arena)},
    };
    *count = sizeof all / sizeof all[0];
    memcpy(files, all, sizeof all);
    return 0;
}
