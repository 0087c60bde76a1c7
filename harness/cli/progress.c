/* One line on stderr, only on a terminal that can be wiped, and wiped before anything else is
 * printed. A thread draws it from a second on, and again with every second that passes, so that
 * whoever waits sees what for. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/text.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t SECOND_NS = 1000000000;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool has_thread, stop;
    bool is_drawn;
    char what[256];
    char
        left[32]; /* until the whole is done; "" = not known, then how long it has taken is shown */
    unsigned done, total;
    uint64_t since_ns; /* of the whole: nothing is drawn in the first second */
    uint64_t what_ns;  /* since when it is this */
} line = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* The functions of this part hold the lock. */

static void draw(uint64_t now)
{
    struct text t;
    text_init(&t);
    text_add(&t, "\r\x1b[K");
    if (line.total > 1)
        text_addf(&t, "[%u/%u] ", line.done + 1, line.total);
    report_add_escaped(&t, line.what);
    if (line.left[0])
        text_addf(&t, ", %s left", line.left);
    else
        text_addf(&t, ", %u s", (unsigned)((now - line.what_ns) / SECOND_NS));
    fputs(text_str(&t), stderr);
    fflush(stderr);
    text_release(&t);
    line.is_drawn = true;
}

static void wipe(void)
{
    if (!line.is_drawn)
        return;
    fputs("\r\x1b[K", stderr);
    fflush(stderr);
    line.is_drawn = false;
}

static void *draw_on(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&line.lock);
    while (!line.stop) {
        uint64_t now = clock_now_ns();
        if (now - line.since_ns >= SECOND_NS)
            draw(now);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&line.changed, &line.lock, &until);
    }
    pthread_mutex_unlock(&line.lock);
    return NULL;
}

/* ---- */

void progress_show(void *unused, const char *what, unsigned done, unsigned total)
{
    (void)unused;
    if (!cli_is_terminal(STDERR_FILENO))
        return;
    if (done >= total) {
        progress_clear();
        return;
    }
    pthread_mutex_lock(&line.lock);
    uint64_t now = clock_now_ns();
    if (strncmp(line.what, what, sizeof line.what - 1) != 0)
        line.what_ns = now;
    snprintf(line.what, sizeof line.what, "%s", what);
    line.done = done;
    line.total = total;
    if (!line.has_thread) {
        line.stop = false;
        line.since_ns = line.what_ns = now;
        line.has_thread = pthread_create(&line.thread, NULL, draw_on, NULL) == 0;
    }
    pthread_mutex_unlock(&line.lock);
}

void progress_left(const char *left)
{
    pthread_mutex_lock(&line.lock);
    snprintf(line.left, sizeof line.left, "%s", left);
    pthread_mutex_unlock(&line.lock);
}

void progress_clear(void)
{
    pthread_mutex_lock(&line.lock);
    bool has_thread = line.has_thread;
    line.has_thread = false;
    line.stop = true;
    pthread_cond_signal(&line.changed);
    pthread_mutex_unlock(&line.lock);
    if (has_thread)
        pthread_join(line.thread, NULL);
    wipe();
}

void progress_wait(void *unused, const char *sentence)
{
    (void)unused;
    struct text t;
    text_init(&t);
    report_add_escaped(&t, sentence);
    progress_clear();
    if (cli_is_terminal(STDERR_FILENO)) {
        fprintf(stderr, "%s", text_str(&t));
        line.is_drawn = true;
    } else {
        fprintf(stderr, "judge: %s\n", text_str(&t));
    }
    fflush(stderr);
    text_release(&t);
}
