#include "ising_pcd.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 10, D = SIDE * SIDE, ROWS = 10000, CHAINS = 1000 };

static const double theta = 0.2;

/* ---- truth, data and model */

/* States of the true model: 10 draws of each of 1000 Gibbs chains, 100 scans apart. */
sal_status experiment_create(uint64_t seed, experiment *x, sal_error *err)
{
    sal_model *truth = NULL;
    sal_run *run = NULL;
    const sal_run_options o = { .sampler = "gibbs",
                                .chains = CHAINS,
                                .warmup = 1000 * D,
                                .draws = ROWS / CHAINS,
                                .thin = 100 * D,
                                .record.draws = true,
                                .seed = seed };
    sal_status status = sal_model_open("ising:side=10,theta=0.2", 0, &truth, err);
    status = status ? status : sal_sample(truth, &o, &run, err);
    status = status ? status : sal_data_from_run(run, &x->data, err);
    sal_run_destroy(run);
    sal_model_destroy(truth);
    x->seed = seed;
    return status;
}

/* f(s) = s'Js. */
static sal_status make_model(sal_model **model, sal_error *err)
{
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = D }, err);
    sal_tape *t = sal_tape_create(space, SAL_F32);
    sal_expr J = sal_param(t, "J", SAL_SHAPE(D, D));
    sal_status status = sal_model_from_tape(t, sal_quad(sal_state(t), J), model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return status;
}

/* A standard normal number from the generator's next two. */
static double normal(uint64_t *state)
{
    double u[2];
    for (int k = 0; k < 2; k++) {
        *state = 6364136223846793005u * *state + 1442695040888963407u;
        u[k] = ((double)(*state >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

/* J = 0.01 N(0, 1); training makes it symmetric. */
static sal_status start_model(sal_model *model, uint64_t seed, sal_error *err)
{
    static double J[D * D];
    uint64_t state = 2 * seed + 1;
    for (int k = 0; k < D * D; k++) {
        J[k] = 0.01 * normal(&state);
    }
    return sal_model_set_params(model, "J", J, err);
}

static double true_coupling(int i, int j)
{
    int rows = abs(i / SIDE - j / SIDE), columns = abs(i % SIDE - j % SIDE);
    int distance = (rows < SIDE - rows ? rows : SIDE - rows) +
                   (columns < SIDE - columns ? columns : SIDE - columns);
    return distance == 1 ? theta : 0;
}

/* |J - J*|_F / sqrt(D), the diagonal included. */
static double error_of(const sal_model *model)
{
    static double J[D * D];
    double sum = 0;
    if (sal_model_get_params(model, "J", J, NULL) != SAL_OK) {
        return NAN;
    }
    for (int k = 0; k < D * D; k++) {
        double d = J[k] - true_coupling(k / D, k % D);
        sum += d * d;
    }
    return sqrt(sum / D);
}

/* ---- training */

sal_status experiment_learn(const experiment *x, const learner *l, double *error, sal_error *err)
{
    static double M[D * D];
    sal_model *model = NULL;
    sal_train_options o = {
        .sampler = l->sampler,
        .steps = l->steps,
        .step_size = l->step_size,
        .iterations = l->updates,
        .batch = 50,
        .buffer = { .chains = 5000, .start = SAL_BUFFER_UNIFORM, .order = SAL_BUFFER_PASSES },
        .optimiser = { .method = SAL_ADAMW, .epsilon = 1e-7 },
        .learning_rate = 3e-4,
        .couplings.l1 = 0.01,
        .seed = x->seed,
        .callbacks.report = l->report,
        .report_every = 1,
        .threads = 1,
    };
    sal_status status = make_model(&model, err);
    status = status ? status : start_model(model, x->seed, err);
    if (status == SAL_OK && l->data_preconditioner) {
        status = sal_data_preconditioner(&x->data, model, M, err);
        o.preconditioner = M;
    }
    status = status ? status : sal_train(model, &x->data, &o, err);
    *error = status ? NAN : error_of(model);
    sal_model_destroy(model);
    return status;
}

/* SPDX-License-Identifier: MIT */
