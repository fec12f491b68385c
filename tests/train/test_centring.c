/* SPDX-License-Identifier: MIT */
/* Centred gradients: against gradient ascent in the other coordinates written out here, and as an
 * invariance of whole trainings. */
#include "test.h"

#include <math.h>

#include <saltus/saltus.h>

#include "models/structure/biased_couplings.h"
#include "models/tape_model.h"
#include "train/centring.h"

enum { V = 5, H = 3, ROWS = 40, MOST = V * V + V };

static double noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

static sal_model *new_model(const char *specification)
{
    sal_error err;
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

static sal_space *binary_space(void)
{
    sal_error err;
    sal_space *space = sal_space_create();
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = V }, &err),
          &err);
    return space;
}

static const sali_program *program_of(const sal_model *model)
{
    return sali_model_tape(model)->program;
}

static int64_t first_of(const sal_model *model, const char *name)
{
    return program_of(model)->parameters[sali_program_find(program_of(model), name)].first;
}

/* ---- the update is gradient ascent in the other coordinates */

/* A function of the formula's own coordinates, and its gradient: sums of sines. */
static double objective(int64_t n, const double *theta, double *gradient)
{
    double value = 0, mixed = 0;
    for (int64_t i = 0; i < n; i++) {
        mixed += theta[i] * (double)(i % 3 + 1) / 4;
    }
    for (int64_t i = 0; i < n; i++) {
        value += sin(theta[i] * (double)(i % 4 + 1)) + mixed * mixed / (double)n;
        if (gradient) {
            gradient[i] = (double)(i % 4 + 1) * cos(theta[i] * (double)(i % 4 + 1)) +
                          2 * mixed * (double)(i % 3 + 1) / 4;
        }
    }
    return value;
}

typedef struct coordinates {
    int64_t W, b, c, rows, n; /* places; c = b if symmetric */
    double factor;
    const double *mu, *lambda; /* of rows and columns */
} coordinates;

/* Add `sign` times what W adds to the biases: to centred coordinates with 1, back with -1. */
static void change_coordinates(const coordinates *k, double sign, double *theta)
{
    for (int64_t i = 0; i < k->rows; i++) {
        for (int64_t j = 0; j < V; j++) {
            double w = k->factor * theta[k->W + i * V + j];
            theta[k->c + i] += sign * w * k->lambda[j];
            theta[k->b + j] += sign * w * k->mu[i];
        }
    }
}

/* One step along the gradient in centred coordinates, found by differences there. */
static void ascend_centred(const coordinates *k, double rate, double *theta)
{
    double at[MOST], step[MOST], moved[MOST], h = 1e-5;
    memcpy(at, theta, sizeof at);
    change_coordinates(k, 1, at);
    for (int64_t i = 0; i < k->n; i++) {
        double value[2];
        for (int side = 0; side < 2; side++) {
            memcpy(moved, at, sizeof moved);
            moved[i] += side ? h : -h;
            change_coordinates(k, -1, moved);
            value[side] = objective(k->n, moved, NULL);
        }
        step[i] = rate * (value[1] - value[0]) / (2 * h);
    }
    for (int64_t i = 0; i < k->n; i++) {
        theta[i] = at[i] + step[i];
    }
    change_coordinates(k, -1, theta);
}

/* The same to rounding: the gradient by coordinates is J'g, J the matrix of d theta / d centred,
 * whose columns are changes of unit vectors. */
static void ascend_by_matrix(const coordinates *k, double rate, double *theta)
{
    double g[MOST], unit[MOST], step[MOST] = { 0 };
    objective(k->n, theta, g);
    for (int64_t i = 0; i < k->n; i++) {
        memset(unit, 0, sizeof unit);
        unit[i] = 1;
        change_coordinates(k, -1, unit);
        for (int64_t j = 0; j < k->n; j++) {
            step[i] += rate * unit[j] * g[j];
        }
    }
    change_coordinates(k, -1, step);
    for (int64_t i = 0; i < k->n; i++) {
        theta[i] += step[i];
    }
}

