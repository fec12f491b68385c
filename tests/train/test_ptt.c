/* SPDX-License-Identifier: MIT */
/* Training at equilibrium by parallel trajectory tempering, and sampling along its levels: against
 * enumeration, with faults put in on purpose where they can be. */
#include "temp_dir.h"

#include <math.h>
#include <string.h>

#include <saltus/saltus.h>
#include <saltus/program.h>

#include "exact_answers.h"
#include "models/base.h"
#include "run/trajectory/trajectory.h"
#include "train/objectives/ptt.h"
#include "train/trainer.h"
#include "train/trajectory_file.h"

enum { V = 9, ROWS = 400 };

/* ---- models and data */

/* A mixture of two patterns with noise: two modes that single changes seldom join. */
static sal_data patterns(double noise)
{
    sal_data data = { .rows = ROWS, .variables = V, .codes = calloc(ROWS, V) };
    for (int64_t r = 0; r < ROWS; r++) {
        sali_stream stream = {
            .seed = 9, .step = 1, .chain = (uint32_t)r, .purpose = SALI_RNG_TEST
        };
        bool second = sali_rng_uniform_at(&stream, 0) < 0.3;
        for (uint32_t v = 0; v < V; v++) {
            bool one = second ? v % 2 == 0 : v < 3;
            data.codes[r * V + v] = one != (sali_rng_uniform_at(&stream, v + 1) < noise);
        }
    }
    return data;
}

/* Rows of 0, 1 .. with more of the last states. */
static sal_data labels(void)
{
    sal_data data = { .rows = ROWS, .variables = 2, .codes = calloc(ROWS, 2) };
    for (int r = 0; r < ROWS; r++) {
        data.codes[2 * r] = (uint8_t)(r % 3);
        data.codes[2 * r + 1] = (uint8_t)(r % 10 < 8 ? r % 3 : (r + 1) % 3);
    }
    return data;
}

static sal_model *new_model(const char *name, const sal_data *data)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(name, SAL_F64, &model, &err), &err);
    ck_ok(sal_model_train_start(model, name, data, 1, &err), &err);
    return model;
}

static sal_train_options usual(void)
{
    return (sal_train_options){ .objective = SAL_PTT,
                                .sampler = "gibbs",
                                .steps = 9,
                                .batch = 50,
                                .iterations = 200,
                                .learning_rate = 0.05,
                                .report_every = 50,
                                .seed = 3,
                                .threads = 1 };
}

/* ---- log Z at every level */

/* log Z of a level by enumeration. */
static double level_log_z(sal_model *model, const sal_trajectory *path, int64_t k)
{
    const sal_space *space = sal_model_space(model);
    const double beta = path->levels[k].info.beta;
    double sum = 0, f;
    int32_t codes[V] = { 0 };
    sal_error err;
    ck_ok(sal_model_set_params(model, NULL, path->levels[k].values, &err), &err);
    for (int64_t v = 0; v < space->n_variables;) {
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
        sum += exp(beta * f + (1 - beta) * sali_base_value(space, path->log_base, codes));
        for (v = 0; v < space->n_variables && ++codes[v] == space->variables[v].states; v++) {
            codes[v] = 0;
        }
    }
    return log(sum);
}

static void check_levels(const char *name, const sal_data *data, sal_train_options o)
{
    sal_error err;
    sal_model *model = new_model(name, data), *other = new_model(name, data);
    sal_trainer *t = NULL;
    sal_train_report report;
    ck_ok(sal_trainer_create(model, data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, o.iterations, &err), &err);
    sal_trainer_report(t, &report);
    const sal_trajectory *path = report.trajectory;
    ck_assert_msg(path->n >= 3, "%s: %d levels", name, (int)path->n);
    double squares = 0;
    for (int64_t k = 1; k < path->n; k++) {
        const sal_trajectory_level *i = &path->levels[k].info;
        double exact = level_log_z(other, path, k);
        ck_assert_msg(fabs(i->log_z - exact) < 4.5 * i->log_z_error,
                      "%s, level %d: log Z %.4f +- %.4f, exactly %.4f", name, (int)k, i->log_z,
                      i->log_z_error, exact);
        /* Not by steps between levels: families go on, and one level's error makes up for
         * another's, so that the later one may be smaller. */
        squares += pow((i->log_z - exact) / i->log_z_error, 2) / (double)(path->n - 1);
    }
    ck_assert_msg(squares < 2, "%s: mean square of errors %.2f of theirs", name, squares);
    double exact = exact_log_z(model);
    ck_assert_msg(fabs(report.log_z - exact) < 4.5 * report.log_z_error,
                  "%s: log Z %.4f +- %.4f, exactly %.4f", name, report.log_z, report.log_z_error,
                  exact);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    sal_model_destroy(other);
}

START_TEST(levels_have_the_exact_log_z)
{
    sal_data data = patterns(0.04);
    sal_train_options o = usual();
    o.learning_rate = 0.1;
    check_levels("rbm:visible=9,hidden=6", &data, o);
    o.sampler = "gwg";
    o.seed = 4;
    check_levels("rbm:visible=9,hidden=6", &data, o);
    free(data.codes);
}
END_TEST

/* A lattice of 3 x 3 sites and a Potts model of two sites with three states. */
START_TEST(spins_and_labels_have_the_exact_log_z)
{
    sal_data data = patterns(0.15);
    sal_train_options o = usual();
    o.learning_rate = 0.05;
    o.iterations = 400;
    check_levels("ising-dense:dim=9", &data, o);
    free(data.codes);

    data = labels();
    o.steps = 4;
    o.learning_rate = 0.1;
    o.iterations = 500;
    check_levels("potts-dense:dim=2,states=3", &data, o);
    free(data.codes);
}
END_TEST

