/* SPDX-License-Identifier: MIT */
/* Threads that share work, and when they do. */
#define TEST_FORKS 1 /* the threads of a check are its own */
#include "test.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include <saltus/program.h>
#include <saltus/saltus.h>
#include "core/vector/blas.h"
#include "core/threads/shard.h"

/* ---- threads that the library starts are counted, or refused */

static _Atomic int started;
static bool refused;

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *data);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *data);

/* The linker puts it in place of pthread_create. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *data)
{
    if (refused) {
        return EAGAIN;
    }
    started++;
    return __real_pthread_create(thread, attributes, start, data);
}

/* ---- every piece is done */

static void mark(void *context, int64_t piece)
{
    ((int *)context)[piece]++;
}

static void check_marks(int64_t pieces, int threads)
{
    int runs[64] = { 0 };
    sal_threads_run(pieces, threads, mark, runs);
    for (int k = 0; k < 64; k++) {
        ck_assert_int_eq(runs[k], k < pieces);
    }
}

START_TEST(every_piece_is_done_once_on_any_number_of_threads)
{
    const int threads[] = { 0, 1, 2, 7, 64 };
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        for (int64_t pieces = 0; pieces <= 13; pieces++) {
            check_marks(pieces, threads[t]);
        }
    }
}
END_TEST

START_TEST(refused_threads_are_done_without)
{
    refused = true;
    check_marks(13, 5);
    ck_assert_int_eq(started, 0);
    refused = false;
    check_marks(13, 5);
    ck_assert_int_eq(started, 4);
}
END_TEST

/* ---- on several threads at a time */

/* Pieces that wait for each other: with fewer threads than pieces they would wait for ever. */
static void meet(void *context, int64_t piece)
{
    (void)piece;
    pthread_barrier_wait(context);
}

static void check_meeting(int n)
{
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, (unsigned)n);
    sal_threads_run(n, n, meet, &barrier);
    pthread_barrier_destroy(&barrier);
}

START_TEST(threads_are_kept_for_the_next_call)
{
    for (int k = 0; k < 10; k++) {
        check_meeting(3);
    }
    ck_assert_int_eq(started, 2);
    check_meeting(5);
    check_meeting(2);
    check_meeting(5);
    ck_assert_int_eq(started, 4);
}
END_TEST

/* Pauses around the time after which threads that wait fall asleep. */
START_TEST(threads_wake_up_whenever_they_are_called)
{
    for (int k = 0; k < 3000; k++) {
        check_meeting(3);
        for (volatile int spin = 0; spin < k % 100 * 500; spin++) {
        }
    }
    usleep(20000);
    check_meeting(3);
}
END_TEST

static void *meet_often(void *data)
{
    for (int k = 0; k < 300; k++) {
        check_meeting(2 + k % 3);
    }
    return data;
}

START_TEST(callers_have_threads_of_their_own)
{
    pthread_t callers[4];
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(pthread_create(&callers[k], NULL, meet_often, NULL), 0);
    }
    for (int k = 0; k < 4; k++) {
        pthread_join(callers[k], NULL);
    }
    ck_assert_int_le(started, 4 + 4 * 3);
}
END_TEST

typedef struct inner {
    pthread_t outer;
    _Atomic int same;
} inner;

static void note_thread(void *context, int64_t piece)
{
    inner *i = context;
    (void)piece;
    i->same += pthread_equal(i->outer, pthread_self()) != 0;
}

static void share_again(void *context, int64_t piece)
{
    (void)piece;
    inner i = { .outer = pthread_self() };
    sal_threads_run(4, 4, note_thread, &i);
    sal_threads_run(4, 4, note_thread, &i);
    *(_Atomic int *)context += i.same;
}

START_TEST(work_in_a_piece_is_not_shared_and_later_work_is)
{
    _Atomic int same = 0;
    sal_threads_run(6, 3, share_again, &same);
    ck_assert_int_eq(same, 6 * 8);
    ck_assert_int_eq(started, 2);
    check_meeting(4);
}
END_TEST

/* One piece leaves all threads to its own work. */
static void share_inside(void *context, int64_t piece)
{
    (void)piece;
    (void)context;
    check_meeting(3);
}

START_TEST(work_in_the_only_piece_is_shared)
{
    sal_threads_run(1, 4, share_inside, NULL);
    sal_threads_run(2, 1, share_inside, NULL);
    ck_assert_int_eq(started, 2);
}
END_TEST

START_TEST(a_forked_process_starts_its_own)
{
    check_meeting(3);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        started = 0;
        check_meeting(3);
        _exit(started == 2 ? 0 : 1);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    check_meeting(3);
    ck_assert_int_eq(started, 2);
}
END_TEST

static _Atomic bool enough;

static void *call_until_enough(void *data)
{
    while (!enough) {
        check_meeting(2);
        check_marks(3, 1);
    }
    return data;
}

static void note_blas(void *context, int64_t piece)
{
    (void)piece;
    *(_Atomic int *)context += openblas_get_num_threads();
}

