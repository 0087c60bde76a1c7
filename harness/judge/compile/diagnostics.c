/* How it works: the output is cut into messages (a line that starts one, with what belongs to it:
 * "In file included from" before, source excerpt and caret after), and each is kept, dropped or
 * rewritten as a whole. */
#include "judge/compile/diagnostics.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one line ---- */

static void replace_all(struct text *line, const char *what, const char *with)
{
    if (!what || !what[0] || strcmp(what, with) == 0)
        return;
    struct text result;
    text_init(&result);
    const char *at = text_str(line);
    for (const char *found; (found = strstr(at, what)); at = found + strlen(what)) {
        text_addn(&result, at, (size_t)(found - at));
        text_add(&result, with);
    }
    text_add(&result, at);
    text_release(line);
    *line = result;
}

/* "tmpxft_0000676a_00000000-6_.scanjudge.ptx" -> "a.ptx", for a source a.cu. */
static void replace_temporaries(struct text *line, const char *source)
{
    static const char START[] = "tmpxft_";
    if (!strstr(text_str(line), START))
        return;
    const char *dot = strrchr(source, '.');
    int stem = dot && dot != source ? (int)(dot - source) : (int)strlen(source);
    struct text result;
    text_init(&result);
    const char *at = text_str(line);
    for (const char *found; (found = strstr(at, START));) {
        text_addn(&result, at, (size_t)(found - at));
        size_t length = strcspn(found, " \t:,;()\"'");
        const char *extension = found + length;
        while (extension > found && *extension != '.')
            extension--;
        if (extension == found)
            extension = found + length;
        text_addf(&result, "%.*s%.*s", stem, source, (int)(found + length - extension), extension);
        at = found + length;
    }
    text_add(&result, at);
    text_release(line);
    *line = result;
}

/* ---- one message ---- */

/* NAME(12): or NAME:12:, NAME being `name` if that is given; 0 if the line does not start so. */
static unsigned position(const char *line, const char *name)
{
    size_t length = name ? strlen(name) : strcspn(line, "(:");
    if ((name && strncmp(line, name, length) != 0) || (line[length] != '(' && line[length] != ':'))
        return 0;
    char *end;
    unsigned long number = strtoul(line + length + 1, &end, 10);
    if (end == line + length + 1 || number > 1000000000)
        return 0;
    return line[length] == '(' ? (end[0] == ')' && end[1] == ':' ? (unsigned)number : 0)
                               : (*end == ':' ? (unsigned)number : 0);
}

static bool starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_included_from(const char *line)
{
    return starts_with(line, "In file included from ") ||
           (starts_with(line, "       ") && strstr(line, " from ") != NULL &&
            strspn(line, " ") == strlen("                 "));
}

static bool starts_message(const char *line)
{
    return position(line, NULL) > 0 || is_included_from(line) || starts_with(line, "ptxas ") ||
           starts_with(line, "nvcc ") || starts_with(line, "At end of source") ||
           strstr(line, " detected in the compilation of ") != NULL;
}

/* What to change, by what the compiler has against the wrapper's declaration. */
static const struct {
    const char *complaint, *advice;
} ADVICE[] = {
    {"linkage specification is incompatible",
     "write extern \"C\" before it; it can be neither static nor a kernel"},
    {"more than one instance of overloaded function",
     "give it exactly these parameter types, in this order"},
    {"distinguished by return type", "it has to return void"},
    {"declaration is incompatible with", "the name has to be that of a function like this one"},
};

static void add_signature_error(const struct diagnostics_context *c, const char *complaint,
                                struct text *out)
{
    const char *advice = NULL;
    for (size_t i = 0; i < sizeof ADVICE / sizeof ADVICE[0] && !advice; i++)
        if (strstr(complaint, ADVICE[i].complaint))
            advice = ADVICE[i].advice;
    const char *declared = strstr(complaint, "(declared at line ");
    unsigned long line = declared ? strtoul(declared + strlen("(declared at line "), NULL, 10) : 0;
    if (line > 0)
        text_addf(out, "%s(%lu): ", c->source, line);
    else
        text_addf(out, "%s: ", c->source);
    text_addf(out,
              "error: the entry point does not have the expected signature\n"
              "  expected: %s\n",
              c->prototype);
    if (advice)
        text_addf(out, "  to change: %s\n", advice);
    if (strstr(c->prototype, "long long"))
        text_add(out, "  64 bits: int64_t is `long` here, another type: write long long as above "
                      "(for uint64_t, unsigned long long)\n");
    const char *error = strstr(complaint, "error: ");
    if (error)
        text_addf(out, "  the compiler says: %.*s\n", (int)strcspn(error + 7, "\n"), error + 7);
    text_addc(out, '\n');
}