/* By the layers of the levels and of the bridge from independent variables, which for ordinal
 * variables are not linear in the levels. */
START_TEST(rbms_of_all_kinds_have_the_exact_log_z)
{
    static const char *const kinds[] = { "kind=categorical,states=3",
                                         "kind=ordinal,states=3,hidden_kind=spin",
                                         "kind=categorical,states=3,hidden_kind=gaussian",
                                         "kind=categorical,states=3,hidden_kind=drelu" };
    sal_data data = labels();
    sal_train_options o = usual();
    o.sampler = "block-gibbs";
    o.learning_rate = 0.1;
    o.iterations = 500;
    for (int k = 0; k < 4; k++) {
        char text[100];
        snprintf(text, sizeof text, "rbm:visible=2,hidden=4,%s", kinds[k]);
        check_levels(text, &data, o);
    }
    free(data.codes);
}
END_TEST

/* ---- the maximum of the likelihood */

/* Add to g the mean of f's gradient by the parameters over states [n x V] with weights. */
static void add_mean_gradient(const sal_model *model, int64_t n, const int32_t *codes,
                              const double *weight, double sign, double *g)
{
    enum { MOST = 256 };
    const sali_tape_model *tape = sali_model_tape(model);
    const sal_space *space = sal_model_space(model);
    const int64_t size = sal_model_parameters_size(model), variables = space->n_variables;
    double *sum = calloc((size_t)size, sizeof *sum), f[MOST];
    double *x = calloc((size_t)(MOST * space->width), sizeof *x);
    sali_workspace *ws = NULL;
    sal_error err;
    ck_ok(sali_workspace_create(tape->program, tape->params, MOST, SALI_WANT_PARAM_GRADIENT, &ws,
                                &err),
          &err);
    sali_workspace_param_zero(ws);
    for (int64_t first = 0; first < n; first += MOST) {
        int64_t some = n - first < MOST ? n - first : MOST;
        sali_model_embed(model, some, codes + first * variables, x);
        sali_workspace_param_gradient(ws, some, codes + first * variables, x, weight + first, f);
    }
    sali_workspace_param_reduce(&ws, 1, 1, sum);
    for (int64_t i = 0; i < size; i++) {
        g[i] += sign * sum[i];
    }
    sali_workspace_destroy(ws);
    free(sum);
    free(x);
}

/* All states of a space [returned number x V] in `codes`. */
static int64_t all_states(const sal_space *space, int32_t **codes)
{
    const int64_t variables = space->n_variables;
    int64_t n = 1;
    for (int64_t v = 0; v < variables; v++) {
        n *= space->variables[v].states;
    }
    *codes = calloc((size_t)n, (size_t)variables * sizeof **codes);
    for (int64_t s = 0; s < n; s++) {
        int64_t rest = s;
        for (int64_t v = 0; v < variables; v++) {
            (*codes)[s * variables + v] = (int32_t)(rest % space->variables[v].states);
            rest /= space->variables[v].states;
        }
    }
    return n;
}

/* Exact mean log-likelihood of the data, and its gradient by the parameters. */
static double exact_gradient(const sal_model *model, const sal_data *data, double *g)
{
    const sal_space *space = sal_model_space(model);
    int32_t *states, *rows = calloc((size_t)(data->rows * data->variables), sizeof *rows);
    const int64_t n = all_states(space, &states);
    double *f = calloc((size_t)n, sizeof *f), *of_data = calloc((size_t)data->rows, sizeof *f);
    double log_z = exact_log_z(model), mean = -log_z;
    sal_error err;
    ck_ok(sal_model_evaluate(model, n, states, f, NULL, NULL, &err), &err);
    for (int64_t s = 0; s < n; s++) {
        f[s] = exp(f[s] - log_z);
    }
    for (int64_t k = 0; k < data->rows * data->variables; k++) {
        rows[k] = data->codes[k];
    }
    ck_ok(sal_model_evaluate(model, data->rows, rows, of_data, NULL, NULL, &err), &err);
    for (int64_t r = 0; r < data->rows; r++) {
        mean += of_data[r] / (double)data->rows;
        of_data[r] = 1 / (double)data->rows;
    }
    memset(g, 0, (size_t)sal_model_parameters_size(model) * sizeof *g);
    add_mean_gradient(model, data->rows, rows, of_data, 1, g);
    add_mean_gradient(model, n, states, f, -1, g);
    free(states);
    free(rows);
    free(f);
    free(of_data);
    return mean;
}

/* How much more likely the data become uphill along exact gradients, nats a row. */
static double left_to_gain(sal_model *model, const sal_data *data, int steps)
{
    const int64_t n = sal_model_parameters_size(model);
    double *x = calloc((size_t)n, sizeof *x), *g = calloc((size_t)n, sizeof *g);
    double reached = exact_gradient(model, data, g), best = reached;
    sal_error err;
    ck_ok(sal_model_get_params(model, NULL, x, &err), &err);
    for (int step = 0; step < steps; step++) {
        for (int64_t i = 0; i < n; i++) {
            x[i] += 0.1 * g[i];
        }
        ck_ok(sal_model_set_params(model, NULL, x, &err), &err);
        best = fmax(best, exact_gradient(model, data, g));
    }
    free(x);
    free(g);
    return best - reached;
}