static const struct {
    const char *specification, *W, *b, *c;
    int64_t rows;
    double factor;
} forms[] = {
    { "rbm:visible=5,hidden=3", "W", "b", "c", H, 1 },
    { "rbm:visible=5,hidden=3,hidden_kind=spin", "W", "b", "c", H, 1 },
    { "rbm:visible=5,hidden=3,kind=ordinal,states=3,hidden_kind=gaussian", "W", "b", "c", H, 1 },
    { "rbm:visible=5,hidden=3,hidden_kind=drelu", "W", "b", "c", H, 1 },
    { "ising-dense:dim=5", "J", "b", "b", V, 0.5 },
    { "mlp:visible=5,quadratic=1,hidden=2,base=0", "J", "b", "b", V, 1 },
};

enum { N_FORMS = sizeof forms / sizeof *forms };

START_TEST(update_is_the_pull_back_of_ascent_in_centred_coordinates)
{
    sal_error err;
    const double rate = 0.01;
    sal_model *model = new_model(forms[_i].specification);
    const sali_program *program = program_of(model);
    const int64_t n = program->parameters_size;
    double theta[128], gradient[128], by_matrix[MOST], by_differences[MOST];
    uint32_t state = 5;
    sali_centring c;
    sali_memory memory = { 0 };
    coordinates k = { .rows = forms[_i].rows, .factor = forms[_i].factor };
    ck_ok(sali_centring_create(&c, &memory, program, true, NULL, &err), &err);
    ck_assert_int_eq(c.n_couplings, 1);
    for (int64_t i = 0; i < c.n_offsets; i++) {
        c.offsets[i] = noise(&state) + 0.4;
    }
    k.mu = c.offsets + c.biases[c.couplings[0].row].at;
    k.lambda = c.offsets + c.biases[c.couplings[0].column].at;
    /* The objective depends on [W, b, c] only, which are put one after another. */
    const char *const names[] = { forms[_i].W, forms[_i].b, forms[_i].c };
    const bool symmetric = k.rows == V;
    const int64_t sizes[] = { k.rows * V, V, symmetric ? 0 : k.rows };
    memset(theta, 0, sizeof theta);
    memset(gradient, 0, sizeof gradient);
    k.b = sizes[0];
    k.c = symmetric ? k.b : sizes[0] + sizes[1];
    k.n = sizes[0] + sizes[1] + sizes[2];
    for (int64_t i = 0; i < k.n; i++) {
        by_matrix[i] = noise(&state);
    }
    for (int64_t i = 0; symmetric && i < V * V; i++) {
        by_matrix[i] = i / V > i % V ? by_matrix[i % V * V + i / V] : by_matrix[i];
    }
    memcpy(by_differences, by_matrix, sizeof by_matrix);
    double packed[MOST];
    objective(k.n, by_matrix, packed);
    for (int part = 0, at = 0; part < 3; at += (int)sizes[part++]) {
        int64_t first = first_of(model, names[part]);
        memcpy(theta + first, by_matrix + at, (size_t)sizes[part] * sizeof *theta);
        memcpy(gradient + first, packed + at, (size_t)sizes[part] * sizeof *theta);
    }
    sali_centring_gradient(&c, gradient);
    sali_centring_before(&c, theta);
    for (int64_t i = 0; i < n; i++) {
        theta[i] += rate * gradient[i];
    }
    sali_centring_after(&c, theta);
    if (symmetric) { /* b = b~ - factor (J + J')mu, of any J */
        for (int64_t i = 0; i < V; i++) {
            ck_assert(k.mu[i] == k.lambda[i]);
        }
    }
    ascend_by_matrix(&k, rate, by_matrix);
    ascend_centred(&k, rate, by_differences);
    for (int part = 0, at = 0; part < 3; at += (int)sizes[part++]) {
        int64_t first = first_of(model, names[part]);
        for (int64_t i = 0; i < sizes[part]; i++) {
            ck_assert_double_eq_tol(theta[first + i], by_matrix[at + i], 1e-14);
            ck_assert_double_eq_tol(theta[first + i], by_differences[at + i], 1e-9);
        }
    }
    sali_memory_free(&memory);
    sal_model_destroy(model);
}
END_TEST