/* ---- features of later cards ---- */

struct need {
    unsigned target; /* 0: none */
    const char *what;
    size_t what_length;
};

static const struct {
    const char *complaint, *also;
    unsigned target;
    const char *what;
} FEATURES[] = {
#define FEATURE(complaint, also, target, what) {complaint, also, target, what},
#include "judge/compile/features.def"
#undef FEATURE
};

/* Keeps the highest need. */
static void note_need(struct need *n, unsigned target, const char *what, size_t what_length)
{
    if (target > n->target)
        *n = (struct need){target, what, what_length};
}

/* "Feature 'cp.async' requires .target sm_80 or higher", and libcu++'s functions that are only
 * declared: "..._is_not_supported_before_SM_90__". */
static void note_named_needs(struct need *n, const char *line)
{
    static const char SM[] = "requires .target sm_", BEFORE[] = "_is_not_supported_before_SM_";
    const char *at = strstr(line, SM), *name = strchr(line, '\'');
    if (at && name && name < at) {
        const char *end = strchr(name + 1, '\'');
        note_need(n, (unsigned)strtoul(at + sizeof SM - 1, NULL, 10), name + 1,
                  (size_t)((end ? end : at) - name - 1));
    }
    at = strstr(line, BEFORE);
    if (!at)
        return;
    name = at;
    while (name > line && (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z') ||
                           (name[-1] >= '0' && name[-1] <= '9')))
        name--;
    static const char PREFIX[] = "__cuda_ptx_";
    if (starts_with(name, PREFIX))
        name += sizeof PREFIX - 1;
    note_need(n, (unsigned)strtoul(at + sizeof BEFORE - 1, NULL, 10), name, (size_t)(at - name));
}

static void note_needs(struct need *n, const char *message)
{
    if (!strstr(message, "error") && !strstr(message, "fatal"))
        return;
    for (size_t i = 0; i < sizeof FEATURES / sizeof FEATURES[0]; i++)
        if (strstr(message, FEATURES[i].complaint) && strstr(message, FEATURES[i].also))
            note_need(n, FEATURES[i].target, FEATURES[i].what, strlen(FEATURES[i].what));
    note_named_needs(n, message);
}

static void add_need(const struct diagnostics_context *c, const struct need *n, struct text *out)
{
    unsigned has = c->target ? (unsigned)strtoul(c->target, NULL, 10) : 0;
    if (!has || n->target <= has)
        return;
    text_addf(out,
              "%s: %.*s needs a card of compute capability %u.%u; this was compiled for %u.%u\n",
              c->source, (int)n->what_length, n->what, n->target / 10, n->target % 10, has / 10,
              has % 10);
    if (c->wrapper)
        text_addf(out,
                  "  this exercise compiles for %u.%u (`target: %u` in its problem.yaml "
                  "would allow it): do without\n\n",
                  has / 10, has % 10, n->target);
    else
        text_addf(out, "  compile for it: exec --target %u\n\n", n->target);
}

struct rewriting {
    const struct diagnostics_context *context;
    struct text signature, others; /* what goes first, and the rest */
    struct text message;           /* being collected; lines that end with '\n' */
    struct need need;
    bool has_head; /* it has its own first line, not only "In file included from" */
};

/* The first line that is not "In file included from". */
static const char *head_of(const char *message)
{
    while (*message && is_included_from(message)) {
        const char *end = strchr(message, '\n');
        if (!end)
            break;
        message = end + 1;
    }
    return message;
}

