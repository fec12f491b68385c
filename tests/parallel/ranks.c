/* SPDX-License-Identifier: MIT */
/* To be run by mpirun: what ranks send each other, and the library's functions with a communicator
 * of the caller's. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/program.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "parallel/ranks.h"

#define CHECK(condition)                                                                \
    do {                                                                                \
        if (!(condition)) {                                                             \
            fprintf(stderr, "rank %d, line %d: %s\n", (int)rank, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                               \
        }                                                                               \
    } while (0)

static int64_t rank, size;

/* Parts of r + 1 bytes, rank 0's none. */
static void check_sending(sal_comm *comm)
{
    int64_t bytes[16], total = 0, first = 0;
    char all[256] = { 0 }, want[256] = { 0 }, part[16];
    sal_error err = { 0 };
    for (int64_t r = 0; r < size; r++) {
        bytes[r] = r == 0 ? 0 : r + 1;
        first = r == rank ? total : first;
        memset(want + total, 'a' + (int)r, (size_t)bytes[r]);
        total += bytes[r];
    }
    memset(part, 'a' + (int)rank, sizeof part);
    memcpy(all + first, part, (size_t)bytes[rank]);
    CHECK(sali_comm_gather(comm, all, bytes, &err) == SAL_OK);
    CHECK(memcmp(all, want, sizeof all) == 0);
    memset(all, 0, sizeof all);
    CHECK(sali_comm_collect(comm, part, all, bytes, &err) == SAL_OK);
    CHECK(rank > 0 || memcmp(all, want, sizeof all) == 0);
    for (int64_t root = 0; root < size; root++) {
        int64_t value = rank == root ? 17 + root : -1;
        CHECK(sali_comm_broadcast(comm, root, &value, sizeof value, &err) == SAL_OK);
        CHECK(value == 17 + root);
    }
    const int64_t other = rank ^ 1;
    int64_t mine = rank, theirs = -1;
    if (other < size) {
        CHECK(sali_comm_swap(comm, other, &mine, &theirs, sizeof mine, &err) == SAL_OK);
        CHECK(theirs == other);
    }
    const sal_comm_traffic traffic = sal_comm_count(comm);
    CHECK(size == 1 || (traffic.calls >= size && traffic.sent > 0 && traffic.received > 0));
}

/* All get the first failure, with its message. */
static void check_agreement(sal_comm *comm)
{
    sal_error err = { 0 };
    CHECK(sal_comm_agree(comm, SAL_OK, &err) == SAL_OK);
    for (int64_t failing = 0; failing < size; failing++) {
        snprintf(err.message, sizeof err.message, "mine, %d", (int)rank);
        const sal_status mine = rank >= failing ? SAL_ERR_DATA : SAL_OK;
        char want[32];
        snprintf(want, sizeof want, "mine, %d", (int)failing);
        CHECK(sal_comm_agree(comm, mine, &err) == SAL_ERR_DATA);
        CHECK(size == 1 || (strcmp(err.message, want) == 0 && err.status == SAL_ERR_DATA));
    }
    CHECK(sal_comm_agree(comm, rank == size - 1 ? SAL_ERR_IO : SAL_OK, NULL) == SAL_ERR_IO);
}

/* Every shard has one owner, in order, for any number of shards. */
static void check_shards(sal_comm *comm)
{
    for (int64_t n = 1; n < 20; n++) {
        sali_memory memory = { 0 };
        sali_ranks ranks;
        sal_error err = { 0 };
        int64_t begin[21], all[40];
        CHECK(sali_ranks_create(&ranks, comm, n, &memory, &err) == SAL_OK);
        for (int64_t k = 0; k <= n; k++) {
            begin[k] = 2 * k;
        }
        for (int64_t k = 0; k < n; k++) {
            CHECK((sali_ranks_owner(&ranks, k) == rank) == sali_ranks_own(&ranks, k));
            all[2 * k] = all[2 * k + 1] = sali_ranks_own(&ranks, k) ? k : -1;
        }
        CHECK(sali_ranks_gather(&ranks, all, begin, sizeof *all, &err) == SAL_OK);
        for (int64_t k = 0; k < n; k++) {
            CHECK(all[2 * k] == k && all[2 * k + 1] == k);
        }
        CHECK(sali_ranks_first(&ranks, 0) == 0 && sali_ranks_first(&ranks, size) == n);
        sali_memory_free(&memory);
    }
}

typedef struct seen {
    int64_t draws, calls, V;
    int32_t last[4096];
} seen;

static int see(const sal_draw *draw, void *data)
{
    seen *s = data;
    s->draws++;
    memcpy(s->last, draw->codes, (size_t)(draw->chains * draw->variables) * sizeof *draw->codes);
    return 0;
}

