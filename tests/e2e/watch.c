/* judge watch with a real compiler: the verdict comes by itself after each save, the case that
 * failed comes first, a save in the middle of a judging ends that one, and Ctrl-C gives the status
 * of the last verdict. */
#include "e2e.h"

#include "base/clock.h"
#include "base/file.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUBMISSIONS "submissions/warp-scan/"

static const uint64_t SECOND_NS = 1000000000;
enum { PATIENCE_S = 180 };

static char folder[PATH_MAX / 2], file[PATH_MAX];
static struct proc watcher;
static struct text seen, errors;
static size_t looked_at; /* what of `seen` was looked at already */

static void read_source(const char *name, struct text *to)
{
    char path[PATH_MAX];
    struct err e;
    snprintf(path, sizeof path, "%s/%s", e2e_paths.root, name);
    if (file_read(path, 1 << 20, to, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        exit(EXIT_FAILURE);
    }
}

/* As most editors do it; or as those that rename over the file. The comment keeps the compiler's
 * cache out. */
static void save(const char *name, bool rename_over)
{
    struct text source;
    struct err e;
    text_init(&source);
    read_source(name, &source);
    text_addf(&source, "\n// %llu %d\n", (unsigned long long)clock_now_ns(), (int)getpid());
    if (rename_over) {
        if (file_write(file, text_str(&source), source.length, &e) != 0)
            exit(EXIT_FAILURE);
    } else {
        int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0 || write(fd, text_str(&source), source.length) != (ssize_t)source.length)
            exit(EXIT_FAILURE);
        close(fd);
    }
    text_release(&source);
}

static void start(void)
{
    static char cache[PATH_MAX], state[PATH_MAX], path[PATH_MAX];
    snprintf(cache, sizeof cache, "SCANJUDGE_CACHE=%s", e2e_paths.cache);
    snprintf(state, sizeof state, "SCANJUDGE_STATE=%s/state", folder);
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
    static char root[PATH_MAX], home[PATH_MAX];
    snprintf(root, sizeof root, "SCANJUDGE_ROOT=%s", e2e_paths.root);
    snprintf(home, sizeof home, "CUDA_HOME=%s", getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "");
    const char *environment[] = {cache,
                                 state,
                                 path,
                                 root,
                                 "SCANJUDGE_ALLOW_UNSANDBOXED=1",
                                 home[strlen("CUDA_HOME=")] ? home : NULL,
                                 NULL};
    const char *argv[] = {e2e_paths.judge, "watch", "warp-scan", "--device", "cpu", NULL};
    struct proc_spec spec = {
        .argv = argv, .environment = environment, .folder = folder, .keep_fd = -1};
    struct err e;
    if (proc_start(&spec, &watcher, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        exit(EXIT_FAILURE);
    }
}

/* Reads on until `words` come after what was looked at, or for so long. */
static bool wait_for(const char *words, unsigned seconds)
{
    uint64_t deadline = clock_now_ns() + seconds * SECOND_NS;
    for (;;) {
        const char *hit = strstr(text_str(&seen) + looked_at, words);
        if (hit) {
            looked_at = (size_t)(hit - text_str(&seen)) + strlen(words);
            return true;
        }
        if (clock_now_ns() > deadline || watcher.stdout_fd < 0)
            return false;
        struct pollfd fds[] = {{.fd = watcher.stdout_fd, .events = POLLIN},
                               {.fd = watcher.stderr_fd, .events = POLLIN}};
        poll(fds, 2, 200);
        proc_read(&watcher.stdout_fd, &seen, 1 << 20);
        proc_read(&watcher.stderr_fd, &errors, 1 << 20);
    }
}

static void check(const char *what, bool right)
{
    struct text why;
    text_init(&why);
    if (!right)
        text_addf(&why, "it printed: %s\nand on stderr: %s", text_str(&seen), text_str(&errors));
    e2e_check(what, text_str(&why));
    text_release(&why);
}

static unsigned verdicts(void)
{
    unsigned count = 0;
    for (const char *at = text_str(&seen); (at = strstr(at, "== ")) != NULL; at++)
        count++;
    return count;
}

/* The exit status after a signal; -1 = it did not end by itself. */
static int end_with(int number)
{
    int status = -1;
    kill(watcher.pid, number);
    for (int i = 0; i < 100; i++) {
        if (waitpid(watcher.pid, &status, WNOHANG) == watcher.pid)
            return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        usleep(100000);
    }
    proc_kill(&watcher);
    return -1;
}

int main(void)
{
    struct err e;
    e2e_need_nvcc();
    text_init(&seen);
    text_init(&errors);
    if (file_make_temp_dir(folder, sizeof folder, "e2e-watch", &e) != 0)
        return EXIT_FAILURE;
    snprintf(file, sizeof file, "%s/warp-scan.cu", folder);

    save(SUBMISSIONS "wrong_answer/last_step_missing.cu", false);
    start();
    check("what is there is judged at once", wait_for("wrong answer: warp-scan", PATIENCE_S));
    check("with all cases",
          wait_for("next: ", PATIENCE_S) && !strstr(text_str(&seen), " of 1 case"));

    save(SUBMISSIONS "wrong_answer/last_step_missing.cu", true);
    check("a file that was renamed over it is judged",
          wait_for("wrong answer: warp-scan", PATIENCE_S));
    check("only the case that failed, which fails again",
          wait_for("0 of 1 case accepted", PATIENCE_S) && wait_for("next: ", PATIENCE_S));

    unsigned before = verdicts();
    save(SUBMISSIONS "wrong_answer/no_guard.cu", false);
    usleep(700000); /* nvcc works */
    save(SUBMISSIONS "accepted/textbook.cu", false);
    check("what is right passes that case and all others",
          wait_for("accepted: warp-scan", PATIENCE_S) && wait_for("next: ", PATIENCE_S));
    check("a judging that a save interrupts gives no verdict", verdicts() == before + 1);

    check("Ctrl-C ends it with the last status", end_with(SIGINT) == 0);

    text_clear(&seen);
    looked_at = 0;
    save(SUBMISSIONS "wrong_answer/no_guard.cu", false);
    start();
    check("it remembers the file and judges again",
          wait_for("  warp-scan.cu\n", PATIENCE_S) && wait_for("next: ", PATIENCE_S));
    check("and with a wrong answer that is status 1", end_with(SIGINT) == 1);

    file_remove_tree(folder, NULL);
    text_release(&seen);
    text_release(&errors);
    return e2e_done();
}