static void check_maximum(const char *name, const sal_data *data)
{
    sal_error err;
    sal_train_options o = usual();
    o.sampler = "gibbs";
    o.steps = -1;
    o.iterations = 1500;
    o.batch = ROWS; /* all rows: the noise is that of the chains alone */
    o.learning_rate = 0.05;
    o.rate.cooldown = 0.6;
    o.optimiser.method = SAL_SGD;
    o.threads = 2;
    sal_model *model = new_model(name, data);
    ck_ok(sal_train(model, data, &o, &err), &err);
    double left = left_to_gain(model, data, 40);
    ck_assert_msg(left < 0.01, "%s: %.4f nats a row are left to gain", name, left);
    sal_model_destroy(model);
}

/* An Ising lattice of 3 x 3 whose coupling and field are learned: one number each. */
static sal_data lattice_rows(void)
{
    sal_data data = { .rows = ROWS, .variables = 9, .codes = calloc(ROWS, 9) };
    sal_model *model = NULL;
    sal_error err;
    sal_run *run = NULL;
    int bytes;
    ck_ok(sal_model_open("ising:side=3,theta=0.3,bias=0.1", SAL_F64, &model, &err), &err);
    const sal_run_options o = { .sampler = "gibbs",
                                .chains = ROWS,
                                .draws = 1,
                                .warmup = 200,
                                .seed = 2,
                                .threads = 1,
                                .record.draws = true };
    ck_ok(sal_sample(model, &o, &run, &err), &err);
    const uint8_t *draws = sal_run_draws(run, &bytes);
    ck_assert_int_eq(bytes, 1);
    memcpy(data.codes, draws, ROWS * 9);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return data;
}

START_TEST(training_reaches_the_maximum_likelihood)
{
    sal_data data = lattice_rows();
    check_maximum("ising-dense:dim=9", &data);
    free(data.codes);
    data = labels();
    check_maximum("potts-dense:dim=2,states=3", &data);
    free(data.codes);
    data = patterns(0.15);
    check_maximum("ising-dense:dim=9", &data);
    check_maximum("rbm:visible=9,hidden=4", &data);
    free(data.codes);
}
END_TEST

/* 16 visible units, of which some follow others. */
START_TEST(sixteen_units_reach_the_maximum_likelihood)
{
    sal_data data = { .rows = ROWS, .variables = 16, .codes = calloc(ROWS, 16) };
    sali_stream stream = { .seed = 5, .purpose = SALI_RNG_TEST };
    for (uint32_t k = 0; k < ROWS * 16; k++) {
        double p = k % 16 < 4 ? 0.4 : data.codes[k - 4] ? 0.8 : 0.2;
        data.codes[k] = sali_rng_uniform_at(&stream, k) < p;
    }
    check_maximum("rbm:visible=16,hidden=5", &data);
    free(data.codes);
}
END_TEST

/* ---- all rows at once */

/* Where f is affine in its parameters the data's part of the gradient is exact, and an update is
 * that of the whole data; elsewhere batches are drawn. */
START_TEST(linear_models_see_all_rows)
{
    sal_data data = patterns(0.15), weighted = data;
    double weight[ROWS];
    sal_error err;
    sal_train_options o = usual();
    weighted.weight = weight;
    for (int r = 0; r < ROWS; r++) {
        weight[r] = 0.5 + r % 7;
    }
    const struct {
        const char *name;
        bool linear;
    } cases[] = { { "ising-dense:dim=9", true },
                  { "potts-dense:dim=9,states=2", true },
                  { "rbm:visible=9,hidden=4", false },
                  { "mlp:visible=9,hidden=3", false } };
    o.batch = 34;
    o.magnitude_penalty = 0.1; /* which needs f of the data */
    sal_model *penalised = new_model(cases[0].name, &weighted);
    sal_trainer *with_penalty = NULL;
    ck_ok(sal_trainer_create(penalised, &weighted, &o, &with_penalty, &err), &err);
    ck_assert_ptr_null(with_penalty->data_gradient);
    sal_trainer_destroy(with_penalty);
    sal_model_destroy(penalised);
    o.magnitude_penalty = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = new_model(cases[k].name, &weighted);
        sal_trainer *t = NULL;
        const int64_t n = sal_model_parameters_size(model);
        ck_ok(sal_trainer_create(model, &weighted, &o, &t, &err), &err);
        ck_assert_msg((t->data_gradient != NULL) == cases[k].linear, "%s", cases[k].name);
        if (cases[k].linear) {
            double *g = calloc((size_t)n, sizeof *g), part[ROWS], mean = 0, sum = 0, f[ROWS];
            int32_t codes[ROWS * V];
            for (int i = 0; i < ROWS * V; i++) {
                codes[i] = data.codes[i];
            }
            for (int r = 0; r < ROWS; r++) {
                sum += weight[r];
            }
            ck_ok(sal_model_evaluate(model, ROWS, codes, f, NULL, NULL, &err), &err);
            for (int r = 0; r < ROWS; r++) {
                part[r] = weight[r] / sum;
                mean += part[r] * f[r];
            }
            add_mean_gradient(model, ROWS, codes, part, 1, g);
            double of_values = t->data_constant;
            for (int64_t i = 0; i < n; i++) {
                ck_assert_double_eq_tol(t->data_gradient[i], g[i], 1e-12);
                of_values += t->values[i] * g[i];
            }
            ck_assert_double_eq_tol(of_values, mean, 1e-12);
            free(g);
        }
        sal_trainer_destroy(t);
        sal_model_destroy(model);
    }
    free(data.codes);
}
END_TEST

/* ---- far from independent variables */

/* The first model is reached over bridges: levels with beta between 0 and 1, whose log Z is right
 * too. */
