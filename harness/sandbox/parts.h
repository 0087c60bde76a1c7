/* parts: what the files of this folder share; nobody else includes it. */
#ifndef SANDBOX_PARTS_H
#define SANDBOX_PARTS_H

#include "sandbox/launch.h"
#include "sandbox/sandbox.h"

#include <linux/filter.h>

/* ---- machine.c: what there is, found out once ---- */

struct machine {
    enum sandbox_tier tier;
    const char *launcher; /* path */
    int launcher_fd;      /* the same, open */
    bool is_root;
    unsigned landlock;     /* version, 0 = none */
    bool signals_confined; /* Landlock keeps signals in */
    bool has_filter;
    bool own_users;          /* root, and the numbers from FIRST_USER on are ours to give */
    uint32_t fallback_user;  /* else this one; 0 = stay who we are */
    char no_namespaces[256]; /* why not */
    char no_landlock[128];
    char no_group[256];
    char bubblewrap[64]; /* version */
};

/* After sandbox_setup(). */
const struct machine *machine_found(void);

/* Looks around and has the first launcher started, without waiting for anything; 0. The tier that
 * boxes are going to have if that launcher comes up goes into `hope`. */
int machine_begin(enum sandbox_tier *hope, struct err *e);
bool machine_is_known(void); /* sandbox_setup() was successful */

/* The tier that boxes of this profile get. */
enum sandbox_tier machine_tier(const struct machine *m, enum sandbox_profile profile);

/* -1: --require-isolation forbids it. */
int machine_allows(enum sandbox_profile profile, struct err *e);

/* A user that no other box has, from `fallback_user` and the like; 0 = no change. */
uint32_t machine_user(bool *alone);

/* ---- layers.c ---- */

void layers_fill(const struct machine *m, struct sandbox_isolation *isolation);

/* ---- view.c: what a box sees ---- */

/* Appends bubblewrap's arguments, each ended by NUL. */
void view_arguments(const struct sandbox_spec *spec, bool is_root, struct text *arguments);

/* A Landlock ruleset for the rest of the box's life, and the rights for two folders that have no
 * name yet; -1 with a sentence. */
int view_rules(const struct sandbox_spec *spec, unsigned version, uint64_t *read, uint64_t *write,
               struct err *e);

/* ---- filter.c: which system calls it may make ---- */

struct filter {
    const struct sock_filter *items;
    unsigned count;
};

/* Made once per process and kind. `shared`: without namespaces. */
int filter_get(bool shared, bool card, struct filter *filter, struct err *e);

/* ---- group.c: its control group ---- */

struct group {
    int join[2]; /* cgroup.procs of each hierarchy */
    unsigned count;
    unsigned number; /* 0 = none */
};

/* Finds the hierarchies and makes the folders of this process; false: `why` not. */
bool group_setup(const struct machine *m, char *why, size_t why_bytes);
bool group_available(void);
unsigned group_version(void); /* 1 or 2, 0 = none */
int group_open(struct group *g, struct err *e);
/* 0 = no limit. */
int group_limit(const struct group *g, uint64_t memory_bytes, uint64_t processes, struct err *e);
/* What it came to. */
void group_usage(const struct group *g, uint64_t *peak_bytes, bool *out_of_memory);
/* Kills whoever is left in it, and removes it. */
void group_close(struct group *g);

/* ---- limits.c ---- */

/* Rows of limits.def as resource limits; the number of them. `namespaces`: processes are counted
 * for the box alone. */
unsigned limits_fill(const struct sandbox_limits *limits, enum sandbox_tier tier, bool alone,
                     struct launch_limit to[LAUNCH_LIMITS_MAX]);
uint64_t limits_processes(const struct sandbox_limits *limits);

/* ---- memory.c: files of the host as sealed memory ---- */

/* A descriptor of a copy that cannot be changed, for the caller to close; copied once per process.
 * -1 with a sentence. */
int memory_of_file(const char *path, struct err *e);
/* The same of what is in `bytes`. */
int memory_of_bytes(const void *bytes, size_t count, struct err *e);

/* ---- order.c: what a launcher is told ---- */

struct cargo {
    int fds[LAUNCH_FDS_MAX]; /* what goes to it, the order first */
    unsigned count;
    int owned[LAUNCH_FDS_MAX]; /* of those, ours to close */
    unsigned owned_count;
};

/* order_release() is due in any case. */
int order_pack(const struct sandbox_spec *spec, const struct machine *m, struct cargo *c,
               struct err *e);
/* false: the launcher is gone. */
bool order_send(int control_fd, const struct cargo *c);
void order_release(struct cargo *c);

/* ---- box.c ---- */

/* Starts a launcher through bubblewrap, the way boxes without a card are. */
void box_probe_start(const struct machine *m);
/* Waits until it is there, and keeps it for the first such box; -1 with what it or bubblewrap says.
 */
int box_probe_wait(struct err *e);
/* Ends the launchers that wait behind bubblewrap: there will be no such boxes. */
void box_drop_wrapped(void);

#endif
