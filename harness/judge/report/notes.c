#include "judge/report/notes.h"

#include "base/file.h"
#include "judge/report/compile_log.h"
#include "judge/report/entries.h"

#include <inttypes.h>
#include <string.h>

/* ---- paths ---- */

/* Without ".", ".." and doubled slashes. A ".." that leads above what is named stays. */
static const char *normal_path(const char *path, struct arena *a)
{
    char *out = arena_alloc(a, strlen(path) + 2);
    size_t root = path[0] == '/', length = root;
    out[0] = '/';
    while (*path) {
        size_t part = strcspn(path, "/");
        bool up = part == 2 && path[0] == '.' && path[1] == '.';
        size_t last = length;
        while (last > root && out[last - 1] != '/')
            last--;
        bool can_go = length > root && strcmp(out + last, "..") != 0;
        if (up && can_go) {
            length = last > root ? last - 1 : root;
        } else if (part > 0 && !(part == 1 && path[0] == '.') && !(up && root)) {
            if (length > root)
                out[length++] = '/';
            memcpy(out + length, path, part);
            length += part;
        }
        out[length] = '\0';
        path += part;
        path += *path == '/';
    }
    return out;
}

const char *report_path(const char *submission, const struct report_options *o, struct arena *arena)
{
    if (!o->here || !o->root)
        return normal_path(submission, arena);
    const char *whole =
        submission[0] == '/' ? submission : arena_printf(arena, "%s/%s", o->here, submission);
    whole = normal_path(whole, arena);
    const char *root = normal_path(o->root, arena);
    size_t length = strlen(root);
    if (length > 1 && strncmp(whole, root, length) == 0 && whole[length] == '/')
        return whole + length + 1;
    return submission[0] == '/' ? whole : normal_path(submission, arena);
}

/* ---- collecting ---- */

struct collector {
    struct notes *notes;
    unsigned capacity, first; /* `first`: of the result that is being told */
    const struct result *r;
    const struct report_options *o;
    const char *path;
    struct arena *arena;
};

static bool same_note(const struct note *a, const struct note *b)
{
    return strcmp(a->rule, b->rule) == 0 && a->is_error == b->is_error && a->line == b->line &&
           a->column == b->column && (a->line > 0 || strcmp(a->message, b->message) == 0);
}

/* Of a note: in how many further cases, and the last of them. */
struct more {
    unsigned cases;
    const char *last;
};

/* `n` with its title as yet without cases. */
static void add(struct collector *c, struct note n, struct more *more)
{
    struct notes *all = c->notes;
    n.result = c->r;
    n.path = strcmp(n.rule, verdict_name(VERDICT_judge_error)) == 0 ? NULL : c->path;
    for (unsigned i = c->first; i < all->count; i++)
        if (same_note(&all->items[i], &n)) {
            if (n.case_name && strcmp(more[i].last, n.case_name) != 0)
                more[i] = (struct more){more[i].cases + 1, n.case_name};
            return;
        }
    if (all->count == c->capacity)
        BUG("notes: more than there can be");
    more[all->count] = (struct more){0, n.case_name ? n.case_name : ""};
    all->items[all->count++] = n;
}

static void add_compiler(struct collector *c, struct more *more)
{
    struct compile_message m;
    const char *at = c->r->compile.log ? c->r->compile.log : "";
    while (compile_log_next(&at, file_base_name(c->r->submission), &m)) {
        const char *text = arena_strndup(c->arena, m.text, m.length);
        add(c,
            (struct note){.is_error = m.is_error,
                          .rule = m.is_error ? "compile_error" : "compile_warning",
                          .rule_says = m.is_error ? "the compiler refuses the program"
                                                  : "the compiler doubts the program",
                          .line = m.line,
                          .column = m.column,
                          .title = m.is_error ? "compile error" : "compiler warning",
                          .message = entry_clean(text, false, c->arena)},
            more);
    }
}

/* "data_race" -> "data race" */
static const char *in_words(const char *name, struct arena *a)
{
    char *words = arena_strdup(a, name);
    for (char *at = words; (at = strchr(at, '_'));)
        *at = ' ';
    return words;
}