/* ---- trainings on data and on flipped data mirror each other */

static sal_data some_data(bool flipped)
{
    uint32_t state = 7;
    sal_data data = { .rows = ROWS, .variables = V, .codes = malloc(ROWS * V) };
    for (int i = 0; i < ROWS * V; i++) {
        double shared = i % V < 3 && i / V % 3 == 0 ? 0.6 : 0;
        data.codes[i] = (noise(&state) + 0.15 * (i % V) + shared > 0.3) != flipped;
    }
    return data;
}

/* Parameters of the same distribution with all states flipped: s becomes 1 - s. */
static void flip(const sal_model *model, double *theta)
{
    bool rbm = sali_program_find(program_of(model), "W") >= 0;
    double *W = theta + first_of(model, rbm ? "W" : "J"),
           *b = theta + first_of(model, rbm ? "b" : "h");
    double *c = rbm ? theta + first_of(model, "c") : NULL;
    for (int i = 0; i < (rbm ? H : V); i++) {
        for (int j = 0; j < V; j++) {
            if (rbm) {
                c[i] += W[i * V + j];
                W[i * V + j] *= -1;
            } else {
                b[i] += (W[i * V + j] + W[j * V + i]) / 2;
            }
        }
    }
    for (int j = 0; j < V; j++) {
        b[j] *= -1;
    }
}

