/* SPDX-License-Identifier: MIT */
/* Threads that share the pieces of some work. They are made when they are first needed and kept,
 * asleep, for the next call of any thread. A waiting thread spins for some microseconds and then
 * sleeps, whatever the process's other libraries do: beside other programs, threads that spin take
 * the time of those that work. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/clock.h"
#include "core/vector/blas.h"

/* A call of sal_threads_run. */
typedef struct team {
    void (*work)(void *context, int64_t piece);
    void *context;
    int64_t pieces;
    _Atomic int64_t next; /* the first piece that nobody has taken */
} team;

/* A thread that helps one team at a time. Helpers end with the process. */
typedef struct helper {
    struct helper *next;  /* in the list of those that are free, or of those of a team */
    _Atomic(team *) team; /* the caller offers it; the helper puts &accepted in its place, and NULL
                             when it has finished */
    _Atomic bool asleep;  /* the helper may wait for `called` */
    _Atomic bool awaited; /* the caller may wait for `finished` */
    pthread_mutex_t lock; /* of the two conditions */
    pthread_cond_t called, finished;
} helper;

static team accepted;

/* The free helpers of the process. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static helper *free_helpers;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Whether this thread is at work for a team: its own calls are then not shared. */
static _Thread_local bool at_work;

/* ---- how many */

static int processors(void)
{
#ifdef __linux__
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) {
        return CPU_COUNT(&usable);
    }
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

int sal_threads_number(int threads)
{
    enum { MOST = 1 << 16 };
    if (threads > 0) {
        return threads;
    }
    const char *text = getenv("OMP_NUM_THREADS");
    const long given = text ? strtol(text, NULL, 10) : 0;
    return given > 0 && given <= MOST ? (int)given : processors();
}

/* ---- waiting */

/* Longer than a thread needs to hand over the next call of a loop, and so short that it is nothing
 * beside the time for which a system lets another program run. */
#define SPIN_SECONDS 3e-5
enum { PAUSES = 32 }; /* between looks at the clock */

static inline void pause_shortly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

/* Whether h has a team. */
static bool has_team(const helper *h)
{
    return atomic_load(&h->team) != NULL;
}

/* Spin until h has a team, or has none, for at most SPIN_SECONDS. */
static void spin(const helper *h, bool at_team)
{
    const double until = sali_now() + SPIN_SECONDS;
    while (has_team(h) != at_team && sali_now() < until) {
        for (int k = 0; k < PAUSES && has_team(h) != at_team; k++) {
            pause_shortly();
        }
    }
}

/* Wait until h has a team, or has none. The other side sets h->team before it looks at *waits, and
 * this side sets *waits before it looks at h->team: one of the two sees the other. */
static void wait_for(helper *h, bool at_team, _Atomic bool *waits, pthread_cond_t *condition)
{
    spin(h, at_team);
    if (has_team(h) == at_team) {
        return;
    }
    pthread_mutex_lock(&h->lock);
    atomic_store(waits, true);
    while (has_team(h) != at_team) {
        pthread_cond_wait(condition, &h->lock);
    }
    atomic_store(waits, false);
    pthread_mutex_unlock(&h->lock);
}

static void wake_up(helper *h, _Atomic bool *waits, pthread_cond_t *condition)
{
    if (atomic_load(waits)) {
        pthread_mutex_lock(&h->lock);
        pthread_cond_signal(condition);
        pthread_mutex_unlock(&h->lock);
    }
}

/* ---- at work */

static void take_pieces(team *t)
{
    at_work = true;
    for (int64_t k; (k = atomic_fetch_add(&t->next, 1)) < t->pieces;) {
        t->work(t->context, k);
    }
    at_work = false;
}

static void *help(void *data)
{
    helper *h = data;
    sali_blas_single_thread_here();
    for (;;) {
        wait_for(h, true, &h->asleep, &h->called);
        team *t = atomic_load(&h->team);
        if (t && atomic_compare_exchange_strong(&h->team, &t, &accepted)) {
            take_pieces(t);
            atomic_store(&h->team, NULL); /* from here on the team may be gone */
            wake_up(h, &h->awaited, &h->finished);
        }
    }
    return NULL;
}

