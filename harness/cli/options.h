/* options: options.def and commands.def as tables, and the reading of a call by them. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

struct cli;

/* Commands first, then groups of options. */
enum option_owner {
#define COMMAND(id, name, arguments, does) OWNER_##id,
#include "cli/commands.def"
#undef COMMAND
    OWNER_COMMANDS, /* how many commands there are */
    OWNER_BEFORE_GROUPS = OWNER_COMMANDS - 1,
#define GROUP(id, about) OWNER_##id,
#include "cli/options.def"
    OWNER_COUNT
};

/* What cli_option() returns: OPTION_<command>_<id>. */
enum option_id {
    OPTION_END = -1,
    OPTION_WRONG, /* told already */
#define OPTION(owner, id, name, value, times, does) OPTION_##owner##_##id,
#include "cli/options.def"
    OPTION_COUNT
};

struct option_row {
    const char *name, *value, *does; /* value: "" = it takes none */
    enum option_owner owner;
    bool many;
};
/* [OPTION_COUNT]; the first one is none. */
extern const struct option_row OPTION_ROWS[];

struct group_row {
    const char *name, *about;
};
extern const struct group_row GROUP_ROWS[]; /* by owner - OWNER_COMMANDS */

/* Does the command take this option, as one of its own or of a group? */
bool option_belongs(enum option_owner command, const struct option_row *row);
/* Does the command take the options of this group? */
bool option_takes(enum option_owner command, enum option_owner group);

/* The next option of cli->subcommand, with optarg as getopt_long leaves it. OPTION_WRONG after a
 * message about a wrong one, or a second one that may be given once. With in_order the first
 * operand ends them. Those of isolation are taken here and never returned. */
enum option_id cli_option(const struct cli *cli, int argc, char **argv, bool in_order);

#endif
