/* wire: all that crosses the seam between the judge and the box.
 *
 * The judge starts a runner with one end of a SOCK_SEQPACKET socket pair as descriptor 3. Per pass
 * it sends one struct wire_request with two descriptors (SCM_RIGHTS): the inputs, a memfd that the
 * box can only read (F_SEAL_FUTURE_WRITE), and the outputs, a memfd that the box fills. The runner
 * answers with one struct wire_reply. EOF on the socket ends the runner.
 *
 * What comes back is a claim, never a fact: the judge validates every field, compares the buffers
 * itself, and takes its own clock and exit status. Expected outputs never enter the box.
 *
 * Plain fixed-size structs: both ends are built from this header on the same machine. */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include "base/err.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_MAGIC = 0x736a7731, /* "sjw1" */
    WIRE_PARAMS_MAX = 32,
    WIRE_FINDINGS_MAX = 16,
    WIRE_NAME_BYTES = 64,
    WIRE_SOCKET_FD = 3,
    WIRE_GUARD_BYTES = 512, /* before and after each buffer */
    WIRE_PATCHES_MAX = 16,
    WIRE_SETS_MAX = 8,
    WIRE_POISON_PERIOD_BYTES = 8 * 1021, /* wire_poison() repeats after so many bytes */
};

enum verdict {
#define VERDICT(id, exit_status, order, people) VERDICT_##id,
#include "wire/verdicts.def"
#undef VERDICT
    VERDICT_COUNT
};

enum finding_kind {
#define FINDING(id, fatal, people) FINDING_##id,
#include "wire/findings.def"
#undef FINDING
    FINDING_COUNT
};

enum counter {
#define COUNTER(id, cost, people) COUNTER_##id,
#include "wire/counters.def"
#undef COUNTER
    COUNTER_COUNT
};

enum wire_type {
#define TYPE(id, bytes, c_name, kind) WIRE_##id,
#include "wire/types.def"
#undef TYPE
    WIRE_TYPE_COUNT
};

const char *verdict_name(enum verdict v);       /* "wrong_answer" */
const char *verdict_for_people(enum verdict v); /* "wrong answer" */
int verdict_exit_status(enum verdict v);
const char *finding_name(enum finding_kind k);
const char *finding_for_people(enum finding_kind k);
bool finding_is_fatal(enum finding_kind k);
const char *counter_name(enum counter c);
const char *counter_cost(enum counter c);       /* "makes %s additions of data" */
const char *counter_for_people(enum counter c); /* "additions and subtractions of data, ..." */
const char *wire_type_name(enum wire_type t);   /* "int32" */
const char *wire_type_c_name(enum wire_type t); /* "int" */
unsigned wire_type_bytes(enum wire_type t);
char wire_type_kind(enum wire_type t);
/* The type with this name; WIRE_TYPE_COUNT if there is none. */
enum wire_type wire_type_find(const char *name, size_t length);
enum verdict verdict_find(const char *name);      /* VERDICT_COUNT if there is none */
enum finding_kind finding_find(const char *name); /* FINDING_COUNT if there is none */

enum wire_severity { WIRE_WARNING, WIRE_ERROR };

struct wire_finding {
    uint16_t kind;               /* enum finding_kind */
    uint16_t severity;           /* enum wire_severity */
    uint32_t line;               /* in `file`; 0 = unknown */
    int32_t block[3], thread[3]; /* -1 = does not apply */
    uint32_t count;              /* how often this finding came up (same kind and line) */
    char file[192];              /* base name of the source file, "" = unknown */
    char kernel[128];            /* as written in the source where known, else mangled; "" = none */
    char message[512];           /* a sentence */
};

