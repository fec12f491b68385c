/* SPDX-License-Identifier: MIT */
/* Deep energy-based models against their formulas, written out layer by layer. */
#include "test.h"

#include <math.h>

#include <saltus/saltus.h>
#include "alloc_fail.h"

static sal_model *make(const char *specification)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(sal_model_open(specification, SAL_F64, &model, &err), &err);
    return model;
}

/* All numbers of a parameter, to be freed; NULL if there is none of that name. */
static double *parameter(const sal_model *model, const char *name)
{
    sal_shape shape;
    const char *known;
    sal_error err = { 0 };
    for (int64_t k = 0; (known = sal_model_parameter(model, k, &shape)); k++) {
        if (strcmp(known, name) == 0) {
            int64_t size = 1;
            for (int32_t i = 0; i < shape.rank; i++) {
                size *= shape.dim[i];
            }
            double *values = malloc((size_t)size * sizeof *values);
            ck_ok(sal_model_get_params(model, name, values, &err), &err);
            return values;
        }
    }
    return NULL;
}

static double *layer(const sal_model *model, const char *name, const char *part)
{
    char full[64];
    snprintf(full, sizeof full, "%s.%s", name, part);
    double *values = parameter(model, full);
    ck_assert_msg(values != NULL, "no %s", full);
    return values;
}

/* Numbers in (-1, 1), the same in every run. */
static void fill(int64_t n, double *x, uint32_t seed)
{
    for (int64_t k = 0; k < n; k++) {
        seed = seed * 1664525u + 1013904223u;
        x[k] = 2.0 * (seed >> 8) / (1 << 24) - 1;
    }
}

static void set_random(sal_model *model, const char *name, int64_t size, uint32_t seed)
{
    double *values = malloc((size_t)size * sizeof *values);
    sal_error err = { 0 };
    fill(size, values, seed);
    ck_ok(sal_model_set_params(model, name, values, &err), &err);
    free(values);
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

/* ---- the terms beside the net, by variables and states */

/* s'Js + b's + log p_0(s) of the embedding x [N] and codes [V], as far as the model has them. */
static double other_terms(const sal_model *model, int64_t V, int64_t K, const int32_t *codes,
                          int64_t N, const double *x)
{
    double f = 0, *J = parameter(model, "J"), *b = parameter(model, "b");
    double *base = parameter(model, "base");
    for (int64_t i = 0; J && i < N; i++) {
        f += b[i] * x[i];
        for (int64_t j = 0; j < N; j++) {
            f += J[i * N + j] * x[i] * x[j];
        }
    }
    for (int64_t v = 0; base && v < V; v++) {
        double sum = 0;
        if (K == 2) {
            f += codes[v] ? -log(1 + exp(-base[v])) : -log(1 + exp(base[v]));
            continue;
        }
        for (int64_t k = 0; k < K; k++) {
            sum += exp(base[v * K + k]);
        }
        f += base[v * K + codes[v]] - log(sum);
    }
    free(J);
    free(b);
    free(base);
    return f;
}

/* ---- the perceptron */

static double perceptron(const sal_model *model, int layers, int64_t hidden, int64_t N,
                         const double *x)
{
    double in[64], out[64];
    memcpy(in, x, (size_t)N * sizeof *x);
    for (int k = 0; k <= layers; k++) {
        char name[16];
        int64_t rows = k < layers ? hidden : 1, columns = k == 0 ? N : hidden;
        snprintf(name, sizeof name, "net.%d", 2 * k);
        double *W = layer(model, name, "weight"), *c = layer(model, name, "bias");
        for (int64_t r = 0; r < rows; r++) {
            out[r] = c[r];
            for (int64_t i = 0; i < columns; i++) {
                out[r] += W[r * columns + i] * in[i];
            }
            out[r] = k < layers ? silu(out[r]) : out[r];
        }
        memcpy(in, out, sizeof in);
        free(W);
        free(c);
    }
    return in[0];
}

static const struct {
    const char *specification;
    int layers;
    int64_t hidden, V, K;
    double low; /* what code 0 stands for, of two states */
} mlps[] = {
    { "mlp:visible=7,hidden=5,layers=1,seed=1", 1, 5, 7, 2, 0 },
    { "mlp:visible=7,hidden=5,layers=3,kind=spin,base=1,seed=2", 3, 5, 7, 2, -1 },
    { "mlp:visible=6,hidden=4,base=1,quadratic=1,seed=3", 2, 4, 6, 2, 0 },
    { "mlp:visible=4,hidden=6,states=5,base=1,quadratic=1,seed=4", 2, 6, 4, 5, 0 },
    { "mlp:visible=5,hidden=3,layers=2,states=3,seed=5", 2, 3, 5, 3, 0 },
};
#define MLPS ((int)(sizeof mlps / sizeof *mlps))

static double mlp_formula(const sal_model *model, int which, const int32_t *codes)
{
    int64_t V = mlps[which].V, K = mlps[which].K, N = K == 2 ? V : V * K;
    double x[64] = { 0 };
    for (int64_t v = 0; v < V; v++) {
        if (K == 2) {
            x[v] = codes[v] ? 1 : mlps[which].low;
        } else {
            x[v * K + codes[v]] = 1;
        }
    }
    return perceptron(model, mlps[which].layers, mlps[which].hidden, N, x) +
           other_terms(model, V, K, codes, N, x);
}

/* Numbers in (-1, 1) for all parameters, or for those beside the net, which start at zero. */
static void set_some(sal_model *model, bool net)
{
    sal_shape shape;
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        int64_t size = 1;
        for (int32_t i = 0; i < shape.rank; i++) {
            size *= shape.dim[i];
        }
        if (net || !strchr(name, '.')) {
            set_random(model, name, size, (uint32_t)k + 7);
        }
    }
}

