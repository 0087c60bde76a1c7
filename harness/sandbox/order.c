/* What a launcher is told: memory with the order, and the descriptors beside it. */
#include "sandbox/parts.h"

#include <errno.h>
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

static void add_fd(struct cargo *c, int fd)
{
    if (c->count >= LAUNCH_FDS_MAX)
        BUG("too many descriptors for a box");
    c->fds[c->count++] = fd;
}

static int pack_parts(const struct sandbox_spec *spec, struct launch_order *o, struct cargo *c,
                      struct err *e)
{
    for (; spec->parts && spec->parts[o->part_count]; o->part_count++) {
        int fd = memory_of_file(spec->parts[o->part_count], e);
        if (fd < 0)
            return -1;
        add_fd(c, fd);
    }
    return 0;
}

static int fill(const struct sandbox_spec *spec, const struct machine *m, struct cargo *c,
                struct err *e)
{
    bool namespaces = m->tier == SANDBOX_NAMESPACES, alone = false;
    struct launch_order o = {.magic = LAUNCH_MAGIC,
                             .user = machine_user(&alone),
                             .socket_number = SANDBOX_SOCKET_FD,
                             .part_number = SANDBOX_PART_FD,
                             .file_count = spec->file_count,
                             .take_count = spec->take_count};
    struct filter filter = {0};
    int program = spec->program ? memory_of_file(spec->program, e) : -1;
    if (spec->program && program < 0)
        return -1;
    o.flags = (namespaces ? LAUNCH_INIT : 0) | (program >= 0 ? LAUNCH_PROGRAM : 0) |
              (o.user ? LAUNCH_DROP : 0) | (alone ? LAUNCH_ALONE : 0);
    if (!namespaces && !alone && !m->signals_confined)
        o.flags |= LAUNCH_OWN_SIGNALS;
    if (spec->folder_bytes)
        o.flags |= namespaces ? LAUNCH_FOLDER_IN : LAUNCH_FOLDER_MAKE;
    add_fd(c, -1); /* the order itself */
    if (program >= 0)
        add_fd(c, program);
    if (spec->socket_fd > 0) {
        o.flags |= LAUNCH_SOCKET;
        add_fd(c, spec->socket_fd);
    }
    if (m->tier == SANDBOX_LANDLOCK) {
        o.flags |= LAUNCH_RULES;
        c->rules_fd = view_rules(spec, m->landlock, &o.rules_read, &o.rules_write, e);
        if (c->rules_fd < 0)
            return -1;
        add_fd(c, c->rules_fd);
    }
    o.limit_count = limits_fill(&spec->limits, m, alone, o.limits);
    for (unsigned i = 0; i < spec->file_count; i++)
        o.file_bytes[i] = spec->files[i].count;
    if (pack_parts(spec, &o, c, e) != 0 ||
        (m->has_filter && filter_get(!namespaces, spec->profile == SANDBOX_CARD, &filter, e) != 0))
        return -1;
    c->fds[0] = c->order_fd = write_order(spec, &o, &filter, e);
    return c->order_fd < 0 ? -1 : 0;
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

int order_pack(const struct sandbox_spec *spec, const struct machine *m, struct cargo *c,
               struct err *e)
{
    *c = (struct cargo){.order_fd = -1, .rules_fd = -1};
    return fill(spec, m, c, e);
}

void order_release(struct cargo *c)
{
    if (c->order_fd >= 0)
        close(c->order_fd);
    if (c->rules_fd >= 0)
        close(c->rules_fd);
}