/* A finding that came up once, at no place and in no thread yet. The message is printf's. */
void wire_finding_set(struct wire_finding *f, enum finding_kind kind, enum wire_severity severity,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
void wire_finding_vset(struct wire_finding *f, enum finding_kind kind, enum wire_severity severity,
                       const char *format, va_list args);

/* ---- what the device is told (CPU device only; a GPU ignores it) ---- */

enum wire_schedule {
    WIRE_IN_ORDER,    /* warps and blocks round-robin, ascending */
    WIRE_REVERSED,    /* the same descending, within the resident set */
    WIRE_RANDOM,      /* seeded */
    WIRE_LAST_FIRST,  /* blocks *start* from the last one, few resident (finds block_order) */
    WIRE_INTERLEAVED, /* seeded; also groups of lanes, and also between memory accesses */
    WIRE_SCHEDULE_COUNT
};
const char *wire_schedule_name(enum wire_schedule s); /* "last block first" */
const char *wire_schedule_key(enum wire_schedule s);  /* "last-first" */
/* WIRE_SCHEDULE_COUNT if there is none. */
enum wire_schedule wire_schedule_find(const char *key, size_t length);
const char *wire_schedules_allowed(void); /* "in-order, reversed, ..." */

/* When the work of a stream is done, between its call and the moment at which somebody waits. */
enum wire_stream_order {
    WIRE_STREAMS_EAGER,  /* at once */
    WIRE_STREAMS_LATE,   /* when somebody waits for it, the newest stream first */
    WIRE_STREAMS_RANDOM, /* seeded */
    WIRE_STREAM_ORDER_COUNT
};
const char *wire_stream_order_key(enum wire_stream_order o); /* "late" */
/* WIRE_STREAM_ORDER_COUNT if there is none. */
enum wire_stream_order wire_stream_order_find(const char *key);
const char *wire_stream_orders_allowed(void);

enum wire_check { /* bits */
                  WIRE_CHECK_BOUNDS =
                      1, /* bounds, alignment, use after free: cannot be switched off in judging */
                  WIRE_CHECK_UNINITIALIZED = 2,
                  WIRE_CHECK_RACES = 4,     /* shared memory */
                  WIRE_CHECK_SYNC = 8,      /* divergent barriers, warp-sync misuse */
                  WIRE_CHECK_COUNTERS = 16, /* sectors and bank conflicts (bytes and instructions
                                               are always counted) */
                  WIRE_CHECK_GLOBAL_RACES =
                      32, /* global memory, fences, order of streams; one host thread */
                  WIRE_CHECK_PROFILE = 64, /* counters per source line */
                  WIRE_CHECK_TRACE = 128,  /* every access, for small sizes */
                  WIRE_CHECK_DEFAULT = 1 | 2 | 4 | 8 | 32,
};
/* Names of checks.def with commas between them -> bits. false: one of them is unknown. */
bool wire_checks_parse(const char *names, uint32_t *checks);
const char *wire_checks_allowed(void); /* "bounds, uninitialized, ..." */
/* The other way round: what wire_checks_parse() reads. */
void wire_checks_print(uint32_t checks, char *out, size_t out_bytes);

struct wire_device_config {
    uint32_t schedule; /* enum wire_schedule */
    uint32_t checks;   /* enum wire_check bits */
    uint64_t schedule_seed;
    uint64_t step_limit;      /* warp instructions of one launch; 0 = none */
    uint32_t resident_blocks; /* at first, more only when nobody can go on without; 0 = as many as
                                 the occupancy allows */
    uint32_t stream_order;    /* enum wire_stream_order */
    uint32_t host_threads;    /* that run blocks side by side, where schedule and checks allow it;
                                 0 = one per processor */
    uint32_t delay_stores;    /* 1: plain stores reach other threads late, as far as a GPU may */
    char source_file[192];    /* base name of the submission: findings prefer lines in it */
};

struct wire_counters {
    uint64_t value[COUNTER_COUNT];
};

/* ---- a request ---- */

enum wire_param_kind { WIRE_PARAM_BUFFER, WIRE_PARAM_SCALAR, WIRE_PARAM_STREAM };
enum wire_role { WIRE_INPUT, WIRE_OUTPUT, WIRE_INOUT, WIRE_WORKSPACE };

/* In the outputs memfd a buffer comes back whole: guard, `misalign` bytes, payload, guard. */
struct wire_param {
    uint32_t kind;       /* enum wire_param_kind */
    uint32_t type;       /* enum wire_type: of the scalar, or of one element */
    uint32_t role;       /* enum wire_role (BUFFER) */
    uint32_t misalign;   /* bytes added to the aligned address */
    uint64_t scalar;     /* SCALAR: the value's bits, zero-extended */
    uint64_t bytes;      /* BUFFER: payload */
    uint64_t in_offset;  /* INPUT, INOUT: where the contents are in the inputs memfd */
    uint64_t out_offset; /* where the whole buffer goes in the outputs memfd */
    char name[WIRE_NAME_BYTES];
};

/* What is asked for. A timed call takes four requests: the judge's clock runs over WIRE_TIME_GO
 * alone. All of one size refer to the request that loaded it: same parameters, same memfds. Which
 * of the calls are for warming up, the box is not told. */
enum wire_action {
    WIRE_RUN,       /* one pass of a case */
    WIRE_TIME_LOAD, /* allocates the buffers of one size and uploads `set_count` sets of inputs;
                       what an earlier one loaded is given back. Alone brings memfds */
    WIRE_TIME_ARM,  /* chooses where the next call finds its buffers, copies the set's inputs there,
                       poisons outputs and workspace, waits for the device */
    WIRE_TIME_GO,   /* overwrites L2, uploads the patches of set `set`, calls the entry on it,
                       copies what the outputs hold when its stream is done aside, waits for the
                       device */
    WIRE_TIME_FETCH, /* the outputs of the last call, copied aside, into the outputs memfd */
};

/* A stretch of an input that has changed in the inputs memfd since it was uploaded. */
struct wire_patch {
    uint32_t param;
    uint64_t offset, bytes; /* within the payload */
};

struct wire_request {
    uint32_t magic;
    uint32_t action; /* enum wire_action */
    uint32_t param_count;
    uint32_t set_count, set; /* timing */
    uint64_t set_bytes;      /* the inputs of set k begin k * set_bytes further in the memfd */
    uint64_t flush_bytes;    /* that are overwritten before a call; 0 = twice the L2 */
    uint64_t fetch_offset;   /* outputs go that much further in their memfd */
    uint32_t keeps_outputs;  /* 1: they are going to be fetched */
    uint32_t patch_count;    /* WIRE_TIME_GO */
    struct wire_patch patches[WIRE_PATCHES_MAX];
    uint64_t in_bytes, out_bytes; /* sizes of the two memfds */
    /* Where in the outputs memfd a struct wire_profile and a struct wire_trace go; 0 bytes: none is
     * wanted. */
    uint64_t profile_offset, profile_bytes;
    uint64_t trace_offset, trace_bytes;
    uint64_t poison_seed;  /* outputs, workspace and guards hold wire_poison() of it */
    uint64_t memory_limit; /* bytes that the submission may allocate on a card; 0 = no limit */
    uint32_t bare;         /* 1: there are neither guards nor poison, and nothing comes back, for a
                             tool that watches every byte itself */
    struct wire_device_config device;
    struct wire_param params[WIRE_PARAMS_MAX];
};

/* Buffers begin on cache lines, so that copying in and out runs at full speed. */
static inline uint64_t wire_align_up(uint64_t bytes)
{
    return (bytes + 63) & ~(uint64_t)63;
}

/* Bytes of a buffer in the outputs memfd: both guards, misalign, payload, rounded up to 64. */
uint64_t wire_buffer_bytes(const struct wire_param *p);

/* Fills `bytes` bytes with the pattern of (seed, buffer index) as if from byte `from` of the whole
 * buffer. The pattern depends on the position, so "untouched" cannot be forged by accident. */
void wire_poison(void *to, uint64_t from, uint64_t bytes, uint64_t seed, unsigned buffer);
/* The first byte of `at` that differs from the pattern, or `bytes` if none does. */
uint64_t wire_poison_find_change(const void *at, uint64_t from, uint64_t bytes, uint64_t seed,
                                 unsigned buffer);

/* ---- an answer ---- */

enum wire_status {
    WIRE_READY,       /* sent once, after the submission was loaded */
    WIRE_LOAD_FAILED, /* the .so could not be loaded or has no such symbol: `message` */
    WIRE_NO_DEVICE,   /* the device cannot be used, before the .so was looked at: `message` */
    WIRE_DONE,        /* the entry returned, the device was synchronised, outputs are copied back */
    WIRE_CUDA_ERROR,  /* the call, or the synchronise after it, failed: `cuda_error`, `message` */
    WIRE_CRASHED,     /* the runner's signal handler answers: `signal`, `message` */
    WIRE_BAD_REQUEST, /* the runner could not do what was asked: our fault */
};

struct wire_reply {
    uint32_t magic;
    uint32_t status; /* enum wire_status */
    int32_t cuda_error, signal;
    uint64_t elapsed_ns; /* of the call, as the box saw it */
    uint64_t event_ns;   /* timing: between the events before and after the call */
    uint64_t window_ns;  /* and from the first to the one after the outputs were copied aside */
    uint64_t persisting_bytes; /* of L2 that the process had set aside before the call */
    uint64_t device_bytes;     /* most device memory in use that the submission allocated itself */
    uint64_t profile_used, trace_used; /* bytes that were filled, 0 = none */
    struct wire_counters counters;
    /* With WIRE_CUDA_ERROR: the device forgets the fault, and holds nothing but the buffers of the
     * request, where a kernel that did not end could have left something for the next one. */
    uint32_t holds_nothing;
    uint32_t finding_count;
    uint32_t findings_dropped;
    char message[512];
    struct wire_finding findings[WIRE_FINDINGS_MAX];
};

/* One message with up to two descriptors (-1 = none). 0, or -1 (also when the peer is gone). */
int wire_send(int socket_fd, const void *message, size_t bytes, const int fds[2], struct err *e);
/* Receives one message of exactly `bytes`. 1 = got it, 0 = the peer closed, -1 = failed.
 * fds[i] are close-on-exec, -1 where none came. */
int wire_receive(int socket_fd, void *message, size_t bytes, int fds[2], struct err *e);

/* Makes text that came from outside printable UTF-8, newlines and tabs aside: each byte that is not
 * becomes '?'. */
void wire_clean_text(char *text, size_t length);

/* ---- hooks that our CPU device exports beside the CUDA API, found with dlsym ---- */

struct wire_device_hooks {
    uint32_t version; /* WIRE_HOOKS_VERSION */
    /* Applies to launches from now on; resets findings and counters. */
    void (*configure)(const struct wire_device_config *config);
    /* Inside an allocation only [pointer, pointer + bytes) belongs to the program from now on: the
     * rest is a red zone. `name` appears in findings. */
    void (*narrow)(const void *pointer, size_t bytes, const char *name);
    /* The allocation is an input: writes to it from now on are findings. NULL where a device cannot
     * tell. */
    void (*protect)(const void *pointer);
    /* The bytes count as never written, whatever they hold. */
    void (*forget)(const void *pointer, size_t bytes);
    /* Copies at most `capacity` findings, most important first; returns how many there are in all.
     */
    size_t (*findings)(struct wire_finding *out, size_t capacity);
    void (*counters)(struct wire_counters *out);
    /* What a faulting host address means, in a sentence ("" = nothing to do with the device). */
    void (*explain_host_address)(const void *address, char *out, size_t out_bytes);
    uint64_t (*peak_bytes)(void); /* most device memory in use since configure() */
    /* How many allocations there are that a kernel may write to, variables of the program among
     * them. NULL where a device cannot tell. */
    size_t (*allocations)(void);
    /* What findings call this stream: "kernel `scan` on `stream`". */
    void (*name_stream)(const void *stream, const char *name);
    /* The caller has waited for that stream: adds findings for work that nothing ordered before it,
     * and for memory that call after call leaves behind. */
    void (*left_behind)(const char *stream_name);
    /* With WIRE_CHECK_PROFILE: fills a struct wire_profile (wire/profile.h) if `bytes` are enough.
     * Returns its size, 0 = there is none. */
    size_t (*profile)(void *out, size_t bytes);
    /* The same with WIRE_CHECK_TRACE and wire/trace.h. */
    size_t (*trace)(void *out, size_t bytes);
    /* The next allocation of `bytes` bytes, if it is one of just so many, is at `memory`, whose
     * owner keeps it until that has been freed. NULL: what was lent and not taken is not any more.
     * The hook itself is NULL where a device has its memory elsewhere. */
    void (*lend)(void *memory, size_t bytes);
};
enum { WIRE_HOOKS_VERSION = 7 };
#define WIRE_HOOKS_SYMBOL "scanjudge_device_hooks"
typedef const struct wire_device_hooks *(*wire_hooks_function)(void);

#endif
