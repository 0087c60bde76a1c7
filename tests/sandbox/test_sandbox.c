/* What a box allows and refuses: test_sandbox TIER self|nobody. The programs in it are inside.c and
 * /bin/sh. Long because a process can choose its tier and its user only once, and each test is to
 * run in all of them. */
#include "base/clock.h"
#include "base/file.h"
#include "sandbox/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)
#define MIB       UINT64_C(1048576)
enum { SKIPPED = 77, WORDS_MAX = 16 };

static const char *tier;

struct run {
    struct sandbox_spec spec;
    struct sandbox_outcome o;
    struct text out, errors;
    struct err e;
    int status;
    const char *argv[WORDS_MAX];
};

/* `words`: what inside.c is told, separated by blanks. */
static void prepare(struct run *r, char *words)
{
    memset(r, 0, sizeof *r);
    r->argv[0] = "inside";
    unsigned count = 1;
    for (char *word = strtok(words, " "); word && count + 1 < WORDS_MAX; word = strtok(NULL, " "))
        r->argv[count++] = word;
    r->spec = (struct sandbox_spec){.program = INSIDE,
                                    .argv = r->argv,
                                    .limits = {.wall_ns = 20 * SECOND_NS, .output_bytes = MIB}};
    text_init(&r->out);
    text_init(&r->errors);
}

static void go(struct run *r)
{
    r->status = sandbox_run(&r->spec, &r->out, &r->errors, &r->o, &r->e);
    if (r->status != 0)
        print_error("%s\n", r->e.text);
    assert_int_equal(r->status, 0);
}

static void release(struct run *r)
{
    text_release(&r->out);
    text_release(&r->errors);
}

/* Runs it and expects that exit status. */
static void expect(const char *words, int code)
{
    struct run r;
    char copy[1024];
    snprintf(copy, sizeof copy, "%s", words);
    prepare(&r, copy);
    go(&r);
    if (r.o.how != SANDBOX_EXITED || r.o.code != code)
        print_error("%s: how %d, code %d: %s%s\n", words, (int)r.o.how, r.o.code, text_str(&r.out),
                    text_str(&r.errors));
    assert_int_equal(r.o.how, SANDBOX_EXITED);
    assert_int_equal(r.o.code, code);
    release(&r);
}

static bool has_groups(void)
{
    const struct sandbox_isolation *isolation = sandbox_isolation();
    for (unsigned i = 0; i < isolation->layer_count; i++)
        if (strcmp(isolation->layers[i].key, "memory") == 0)
            return !isolation->layers[i].weaker;
    return false;
}

/* ---- how it ends ---- */

static void test_ends(void **state)
{
    (void)state;
    expect("exit 0", 0);
    expect("exit 42", 42);
    struct run r;
    char words[] = "signal 11";
    prepare(&r, words);
    go(&r);
    assert_int_equal(r.o.how, SANDBOX_SIGNALLED);
    assert_int_equal(r.o.code, SIGSEGV);
    release(&r);
}

static void test_output(void **state)
{
    (void)state;
    struct run r;
    char few[] = "print 100", many[] = "print 1000000", nothing[] = "environment";
    prepare(&r, few);
    go(&r);
    assert_int_equal(r.out.length, 3200);
    release(&r);
    prepare(&r, many);
    go(&r);
    assert_int_equal(r.o.how, SANDBOX_OUTPUT_LIMIT);
    assert_true(r.out.length <= MIB);
    release(&r);
    prepare(&r, nothing);
    setenv("SECRET", "1", 1);
    const char *environment[] = {"A=b", NULL};
    r.spec.environment = environment;
    go(&r);
    assert_string_equal(text_str(&r.out), "A=b\n");
    release(&r);
}

static void test_time(void **state)
{
    (void)state;
    static const char *const PROGRAMS[] = {"sleep 30", "spin 0"};
    for (int i = 0; i < 2; i++) {
        struct run r;
        char words[32];
        snprintf(words, sizeof words, "%s", PROGRAMS[i]);
        prepare(&r, words);
        r.spec.limits.wall_ns = SECOND_NS / 2;
        go(&r);
        assert_int_equal(r.o.how, SANDBOX_TIMED_OUT);
        assert_true(r.o.wall_ns >= SECOND_NS / 2);
        release(&r);
    }
    struct run r;
    char words[] = "spin 0";
    prepare(&r, words);
    r.spec.limits.processor_ns = 1;
    go(&r);
    assert_int_equal(r.o.how, SANDBOX_SIGNALLED);
    assert_true(r.o.code == SIGXCPU || r.o.code == SIGKILL);
    assert_true(r.o.processor_ns >= SECOND_NS / 2);
    release(&r);
}

