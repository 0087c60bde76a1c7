/* launch: what the sandbox and its launcher say to each other.
 *
 * The launcher is the first process in a box: started with a SOCK_SEQPACKET socket as LAUNCH_FD, it
 * says LAUNCH_HELLO, gets one order, and does it. The order is one byte; beside it come
 * descriptors: memory with what is below, then those that the order's flags tell, then the parts.
 * When the other end of the socket is gone, the launcher ends everything that it started, then
 * itself: so a judge that was killed leaves nothing behind.
 *
 * The memory holds a struct launch_order and, without gaps: the filter's instructions;
 * `string_bytes` of strings that end in NUL (the words of argv, of the environment, names of files,
 * names of what is to be taken); the bytes of the files. */
#ifndef SANDBOX_LAUNCH_H
#define SANDBOX_LAUNCH_H

#include <stdint.h>

enum {
    LAUNCH_FD = 3,
    LAUNCH_MAGIC = 0x6c626f78,
    LAUNCH_LIMITS_MAX = 12,
    LAUNCH_FILES_MAX = 128,
    LAUNCH_TAKES_MAX = 8,
    LAUNCH_FDS_MAX = 16, /* beside an order */
    LAUNCH_STEP_BYTES = 64,
    LAUNCH_FOLDER_BYTES = 256,
};

/* In a box of bubblewrap's: the private folder, its file system. */
#define LAUNCH_FOLDER "/box"

enum launch_flag {
    LAUNCH_INIT = 1, /* the launcher is process 1 of a namespace: everything else in it is ours */
    LAUNCH_PROGRAM = 2, /* with descriptors: the program, */
    LAUNCH_SOCKET = 4,  /* the program's socket, */
    LAUNCH_RULES = 8,   /* a Landlock ruleset */
    LAUNCH_DROP =
        16, /* become `user`; before anything else with LAUNCH_INIT, else the child only */
    LAUNCH_ALONE = 128,       /* nobody else has that user */
    LAUNCH_OWN_SIGNALS = 256, /* the program may send signals to itself only */
    LAUNCH_FOLDER_IN = 32,    /* there is a private folder: LAUNCH_FOLDER */
    LAUNCH_FOLDER_MAKE = 64,  /* make one in /tmp, and remove it */
};

struct launch_limit {
    uint64_t resource, value;
};

struct launch_order {
    uint32_t magic, flags;
    uint32_t user;                       /* and group */
    uint32_t socket_number, part_number; /* descriptors that socket and first part become */
    uint32_t part_count, limit_count, file_count, take_count;
    uint32_t word_count, variable_count;
    uint32_t filter_count;
    uint64_t rules_write; /* Landlock rights in the private folder */
    uint64_t rules_read;  /* and of what the child may see of itself in /proc, */
    uint64_t rules_tasks; /* of that more in task/; 0 = no more */
    uint64_t string_bytes;
    uint64_t file_bytes[LAUNCH_FILES_MAX];
    struct launch_limit limits[LAUNCH_LIMITS_MAX];
};

enum launch_word {
    LAUNCH_HELLO = 1,
    LAUNCH_STARTED, /* sent by the program's process before it becomes the program */
    LAUNCH_FAILED,  /* `step` could not be done; nothing runs */
    LAUNCH_ENDED,   /* the program and everything that it started; beside it what was taken */
};

struct launch_report {
    uint32_t magic, word;
    int32_t code, failed_errno;
    uint32_t signalled; /* `code` is a signal */
    uint32_t taken;     /* bit i: a descriptor for take i is beside this */
    uint64_t processor_ns, peak_bytes;
    char step[LAUNCH_STEP_BYTES];
    char folder[LAUNCH_FOLDER_BYTES]; /* with LAUNCH_STARTED: the private folder, "" = none */
};

#endif