START_TEST(a_far_start_is_reached_over_bridges)
{
    sal_data data = patterns(0.3);
    sal_error err;
    sal_model *model = NULL;
    ck_ok(sal_model_open("ising:side=3,theta=0.4", SAL_F64, &model, &err), &err);
    sal_train_options o = usual();
    sal_trainer *t = NULL;
    sal_status status = sal_trainer_create(model, &data, &o, &t, &err);
    if (status == SAL_ERR_UNSUPPORTED) { /* it has no parameters */
        sal_model_destroy(model);
        ck_ok(sal_model_open("ising-dense:dim=9,scale=0.9,seed=2", SAL_F64, &model, &err), &err);
        ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    }
    const double exact = exact_log_z(model);
    ck_ok(sal_trainer_run(t, 1, &err), &err);
    const sal_trajectory *path = sali_ptt_of(t)->path;
    int64_t k = 1;
    while (path->levels[k].info.beta < 1) {
        ck_assert_double_gt(path->levels[k].info.beta, path->levels[k - 1].info.beta);
        k++;
    }
    ck_assert_int_gt(k, 2);
    ck_assert_int_eq(path->levels[k].info.iteration, 0);
    ck_assert_double_eq_tol(path->levels[k].info.log_z, exact,
                            4.5 * path->levels[k].info.log_z_error);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* ---- updates that are taken back */

START_TEST(updates_that_go_too_far_are_taken_back)
{
    sal_data data = patterns(0.05);
    sal_error err;
    sal_train_options o = usual();
    sal_train_report report;
    sal_trainer *t = NULL;
    sal_model *model = new_model("rbm:visible=9,hidden=6", &data);
    o.learning_rate = 20;
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 1, &err), &err);
    sal_trainer_report(t, &report);
    ck_assert_double_eq(report.learning_rate, 10);
    /* back at the last level, without moments */
    ck_assert_mem_eq(t->values, sali_ptt_of(t)->path->levels[sali_ptt_of(t)->path->n - 1].values,
                     (size_t)t->optimiser.n * sizeof(double));
    ck_assert_int_eq(t->optimiser.updates, 0);
    for (int64_t i = 0; i < t->optimiser.n; i++) {
        ck_assert_double_eq(t->optimiser.m[i], 0);
        ck_assert_double_eq(t->optimiser.v[i], 0);
    }
    ck_ok(sal_trainer_run(t, 40, &err), &err);
    sal_trainer_report(t, &report);
    ck_assert_double_lt(report.learning_rate, 2);
    ck_assert_double_gt(report.learning_rate, 0.001);
    sal_trainer_destroy(t);
    sal_model_destroy(model);

    model = new_model("rbm:visible=9,hidden=6", &data);
    o.learning_rate = 1e200;
    ck_ok(sal_trainer_create(model, &data, &o, &t, &err), &err);
    ck_fails(sal_trainer_run(t, 100, &err), SAL_ERR_MODEL, &err, "30 updates in a row");
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

START_TEST(options_are_checked)
{
    sal_data data = patterns(0.1);
    sal_error err;
    sal_trainer *t = NULL;
    sal_model *model = new_model("rbm:visible=9,hidden=3", &data);
    sal_train_options o = usual();
    o.sampler = "dula";
    ck_fails(sal_trainer_create(model, &data, &o, &t, &err), SAL_ERR_UNSUPPORTED, &err, "exact");
    o = usual();
    o.ptt.reservoir = 120;
    ck_fails(sal_trainer_create(model, &data, &o, &t, &err), SAL_ERR_ARGUMENT, &err, "multiple");
    o = usual();
    o.ptt.patience = 3;
    ck_fails(sal_trainer_create(model, &data, &o, &t, &err), SAL_ERR_ARGUMENT, &err, "held-out");
    o = usual();
    o.objective = SAL_PCD;
    o.ptt.reservoir = 500;
    ck_fails(sal_trainer_create(model, &data, &o, &t, &err), SAL_ERR_ARGUMENT, &err, "ptt");
    sal_model_destroy(model);
    free(data.codes);
}
END_TEST

/* ---- threads, checkpoints */

static void same_trainings(const sal_trainer *a, const sal_trainer *b)
{
    const sali_ptt *p = a->own, *q = b->own;
    ck_assert_int_eq(a->iteration, b->iteration);
    ck_assert_int_eq(p->path->n, q->path->n);
    ck_assert_int_eq(p->sweeps, q->sweeps);
    ck_assert_mem_eq(a->values, b->values, (size_t)a->optimiser.n * sizeof(double));
    ck_assert_mem_eq(p->stored, q->stored, (size_t)(p->M * V) * sizeof(int32_t));
    ck_assert_mem_eq(p->stored_f, q->stored_f, (size_t)p->M * sizeof(double));
    ck_assert_mem_eq(a->buffer.codes, b->buffer.codes, (size_t)(p->n * V) * sizeof(int32_t));
    ck_assert_double_eq(a->optimiser.learning_rate, b->optimiser.learning_rate);
    for (int64_t k = 0; k < p->path->n; k++) {
        ck_assert_mem_eq(p->path->levels[k].values, q->path->levels[k].values,
                         (size_t)a->optimiser.n * sizeof(double));
        ck_assert_double_eq(p->path->levels[k].info.log_z, q->path->levels[k].info.log_z);
    }
    ck_assert_double_eq(a->best_likelihood, b->best_likelihood);
    ck_assert_int_eq(a->worse, b->worse);
}