static void test_not_there(void **state)
{
    (void)state;
    struct run r;
    char words[] = "exit 0";
    prepare(&r, words);
    r.spec.program = "/there/is/none";
    assert_int_equal(sandbox_run(&r.spec, &r.out, &r.errors, &r.o, &r.e), -1);
    assert_non_null(strstr(r.e.text, "/there/is/none"));
    r.argv[0] = "/usr/bin/not-there-either";
    r.spec.program = NULL;
    assert_int_equal(sandbox_run(&r.spec, &r.out, &r.errors, &r.o, &r.e), -1);
    assert_non_null(strstr(r.e.text, "execute the program"));
    release(&r);
}

/* ---- what it may use ---- */

static void test_memory(void **state)
{
    (void)state;
    struct run r;
    char touch[] = "memory 536870912", reserve[] = "reserve 274877906944",
         share[] = "share 41943040";
    prepare(&r, touch);
    r.spec.limits.memory_bytes = 64 * MIB;
    go(&r);
    assert_true((r.o.how == SANDBOX_EXITED && r.o.code == 1) || r.o.out_of_memory);
    release(&r);
    prepare(&r, reserve);
    r.spec.limits.memory_bytes = 64 * MIB;
    go(&r);
    assert_int_equal(r.o.code, 0);
    release(&r);
    if (!has_groups()) {
        print_message("no control group: memory is limited for each process only\n");
        return;
    }
    prepare(&r, share);
    r.spec.limits.memory_bytes = 64 * MIB;
    go(&r);
    assert_true(r.o.out_of_memory);
    assert_true(r.o.peak_bytes <= 100 * MIB);
    release(&r);
}

static void test_processes(void **state)
{
    (void)state;
    struct run r;
    char words[] = "forks";
    prepare(&r, words);
    r.spec.limits.processes = 16;
    go(&r);
    assert_int_equal(r.o.how, SANDBOX_EXITED);
    int count = atoi(text_str(&r.out));
    if (count > 20 || count < 8)
        print_error("%d processes\n", count);
    assert_true(count >= 8 && count <= 20);
    release(&r);
}

static void test_descriptors(void **state)
{
    (void)state;
    struct run r;
    char many[] = "descriptors", none[] = "open";
    prepare(&r, many);
    go(&r);
    assert_in_range(atoi(text_str(&r.out)), 200, 256);
    release(&r);
    int stray = open("/etc/passwd", O_RDONLY); /* not close-on-exec, as some library may have it */
    prepare(&r, none);
    go(&r);
    assert_string_equal(text_str(&r.out), "0 1 2 ");
    close(stray);
    release(&r);
}

static void test_folder(void **state)
{
    (void)state;
    struct run r;
    char words[] = "fill big";
    prepare(&r, words);
    r.spec.folder_bytes = 4 * MIB;
    r.spec.limits.file_bytes = 2 * MIB;
    go(&r);
    assert_in_range(atoi(text_str(&r.out)), MIB, 2 * MIB);
    release(&r);
    if (strcmp(tier, "namespaces") != 0)
        return; /* only there the folder as a whole is limited */
    char again[] = "fill big";
    prepare(&r, again);
    r.spec.folder_bytes = 4 * MIB;
    go(&r);
    assert_in_range(atoi(text_str(&r.out)), 3 * MIB, 4 * MIB);
    release(&r);
}

/* ---- what goes in and out ---- */

