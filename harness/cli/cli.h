/* cli: the `judge` command. The only part of the harness that prints to people and exits.
 *
 * A row of commands.def and a file per subcommand. Exit statuses: 0 accepted (or done), 1 judged
 * and not accepted, 2 the call or a problem spec is wrong, 3 the judge or its environment failed.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/options.h"
#include "judge/judge.h"
#include "judge/report/report.h"
#include "judge/report/trace.h"

#include <getopt.h> /* optarg, optind */
#include <stdbool.h>
#include <stdint.h>

enum { STATUS_DONE = 0, STATUS_NOT_ACCEPTED = 1, STATUS_USAGE = 2, STATUS_JUDGE = 3 };

struct cli {
    struct arena arena; /* lives as long as the program */
    struct judge_paths paths;
    const char *build_lib;   /* folder of libcudart.so.13 */
    const char *nvml;        /* NULL = the driver's own */
    const char *command;     /* how people started us, for messages */
    const char *subcommand;  /* NULL before it is known */
    enum option_owner owner; /* the same */
};

typedef int command_function(struct cli *cli, int argc, char **argv);

#define COMMAND(id, name, arguments, does) command_function command_##id;
#include "cli/commands.def"
#undef COMMAND

struct command_row {
    const char *name, *arguments, *does;
    command_function *run;
};
extern const struct command_row COMMAND_ROWS[];   /* [OWNER_COMMANDS] */
enum option_owner command_find(const char *name); /* OWNER_COMMANDS = there is none */

/* Prints "judge: <sentence>" to stderr and returns STATUS_USAGE, respectively STATUS_JUDGE.
 * cli_usage() also points at the help: for a call that is wrong in itself. cli_wrong() is for what
 * the call names: a spec, a case, a file. */