/* f = s'Js / 2 + h's of binary s. */
static sal_model *boltzmann(void)
{
    sal_error err;
    sal_space *space = binary_space();
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sal_expr s = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(V, V));
    sal_expr linear = sal_dot(s, sal_param(tape, "h", SAL_SHAPE(V)));
    ck_ok(sal_model_from_tape(tape, sal_add(linear, sal_scale(sal_quad(s, J), 0.5)), &model, &err),
          &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

typedef struct trained {
    double theta[MOST], gradient_norm;
} trained;

static int keep_norm(const sal_train_report *report, void *norm)
{
    *(double *)norm = report->gradient_norm;
    return 0;
}

/* Train on data, or on flipped data from flipped parameters; what comes out is flipped back. */
static trained train(bool rbm, bool flipped, sal_train_options o)
{
    sal_error err;
    uint32_t state = 11;
    trained out = { 0 };
    sal_data data = some_data(flipped);
    sal_model *model = rbm ? new_model("rbm:visible=5,hidden=3") : boltzmann();
    const int64_t n = sal_model_parameters_size(model);
    for (int i = 0; i < n; i++) {
        out.theta[i] = 0.5 * noise(&state);
    }
    if (flipped) {
        flip(model, out.theta);
    }
    ck_ok(sal_model_set_params(model, NULL, out.theta, &err), &err);
    o.objective = SAL_CD;
    o.iterations = 60;
    o.batch = 20;
    o.learning_rate = 0.02;
    o.sampler = "mh-uniform"; /* proposes and accepts the same in both */
    o.steps = 5;
    o.threads = 1;
    o.callbacks.report = keep_norm;
    o.callbacks.report_data = &out.gradient_norm;
    ck_ok(sal_train(model, &data, &o, &err), &err);
    ck_ok(sal_model_get_params(model, NULL, out.theta, &err), &err);
    if (flipped) {
        flip(model, out.theta);
    }
    sal_model_destroy(model);
    free(data.codes);
    return out;
}

static double distance(const trained *a, const trained *b)
{
    double most = 0;
    for (int i = 0; i < MOST; i++) {
        most = fmax(most, fabs(a->theta[i] - b->theta[i]));
    }
    return most;
}

static const sal_train_options trainings[] = {
    { .optimiser = { .method = SAL_SGD, .momentum = -1 } },
    { .optimiser.method = SAL_SGD },
    { .optimiser.method = SAL_ADAM },
    { .optimiser = { .method = SAL_SGD, .clip_norm = 0.3 } },
    { .optimiser = { .method = SAL_ADAMW, .clip_norm = 0.3 } },
};

START_TEST(centred_training_does_not_depend_on_which_state_is_zero)
{
    for (int rbm = 0; rbm < 2; rbm++) {
        sal_train_options o = trainings[_i];
        o.centring = SAL_CENTRING_ON;
        trained plain = train(rbm, false, o), mirrored = train(rbm, true, o);
        /* Adam divides small gradients by their own size, rounding errors included. */
        ck_assert_double_lt(distance(&plain, &mirrored), 1e-8);
        ck_assert_double_eq_tol(plain.gradient_norm, mirrored.gradient_norm, 1e-8);
        o.centring = SAL_CENTRING_OFF;
        trained off = train(rbm, false, o), off_mirrored = train(rbm, true, o);
        ck_assert_double_gt(distance(&off, &off_mirrored), 1e-2);
        ck_assert_double_gt(distance(&off, &plain), 1e-2);
        o.centring = SAL_CENTRING_AUTO; /* on in an RBM */
        trained usual = train(rbm, false, o);
        const trained *same = rbm ? &plain : &off;
        ck_assert_mem_eq(usual.theta, same->theta, sizeof usual.theta);
    }
}
END_TEST

/* ---- offsets */

START_TEST(offsets_are_plain_means_then_moving_averages)
{
    sal_error err;
    sal_model *model = new_model("rbm:visible=5,hidden=3");
    const int64_t b = first_of(model, "b");
    double gradient[MOST] = { 0 }, expected = 0;
    sali_centring c;
    sali_memory memory = { 0 };
    ck_ok(sali_centring_create(&c, &memory, program_of(model), false, NULL, &err), &err);
    for (int t = 0; t < 300; t++) {
        double data = sin(t), samples = cos(3 * t);
        for (int64_t i = 0; i < c.n_offsets; i++) {
            c.means[i] = data;
        }
        gradient[b + 2] = data - samples;
        sali_centring_follow(&c, t, gradient);
        double decay = fmin(0.99, t / (t + 1.0));
        expected = decay * expected + (1 - decay) * (data + samples) / 2;
        int64_t at = c.biases[c.couplings[0].column].at;
        ck_assert_double_eq_tol(c.offsets[at + 2], expected, 1e-14);
    }
    sali_memory_free(&memory);
    sal_model_destroy(model);
}
END_TEST

/* ---- which couplings are found */

static int64_t count(sal_model *model)
{
    sal_error err;
    int64_t n = -1;
    sali_biased_coupling *found = NULL;
    ck_ok(sali_biased_couplings(program_of(model), &n, &found, &err), &err);
    free(found);
    return n;
}

START_TEST(couplings_of_ready_made_models_are_found)
{
    static const struct {
        const char *specification;
        int64_t n;
    } cases[] = {
        { "rbm:visible=5,hidden=3", 1 },     { "ising-dense:dim=5", 1 },
        { "potts-dense:dim=4,states=3", 1 }, { "mlp:visible=5,quadratic=1,hidden=2", 1 },
        { "mlp:visible=5,hidden=2", 0 },     { "ising:side=3", 0 },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_model *model = new_model(cases[k].specification);
        ck_assert_msg(count(model) == cases[k].n, "%s: %d", cases[k].specification,
                      (int)count(model));
        sal_model_destroy(model);
    }
}
END_TEST

/* Formulas of s, W [3 x 5], c [3], b [5], J [5 x 5]. */
static sal_expr formula(int which, sal_tape *tape)
{
    sal_expr s = sal_state(tape), W = sal_param(tape, "W", SAL_SHAPE(H, V));
    sal_expr b = sal_param(tape, "b", SAL_SHAPE(V)), c = sal_param(tape, "c", SAL_SHAPE(H));
    sal_expr hidden = sal_sum(sal_softplus(sal_add(c, sal_matvec(W, s)))), visible = sal_dot(s, b);
    sal_expr J = sal_param(tape, "J", SAL_SHAPE(V, V)), quad = sal_quad(s, J);
    switch (which) {
    case 0: /* both kinds share b */
        return sal_add(sal_sub(visible, quad), hidden);
    case 1: /* no bias of the columns */
        return sal_add(hidden, quad);
    case 2: /* b counts twice */
        return sal_add(hidden, sal_add(visible, visible));
    case 3: /* W occurs again */
        return sal_add(sal_add(hidden, visible), sal_sum(sal_square(W)));
    case 4: /* a multiple of the hidden layer, and of the visible one */
        return sal_add(sal_scale(hidden, 2), visible);
    case 5:
        return sal_add(hidden, sal_scale(visible, 2));
    case 6: /* other units */
        return sal_add(sal_sum(sal_tanh(sal_add(c, sal_matvec(W, s)))), visible);
    default: /* not of the state itself */
        return sal_add(sal_sum(sal_softplus(sal_add(c, sal_matvec(W, sal_square(s))))), visible);
    }
}

START_TEST(couplings_of_formulas_are_found_if_that_is_safe)
{
    static const int64_t expected[] = { 2, 0, 0, 0, 0, 0, 0, 0 };
    sal_error err;
    sal_space *space = binary_space();
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, formula(_i, tape), &model, &err), &err);
    ck_assert_int_eq(count(model), expected[_i]);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* ---- options */