static void add_finding(struct collector *c, const struct wire_finding *f, const char *case_name,
                        struct more *more)
{
    struct arena *a = c->arena;
    enum finding_kind kind = (enum finding_kind)f->kind;
    bool here = strcmp(f->file, file_base_name(c->r->submission)) == 0;
    const char *message = f->message;
    if (f->file[0] && !here)
        message = arena_printf(a, "%s:%" PRIu32 ": %s", f->file, f->line, f->message);
    if (f->kernel[0])
        message = arena_printf(a, "%s (in %s)", message, f->kernel);
    add(c,
        (struct note){.is_error = f->severity == WIRE_ERROR,
                      .rule = finding_name(kind),
                      .rule_says = finding_for_people(kind),
                      .line = here ? f->line : 0,
                      .title = in_words(finding_name(kind), a),
                      .message = entry_clean(message, false, a),
                      .case_name = case_name},
        more);
}

/* A case that failed, where nothing else tells of it. */
static void add_case(struct collector *c, const struct entry *e, struct more *more)
{
    bool told = false;
    for (unsigned i = 0; e->c && i < e->c->finding_count; i++)
        told |= e->c->findings[i].severity == WIRE_ERROR;
    told = told && !e->c->mismatch.output && !(e->c->diagnosis && e->c->diagnosis[0]);
    if (told || e->status == ENTRY_PASSED || e->status == ENTRY_SKIPPED)
        return;
    enum verdict v = e->c ? e->c->verdict : c->r->verdict;
    add(c,
        (struct note){.is_error = true,
                      .rule = verdict_name(v),
                      .rule_says = verdict_for_people(v),
                      .line = e->c && e->c->diagnosis ? 0 : e->line,
                      .title = verdict_for_people(v),
                      .message = e->headline[0] ? e->headline : verdict_for_people(v),
                      .case_name = e->c ? e->name : NULL},
        more);
}

static void add_result(struct collector *c, struct more *more)
{
    const struct result *r = c->r;
    struct entries entries = entries_of(r, c->o, c->arena);
    c->first = c->notes->count;
    add_compiler(c, more);
    bool compiler_told = c->notes->count > c->first && r->verdict == VERDICT_compile_error;
    for (unsigned i = 0; i < entries.count; i++) {
        const struct entry *e = &entries.items[i];
        for (unsigned k = 0; e->c && k < e->c->finding_count; k++)
            add_finding(c, &e->c->findings[k], e->name, more);
        if (!compiler_told)
            add_case(c, e, more);
    }
    for (unsigned i = 0; i < r->timing_count; i++)
        for (unsigned k = 0; k < r->timing[i].finding_count; k++)
            add_finding(c, &r->timing[i].findings[k], r->timing[i].size, more);
}

static unsigned most_of(const struct result *r)
{
    unsigned most = 1 + r->case_count;
    for (const char *at = r->compile.log; at && (at = strchr(at, '\n')); at++)
        most++;
    for (unsigned i = 0; i < r->case_count; i++)
        most += r->cases[i].finding_count;
    for (unsigned i = 0; i < r->timing_count; i++)
        most += r->timing[i].finding_count;
    return most + 1;
}

struct notes notes_of(const struct result *const *results, unsigned count,
                      const struct report_options *o, struct arena *arena)
{
    struct notes all = {0};
    struct collector c = {.notes = &all, .o = o, .arena = arena};
    for (unsigned i = 0; i < count; i++)
        c.capacity += most_of(results[i]);
    all.items = arena_array(arena, c.capacity, sizeof *all.items);
    struct more *more = arena_array(arena, c.capacity, sizeof *more);
    for (unsigned i = 0; i < count; i++) {
        c.r = results[i];
        c.path = report_path(c.r->submission, o, arena);
        add_result(&c, more);
    }
    for (unsigned i = 0; i < all.count; i++) {
        struct note *n = &all.items[i];
        if (!n->case_name)
            continue;
        const char *name = entry_clean(n->case_name, true, arena);
        n->title = more[i].cases ? arena_printf(arena, "%s, in case '%s' and %u more", n->title,
                                                name, more[i].cases)
                                 : arena_printf(arena, "%s, in case '%s'", n->title, name);
    }
    return all;
}