static void test_files(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"copy", "link", "folder", "pipe", "large", "missing"};
    enum { COUNT = sizeof NAMES / sizeof NAMES[0] };
    const char *argv[] = {"/bin/sh", "-c",
                          "cat a b > copy; ln -s /etc/passwd link; mkdir folder; mkfifo pipe; "
                          "head -c 5000 /dev/zero > large; [ \"$TMPDIR\" = \"$PWD\" ]",
                          NULL};
    const struct sandbox_file files[] = {{"a", "one\n", 4}, {"b", "two\n", 4}};
    struct sandbox_take takes[COUNT];
    struct text texts[COUNT], out, errors;
    for (unsigned i = 0; i < COUNT; i++) {
        text_init(&texts[i]);
        takes[i] = (struct sandbox_take){.name = NAMES[i], .most_bytes = 4096, .to = &texts[i]};
    }
    struct sandbox_spec spec = {.profile = SANDBOX_COMPILE,
                                .argv = argv,
                                .files = files,
                                .file_count = 2,
                                .takes = takes,
                                .take_count = COUNT,
                                .folder_bytes = MIB,
                                .limits = {.wall_ns = 20 * SECOND_NS}};
    struct sandbox_outcome o;
    struct err e;
    text_init(&out);
    text_init(&errors);
    assert_int_equal(sandbox_run(&spec, &out, &errors, &o, &e), 0);
    if (o.code != 0)
        print_error("%s%s\n", text_str(&out), text_str(&errors));
    assert_int_equal(o.code, 0);
    assert_true(o.folder[0] == '/');
    assert_true(takes[0].found);
    assert_string_equal(text_str(&texts[0]), "one\ntwo\n");
    for (unsigned i = 1; i < COUNT; i++) {
        assert_false(takes[i].found);
        assert_int_equal(texts[i].length, 0);
    }
    assert_false(strcmp(tier, "landlock") == 0 && file_exists(o.folder));
    text_release(&out);
    text_release(&errors);
    for (unsigned i = 0; i < COUNT; i++)
        text_release(&texts[i]);
}

static void test_parts(void **state)
{
    (void)state;
    struct run r;
    char words[] = "read 0", write_words[] = "append 0 chmod";
    const char *const parts[] = {SOURCE_ROOT "/LICENSE", INSIDE, NULL};
    for (int i = 0; i < 2; i++) {
        prepare(&r, i ? write_words : words);
        r.argv[2] = sandbox_part(1);
        r.argv[3] = NULL;
        r.spec.parts = parts;
        go(&r);
        assert_int_equal(r.o.code, i);
        release(&r);
    }
}

/* There need not be a card for that. */
static void test_card(void **state)
{
    (void)state;
    struct run r;
    char words[] = "write /dev/shm/x";
    prepare(&r, words);
    r.spec.profile = SANDBOX_CARD;
    go(&r);
    assert_int_equal(r.o.code, strcmp(tier, "namespaces") == 0 ? 0 : 1);
    release(&r);
    assert_false(file_exists("/dev/shm/x"));
    /* the names of its threads, which a driver gives; and nothing else of the kind */
    char name[] = "append /proc/thread-self/comm", other[] = "append /proc/self/oom_score_adj";
    for (int i = 0; i < 2; i++) {
        prepare(&r, i ? other : name);
        r.spec.profile = SANDBOX_CARD;
        go(&r);
        if (i == 0 || strcmp(tier, "landlock") == 0)
            assert_int_equal(r.o.code, i);
        release(&r);
    }
}

/* ---- what it must not reach ---- */

static void test_hidden(void **state)
{
    (void)state;
    char words[1024];
    snprintf(words, sizeof words,
             "read %s /etc/passwd /etc/hostname /root/.bashrc /proc/%d/mem "
             "/proc/%d/environ /proc/1/environ /usr/bin/env",
             SOURCE_ROOT "/LICENSE", (int)getpid(), (int)getpid());
    expect(words, 1);
    expect("list /home /root /tmp /var /opt", 1);
    expect("write /x /tmp/x /usr/lib/x /dev/shm/x /dev/x /proc/self/x /var/tmp/x /run/x", 1);
    snprintf(words, sizeof words, "append %s /usr/lib/os-release /etc/passwd",
             SOURCE_ROOT "/LICENSE");
    expect(words, 1);
    snprintf(words, sizeof words, "chmod %s /usr/lib/os-release", SOURCE_ROOT "/LICENSE");
    expect(words, 1);
    /* what is shown is there to be read */
    expect("read /usr/lib/os-release", 0);
    expect("write /dev/null", 0);
    struct run r;
    const char *const see[] = {SOURCE_ROOT "/LICENSE", NULL};
    snprintf(words, sizeof words, "read %s", SOURCE_ROOT "/LICENSE");
    prepare(&r, words);
    r.spec.see = see;
    go(&r);
    assert_int_equal(r.o.code, 0);
    release(&r);
}

static void test_signals(void **state)
{
    (void)state;
    char words[64];
    pid_t victim = fork();
    if (victim == 0) {
        alarm(30);
        for (;;)
            pause();
    }
    snprintf(words, sizeof words, "kill %d %d", (int)victim, (int)getpid());
    expect(words, 1);
    assert_int_equal(kill(victim, 0), 0);
    assert_int_equal(waitpid(victim, NULL, WNOHANG), 0);
    kill(victim, SIGKILL);
    waitpid(victim, NULL, 0);
}