static int count(const sal_draw *draw, void *data)
{
    (void)draw;
    ((seen *)data)->draws++;
    return 0;
}

static int see_progress(int64_t done, int64_t total, void *data)
{
    (void)total;
    ((seen *)data)->calls++;
    return done >= 300;
}

/* Callbacks and results are rank 0's; a callback that stops the run stops all. */
static void check_run(sal_comm *comm, sal_model *model)
{
    seen s = { 0 };
    sal_run *run = NULL;
    sal_run_summary summary;
    sal_error err = { 0 };
    int32_t last[4096];
    sal_run_options options = {
        .chains = 70,
        .draws = 400,
        .warmup = 50,
        .seed = 3,
        .comm = comm,
        .callbacks = { .draw = see, .draw_data = &s, .progress = see_progress, .progress_data = &s }
    };
    CHECK(sal_sample(model, &options, &run, &err) == SAL_OK);
    if (rank > 0) {
        CHECK(s.draws == 0 && s.calls == 0);
        CHECK(sal_run_summarise(run, &summary, &err) == SAL_ERR_ARGUMENT);
        CHECK(strstr(err.message, "results are at rank 0"));
        CHECK(!sal_run_log_probs(run) && !sal_run_last_state(run));
    } else {
        CHECK(sal_run_summarise(run, &summary, &err) == SAL_OK);
        CHECK(summary.stopped && summary.draws == s.draws && s.draws == 256 && s.calls > 1);
        CHECK(sal_run_last(run, last, &err) == SAL_OK);
        CHECK(memcmp(last, s.last, 70 * 9 * sizeof *last) == 0);
    }
    sal_run_destroy(run);
    options.sampler = rank == size - 1 ? "gibbs" : "gwg"; /* another sampler */
    options.callbacks = (sal_run_callbacks){ 0 };
    const sal_status status = sal_sample(model, &options, &run, &err);
    CHECK(size == 1 ? status == SAL_OK : status == SAL_ERR_ARGUMENT);
    if (size == 1) {
        sal_run_destroy(run);
    } else {
        CHECK(strstr(err.message, "sampler"));
    }
}

/* Chains that make whole sweeps, without a warm-up in which ranks would have told each other so:
 * windows are the same on all ranks, and draws and f those of a run without ranks. */
static void check_sweeps(sal_comm *comm)
{
    enum { CHAINS = 70, V = 16 * 16, DRAWS = 70 };
    static int32_t codes[2][CHAINS * V];
    static double f[2][CHAINS * DRAWS];
    sal_model *model = NULL;
    sal_error err = { 0 };
    CHECK(sal_model_open("ising:side=16,theta=0.3", 0, &model, &err) == SAL_OK);
    for (int alone = 0; alone < (rank == 0 ? 2 : 1); alone++) {
        seen s = { 0 };
        sal_run *run = NULL;
        const sal_run_options options = { .sampler = "gibbs",
                                          .chains = CHAINS,
                                          .draws = DRAWS,
                                          .warmup = -1,
                                          .thin = V,
                                          .seed = 4,
                                          .comm = alone ? NULL : comm,
                                          .callbacks = { .draw = count, .draw_data = &s } };
        CHECK(sal_sample(model, &options, &run, &err) == SAL_OK);
        CHECK(s.draws == (rank == 0 ? DRAWS : 0));
        if (rank == 0) {
            CHECK(sal_run_last(run, codes[alone], &err) == SAL_OK);
            memcpy(f[alone], sal_run_log_probs(run), sizeof f[alone]);
        }
        sal_run_destroy(run);
    }
    CHECK(memcmp(codes[0], codes[rank == 0], sizeof codes[0]) == 0);
    CHECK(memcmp(f[0], f[rank == 0], sizeof f[0]) == 0);
    sal_model_destroy(model);
}

static int stop_at_state(const sal_run_state *state, void *data)
{
    int *left = data;
    (void)state;
    return --*left == 0;
}

/* A run that its caller stops when it has its first state, or that of the end of warm-up, stops at
 * all ranks. */
static void check_stops(sal_comm *comm, sal_model *model)
{
    for (int at = 1; at <= 2; at++) {
        int left = at;
        sal_run *run = NULL;
        sal_run_summary summary;
        sal_error err = { 0 };
        const sal_run_options options = { .chains = 70,
                                          .draws = 40,
                                          .warmup = 50,
                                          .comm = comm,
                                          .record.draws = true,
                                          .callbacks = { .state = stop_at_state,
                                                         .state_data = &left } };
        CHECK(sal_sample(model, &options, &run, &err) == SAL_OK);
        CHECK(left == (rank == 0 ? 0 : at));
        if (rank == 0) {
            CHECK(sal_run_summarise(run, &summary, &err) == SAL_OK);
            CHECK(summary.stopped && summary.draws == 0);
        }
        sal_run_destroy(run);
    }
}