/* Whatever another thread is doing: a child that waits for it would wait for ever. */
START_TEST(a_process_may_fork_while_threads_work)
{
    pthread_t other;
    openblas_set_num_threads(2);
    const int blas = openblas_get_num_threads(); /* 1 if it can do no more */
    check_meeting(2);
    ck_assert_int_eq(pthread_create(&other, NULL, call_until_enough, NULL), 0);
    for (int k = 0; k < 100; k++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(60);
            _Atomic int within = 0;
            check_meeting(3);
            sal_threads_run(3, 1, note_blas, &within);
            _exit(within == 3 && openblas_get_num_threads() == blas ? 0 : 1);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    enough = true;
    pthread_join(other, NULL);
    ck_assert_int_eq(openblas_get_num_threads(), blas);
}
END_TEST

typedef struct signals {
    pthread_barrier_t barrier;
    pthread_t caller;
    _Atomic int blocking; /* threads that block signals */
} signals;

static void look_at_mask(void *context, int64_t piece)
{
    signals *s = context;
    sigset_t mask;
    meet(&s->barrier, piece);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    const bool blocks =
        sigismember(&mask, SIGINT) && sigismember(&mask, SIGUSR1) && !sigismember(&mask, SIGSEGV);
    s->blocking += blocks && !pthread_equal(pthread_self(), s->caller);
}

START_TEST(signals_are_left_to_the_callers)
{
    signals s = { .caller = pthread_self() };
    sigset_t mask;
    pthread_barrier_init(&s.barrier, NULL, 4);
    sal_threads_run(4, 4, look_at_mask, &s);
    pthread_barrier_destroy(&s.barrier);
    ck_assert_int_eq(s.blocking, 3);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    ck_assert(!sigismember(&mask, SIGINT));
}
END_TEST

START_TEST(the_environment_says_how_many)
{
    static const struct {
        const char *text;
        int threads;
    } given[] = { { "3", 3 }, { "2,4", 2 }, { "1", 1 } };
    static const char *const nonsense[] = { "", "0", "-2", "many", "99999999999" };
    unsetenv("OMP_NUM_THREADS");
    const int all = sal_threads_number(0);
    ck_assert_int_ge(all, 1);
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        setenv("OMP_NUM_THREADS", given[k].text, 1);
        ck_assert_int_eq(sal_threads_number(0), given[k].threads);
        ck_assert_int_eq(sal_threads_number(5), 5);
    }
    for (size_t k = 0; k < sizeof nonsense / sizeof *nonsense; k++) {
        setenv("OMP_NUM_THREADS", nonsense[k], 1);
        ck_assert_int_eq(sal_threads_number(0), all);
    }
}
END_TEST

/* ---- whether to share, on a machine that is made up */

/* The seconds of `calls` calls, of which call k takes alone(k) by one thread and shared(k) by
 * several. */
static double play(sali_pace *pace, int calls, double (*alone)(int k), double (*shared)(int k))
{
    double seconds = 0;
    for (int k = 0; k < calls; k++) {
        const bool one = sali_pace_is_alone(pace, 4);
        const double took = one ? alone(k) : shared(k);
        sali_pace_note(pace, one, 4, took);
        seconds += took;
    }
    return seconds;
}

static double usual(int k)
{
    (void)k;
    return 1e-4;
}

static double tiny(int k)
{
    (void)k;
    return 4e-6;
}

static double half(int k)
{
    (void)k;
    return 5e-5;
}

static double slower(int k)
{
    (void)k;
    return 1.3e-4;
}

static double much_slower(int k)
{
    (void)k;
    return 1e-3;
}

static double blocked(int k)
{
    return k % 20 == 0 ? 4e-3 : 5e-5; /* another program has the processor */
}

static double interrupted(int k)
{
    return k % 50 == 7 ? 4e-3 : 1e-4;
}

static double cold(int k)
{
    return k < 5 ? 1e-3 : 4e-6;
}

static double long_and_cold(int k)
{
    return k == 0 ? 0.3 : 0.1;
}

static double twice_as_long(int k)
{
    (void)k;
    return 0.2;
}

static double hour(int k)
{
    (void)k;
    return 3600;
}

static double minute(int k)
{
    (void)k;
    return 60;
}

static double paused(int k)
{
    return k == 1000 ? 600 : 5e-5;
}

enum { CALLS = 100000 };

START_TEST(work_is_shared_where_that_is_faster)
{
    const double all = CALLS * 1e-4;
    sali_pace pace = { 0 };
    ck_assert(sali_pace_is_alone(&pace, 1e9)); /* nothing is known */
    ck_assert_double_lt(play(&pace, CALLS, usual, half), 0.51 * all);
    pace = (sali_pace){ 0 };
    ck_assert_double_lt(play(&pace, CALLS, usual, slower), 1.04 * all);
    pace = (sali_pace){ 0 };
    ck_assert_double_lt(play(&pace, CALLS, usual, blocked), 1.04 * all);
    /* One thread is interrupted at times, which is no reason to share. */
    double most = 0;
    for (int k = 0; k < CALLS; k++) {
        most += interrupted(k);
    }
    pace = (sali_pace){ 0 };
    ck_assert_double_lt(play(&pace, CALLS, interrupted, much_slower), 1.04 * most);
}
END_TEST