static void test_calls(void **state)
{
    (void)state;
    static const char *const CALLS[] = {
        "ptrace",      "mount",       "unshare",        "setns",    "clone",   "clone3",
        "bpf",         "inet",        "inet6",          "netlink",  "tiocsti", "reboot",
        "swapon",      "keyctl",      "chroot",         "io_uring", "setuid",  "settimeofday",
        "sethostname", "userfaultfd", "perf_event_open"};
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        char words[64];
        snprintf(words, sizeof words, "call %s", CALLS[i]);
        expect(words, 1);
    }
    if (strcmp(tier, "landlock") == 0) {
        expect("call shm", 1); /* it would outlive the box */
        expect("call prlimit", 1);
    }
}

/* ---- talking, and nothing that stays ---- */

/* Whether the other end is closed by everybody, within two seconds. */
static bool closes(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char byte;
    return poll(&p, 1, 2000) == 1 && read(fd, &byte, 1) == 0;
}

static void test_talk(void **state)
{
    (void)state;
    struct run r;
    struct sandbox_box box;
    char words[] = "echo 1", text[16] = "";
    int ends[2];
    prepare(&r, words);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    r.spec.socket_fd = ends[1];
    assert_int_equal(sandbox_open(&r.spec, &box, &r.e), 0);
    close(ends[1]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(ends[0], "hello", 5), 5);
        assert_int_equal(read(ends[0], text, sizeof text), 5);
        assert_string_equal(text, "hello");
    }
    assert_false(sandbox_is_over(&box));
    assert_true(box.pid > 0);
    assert_int_equal(kill(box.pid, 0), 0);
    pid_t pid = box.pid;
    assert_int_equal(sandbox_finish(&box, &r.o, &r.e), 0);
    assert_int_equal(r.o.how, SANDBOX_SIGNALLED);
    assert_int_equal(kill(pid, 0), -1);
    assert_true(closes(ends[0]));
    close(ends[0]);
    release(&r);
}

static void test_hiding(void **state)
{
    (void)state;
    struct run r;
    char words[] = "hide";
    int ends[2];
    prepare(&r, words);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    r.spec.socket_fd = ends[1];
    go(&r);
    close(ends[1]);
    assert_true(closes(ends[0]));
    close(ends[0]);
    release(&r);
}

/* Control groups of that process that are there; -1 = it has none anywhere. */
static int groups_of(pid_t pid)
{
    char command[256], line[PATH_MAX];
    int count = 0;
    snprintf(command, sizeof command,
             "find /sys/fs/cgroup -maxdepth 8 -type d -path '*/scanjudge-%d*' 2>/dev/null",
             (int)pid);
    FILE *list = popen(command, "r");
    assert_non_null(list);
    while (fgets(line, sizeof line, list))
        count++;
    pclose(list);
    return count;
}

/* A judge of its own program with an open box, whose other end is *box_socket: what this process
 * has started so far is not its business. */
