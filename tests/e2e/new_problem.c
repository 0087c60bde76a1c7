/* What an instructor does, by problems/README.md: new-problem writes the files, the kernel is
 * filled in, the examples' answers are written where `?` stands, and verify is green. By options
 * and by dialogue; nothing is overwritten; what makes no problem is refused before a file is there.
 */
#include "e2e.h"

#include "base/arena.h"
#include "base/file.h"

#include <string.h>
#include <unistd.h>

static const char FILL_IN[] = "    // Fill this in.\n";

static const struct walk {
    const char *id;
    const char *options; /* of new-problem; or */
    const char *answers; /* to its questions */
    const char *kernel;
    const char *from, *to; /* a change of problem.yaml, or NULL */
    const char *outputs;   /* of the example, as verify prints them */
} WALKS[] = {
    {"strided-scan",
     "--title 'Exclusive scan with a stride' --title-zh '带步长的排除式前缀和' --difficulty easy "
     "--input 'in:int64:n * stride' --output out:int64:n",
     NULL,
     "    long long sum = 0;\n"
     "    for (int i = 0; i < n; i++) {\n"
     "        out[i] = sum;\n"
     "        sum += in[(long long)i * stride];\n"
     "    }\n",
     NULL, NULL, "out = 0 3 4 11"},
    {"index-compaction", NULL,
     "Compaction with indices\n\n\nkeep_positive\nin:int32:n\nout:int32:n index:int32:n "
     "count:int32:1\n\n",
     "    int kept = 0;\n"
     "    for (int i = 0; i < n; i++)\n"
     "        if (in[i] > 0) {\n"
     "            out[kept] = in[i];\n"
     "            index[kept++] = i;\n"
     "        }\n"
     "    *count = kept;\n",
     "out: exact\n  index: exact", "out: prefix(count)\n  index: prefix(count)",
     "out = 3 1 7 …; index = 0 1 2 …; count = 3"},
};

static void change_file(const char *path, const char *from, const char *to)
{
    struct text text, changed;
    struct err e;
    text_init(&text);
    text_init(&changed);
    if (file_read(path, 1 << 20, &text, &e) != 0)
        BUG("%s", e.text);
    const char *at = strstr(text_str(&text), from);
    if (!at)
        BUG("%s has no '%s'", path, from);
    text_addn(&changed, text.data, (size_t)(at - text.data));
    text_add(&changed, to);
    text_add(&changed, at + strlen(from));
    if (file_write(path, text_str(&changed), changed.length, &e) != 0)
        BUG("%s", e.text);
    text_release(&changed);
    text_release(&text);
}

/* Runs a call in `root`; `says` must stand on stdout or stderr. */
static bool expect(const char *what, const char *root, const char *command, int status,
                   const char *says)
{
    struct e2e_run run;
    struct text why;
    text_init(&why);
    e2e_run(&(struct e2e_call){.shell = command, .root = root, .minutes = 20}, &run);
    if (run.status != status)
        text_addf(&why, "exit status %d (%s), expected %d\n", run.status, run.how, status);
    if (!strstr(text_str(&run.out), says) && !strstr(text_str(&run.errors), says))
        text_addf(&why, "nothing says '%s'\n", says);
    if (why.length)
        text_addf(&why, "%s\nstdout: %.4000s\nstderr: %.1000s", command, text_str(&run.out),
                  text_str(&run.errors));
    bool good = e2e_check(what, text_str(&why));
    text_release(&why);
    e2e_run_release(&run);
    return good;
}

/* Writes the outputs of the example into both statements, one by one. */
static void answer_example(const char *root, const struct walk *w, struct arena *a)
{
    static const char *const STATEMENTS[] = {"statement.md", "statement.zh.md"};
    for (size_t k = 0; k < 2; k++) {
        char *outputs = arena_strdup(a, w->outputs), *state;
        for (char *one = strtok_r(outputs, ";", &state); one; one = strtok_r(NULL, ";", &state)) {
            one += strspn(one, " ");
            const char *name = arena_strndup(a, one, strcspn(one, " "));
            change_file(arena_printf(a, "%s/problems/%s/%s", root, w->id, STATEMENTS[k]),
                        arena_printf(a, "%s = ?", name), one);
        }
    }
}

