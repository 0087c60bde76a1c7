/* What a launcher is told: memory with the order, and the descriptors beside it. */
#include "sandbox/parts.h"

#include <errno.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void add_string(struct text *strings, const char *string)
{
    text_addn(strings, string, strlen(string) + 1);
}

static unsigned add_list(struct text *strings, const char *const *list)
{
    unsigned count = 0;
    for (; list && list[count]; count++)
        add_string(strings, list[count]);
    return count;
}

/* The memory of an order; -1. */
static int write_order(const struct sandbox_spec *spec, struct launch_order *o,
                       const struct filter *filter, struct err *e)
{
    struct text strings, all;
    text_init(&strings);
    text_init(&all);
    o->word_count = add_list(&strings, spec->argv);
    o->variable_count = add_list(&strings, spec->environment);
    for (unsigned i = 0; i < spec->file_count; i++)
        add_string(&strings, spec->files[i].name);
    for (unsigned i = 0; i < spec->take_count; i++)
        add_string(&strings, spec->takes[i].name);
    o->string_bytes = strings.length;
    o->filter_count = filter->count;
    text_addn(&all, (const char *)o, sizeof *o);
    text_addn(&all, (const char *)filter->items, filter->count * sizeof filter->items[0]);
    text_addn(&all, strings.data, strings.length);
    for (unsigned i = 0; i < spec->file_count; i++)
        text_addn(&all, spec->files[i].bytes, spec->files[i].count);
    int fd = memory_of_bytes(all.data, all.length, e);
    text_release(&strings);
    text_release(&all);
    return fd;
}

static void add_fd(struct cargo *c, int fd, bool owned)
{
    if (c->count >= LAUNCH_FDS_MAX)
        BUG("too many descriptors for a box");
    c->fds[c->count++] = fd;
    if (owned)
        c->owned[c->owned_count++] = fd;
}

/* A file of the host, as memory. */
static int add_file(struct cargo *c, const char *path, struct err *e)
{
    int fd = memory_of_file(path, e);
    if (fd < 0)
        return -1;
    add_fd(c, fd, true);
    return 0;
}

/* What the launcher is to do besides starting the program. */
static uint32_t flags_of(const struct sandbox_spec *spec, const struct machine *m, uint32_t user,
                         bool alone)
{
    enum sandbox_tier tier = machine_tier(m, spec->profile);
    bool namespaces = tier == SANDBOX_NAMESPACES;
    uint32_t flags =
        (namespaces ? LAUNCH_INIT : 0) | (user ? LAUNCH_DROP : 0) | (alone ? LAUNCH_ALONE : 0);
    bool confined = namespaces || alone || (tier == SANDBOX_LANDLOCK && m->signals_confined);
    if (!confined && m->has_filter && spec->profile != SANDBOX_TOOL)
        flags |= LAUNCH_OWN_SIGNALS;
    if (spec->folder_bytes)
        flags |= namespaces ? LAUNCH_FOLDER_IN : LAUNCH_FOLDER_MAKE;
    return flags;
}

/* Everything but the order itself. */
static int fill(const struct sandbox_spec *spec, const struct machine *m, struct launch_order *o,
                struct cargo *c, struct err *e)
{
    if (spec->program) {
        o->flags |= LAUNCH_PROGRAM;
        if (add_file(c, spec->program, e) != 0)
            return -1;
    }
    if (spec->socket_fd > 0) {
        o->flags |= LAUNCH_SOCKET;
        add_fd(c, spec->socket_fd, false);
    }
    if (machine_tier(m, spec->profile) == SANDBOX_LANDLOCK) {
        int rules = view_rules(spec, m->landlock, &o->rules_read, &o->rules_write, e);
        if (rules < 0)
            return -1;
        /* NVIDIA's driver gives its threads names: it writes /proc/self/task/N/comm. */
        if (spec->profile == SANDBOX_CARD)
            o->rules_tasks = o->rules_read | LANDLOCK_ACCESS_FS_WRITE_FILE;
        o->flags |= LAUNCH_RULES;
        add_fd(c, rules, true);
    }
    for (; spec->parts && spec->parts[o->part_count]; o->part_count++)
        if (add_file(c, spec->parts[o->part_count], e) != 0)
            return -1;
    return 0;
}

int order_pack(const struct sandbox_spec *spec, const struct machine *m, struct cargo *c,
               struct err *e)
{
    bool is_tool = spec->profile == SANDBOX_TOOL, alone = false;
    enum sandbox_tier tier = machine_tier(m, spec->profile);
    struct launch_order o = {.magic = LAUNCH_MAGIC,
                             .user = is_tool ? 0 : machine_user(&alone),
                             .socket_number = SANDBOX_SOCKET_FD,
                             .part_number = SANDBOX_PART_FD,
                             .file_count = spec->file_count,
                             .take_count = spec->take_count};
    struct filter filter = {0};
    o.flags = flags_of(spec, m, o.user, alone);
    *c = (struct cargo){.fds = {-1}, .count = 1}; /* the first is the order itself */
    if (fill(spec, m, &o, c, e) != 0)
        return -1;
    o.limit_count = limits_fill(&spec->limits, tier, alone, o.limits);
    for (unsigned i = 0; i < spec->file_count; i++)
        o.file_bytes[i] = spec->files[i].count;
    if (m->has_filter && !is_tool &&
        filter_get(tier != SANDBOX_NAMESPACES, spec->profile == SANDBOX_CARD, &filter, e) != 0)
        return -1;
    c->fds[0] = write_order(spec, &o, &filter, e);
    if (c->fds[0] < 0)
        return -1;
    c->owned[c->owned_count++] = c->fds[0];
    return 0;
}

bool order_send(int control_fd, const struct cargo *c)
{
    char byte = 0;
    struct iovec part = {.iov_base = &byte, .iov_len = 1};
    union {
        char bytes[CMSG_SPACE(LAUNCH_FDS_MAX * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = CMSG_SPACE(c->count * sizeof(int))};
    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(c->count * sizeof(int));
    memcpy(CMSG_DATA(&control.align), c->fds, c->count * sizeof(int));
    ssize_t sent;
    do
        sent = sendmsg(control_fd, &header, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == 1;
}

void order_release(struct cargo *c)
{
    for (unsigned i = 0; i < c->owned_count; i++)
        close(c->owned[i]);
    c->owned_count = 0;
}