static pid_t start_judge(int *box_socket)
{
    int ends[2], ready[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid_t judge = fork();
    if (judge == 0) {
        char socket[16], pipe_end[16];
        snprintf(socket, sizeof socket, "%d", ends[1]);
        snprintf(pipe_end, sizeof pipe_end, "%d", dup(ready[1]));
        execl("/proc/self/exe", "test_sandbox", tier, "open", socket, pipe_end, NULL);
        _exit(1);
    }
    close(ends[1]);
    close(ready[1]);
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    *box_socket = ends[0];
    return judge;
}

/* Kills what the judge started last, its keeper among it, unless `keeper` is false; then the judge.
 */
static void end_judge(pid_t judge, int box_socket, bool keeper)
{
    char path[64];
    int pid;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)judge, (int)judge);
    FILE *list = keeper ? fopen(path, "re") : NULL;
    assert_int_equal(kill(judge, SIGSTOP), 0); /* it cannot do anything about it */
    while (list && fscanf(list, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (list)
        fclose(list);
    assert_int_equal(kill(judge, SIGKILL), 0);
    waitpid(judge, NULL, 0);
    assert_true(closes(box_socket));
    close(box_socket);
}

static bool groups_end(pid_t judge)
{
    for (int i = 0; i < 300 && groups_of(judge) > 0; i++)
        usleep(10000);
    return groups_of(judge) == 0;
}

static void test_killed_judge(void **state)
{
    (void)state;
    int box;
    pid_t judge = start_judge(&box);
    end_judge(judge, box, false);
    assert_true(groups_end(judge));
}

/* Whoever opens boxes next tidies up, and leaves alone what is in use. */
static void test_killed_with_keeper(void **state)
{
    (void)state;
    int box, next_box, other_box;
    if (!has_groups())
        return;
    pid_t other = start_judge(&other_box), judge = start_judge(&box);
    end_judge(judge, box, true);
    assert_true(groups_of(judge) > 0);
    int in_use = groups_of(other);
    pid_t next = start_judge(&next_box);
    assert_true(groups_end(judge));
    assert_int_equal(groups_of(other), in_use);
    end_judge(next, next_box, false);
    end_judge(other, other_box, false);
    assert_true(groups_end(next) && groups_end(other));
}

/* A judge that opens a box, says so, and waits to be killed. */
static int be_killed(int socket_fd, int ready_fd)
{
    struct sandbox_box box;
    const char *argv[] = {"inside", "echo", "1", NULL};
    struct sandbox_spec spec = {
        .program = INSIDE, .argv = argv, .folder_bytes = MIB, .socket_fd = socket_fd};
    struct err e;
    fcntl(socket_fd, F_SETFD, FD_CLOEXEC);
    fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
    if (sandbox_open(&spec, &box, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    close(socket_fd);
    while (!box.pid && !sandbox_is_over(&box))
        usleep(1000);
    if (write(ready_fd, "x", 1) != 1)
        return 1;
    alarm(30);
    for (;;)
        pause();
}

/* Those that wait are killed behind our back: the next box is a fresh one. */
static void test_dead_spare(void **state)
{
    (void)state;
    const struct sandbox_spec plain = {.profile = SANDBOX_PROGRAM};
    char path[64];
    int pid;
    sandbox_prepare(&plain);
    usleep(500000); /* it waits, and is not on its way any more */
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *list = fopen(path, "re");
    while (list && fscanf(list, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (list)
        fclose(list);
    usleep(500000);
    for (int i = 0; i < 3; i++)
        expect("exit 5", 5);
}

static void *run_some(void *unused)
{
    for (int i = 0; i < 5; i++)
        expect("exit 7", 7);
    return unused;
}

static void test_side_by_side(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_some, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* Folders of boxes of this process. As root their users tell whose they are (machine.c); else
 * others of the same user may be at work beside us, and test_files looks at its own. */
static int count_folders(void)
{
    enum { FIRST_USER = 0x40000000, BOXES = 64 };
    DIR *list = opendir("/tmp");
    int count = 0;
    for (struct dirent *d; list && (d = readdir(list));) {
        struct stat st;
        if (strncmp(d->d_name, "scanjudge-box-", 14) == 0 &&
            fstatat(dirfd(list), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0)
            count += st.st_uid / BOXES == FIRST_USER / BOXES + (unsigned)getpid();
    }
    if (list)
        closedir(list);
    return count;
}

/* After everything else. */
static void test_nothing_left(void **state)
{
    (void)state;
    assert_int_equal(count_folders(), 0);
    if (has_groups())
        assert_true(groups_of(getpid()) <= 6); /* its own two, and those of spares */
}

static int become_nobody(void)
{
    enum { NOBODY = 65534 };
    return setgid(NOBODY) == 0 && setuid(NOBODY) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: test_sandbox TIER self|nobody\n");
        return 2;
    }
    tier = argv[1];
    struct sandbox_choice choice = {.tier = tier};
    struct err e;
    if (sandbox_choose(&choice, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        return 2;
    }
    if (strcmp(argv[2], "open") == 0)
        return be_killed(atoi(argv[3]), atoi(argv[4]));
    if (strcmp(argv[2], "nobody") == 0 && (geteuid() != 0 || become_nobody() != 0)) {
        printf("skipped: only root can become an ordinary user\n");
        return SKIPPED;
    }
    if (access(INSIDE, R_OK | X_OK) != 0) {
        printf("skipped: %s is not to be reached by user %d\n", INSIDE, (int)getuid());
        return SKIPPED;
    }
    if (sandbox_setup(&e) != 0) {
        printf("skipped: %s\n", e.text);
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),         cmocka_unit_test(test_output),
        cmocka_unit_test(test_time),         cmocka_unit_test(test_not_there),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_processes),
        cmocka_unit_test(test_descriptors),  cmocka_unit_test(test_folder),
        cmocka_unit_test(test_files),        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_card),         cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_signals),      cmocka_unit_test(test_calls),
        cmocka_unit_test(test_talk),         cmocka_unit_test(test_hiding),
        cmocka_unit_test(test_killed_judge), cmocka_unit_test(test_killed_with_keeper),
        cmocka_unit_test(test_dead_spare),   cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_nothing_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