START_TEST(perceptrons_are_their_formula)
{
    sal_error err = { 0 };
    sal_model *model = make(mlps[_i].specification);
    int64_t V = mlps[_i].V, K = mlps[_i].K;
    set_some(model, false);
    ck_assert_int_eq(sal_space_width(sal_model_space(model)), K == 2 ? V : V * K);
    for (uint32_t trial = 0; trial < 5; trial++) {
        int32_t codes[8];
        double f, differences[64], u[8];
        fill(V, u, trial + 1);
        for (int64_t v = 0; v < V; v++) {
            codes[v] = (int32_t)((u[v] + 1) / 2 * (double)K);
        }
        ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, differences, &err), &err);
        ck_assert_double_eq_tol(f, mlp_formula(model, _i, codes), 1e-12);
        for (int64_t v = 0; v < V; v++) {
            int32_t old = codes[v];
            for (int32_t k = 0; k < K; k++) {
                codes[v] = k;
                double want = mlp_formula(model, _i, codes) - f;
                ck_assert_double_eq_tol(differences[v * K + k], want, 1e-12);
            }
            codes[v] = old;
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* Off the lattice too. */
START_TEST(gradients_match_central_differences)
{
    static const char *const specifications[] = {
        "mlp:visible=7,hidden=5,layers=3,kind=spin,base=1,quadratic=1",
        "mlp:visible=4,hidden=6,states=5,base=1,quadratic=1",
        "usps-conv:channels=2,states=3,base=1",
    };
    sal_error err = { 0 };
    sal_model *model = make(specifications[_i]);
    int64_t N = sal_space_width(sal_model_space(model));
    double *x = malloc((size_t)N * sizeof *x), *g = malloc((size_t)N * sizeof *g), f[3];
    double largest = 0;
    set_some(model, false);
    fill(N, x, 3);
    ck_ok(sal_model_evaluate_at(model, 1, x, &f[0], g, &err), &err);
    for (int64_t i = 0; i < N; i += 1 + N / 40) {
        double at = x[i], h = 1e-5;
        x[i] = at + h;
        ck_ok(sal_model_evaluate_at(model, 1, x, &f[1], NULL, &err), &err);
        x[i] = at - h;
        ck_ok(sal_model_evaluate_at(model, 1, x, &f[2], NULL, &err), &err);
        x[i] = at;
        ck_assert_double_eq_tol(g[i], (f[1] - f[2]) / (2 * h), 1e-6);
        largest = fmax(largest, fabs(g[i]));
    }
    ck_assert_double_ge(largest, 1e-3);
    free(x);
    free(g);
    sal_model_destroy(model);
}
END_TEST

/* ---- categorical pictures */

typedef struct image {
    int64_t channels, side;
    double pixel[16][16][16]; /* [channel][row][column] */
} image;

static void convolve(const sal_model *model, const char *name, image *x, int64_t out,
                     int64_t kernel, int64_t stride, int64_t padding)
{
    static image y;
    double *W = layer(model, name, "weight"), *c = layer(model, name, "bias");
    y.channels = out;
    y.side = (x->side + 2 * padding - kernel) / stride + 1;
    for (int64_t o = 0; o < out; o++) {
        for (int64_t r = 0; r < y.side; r++) {
            for (int64_t q = 0; q < y.side; q++) {
                double sum = c[o];
                for (int64_t k = 0; k < x->channels * kernel * kernel; k++) {
                    int64_t in = k / (kernel * kernel), i = k / kernel % kernel, j = k % kernel;
                    int64_t row = r * stride - padding + i, column = q * stride - padding + j;
                    if (row >= 0 && row < x->side && column >= 0 && column < x->side) {
                        sum += W[o * x->channels * kernel * kernel + k] * x->pixel[in][row][column];
                    }
                }
                y.pixel[o][r][q] = silu(sum);
            }
        }
    }
    free(W);
    free(c);
    *x = y;
}

/* Three states are three channels, each the pixels that are in that state. */
START_TEST(states_of_pixels_are_channels)
{
    enum { SIDE = 16, V = SIDE * SIDE, K = 3 };
    static const int64_t shapes[7][4] = { { 1, 3, 1, 1 }, { 2, 4, 2, 1 }, { 2, 3, 1, 1 },
                                          { 4, 4, 2, 1 }, { 4, 3, 1, 1 }, { 8, 4, 2, 1 },
                                          { 8, 2, 1, 0 } };
    static image x;
    static double one_hot[V * K];
    sal_error err = { 0 };
    sal_model *model = make("usps-conv:channels=1,states=3,base=1,seed=8");
    int32_t codes[V];
    double f, u[V];
    set_some(model, true); /* large weights: the pixels matter */
    fill(V, u, 9);
    x = (image){ .channels = K, .side = SIDE };
    for (int v = 0; v < V; v++) {
        codes[v] = (int32_t)((u[v] + 1) / 2 * K);
        x.pixel[codes[v]][v / SIDE][v % SIDE] = 1;
        one_hot[v * K + codes[v]] = 1;
    }
    for (int k = 0; k < 7; k++) {
        char name[16];
        snprintf(name, sizeof name, "net.%d", 2 * k);
        convolve(model, name, &x, shapes[k][0], shapes[k][1], shapes[k][2], shapes[k][3]);
    }
    ck_assert(x.side == 1 && x.channels == 8);
    double *W = layer(model, "final_linear", "weight"), *c = layer(model, "final_linear", "bias");
    double net = c[0], want = other_terms(model, V, K, codes, V * K, one_hot);
    for (int k = 0; k < 8; k++) {
        net += W[k] * x.pixel[k][0][0];
    }
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    ck_assert_double_ge(fabs(net), 0.1);
    ck_assert_double_eq_tol(f, net + want, 1e-10 * fabs(want));
    free(W);
    free(c);
    sal_model_destroy(model);
}
END_TEST

/* ---- the base distribution */

static const struct {
    const char *specification;
    int64_t V, K;
} bases[] = { { "mlp:visible=3,hidden=2,base=1", 3, 2 },
              { "mlp:visible=3,hidden=2,kind=spin,base=1", 3, 2 },
              { "mlp:visible=3,hidden=2,states=4,base=1", 3, 4 } };

/* With a net that says 0, f is the logarithm of a distribution with the logits' marginals. */
START_TEST(the_base_is_a_distribution)
{
    sal_error err = { 0 };
    sal_model *model = make(bases[_i].specification);
    int64_t V = bases[_i].V, K = bases[_i].K, n = K == 2 ? V : V * K;
    double zero[2] = { 0 }, base[12], marginals[12];
    sal_exact exact;
    ck_ok(sal_model_set_params(model, "net.4.weight", zero, &err), &err);
    ck_ok(sal_model_set_params(model, "net.4.bias", zero, &err), &err);
    fill(n, base, 4);
    ck_ok(sal_model_set_params(model, "base", base, &err), &err);
    ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exact.log_z, 0, 1e-12);
    for (int64_t v = 0; v < V; v++) {
        double sum = 0;
        for (int64_t k = 0; k < K; k++) {
            sum += K == 2 ? exp((double)k * base[v]) : exp(base[v * K + k]);
        }
        for (int64_t k = 0; k < K; k++) {
            double p = (K == 2 ? exp((double)k * base[v]) : exp(base[v * K + k])) / sum;
            ck_assert_double_eq_tol(marginals[v * K + k], p, 1e-12);
        }
    }
    sal_model_destroy(model);
}
END_TEST