/* Wait until h has finished its pieces of t, which are no more than those that it has begun: a
 * helper that has not come by now, as another program has its processor, need not come. */
static void dismiss(helper *h, team *t)
{
    if (!atomic_compare_exchange_strong(&h->team, &t, NULL)) {
        wait_for(h, false, &h->awaited, &h->finished);
    }
}

/* ---- helpers */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&lock);
}

/* The child has none of its parent's threads. */
static void in_child(void)
{
    for (helper *next; free_helpers; free_helpers = next) {
        next = free_helpers->next;
        sali_free(free_helpers);
    }
    pthread_mutex_unlock(&lock);
}

static void prepare_for_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

/* The signals to a process, which its own threads handle; not those that a thread causes itself. */
static sigset_t signals_of_others(void)
{
    static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT, SIGPROF };
    sigset_t all;
    sigfillset(&all);
    for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
        sigdelset(&all, own[k]);
    }
    return all;
}

/* Start h's thread; false: the system refuses. */
static bool start_thread(helper *h)
{
    enum { STACK = 4 << 20 };
    pthread_attr_t attributes;
    pthread_t thread;
    const sigset_t all = signals_of_others();
    sigset_t before;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const bool made = pthread_create(&thread, &attributes, help, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return made;
}

/* A new helper, at work for t; NULL: no memory, or no thread. */
static helper *create_helper(team *t)
{
    helper *h = SALI_NEW(helper);
    if (!h) {
        return NULL;
    }
    atomic_init(&h->team, t);
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->called, NULL);
    pthread_cond_init(&h->finished, NULL);
    if (!start_thread(h)) {
        sali_free(h);
        return NULL;
    }
    return h;
}

/* At most n > 0 free helpers, as a list. */
static helper *take_helpers(int64_t n)
{
    pthread_mutex_lock(&lock);
    helper *first = free_helpers, *last = first;
    for (int64_t k = 1; last && k < n && last->next; k++) {
        last = last->next;
    }
    if (last) {
        free_helpers = last->next;
        last->next = NULL;
    }
    pthread_mutex_unlock(&lock);
    return first;
}

static void return_helpers(helper *first)
{
    helper *last = first;
    while (last->next) {
        last = last->next;
    }
    pthread_mutex_lock(&lock);
    last->next = free_helpers;
    free_helpers = first;
    pthread_mutex_unlock(&lock);
}

/* Let up to n helpers work for t; the list of them. */
static helper *call_helpers(team *t, int64_t n)
{
    helper *first = take_helpers(n);
    for (helper *h = first; h; h = h->next, n--) {
        atomic_store(&h->team, t);
        wake_up(h, &h->asleep, &h->called);
    }
    for (helper *h; n > 0 && (h = create_helper(t)); n--) {
        h->next = first;
        first = h;
    }
    return first;
}

/* Share the pieces of t between the caller and up to n > 0 helpers. */
static void share(team *t, int64_t n)
{
    helper *helpers = call_helpers(t, n);
    take_pieces(t);
    for (helper *h = helpers; h; h = h->next) {
        dismiss(h, t);
    }
    if (helpers) {
        return_helpers(helpers);
    }
}

void sal_threads_run(int64_t pieces, int threads, void (*work)(void *context, int64_t piece),
                     void *context)
{
    const int64_t number = at_work || pieces < 2 ? 1 : sal_threads_number(threads);
    pthread_once(&once, prepare_for_forks);
    sali_blas_single_thread_begin();
    if (number > 1) {
        team t = { .work = work, .context = context, .pieces = pieces };
        share(&t, (number < pieces ? number : pieces) - 1);
    } else {
        for (int64_t k = 0; k < pieces; k++) {
            work(context, k);
        }
    }
    sali_blas_single_thread_end();
}