int cli_usage(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_wrong(const struct cli *cli, const char *format, ...) __attribute__((format(printf, 2, 3)));
int cli_failed(const struct cli *cli, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Fills paths from the environment and from where the executable is. */
int cli_find_paths(struct cli *cli, struct err *e);

/* Writes everything to stdout; STATUS_DONE, or STATUS_JUDGE when that fails. */
int cli_print(const struct cli *cli, const char *s);

/* Can a file be written where an option says? Asked before anything is judged: a message and
 * STATUS_USAGE if its folder is not there or it may not be written, or if it is the submission
 * (NULL: there is none). A NULL path: the option was not given. */
int cli_check_output(const struct cli *cli, const char *option, const char *path,
                     const char *submission);

/* Writes a report where --output says. */
int cli_write_output(const char *path, const char *bytes, size_t count, struct err *e);

/* Where files are, for reports that name them by their place in a repository: GITHUB_WORKSPACE or
 * CI_PROJECT_DIR is its root, else the folder that we are in. Everything else is 0. */
void cli_report_options(struct cli *cli, struct report_options *o);
/* Results in a format that there is, to stdout; with `output` into that file, and as text to
 * stdout. In the format github also onto the page that GITHUB_STEP_SUMMARY names. STATUS_DONE, or
 * STATUS_JUDGE after a message. A format that does not take many gets one. */
int cli_deliver(struct cli *cli, const char *format, const char *output,
                const struct report_options *options, const struct result *const *results,
                unsigned count);

/* Writes a trace as JSON lines to `path`; STATUS_USAGE with a message if it is not whole. */
int cli_write_trace(const struct cli *cli, const char *path, const struct wire_trace *trace,
                    const char *source);

bool cli_same_file(const char *a, const char *b); /* both exist, and are one */

/* From here on a signal that ends us first removes what is half compiled. */
void cli_watch_interrupts(void);

/* ---- options ---- */

int cli_take_isolation(const struct cli *cli, int option, const char *value);
/* When the last option was taken: do those about isolation fit together? */
int cli_check_isolation(const struct cli *cli);
/* SCANJUDGE_ISOLATION, SCANJUDGE_ALLOW_UNSANDBOXED. */
int cli_isolation_from_environment(const struct cli *cli);
/* What was said about it so far, as words for another call; how many. */
enum { CLI_ISOLATION_WORDS = 4 };
unsigned cli_isolation_words(const char *words[CLI_ISOLATION_WORDS]);

/* A seed from 1 to 2^53 - 1, or a message and STATUS_USAGE. */
int cli_parse_seed(const struct cli *cli, const char *s, uint64_t *seed);

/* A whole number from least to most, or a message that names the option and STATUS_USAGE. */
int cli_parse_number(const struct cli *cli, const char *option, const char *s, uint32_t least,
                     uint32_t most, uint32_t *number);
/* What --check and --schedule take. */
int cli_parse_checks(const struct cli *cli, const char *s, uint32_t *checks);
int cli_parse_schedule(const struct cli *cli, const char *s, struct pass_choice *choice);

/* Takes --lang en|zh, the only option of some commands; without it the environment decides. */
int cli_parse_language(const struct cli *cli, int argc, char **argv, bool *chinese);

/* ---- device.c: where to run ---- */

struct cli_device {
    const char *name;     /* --device; NULL = not given: $SCANJUDGE_DEVICE, else auto */
    const char *gpu;      /* --gpu; NULL = not given */
    const char *cpu_only; /* an option that only the CPU device has, NULL = none was given */
    const char *gpu_only; /* the same for a card */
    const char *advice;   /* what to do without a card; NULL = leave those options out */
    bool on_gpu;          /* what came of it, and on which cards */
    struct cards cards;
};
/* Fills the last two: auto is a card if there is one that can be used, else the CPU device. A
 * message and a status when the call is wrong, or asks for a card that is not there. */
int cli_choose_device(struct cli *cli, struct cli_device *d);
/* The cards that CUDA_VISIBLE_DEVICES leaves. */
void cli_find_cards(struct cli *cli, struct cards *cards);

/* " Did you mean 'x'?" or "" - the nearest of the names. */
const char *cli_nearest(struct cli *cli, const char *name, const char *const *names, size_t count);

/* Is this the id of a problem? Else a message with the nearest one, and false. */
bool cli_known_problem(struct cli *cli, const char *id);
/* STATUS_DONE and `p` is that problem; else said, and the exit status. */
int cli_load_problem(struct cli *cli, const char *id, struct problem *p);

/* ---- state.c: what a student has done so far ---- */

enum cli_progress { PROGRESS_NONE, PROGRESS_TRIED, PROGRESS_SOLVED };

/* What is remembered of one problem. Strings are NULL where there is nothing. */
struct cli_memory {
    enum cli_progress progress;
    const char *file;    /* the student's, absolute: from new, watch or run */
    const char *failing; /* the case that failed when all were judged last */
    uint64_t seed;       /* and its data */
    unsigned hints;      /* seen so far, from the first one on */
};

/* $SCANJUDGE_STATE, $XDG_STATE_HOME/scanjudge, ~/.local/state/scanjudge; NULL = there is none. */
const char *cli_state_folder(struct cli *cli);
void cli_recall(struct cli *cli, const char *id, struct cli_memory *m);
/* Where it cannot be written nothing is said: nobody's verdict depends on it. */
void cli_store(struct cli *cli, const char *id, const struct cli_memory *m);
/* A file of the judge's own, by its absolute name: judging those solves nothing. */
bool cli_comes_along(const struct cli *cli, const char *absolute);
/* 1: forgotten, 0: there was nothing; -1. */
int cli_forget(struct cli *cli, const char *id, struct err *e);
/* After a judging of all cases. What is solved stays so; files of the judge's own are left out. */
void cli_remember(struct cli *cli, const char *id, const char *source, const struct result *result);

/* ---- next.c: what to do now ---- */

/* The problems in the order to learn in; *next is the one to do now, NULL = all are solved. */
struct path_entry {
    struct problem p;
    struct cli_memory memory;
    unsigned depth;    /* 0: builds on nothing; else one more than the deepest it builds on */
    const char *first; /* what should be solved before: names with commas; NULL = nothing is left */
};
struct path {
    struct path_entry *entries;
    unsigned count;
    const struct path_entry *next;
};
/* STATUS_DONE, or what a malformed spec made it: those are left out, and told if `tell`. */
int cli_find_path(struct cli *cli, bool tell, struct path *path);

/* After a judging (`result`) or without one: what to do next, on stdout. */
int cli_say_next(struct cli *cli, const struct result *result);
/* A name as a word for the shell. */
const char *cli_quoted(struct cli *cli, const char *word);
/* `path`, or "scan-2.cu" for "scan.cu" and so on: the first that is not there yet. */
const char *cli_free_name(struct cli *cli, const char *path);

bool cli_prefers_chinese(void); /* LC_ALL, LC_MESSAGES, LANG */
bool cli_is_terminal(int fd);   /* and one that knows more than TERM=dumb */
bool cli_use_colour(int fd);    /* such a terminal, or CLICOLOR_FORCE; never with NO_COLOR */

/* ---- progress: one line on a terminal, rewritten in place ---- */

/* What is being done, number done + 1 of total. Drawn, with how long it takes already, only on a
 * terminal and only when a second has passed since the first call. */
void progress_show(void *unused, const char *what, unsigned done, unsigned total);
/* "3 min": shown from now on instead of how long it has taken; "" ends that. */
void progress_left(const char *left);
void progress_clear(void);
/* Says what is waited for, on a terminal or not. */
void progress_wait(void *unused, const char *sentence);

#endif