START_TEST(stops_and_threads_change_no_bit)
{
    sal_data data = patterns(0.1), test = patterns(0.12);
    sal_error err;
    sal_train_options o = usual();
    sal_model *models[3];
    sal_trainer *t[3] = { 0 };
    temp_dir_make();
    o.iterations = 60;
    o.report_every = 10;
    o.learning_rate = 0.05;
    o.ptt.test = &test;
    for (int k = 0; k < 3; k++) {
        models[k] = new_model("rbm:visible=9,hidden=6", &data);
        o.threads = k == 1 ? 3 : 1;
        ck_ok(sal_trainer_create(models[k], &data, &o, &t[k], &err), &err);
        ck_ok(sal_trainer_run(t[k], k == 2 ? 23 : 100, &err), &err);
    }
    same_trainings(t[0], t[1]);
    const int64_t worse = t[2]->worse, disturbed = ((sali_ptt *)t[2]->own)->disturbed;
    ck_assert_ptr_nonnull(t[2]->best);
    t[2]->worse += 2; /* counters that stay 0 in this training are restored, too */
    ((sali_ptt *)t[2]->own)->disturbed += 3;
    ck_ok(sal_trainer_save(t[2], temp_dir, &err), &err);
    sal_trainer_destroy(t[2]);
    sal_model_destroy(models[2]);
    models[2] = new_model("rbm:visible=9,hidden=6", &data);
    ck_ok(sal_trainer_create(models[2], &data, &o, &t[2], &err), &err);
    ck_ok(sal_trainer_load(t[2], temp_dir, &err), &err);
    ck_assert_int_eq(t[2]->iteration, 23);
    ck_assert_int_eq(t[2]->worse, worse + 2);
    ck_assert_int_eq(((sali_ptt *)t[2]->own)->disturbed, disturbed + 3);
    t[2]->worse = worse;
    ((sali_ptt *)t[2]->own)->disturbed = disturbed;
    ck_ok(sal_trainer_run(t[2], 100, &err), &err);
    same_trainings(t[0], t[2]);
    for (int k = 0; k < 3; k++) {
        sal_trainer_destroy(t[k]);
        sal_model_destroy(models[k]);
    }
    temp_dir_remove();
    free(data.codes);
    free(test.codes);
}
END_TEST

/* ---- sampling along the levels */

typedef struct trained {
    sal_data data;
    sal_model *model;
    sal_trajectory *path;
} trained;

static int save_ladder(const sal_train_report *r, void *data)
{
    sal_error err;
    (void)data;
    if (r->best) {
        ck_ok(sali_trajectory_save(r->trajectory, temp_dir, r->model, r, &err), &err);
    }
    return 0;
}

static trained train_some(void)
{
    sal_error err;
    trained x = { .data = patterns(0.03) };
    sal_train_options o = usual();
    o.iterations = 200;
    o.learning_rate = 0.05;
    o.callbacks.report = save_ladder;
    o.report_every = 200;
    temp_dir_make();
    x.model = new_model("rbm:visible=9,hidden=6", &x.data);
    ck_ok(sal_train(x.model, &x.data, &o, &err), &err);
    ck_ok(sal_trajectory_open(temp_dir, x.model, &x.path, &err), &err);
    return x;
}

static void forget(trained *x)
{
    sal_trajectory_destroy(x->path);
    sal_model_destroy(x->model);
    free(x->data.codes);
    temp_dir_remove();
}

START_TEST(a_saved_ladder_knows_its_model)
{
    trained x = train_some();
    sal_error err;
    double log_z, error;
    int64_t steps;
    ck_assert_int_ge(x.path->n, 3);
    ck_assert_str_eq(sali_trajectory_sampler(x.path, &steps), "gibbs");
    ck_assert_int_eq(steps, 9);
    ck_ok(sal_trajectory_log_z(x.path, x.model, &log_z, &error, &err), &err);
    ck_assert_double_eq_tol(log_z, exact_log_z(x.model), 4.5 * error);
    sal_trajectory_level level = { .beta = 7 };
    ck_assert(!sal_trajectory_level_at(x.path, 1000, &level));
    ck_assert(sal_trajectory_level_at(x.path, 0, &level) && level.beta == 0);

    sal_model *other = new_model("rbm:visible=9,hidden=6", &x.data);
    ck_fails(sal_trajectory_log_z(x.path, other, &log_z, &error, &err), SAL_ERR_DATA, &err,
             "other parameters");
    sal_model_destroy(other);
    other = new_model("rbm:visible=9,hidden=5", &x.data);
    sal_trajectory *path = NULL;
    ck_fails(sal_trajectory_open(temp_dir, other, &path, &err), SAL_ERR_DATA, &err, "parameters");
    ck_fails(sal_trajectory_open("/nowhere", other, &path, &err), SAL_ERR_NOT_FOUND, &err,
             "ladder.json");
    sal_run *run = NULL;
    sal_run_options o = { .trajectory = x.path, .sampler = "gibbs" };
    ck_fails(sal_sample(other, &o, &run, &err), SAL_ERR_ARGUMENT, &err, "another model");
    sal_model_destroy(other);
    o.tempering.replicas = 3;
    ck_fails(sal_sample(x.model, &o, &run, &err), SAL_ERR_ARGUMENT, &err, "replicas");
    o = (sal_run_options){ .trajectory = x.path, .chains = INT32_MAX };
    ck_fails(sal_sample(x.model, &o, &run, &err), SAL_ERR_ARGUMENT, &err, "more than 2^32");
    o = (sal_run_options){ .trajectory = x.path, .sampler = "dula" };
    ck_fails(sal_sample(x.model, &o, &run, &err), SAL_ERR_UNSUPPORTED, &err, "exact");
    forget(&x);
}
END_TEST

static sal_run *sample(const trained *x, int threads, int64_t draws, const sal_run_state *resume)
{
    sal_run *run = NULL;
    sal_error err;
    const sal_run_options o = { .trajectory = x->path,
                                .chains = 40,
                                .draws = draws,
                                .seed = 5,
                                .threads = threads,
                                .record.draws = true,
                                .resume = resume };
    ck_ok(sal_sample(x->model, &o, &run, &err), &err);
    return run;
}

