#include "sandbox/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    VIEW_PROGRAM = 1 << SANDBOX_PROGRAM,
    VIEW_COMPILE = 1 << SANDBOX_COMPILE,
    VIEW_CARD = 1 << SANDBOX_CARD,
    VIEW_ALL = VIEW_PROGRAM | VIEW_COMPILE | VIEW_CARD,
};

enum how { FILES, DEVICE, KERNEL };

static const struct {
    const char *path;
    unsigned who;
    enum how how;
} VIEWS[] = {
#define VIEW(path, who, how) {path, who, how},
#include "sandbox/view.def"
#undef VIEW
};

/* Calls `see` for every path that is there. */
static int each(const struct sandbox_spec *spec,
                int (*see)(void *context, const char *path, enum how how), void *context)
{
    int status = 0;
    for (size_t i = 0; i < sizeof VIEWS / sizeof VIEWS[0] && status == 0; i++) {
        const char *path = VIEWS[i].path;
        if (!(VIEWS[i].who & 1u << spec->profile))
            continue;
        if (path[strlen(path) - 1] != '*') {
            status = access(path, F_OK) == 0 ? see(context, path, VIEWS[i].how) : 0;
            continue;
        }
        glob_t found;
        if (glob(path, 0, NULL, &found) != 0)
            continue;
        for (size_t k = 0; k < found.gl_pathc && status == 0; k++)
            status = see(context, found.gl_pathv[k], VIEWS[i].how);
        globfree(&found);
    }
    for (unsigned i = 0; spec->see && spec->see[i] && status == 0; i++)
        status = see(context, spec->see[i], FILES);
    return status;
}

/* ---- bubblewrap ---- */

static void add(struct text *arguments, const char *word)
{
    text_addn(arguments, word, strlen(word) + 1);
}

/* Folders on the way to a mount: bubblewrap would make them for its own user alone. */
static void add_parents(struct text *arguments, const char *path)
{
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char word[PATH_MAX];
        int length = snprintf(word, sizeof word, "%.*s", (int)(slash - path), path);
        if (memmem(arguments->data, arguments->length, word, (size_t)length + 1))
            continue; /* made before, or part of what is seen */
        add(arguments, "--perms");
        add(arguments, "0755");
        add(arguments, "--dir");
        add(arguments, word);
    }
}

static int see_mount(void *context, const char *path, enum how how)
{
    struct text *arguments = context;
    struct stat st;
    char target[PATH_MAX];
    ssize_t length;
    if (how == KERNEL || lstat(path, &st) != 0)
        return 0;
    add_parents(arguments, path);
    if (S_ISLNK(st.st_mode) && (length = readlink(path, target, sizeof target - 1)) > 0) {
        target[length] = '\0';
        add(arguments, "--symlink");
        add(arguments, target);
    } else {
        add(arguments, how == DEVICE ? "--dev-bind" : "--ro-bind");
        add(arguments, path);
    }
    add(arguments, path);
    return 0;
}

void view_arguments(const struct sandbox_spec *spec, bool is_root, struct text *arguments)
{
    static const char *const ALWAYS[] = {
        "--unshare-ipc", "--unshare-pid",        "--unshare-net", "--unshare-uts", "--hostname",
        "box",           "--unshare-cgroup-try", "--as-pid-1",    "--cap-drop",    "ALL"};
    static const char *const ROOT[] = {"--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"};
    for (size_t i = 0; i < sizeof ALWAYS / sizeof ALWAYS[0]; i++)
        add(arguments, ALWAYS[i]);
    /* Root becomes somebody else inside; bubblewrap needs no user namespace then. */
    for (size_t i = 0; is_root && i < sizeof ROOT / sizeof ROOT[0]; i++)
        add(arguments, ROOT[i]);
    if (!is_root)
        add(arguments, "--unshare-user");
    add(arguments, "--proc");
    add(arguments, "/proc");
    each(spec, see_mount, arguments);
    if (spec->folder_bytes) {
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%llu", (unsigned long long)spec->folder_bytes);
        add(arguments, "--perms");
        add(arguments, "0777");
        add(arguments, "--size");
        add(arguments, bytes);
        add(arguments, "--tmpfs");
        add(arguments, LAUNCH_FOLDER);
    }
    if (spec->profile == SANDBOX_CARD) {
        static const char *const SHARED[] = {"--perms",  "1777",    "--size",
                                             "67108864", "--tmpfs", "/dev/shm"};
        for (size_t i = 0; i < sizeof SHARED / sizeof SHARED[0]; i++)
            add(arguments, SHARED[i]); /* a driver may expect it */
    }
    add(arguments, "--remount-ro"); /* a file system in memory without a limit */
    add(arguments, "/");
    add(arguments, "--chdir");
    add(arguments, "/");
}

/* ---- Landlock; its header may be older than the kernel ---- */

struct ruleset {
    uint64_t files, network, scope;
};

enum {
    READS = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
    ALL_OF_FIRST = (1 << 13) - 1,
    REFER = 1 << 13,     /* version 2 */
    TRUNCATE = 1 << 14,  /* 3 */
    IOCTL_DEV = 1 << 15, /* 5 */
    OF_FILES = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
               LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE | IOCTL_DEV,
    TCP = 3,   /* bind and connect: version 4 */
    SCOPE = 3, /* sockets without a file, and signals: version 6 */
    SPECIAL = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK,
};

struct rules {
    int fd;
    uint64_t handled;
    struct err *e;
};

static int see_rule(void *context, const char *path, enum how how)
{
    const struct rules *r = context;
    struct landlock_path_beneath_attr rule = {
        .allowed_access = how == DEVICE ? OF_FILES & ~(unsigned)LANDLOCK_ACCESS_FS_EXECUTE : READS};
    struct stat st;
    rule.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return errno == ENOENT ? 0 : err_set_errno(r->e, "cannot open %s for a box", path);
    if (fstat(rule.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed_access &= OF_FILES;
    rule.allowed_access &= r->handled;
    long status = syscall(SYS_landlock_add_rule, r->fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int saved = errno;
    close(rule.parent_fd);
    errno = saved;
    return status == 0 ? 0 : err_set_errno(r->e, "Landlock refuses a rule for %s", path);
}

int view_rules(const struct sandbox_spec *spec, unsigned version, uint64_t *read, uint64_t *write,
               struct err *e)
{
    struct ruleset all = {.files = ALL_OF_FIRST};
    size_t size = sizeof all.files;
    if (version >= 2)
        all.files |= REFER;
    if (version >= 3)
        all.files |= TRUNCATE;
    if (version >= 4) {
        all.network = TCP;
        size = offsetof(struct ruleset, scope);
    }
    if (version >= 5)
        all.files |= IOCTL_DEV;
    if (version >= 6) {
        all.scope = SCOPE;
        size = sizeof all;
    }
    struct rules r = {.handled = all.files, .e = e};
    r.fd = (int)syscall(SYS_landlock_create_ruleset, &all, size, 0);
    if (r.fd < 0)
        return err_set_errno(e, "Landlock makes no ruleset");
    *read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    *write = all.files & ~(uint64_t)SPECIAL & ~(uint64_t)IOCTL_DEV;
    if (each(spec, see_rule, &r) != 0) {
        close(r.fd);
        return -1;
    }
    return r.fd;
}
