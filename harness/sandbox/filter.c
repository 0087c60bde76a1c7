/* libseccomp writes the program, once per process and kind; the launcher loads it. */
#include "sandbox/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum where { EVERYWHERE, SHARED, NO_CARD };

struct rule {
    const char *name;
    enum where where;
    int error;
    bool conditional;
    struct scmp_arg_cmp condition;
};

static const struct rule RULES[] = {
#define DENY(name, where, error) {#name, where, error, false, {0}},
#define DENY_IF(name, where, error, argument, comparison, a, b)                                    \
    {#name, where, error, true, {argument, comparison, (scmp_datum_t)(a), (scmp_datum_t)(b)}},
#include "sandbox/filter.def"
#undef DENY
#undef DENY_IF
};

enum { KINDS = 4, BY_TREE = 2 };

static struct {
    pthread_mutex_t lock;
    struct filter made[KINDS];
} filters = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool applies(const struct rule *r, bool shared, bool card)
{
    return r->where == EVERYWHERE || (shared && (r->where == SHARED || !card));
}

static int add_rules(scmp_filter_ctx context, bool shared, bool card)
{
    int status = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, BY_TREE); /* a wish */
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0] && status == 0; i++) {
        const struct rule *r = &RULES[i];
        int number = seccomp_syscall_resolve_name(r->name);
        if (number < 0 ||
            !applies(r, shared, card)) /* not of this architecture, or not yet known */
            continue;
        uint32_t action = SCMP_ACT_ERRNO((uint32_t)r->error);
        status = seccomp_rule_add_array(context, action, number, r->conditional, &r->condition);
    }
    return status;
}

/* The program as memory that stays; NULL. */
static const struct sock_filter *export(scmp_filter_ctx context, unsigned *count)
{
    struct stat st;
    void *memory = MAP_FAILED;
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd >= 0 && seccomp_export_bpf(context, fd) == 0 && fstat(fd, &st) == 0 && st.st_size > 0)
        memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return NULL;
    *count = (unsigned)((size_t)st.st_size / sizeof(struct sock_filter));
    return memory;
}

int filter_get(bool shared, bool card, struct filter *filter, struct err *e)
{
    int status = 0;
    pthread_mutex_lock(&filters.lock);
    struct filter *kept = &filters.made[shared * 2 + card];
    if (!kept->items) {
        scmp_filter_ctx context = seccomp_init(SCMP_ACT_ALLOW);
        status = context ? add_rules(context, shared, card) : -ENOMEM;
        if (status == 0)
            kept->items = export(context, &kept->count);
        if (!kept->items)
            status = err_set(e, "libseccomp cannot make the filter of a box%s%s",
                             status ? ": " : "", status ? strerror(-status) : "");
        if (context)
            seccomp_release(context);
    }
    *filter = *kept;
    pthread_mutex_unlock(&filters.lock);
    return status;
}