/* Two modes that single sites do not cross: along the levels each is visited as often as it is
 * likely, from the first draws on. */
START_TEST(draws_along_the_levels_are_the_models)
{
    trained x = train_some();
    sal_error err;
    sal_run_variation tv;
    sal_run_summary s;
    sal_run *run = sample(&x, 2, 500, NULL);
    ck_ok(sal_run_summarise(run, &s, &err), &err);
    ck_assert_int_eq(s.levels, x.path->n);
    ck_assert_msg(s.arrivals > 10, "%.2f arrivals, %d levels, rate %.3f", s.arrivals, (int)s.levels,
                  s.level_rate_min);
    ck_assert_double_lt(s.rhat_max, 1.05);
    ck_ok(sal_run_total_variation(run, 0, 1, &tv, &err), &err);
    ck_assert_msg(tv.distance < 1.3 * tv.ideal, "total variation %.4f, ideal %.4f", tv.distance,
                  tv.ideal);
    sal_run_destroy(run);
    forget(&x);
}
END_TEST

/* Without the levels in between, a climb makes its own: log Z and the modes are right all the same.
 */
START_TEST(climbs_bridge_wide_gaps)
{
    enum { CHAINS = 40, DRAWS = 50 };
    trained x = train_some();
    sal_error err;
    sal_trajectory_draws draws;
    int32_t *codes = calloc(CHAINS * DRAWS * V, sizeof *codes);
    const sal_trajectory_options o = {
        .chains = CHAINS, .draws = DRAWS, .reservoir = 4000, .seed = 3, .threads = 2
    };
    for (int gap = 0; gap < 2; gap++) {
        const int64_t all = x.path->n;
        x.path->n = gap ? 2 : all; /* independent variables, the start, the model */
        ck_ok(sal_trajectory_draw(x.model, x.path, &o, codes, NULL, &draws, &err), &err);
        x.path->n = all;
        ck_assert_int_gt(draws.levels, gap ? 4 : all);
        ck_assert_int_eq(draws.disturbed, 0);
        ck_assert_double_lt(draws.log_z_error, 0.1);
        ck_assert_double_eq_tol(draws.log_z, exact_log_z(x.model), 4 * draws.log_z_error);
        int32_t *states;
        const int64_t n = all_states(sal_model_space(x.model), &states);
        double *f = calloc((size_t)n, sizeof *f), second = 0, drawn = 0;
        ck_ok(sal_model_evaluate(x.model, n, states, f, NULL, NULL, &err), &err);
        for (int64_t s = 0; s < n; s++) {
            second += states[s * V + 4] ? exp(f[s] - exact_log_z(x.model)) : 0;
        }
        for (int64_t s = 0; s < CHAINS * DRAWS; s++) {
            drawn += (double)codes[s * V + 4] / (CHAINS * DRAWS);
        }
        ck_assert_msg(fabs(drawn - second) < 0.05, "gap %d: %.3f in the second mode, exactly %.3f",
                      gap, drawn, second);
        free(states);
        free(f);
    }
    free(codes);
    forget(&x);
}
END_TEST

/* Where nothing mixes, weights of modes err alike at all levels: the standard error knows. */
START_TEST(climbs_know_their_error)
{
    enum { SEEDS = 40, CHAINS = 20, DRAWS = 20 };
    trained x = train_some();
    sal_error err;
    sal_trajectory_draws draws;
    int32_t *codes = calloc(CHAINS * DRAWS * V, sizeof *codes);
    double squares = 0, exact = exact_log_z(x.model);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const sal_trajectory_options o = { .chains = CHAINS,
                                           .draws = DRAWS,
                                           .reservoir = 400,
                                           .sampler = "gwg",
                                           .steps = 1,
                                           .seed = seed,
                                           .threads = 1 };
        ck_ok(sal_trajectory_draw(x.model, x.path, &o, codes, NULL, &draws, &err), &err);
        squares += pow((draws.log_z - exact) / draws.log_z_error, 2) / SEEDS;
    }
    fprintf(stderr, "mean square of errors in standard errors: %.2f\n", squares);
    ck_assert_msg(squares < 2 && squares > 0.3, "mean square %.2f", squares);
    free(codes);
    forget(&x);
}
END_TEST

START_TEST(threads_and_stops_change_no_draw)
{
    trained x = train_some();
    int bytes;
    sal_run *whole = sample(&x, 1, 300, NULL), *threads = sample(&x, 3, 300, NULL);
    sal_run *half = sample(&x, 1, 270, NULL);
    const sal_run_state *state = sal_run_last_state(half);
    sal_run *rest = sample(&x, 2, 300, state);
    const size_t size = 40 * 300 * V;
    ck_assert_mem_eq(sal_run_draws(whole, &bytes), sal_run_draws(threads, &bytes), size);
    ck_assert_mem_eq(sal_run_draws(whole, &bytes), sal_run_draws(rest, &bytes), size);
    ck_assert_int_eq(bytes, 1);
    sal_run_destroy(whole);
    sal_run_destroy(threads);
    sal_run_destroy(half);
    sal_run_destroy(rest);
    forget(&x);
}
END_TEST

/* ---- going on from the training of a part */

static const char with_rbm[] = "mlp:visible=9,hidden=5,layers=1,units=6";

static sal_train_options after(const trained *x)
{
    sal_train_options o = usual();
    o.sampler = "block-gibbs";
    o.steps = 3;
    o.learning_rate = 0.02;
    o.fixed = "W,b,c";
    o.ptt.first = x->path;
    o.ptt.first_model = x->model;
    return o;
}