/* A few long calls, on a machine of many processors. */
START_TEST(long_work_is_shared_from_the_second_call_on)
{
    sali_pace pace = { 0 };
    ck_assert_double_eq_tol(play(&pace, 30, hour, minute), 3600 + 29 * 60, 1e-6);
}
END_TEST

START_TEST(work_that_is_too_little_is_not_shared)
{
    sali_pace pace = { 0 };
    ck_assert_double_eq_tol(play(&pace, CALLS, tiny, half), CALLS * 4e-6, 1e-9);
    pace = (sali_pace){ 0 }; /* also if the first calls took long */
    ck_assert_double_lt(play(&pace, CALLS, cold, half), CALLS * 4e-6 + 5e-3 + 31 * 1e-3);
    pace = (sali_pace){ 0 };
    ck_assert_double_lt(play(&pace, 10000, long_and_cold, twice_as_long), 1.04 * 10000 * 0.1);
}
END_TEST

/* The machine is busy for some time, and then no more. */
START_TEST(sharing_is_tried_again)
{
    sali_pace pace = { 0 };
    play(&pace, 1000, usual, blocked);
    ck_assert_double_lt(play(&pace, CALLS, usual, half), 0.55 * CALLS * 1e-4);
    /* The whole process rests for ten minutes, and has ten seconds of work by one thread after. */
    pace = (sali_pace){ 0 };
    const double seconds = play(&pace, 10 * CALLS, usual, paused) - 600;
    ck_assert_double_lt(seconds, 0.51 * (10 * CALLS * 1e-4) + 5.1);
}
END_TEST

START_TEST(calls_with_a_pace_do_all_pieces)
{
    sali_pace pace = { 0 };
    int runs[6] = { 0 };
    for (int k = 0; k < 40; k++) {
        sali_shard_run_paced(&pace, 1, 6, 3, mark, runs);
    }
    for (int k = 0; k < 6; k++) {
        ck_assert_int_eq(runs[k], 40);
    }
    ck_assert_int_eq(pace.calls, 40);
    ck_assert_double_gt(pace.alone, 0);
    pace = (sali_pace){ .alone = 1, .calls = 5 }; /* worth sharing */
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 3);
    sali_shard_run_paced(&pace, 1, 3, 3, meet, &barrier);
    pthread_barrier_destroy(&barrier);
    ck_assert_double_gt(pace.balance, 0.5);
}
END_TEST

/* Where one thread is asked for, no other is started, whatever the environment says. */
START_TEST(a_verdict_keeps_to_its_threads)
{
    enum { ROWS = 800, V = 4 };
    uint8_t codes[2][ROWS * V];
    sal_data data[2];
    sal_model *model = NULL;
    sal_verdict verdict;
    sal_error err;
    setenv("OMP_NUM_THREADS", "3", 1);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < ROWS * V; i++) {
            codes[k][i] = (uint8_t)((i * i + 3 * k + i / 7) % 5 % 2);
        }
        data[k] = (sal_data){ .rows = ROWS, .variables = V, .codes = codes[k] };
    }
    ck_ok(sal_model_open("ising:side=2", SAL_DTYPE_DEFAULT, &model, &err), &err);
    const sal_verdict_inputs inputs = { .train = &data[0],
                                        .test = &data[1],
                                        .sampling.threads = 1,
                                        .chains = 8,
                                        .draws = ROWS / 8,
                                        .fresh = codes[0],
                                        .rhat = NAN,
                                        .round_trips = NAN };
    ck_ok(sal_verdict_judge(model, &inputs, &verdict, NULL, &err), &err);
    ck_assert_int_eq(started, 0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("threads");
    tcase_add_test(tcase, every_piece_is_done_once_on_any_number_of_threads);
    tcase_add_test(tcase, refused_threads_are_done_without);
    tcase_add_test(tcase, threads_are_kept_for_the_next_call);
    tcase_add_test(tcase, threads_wake_up_whenever_they_are_called);
    tcase_add_test(tcase, callers_have_threads_of_their_own);
    tcase_add_test(tcase, work_in_a_piece_is_not_shared_and_later_work_is);
    tcase_add_test(tcase, work_in_the_only_piece_is_shared);
    tcase_add_test(tcase, a_forked_process_starts_its_own);
    tcase_add_test(tcase, a_process_may_fork_while_threads_work);
    tcase_add_test(tcase, signals_are_left_to_the_callers);
    tcase_add_test(tcase, the_environment_says_how_many);
    tcase_add_test(tcase, work_is_shared_where_that_is_faster);
    tcase_add_test(tcase, long_work_is_shared_from_the_second_call_on);
    tcase_add_test(tcase, work_that_is_too_little_is_not_shared);
    tcase_add_test(tcase, sharing_is_tried_again);
    tcase_add_test(tcase, calls_with_a_pace_do_all_pieces);
    tcase_add_test(tcase, a_verdict_keeps_to_its_threads);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