START_TEST(options_are_checked)
{
    sal_error err;
    sal_data data = some_data(false);
    sal_model *model = new_model("mlp:visible=5,hidden=2"),
              *rbm = new_model("rbm:visible=5,hidden=3");
    sal_train_options o = { .batch = 4, .centring = SAL_CENTRING_ON, .iterations = 2 };
    ck_fails(sal_train(model, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "centring needs couplings with a learned bias on both sides");
    o.fixed = "c";
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "centring needs couplings");
    o.fixed = NULL;
    o.magnitude_penalty = 0.1;
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "centring does not go with magnitude_penalty");
    o.magnitude_penalty = 0;
    o.objective = SAL_PSEUDO_LIKELIHOOD;
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err,
             "centring does not go with objective pseudo-likelihood");
    o.centring = (sal_centring)3;
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "centring is 3");
    o.centring = SAL_CENTRING_AUTO;
    ck_ok(sal_train(rbm, &data, &o, &err), &err);
    o.optimiser.clip_norm = -1;
    ck_fails(sal_train(rbm, &data, &o, &err), SAL_ERR_ARGUMENT, &err, "clip_norm is -1");
    sal_model_destroy(model);
    sal_model_destroy(rbm);
    free(data.codes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("centring");
    TCase *tcase = tcase_create("centring");
    tcase_add_loop_test(tcase, update_is_the_pull_back_of_ascent_in_centred_coordinates, 0,
                        N_FORMS);
    tcase_add_loop_test(tcase, centred_training_does_not_depend_on_which_state_is_zero, 0,
                        (int)(sizeof trainings / sizeof *trainings));
    tcase_add_test(tcase, offsets_are_plain_means_then_moving_averages);
    tcase_add_test(tcase, couplings_of_ready_made_models_are_found);
    tcase_add_loop_test(tcase, couplings_of_formulas_are_found_if_that_is_safe, 0, 8);
    tcase_add_test(tcase, options_are_checked);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