/* The levels of the RBM are levels of the net, which is 0 there; the parameters that the RBM has
 * stay as they were trained; and log Z of the net that was trained is right. */
START_TEST(a_net_goes_on_from_its_rbm)
{
    trained x = train_some();
    sal_model *model = new_model(with_rbm, &x.data), *other = new_model(with_rbm, &x.data);
    const sal_train_options o = after(&x);
    double W[6 * V], trained_W[6 * V];
    sal_error err;
    sal_trainer *t = NULL;
    sal_train_report report;
    ck_ok(sal_trainer_create(model, &x.data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, o.iterations, &err), &err);
    sal_trainer_report(t, &report);
    ck_assert_int_gt(report.levels, x.path->n + 1);
    for (int64_t k = 1; k < report.levels; k++) {
        const sal_trajectory_level *i = &report.trajectory->levels[k].info;
        const double exact = level_log_z(other, report.trajectory, k);
        ck_assert_msg(fabs(i->log_z - exact) < 4.5 * i->log_z_error,
                      "level %d: log Z %.4f +- %.4f, exactly %.4f", (int)k, i->log_z,
                      i->log_z_error, exact);
    }
    ck_assert_double_eq_tol(report.log_z, exact_log_z(model), 4.5 * report.log_z_error);
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    ck_ok(sal_model_get_params(x.model, "W", trained_W, &err), &err);
    ck_assert_mem_eq(W, trained_W, sizeof W);
    /* Its ladder was made by draws of layers, which annealing then takes; x's was not. */
    for (int own = 0; own < 2; own++) {
        const sal_ais_options ais = { .temperatures = 100, .seed = 1 };
        char *json = NULL;
        ck_ok(sal_evaluate_json(model, &ais, temp_dir, &x.data, NULL, NULL, NULL, &json, &err),
              &err);
        ck_assert_int_eq(strstr(json, "\"sampler\": \"block-gibbs\"") != NULL, own);
        sal_free(json);
        ck_ok(sal_train_save(&report, model, temp_dir, &err), &err);
    }
    sal_trainer_destroy(t);
    sal_model_destroy(other);
    sal_model_destroy(model);
    forget(&x);
}
END_TEST

/* With a base distribution of zeros f differs by a constant, which log Z gets too. */
START_TEST(a_constant_more_is_in_log_z)
{
    trained x = train_some();
    static const char specification[] = "mlp:visible=9,hidden=5,layers=1,units=6,base=1";
    sal_model *model = new_model(specification, &x.data), *other = NULL;
    sal_train_options o = after(&x);
    sal_error err;
    sal_trainer *t = NULL;
    sal_train_report report;
    other = new_model(specification, &x.data);
    o.iterations = 0;
    ck_ok(sal_trainer_create(model, &x.data, &o, &t, &err), &err);
    ck_ok(sal_trainer_run(t, 1, &err), &err);
    sal_trainer_report(t, &report);
    const int64_t k = x.path->n; /* the first level that the net's training made is the next one */
    ck_assert_double_eq_tol(report.trajectory->levels[k].info.log_z,
                            level_log_z(other, report.trajectory, k),
                            4.5 * report.trajectory->levels[k].info.log_z_error);
    sal_trainer_destroy(t);
    sal_model_destroy(other);
    sal_model_destroy(model);
    forget(&x);
}
END_TEST

static void forget_two(sal_trainer *const t[2], sal_model *const models[2], trained *x)
{
    for (int k = 0; k < 2; k++) {
        sal_trainer_destroy(t[k]);
        sal_model_destroy(models[k]);
    }
    forget(x);
}

/* The same bits in one run and in two, the second of which does not know of the first training. */
START_TEST(a_resume_needs_no_first_training)
{
    trained x = train_some();
    sal_model *models[2] = { new_model(with_rbm, &x.data), new_model(with_rbm, &x.data) };
    sal_trainer *t[2] = { NULL };
    sal_train_options o = after(&x);
    sal_error err;
    o.iterations = 60;
    ck_ok(sal_trainer_create(models[0], &x.data, &o, &t[0], &err), &err);
    ck_ok(sal_trainer_run(t[0], 30, &err), &err);
    ck_ok(sal_trainer_save(t[0], temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t[0], 30, &err), &err);
    o.ptt.first = NULL;
    o.ptt.first_model = NULL;
    o.threads = 2;
    ck_ok(sal_trainer_create(models[1], &x.data, &o, &t[1], &err), &err);
    ck_ok(sal_trainer_load(t[1], temp_dir, &err), &err);
    ck_ok(sal_trainer_run(t[1], 30, &err), &err);
    same_trainings(t[0], t[1]);
    forget_two(t, models, &x);
}
END_TEST

/* Levels that were shown while the first ladder was climbed. */
typedef struct climb {
    int64_t shown, stop_at; /* 0: never */
} climb;

static int watch_climb(const sal_train_report *report, void *data)
{
    climb *c = data;
    if (report->iteration > 0) {
        return 0;
    }
    ck_assert_int_eq(report->levels, ++c->shown);
    return c->shown == c->stop_at;
}

static int count_reports(const sal_train_report *report, void *data)
{
    (void)report;
    ++*(int *)data;
    return 0;
}