static void walk(void *context, size_t i)
{
    const struct walk *w = &WALKS[i];
    char root[256];
    struct arena arena, *a = &arena;
    struct err e;
    (void)context;
    arena_init(a);
    if (file_make_temp_dir(root, sizeof root, "scanjudge-e2e", &e) != 0 ||
        file_make_dirs(arena_printf(a, "%s/problems", root), &e) != 0)
        BUG("%s", e.text);
    const char *call =
        w->options ? arena_printf(a, "%s new-problem %s %s", e2e_paths.judge, w->id, w->options)
                   : arena_printf(a, "printf '%s' | %s new-problem %s", w->answers, e2e_paths.judge,
                                  w->id);
    const char *verify = arena_printf(a, "%s verify %s", e2e_paths.judge, w->id);
    const char *reference = arena_printf(a, "%s/reference/%s/serial.cu", root, w->id);
    if (expect(arena_printf(a, "%s: the files are written", w->id), root, call, 0,
               "wrote problems/")) {
        expect(arena_printf(a, "%s: and never again", w->id), root, call, 2, "is already there");
        expect(arena_printf(a, "%s: without a kernel it is not green", w->id), root,
               arena_printf(a, "%s --mutants 0", verify), 1, "FAIL");
        change_file(reference, FILL_IN, w->kernel);
        if (w->from)
            change_file(arena_printf(a, "%s/problems/%s/problem.yaml", root, w->id), w->from,
                        w->to);
        expect(arena_printf(a, "%s: verify tells the example's answers", w->id), root,
               arena_printf(a, "%s --mutants 0", verify), 1, w->outputs);
        answer_example(root, w, a);
        expect(arena_printf(a, "%s: then it is green", w->id), root,
               arena_printf(a, "%s --mutants all", verify), 0, "0 failed");
    }
    if (file_remove_tree(root, &e) != 0)
        BUG("%s", e.text);
    arena_release(a);
}

static const struct refused {
    const char *options, *says;
} REFUSED[] = {
    {"Scan", "cannot be an id"},
    {"-- -scan", "cannot be an id"},
    {"", "wants the id"},
    {"scan --input in:int33:n", "there is no element type 'int33'; allowed: int8,"},
    {"scan --input in:int32", "is not name:type:shape"},
    {"scan --entry int", "allowed: a C identifier"},
    {"scan --difficulty silly", "easy, medium or hard"},
    {"scan --input a:int32:4 --output b:int32:4", "no shape names a variable"},
    {"scan --input 'a:int32:n +'", "problem.yaml:"},
    {"scan --after nothing", "there is no problem 'nothing'"},
    {"scan --title A --title B", "--title is given twice"},
};

static void check_refused(void)
{
    char root[256];
    struct arena arena;
    struct err e;
    arena_init(&arena);
    if (file_make_temp_dir(root, sizeof root, "scanjudge-e2e", &e) != 0 ||
        file_make_dirs(arena_printf(&arena, "%s/problems", root), &e) != 0)
        BUG("%s", e.text);
    for (size_t i = 0; i < sizeof REFUSED / sizeof REFUSED[0]; i++) {
        const char *call = arena_printf(&arena, "%s new-problem %s </dev/null", e2e_paths.judge,
                                        REFUSED[i].options);
        expect(arena_printf(&arena, "refused: new-problem %s", REFUSED[i].options), root, call, 2,
               REFUSED[i].says);
    }
    bool left = access(arena_printf(&arena, "%s/reference", root), F_OK) == 0;
    e2e_check("what is refused leaves no file", left ? "there is a folder reference" : NULL);
    if (file_remove_tree(root, &e) != 0)
        BUG("%s", e.text);
    arena_release(&arena);
}

int main(void)
{
    e2e_need_nvcc();
    check_refused();
    e2e_for_each(sizeof WALKS / sizeof WALKS[0], walk, NULL);
    return e2e_done();
}