/* Names of the wrapper and of the temporary folder out of `message`. */
static void clean_names(const struct diagnostics_context *c, struct text *message)
{
    if (c->wrapper) {
        char top[512], below[512];
        snprintf(top, sizeof top, "In file included from %s:1:\n", c->wrapper);
        snprintf(below, sizeof below, ",\n                 from %s:1:\n", c->wrapper);
        replace_all(message, below, ":\n");
        replace_all(message, top, "");
        replace_all(message, c->wrapper, c->source);
    }
    char folder[4200];
    snprintf(folder, sizeof folder, "%s/", c->work_folder);
    replace_all(message, folder, "");
    replace_temporaries(message, c->source);
    replace_all(message, c->compiled_name, c->source);
}

static void end_message(struct rewriting *r)
{
    const struct diagnostics_context *c = r->context;
    struct text *message = &r->message;
    const char *head = head_of(text_str(message));
    unsigned line = c->wrapper ? position(head, c->wrapper) : 0;
    note_needs(&r->need, text_str(message));
    if (line == c->declaration_line && line > 0) {
        /* "Not allowed" is inside of a brace that the submission left open: said elsewhere. */
        if (r->signature.length == 0 && !strstr(head, "linkage specification is not allowed"))
            add_signature_error(c, head, &r->signature);
    } else if ((line == c->end_line && line > 0) || starts_with(head, "At end of source: ")) {
        const char *colon = strstr(head, ": ");
        text_addf(&r->others, "%s: at the end of the file%.*s\n\n", c->source,
                  (int)strcspn(colon ? colon : "", "\n"), colon ? colon : "");
    } else if (message->length && !starts_with(head, "Remark: The warnings can be suppressed")) {
        clean_names(c, message);
        if (!strstr(text_str(&r->others), text_str(message)))
            text_addn(&r->others, message->data, message->length);
    }
    text_clear(message);
    r->has_head = false;
}

void diagnostics_rewrite(const struct diagnostics_context *c, const char *raw, struct text *out)
{
    struct rewriting r = {.context = c};
    text_init(&r.signature);
    text_init(&r.others);
    text_init(&r.message);
    while (*raw) {
        size_t length = strcspn(raw, "\n");
        bool ends = raw[length] == '\n';
        struct text line;
        text_init(&line);
        text_addn(&line, raw, length);
        const char *s = text_str(&line);
        if ((starts_message(s) && r.has_head) || starts_with(s, "Remark: "))
            end_message(&r);
        text_addf(&r.message, "%s\n", s);
        r.has_head |= !is_included_from(s);
        text_release(&line);
        raw += length + ends;
    }
    end_message(&r);
    text_addn(out, text_str(&r.signature), r.signature.length);
    text_addn(out, text_str(&r.others), r.others.length);
    add_need(c, &r.need, out);
    text_release(&r.signature);
    text_release(&r.others);
    text_release(&r.message);
}

void diagnostics_missing_entry(const struct diagnostics_context *c, const char *entry, int is_cpp,
                               struct text *out)
{
    struct text rest = *out;
    text_init(out);
    text_addf(out,
              "%s: error: the file defines no function %s that can be called from outside\n"
              "  expected: %s\n"
              "  to change: %s\n\n",
              c->source, entry, c->prototype,
              is_cpp
                  ? "there is a C++ function of that name: write extern \"C\" before it and give "
                    "it exactly these parameters"
                  : "define it under exactly this name, and not static");
    text_addn(out, text_str(&rest), rest.length);
    text_release(&rest);
}

void diagnostics_cut(struct text *text, size_t bytes)
{
    if (text->length <= bytes)
        return;
    size_t head = bytes / 2, tail = text->length - (bytes - head);
    while (head > 0 && text->data[head - 1] != '\n')
        head--;
    if (head == 0)
        head = bytes / 2; /* one endless line */
    while (tail < text->length && text->data[tail - 1] != '\n')
        tail++;
    if (tail == text->length)
        tail = text->length - (bytes - bytes / 2);
    struct text result;
    text_init(&result);
    text_addn(&result, text->data, head);
    text_addf(&result, "\n... (%zu bytes of the compiler's output left out here) ...\n\n",
              tail - head);
    text_addn(&result, text->data + tail, text->length - tail);
    text_release(text);
    *text = result;
}