/* A climb shows each level, can be stopped at any, without a report, and then begins anew. */
START_TEST(climbs_are_shown_and_stopped)
{
    trained x = train_some();
    sal_model *models[2] = { new_model(with_rbm, &x.data), new_model(with_rbm, &x.data) };
    sal_trainer *t[2] = { NULL };
    climb climbs[2] = { { .stop_at = 0 }, { .stop_at = 3 } };
    int reports[2] = { 0 };
    sal_error err;
    for (int k = 0; k < 2; k++) {
        sal_train_options o = after(&x);
        o.iterations = 20;
        o.callbacks.progress = watch_climb;
        o.callbacks.progress_data = &climbs[k];
        o.callbacks.report = count_reports;
        o.callbacks.report_data = &reports[k];
        ck_ok(sal_trainer_create(models[k], &x.data, &o, &t[k], &err), &err);
        ck_ok(sal_trainer_run(t[k], 20, &err), &err);
    }
    ck_assert_int_eq(climbs[0].shown, x.path->n);
    ck_assert_int_eq(climbs[1].shown, 3);
    ck_assert_int_eq(t[1]->iteration, 0);
    ck_assert_int_eq(reports[0], 1);
    ck_assert_int_eq(reports[1], 0);
    climbs[1] = (climb){ 0 };
    ck_ok(sal_trainer_run(t[1], 20, &err), &err);
    ck_assert_int_eq(climbs[1].shown, x.path->n);
    same_trainings(t[0], t[1]);
    forget_two(t, models, &x);
}
END_TEST

static sal_status begin(sal_model *model, const sal_data *data, const sal_train_options *o,
                        sal_trainer **t, sal_error *err)
{
    const sal_status status = sal_trainer_create(model, data, o, t, err);
    return status ? status : sal_trainer_run(*t, 1, err);
}

static void refuses(const sal_model *first, const trained *x, const char *specification,
                    const char *why)
{
    sal_error err;
    sal_trainer *t = NULL;
    sal_train_options o = after(x);
    sal_data data = { .rows = ROWS, .codes = x->data.codes, .variables = V };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    data.variables = sal_model_space(model)->n_variables;
    o.ptt.first_model = first;
    o.fixed = NULL;
    o.sampler = "gibbs";
    ck_fails(begin(model, &data, &o, &t, &err), SAL_ERR_ARGUMENT, &err, why);
    sal_trainer_destroy(t);
    sal_model_destroy(model);
}

START_TEST(only_a_part_is_gone_on_from)
{
    trained x = train_some();
    refuses(NULL, &x, with_rbm, "first_model");
    refuses(x.model, &x, "mlp:visible=8,hidden=5,units=6", "other variables");
    refuses(x.model, &x, "mlp:visible=9,hidden=5,units=6,kind=spin", "other variables");
    refuses(x.model, &x, "mlp:visible=9,hidden=5,units=5", "no parameter W of the shape");
    refuses(x.model, &x, "mlp:visible=9,hidden=5", "no parameter W of the shape");
    forget(&x);
}
END_TEST

/* W, b and c of another formula: f is twice that of the RBM. */
START_TEST(a_part_has_the_same_f)
{
    trained x = train_some();
    sal_error err;
    sal_model *model = NULL;
    sal_trainer *t = NULL;
    sal_train_options o = after(&x);
    sal_tape *tape = sal_tape_create(sal_model_space(x.model), SAL_F64);
    sal_expr s = sal_state(tape), W = sal_param(tape, "W", SAL_SHAPE(6, V));
    sal_expr b = sal_param(tape, "b", SAL_SHAPE(V)), c = sal_param(tape, "c", SAL_SHAPE(6));
    sal_expr f = sal_add(sal_sum(sal_softplus(sal_add(sal_matvec(W, s), c))), sal_dot(b, s));
    ck_ok(sal_model_from_tape(tape, sal_scale(f, 2), &model, &err), &err);
    sal_tape_destroy(tape);
    o.sampler = "gibbs";
    o.fixed = NULL;
    ck_ok(sal_trainer_create(model, &x.data, &o, &t, &err), &err);
    ck_fails(sal_trainer_run(t, 1, &err), SAL_ERR_ARGUMENT, &err, "differs");
    sal_trainer_destroy(t);
    sal_model_destroy(model);
    forget(&x);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ptt");
    TCase *tcase = tcase_create("training");
    tcase_add_test(tcase, levels_have_the_exact_log_z);
    tcase_add_test(tcase, spins_and_labels_have_the_exact_log_z);
    tcase_add_test(tcase, rbms_of_all_kinds_have_the_exact_log_z);
    tcase_add_test(tcase, linear_models_see_all_rows);
    tcase_add_test(tcase, a_far_start_is_reached_over_bridges);
    tcase_add_test(tcase, updates_that_go_too_far_are_taken_back);
    tcase_add_test(tcase, options_are_checked);
    tcase_add_test(tcase, stops_and_threads_change_no_bit);
    suite_add_tcase(suite, tcase);
    tcase = statistics_create("maximum likelihood");
    tcase_add_test(tcase, training_reaches_the_maximum_likelihood);
    tcase_add_test(tcase, sixteen_units_reach_the_maximum_likelihood);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("sampling");
    tcase_add_test(tcase, a_saved_ladder_knows_its_model);
    tcase_add_test(tcase, draws_along_the_levels_are_the_models);
    tcase_add_test(tcase, climbs_bridge_wide_gaps);
    tcase_add_test(tcase, climbs_know_their_error);
    tcase_add_test(tcase, threads_and_stops_change_no_draw);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("parts");
    tcase_add_test(tcase, a_net_goes_on_from_its_rbm);
    tcase_add_test(tcase, a_constant_more_is_in_log_z);
    tcase_add_test(tcase, a_resume_needs_no_first_training);
    tcase_add_test(tcase, climbs_are_shown_and_stopped);
    tcase_add_test(tcase, only_a_part_is_gone_on_from);
    tcase_add_test(tcase, a_part_has_the_same_f);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