/* ---- training */

/* Three variables: always 0, half, always 1; a fourth row in four. */
static uint8_t rows[4][4] = { { 0, 0, 1, 0 }, { 0, 1, 1, 0 }, { 0, 0, 1, 0 }, { 0, 1, 1, 1 } };
static const double share[4] = { 0, 0.5, 1, 0.25 };

static sal_model *started(const char *specification)
{
    sal_error err = { 0 };
    sal_data data = { .rows = 4, .variables = 4, .codes = rows[0] };
    sal_model *model = make(specification);
    set_some(model, true); /* whatever was there */
    ck_ok(sal_model_train_start(model, specification, &data, 5, &err), &err);
    return model;
}

START_TEST(training_starts_from_the_mean)
{
    static const char *const both[] = { "binary", "spin" };
    for (int k = 0; k < 2; k++) {
        char specification[128];
        snprintf(specification, sizeof specification,
                 "mlp:visible=4,hidden=2,kind=%s,base=1,quadratic=1", both[k]);
        sal_model *model = started(specification);
        double *base = parameter(model, "base"), *b = parameter(model, "b");
        for (int i = 0; i < 4; i++) {
            double p = fmin(fmax(share[i], 0.01), 0.99);
            ck_assert_double_eq_tol(base[i], log(p / (1 - p)), 1e-12);
            ck_assert_double_eq(b[i], 0); /* the base has the mean already */
        }
        free(base);
        free(b);
        sal_model_destroy(model);
    }
    sal_model *model = started("mlp:visible=4,hidden=2,kind=spin,quadratic=1");
    double *b = parameter(model, "b"), *J = parameter(model, "J");
    for (int i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(b[i], log(share[i] + 0.01), 1e-12);
    }
    for (int i = 0; i < 16; i++) {
        ck_assert(J[i] != 0 && fabs(J[i]) < 0.05); /* 0.01 N(0, 1) */
    }
    free(b);
    free(J);
    sal_model_destroy(model);
    model = started("mlp:visible=4,hidden=2,states=3,base=1");
    double *base = parameter(model, "base");
    for (int i = 0; i < 4; i++) {
        double p = fmin(fmax(share[i], 0.01), 0.99), q = fmin(fmax(1 - share[i], 0.01), 0.99);
        ck_assert_double_eq_tol(base[3 * i], log(q), 1e-12);
        ck_assert_double_eq_tol(base[3 * i + 1], log(p), 1e-12);
        ck_assert_double_eq_tol(base[3 * i + 2], log(0.01), 1e-12);
    }
    free(base);
    sal_model_destroy(model);
}
END_TEST