/* A trainer of 64 chains in two shards, by trajectory tempering. */
static sal_trainer *open_trainer(sal_comm *comm, sal_model *model, const sal_data *data,
                                 const sal_trajectory *first, const sal_model *first_model)
{
    const sal_train_options options = {
        .objective = SAL_PTT,
        .sampler = "gibbs",
        .steps = 1,
        .batch = 64,
        .iterations = 2,
        .ptt = { .reservoir = 64, .first = first, .first_model = first_model },
        .comm = comm
    };
    sal_trainer *trainer = NULL;
    sal_error err = { 0 };
    CHECK(sal_trainer_create(model, data, &options, &trainer, &err) == SAL_OK);
    return trainer;
}

static sal_model *open_rbm(void)
{
    sal_model *model = NULL;
    sal_error err = { 0 };
    CHECK(sal_model_open("rbm:visible=4,hidden=2", SAL_F64, &model, &err) == SAL_OK);
    return model;
}

/* When the last rank has no memory on the way to the starting model, all ranks fail, and none waits
 * for it. first: a ladder to begin with; NULL: independent variables. */
static void check_memory(sal_comm *comm, const sal_data *data, const sal_trajectory *first,
                         const sal_model *first_model)
{
    int64_t failed = size == 2; /* more ranks would only take longer */
    for (int64_t n = 1; failed; n++) {
        sal_model *model = open_rbm();
        sal_trainer *trainer = open_trainer(comm, model, data, first, first_model);
        sal_error err = { 0 };
        alloc_fail_at(rank == size - 1 ? n : 0);
        const sal_status status = sal_trainer_run(trainer, 1, &err);
        failed = alloc_failed();
        alloc_fail_at(0);
        sal_status last = status;
        CHECK(sali_comm_broadcast(comm, size - 1, &last, sizeof last, &err) == SAL_OK);
        CHECK(sali_comm_broadcast(comm, size - 1, &failed, sizeof failed, &err) == SAL_OK);
        CHECK(status == last && (status == SAL_OK || (failed && status == SAL_ERR_MEMORY)));
        sal_trainer_destroy(trainer);
        sal_model_destroy(model);
    }
}

static void check_training(sal_comm *comm)
{
    enum { ROWS = 64, V = 4 };
    static uint8_t codes[ROWS * V];
    const sal_data data = { .rows = ROWS, .codes = codes, .variables = V };
    sal_train_report report;
    sal_error err = { 0 };
    for (int k = 0; k < ROWS * V; k++) {
        codes[k] = k % 3 == 0;
    }
    sal_model *model = open_rbm();
    sal_trainer *trainer = open_trainer(comm, model, &data, NULL, NULL);
    CHECK(sal_trainer_run(trainer, 2, &err) == SAL_OK);
    sal_trainer_report(trainer, &report);
    check_memory(comm, &data, NULL, NULL);
    check_memory(comm, &data, report.trajectory, model);
    sal_trainer_destroy(trainer);
    sal_model_destroy(model);
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    sal_comm *comm = NULL, *part = NULL;
    sal_model *model = NULL;
    sal_error err = { 0 };
    int number;
    CHECK(sal_comm_open(0, &comm, &err) == SAL_ERR_ARGUMENT); /* before MPI_Init */
    MPI_Init(&argc, &argv);
    CHECK(sal_comm_launched(&rank));
    CHECK(sal_comm_open(MPI_Comm_c2f(MPI_COMM_WORLD), &comm, &err) == SAL_OK);
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    CHECK(rank == number && sal_comm_rank(comm) == rank);
    size = sal_comm_size(comm);
    check_sending(comm);
    check_agreement(comm);
    check_shards(comm);
    CHECK(sal_model_open("ising:side=3,theta=0.1", 0, &model, &err) == SAL_OK);
    check_run(comm, model);
    check_stops(comm, model);
    check_sweeps(comm);
    check_training(comm);
    /* two groups of ranks, each with a run of its own */
    MPI_Comm_split(MPI_COMM_WORLD, (int)rank % 2, 0, &half);
    CHECK(sal_comm_open(MPI_Comm_c2f(half), &part, &err) == SAL_OK);
    rank = sal_comm_rank(part);
    size = sal_comm_size(part);
    check_run(part, model);
    sal_comm_destroy(part);
    sal_comm_destroy(comm);
    sal_comm_destroy(NULL);
    MPI_Comm_free(&half);
    sal_model_destroy(model);
    MPI_Finalize();
    return 0;
}