/* Two variables, mostly equal: 0 and 0 in 40 rows of 100, 2 and 2 in 40, each other pair in 2 or 3.
 * Independent variables would be right about 0.2 of these; a perceptron learns the 0.4. */
START_TEST(categorical_data_are_learned)
{
    sal_error err = { 0 };
    const char *specification = "mlp:visible=2,hidden=16,states=3,base=1";
    sal_model *model = make(specification);
    uint8_t codes[100][2];
    sal_data data = { .rows = 100, .variables = 2, .codes = codes[0] };
    sal_train_options options = { .iterations = 1000,
                                  .steps = 10,
                                  .batch = 100,
                                  .buffer.chains = 1000,
                                  .learning_rate = 0.003,
                                  .seed = 2,
                                  .threads = 1 };
    int32_t equal[2][2] = { { 0, 0 }, { 2, 2 } };
    double before[2], after[2];
    sal_exact exact;
    for (int k = 0; k < 100; k++) {
        int pair = k < 40 ? 0 : k < 80 ? 8 : 1 + k % 7;
        codes[k][0] = (uint8_t)(pair / 3);
        codes[k][1] = (uint8_t)(pair % 3);
    }
    ck_ok(sal_model_train_start(model, specification, &data, 1, &err), &err);
    ck_ok(sal_model_evaluate(model, 2, equal[0], before, NULL, NULL, &err), &err);
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exp(before[0] - exact.log_z), 0.2, 0.05);
    ck_ok(sal_train(model, &data, &options, &err), &err);
    ck_ok(sal_model_evaluate(model, 2, equal[0], after, NULL, NULL, &err), &err);
    ck_ok(sal_model_exact(model, NULL, &exact, NULL, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(exp(after[0] - exact.log_z), 0.4, 0.08);
    ck_assert_double_eq_tol(exp(after[1] - exact.log_z), 0.4, 0.08);
    sal_model_destroy(model);
}
END_TEST

/* ---- mistakes */

START_TEST(contradicting_settings_are_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(sal_model_open("mlp:kind=spin,states=3", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "mlp: kind=spin has two states, and states=3; expected one or the other");
    ck_fails(sal_model_open("usps-conv:states=4,kind=spin", 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "usps-conv: kind=spin has two states, and states=4");
    ck_fails(sal_model_open("mlp:states=1", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "states=1; expected an integer from 2 to 256");
    ck_fails(sal_model_open("mlp:layers=0", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "layers=0; expected an integer from 1 to 64");
    ck_fails(
        sal_model_open("mlp:side=3", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
        "visible=784, hidden=256, layers=2, kind=binary, states=2, quadratic=0, base=0, seed=0");
    ck_fails(sal_model_open("mlp:visible=1000000,hidden=100000,states=256", 0, &model, &err),
             SAL_ERR_SHAPE, &err, "shape [100000, 256000000] has no elements or too many");
    ck_assert_ptr_null(model);
}
END_TEST

START_TEST(nets_survive_failing_allocations)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_alloc_sweep(
        sal_model_open("mlp:visible=3,hidden=2,states=3,base=1,quadratic=1", 0, &model, &err),
        sal_model_destroy(model));
    ck_alloc_sweep(sal_model_open("usps-conv:channels=1,states=3", 0, &model, &err),
                   sal_model_destroy(model));
    model = make("mlp:visible=4,hidden=2,base=1,quadratic=1");
    sal_data data = { .rows = 4, .variables = 4, .codes = rows[0] };
    ck_alloc_sweep(
        sal_model_train_start(model, "mlp:visible=4,hidden=2,base=1,quadratic=1", &data, 1, &err),
        (void)0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deep");
    TCase *formulas = tcase_create("formulas");
    tcase_add_loop_test(formulas, perceptrons_are_their_formula, 0, MLPS);
    tcase_add_loop_test(formulas, gradients_match_central_differences, 0, 3);
    tcase_add_test(formulas, states_of_pixels_are_channels);
    tcase_add_loop_test(formulas, the_base_is_a_distribution, 0, 3);
    suite_add_tcase(suite, formulas);
    TCase *training = tcase_create("training");
    tcase_add_test(training, training_starts_from_the_mean);
    tcase_add_test(training, categorical_data_are_learned);
    suite_add_tcase(suite, training);
    TCase *mistakes = tcase_create("mistakes");
    tcase_add_test(mistakes, contradicting_settings_are_refused);
    tcase_add_test(mistakes, nets_survive_failing_allocations);
    suite_add_tcase(suite, mistakes);
    return test_main(suite);
}
