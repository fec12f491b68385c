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
        "conv:height=12,width=20,channels=2,project=3,states=8,base=1",
        "resnet:height=9,width=14,channels=2,project=4,states=8,base=1,quadratic=1",
        "conv:height=8,width=17,channels=2,kind=ordinal,states=8,quadratic=1",
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

/* ---- categorical pictures, whose sides may differ */

typedef struct image {
    int64_t channels, height, width;
    double pixel[16][16][20]; /* [channel][row][column] */
} image;

typedef struct window {
    int64_t height, width, stride, padding;
} window;

static void convolve(const sal_model *model, const char *name, image *x, int64_t out, window w)
{
    static image y;
    double *W = layer(model, name, "weight"), *c = layer(model, name, "bias");
    const int64_t taps = w.height * w.width;
    y.channels = out;
    y.height = (x->height + 2 * w.padding - w.height) / w.stride + 1;
    y.width = (x->width + 2 * w.padding - w.width) / w.stride + 1;
    for (int64_t o = 0; o < out; o++) {
        for (int64_t p = 0; p < y.height * y.width; p++) {
            int64_t r = p / y.width, q = p % y.width;
            double sum = c[o];
            for (int64_t k = 0; k < x->channels * taps; k++) {
                int64_t row = r * w.stride - w.padding + k % taps / w.width;
                int64_t column = q * w.stride - w.padding + k % w.width;
                if (row >= 0 && row < x->height && column >= 0 && column < x->width) {
                    sum += W[o * x->channels * taps + k] * x->pixel[k / taps][row][column];
                }
            }
            y.pixel[o][r][q] = sum;
        }
    }
    free(W);
    free(c);
    *x = y;
}

/* silu(x + to) */
static void activate(image *x, const image *to)
{
    for (int64_t k = 0; k < x->channels * x->height * x->width; k++) {
        int64_t o = k / (x->height * x->width), r = k / x->width % x->height, q = k % x->width;
        x->pixel[o][r][q] = silu(x->pixel[o][r][q] + (to ? to->pixel[o][r][q] : 0));
    }
}

static void plain_layers(const sal_model *model, image *x)
{
    static const int64_t shapes[6][4] = { { 1, 3, 1, 1 }, { 2, 4, 2, 1 }, { 2, 3, 1, 1 },
                                          { 4, 4, 2, 1 }, { 4, 3, 1, 1 }, { 8, 4, 2, 1 } };
    for (int k = 0; k < 7; k++) {
        char name[16];
        snprintf(name, sizeof name, "net.%d", 2 * k);
        const int64_t *s = shapes[k % 6];
        window w =
            k < 6 ? (window){ s[1], s[1], s[2], s[3] } : (window){ x->height, x->width, 1, 0 };
        convolve(model, name, x, k < 6 ? s[0] : 8, w);
        activate(x, NULL);
    }
    ck_assert(x->height == 1 && x->width == 1 && x->channels == 8);
}

/* Eight blocks after the first layer, then the mean of all pixels; two channels. */
static void residual_layers(const sal_model *model, const char *first, image *x)
{
    static image shortcut;
    convolve(model, first, x, 2, (window){ 3, 3, 1, 1 });
    for (int k = 0; k < 8; k++) {
        char name[32];
        shortcut = *x;
        snprintf(name, sizeof name, "net.%d.conv1", k);
        convolve(model, name, x, 2, (window){ 3, 3, k < 2 ? 2 : 1, 1 });
        activate(x, NULL);
        snprintf(name, sizeof name, "net.%d.conv2", k);
        convolve(model, name, x, 2, (window){ 3, 3, 1, 1 });
        snprintf(name, sizeof name, "net.%d.shortcut_conv", k);
        if (k < 2) {
            convolve(model, name, &shortcut, 2, (window){ 1, 1, 2, 0 });
        }
        activate(x, &shortcut);
    }
    for (int64_t c = 0; c < 2; c++) {
        double sum = 0;
        for (int64_t p = 0; p < x->height * x->width; p++) {
            sum += x->pixel[c][p / x->width][p % x->width];
        }
        x->pixel[c][0][0] = sum / (double)(x->height * x->width);
    }
}

static const struct {
    const char *specification;
    int64_t height, width, states, project;
    bool residual;
} nets[] = {
    { "usps-conv:channels=1,states=3,base=1,seed=8", 16, 16, 3, 0, false },
    { "conv:height=12,width=20,channels=1,states=4,base=1,seed=8", 12, 20, 4, 0, false },
    { "conv:height=13,width=9,channels=1,states=8,project=4,base=1,seed=8", 13, 9, 8, 4, false },
    { "resnet:height=16,width=20,channels=2,states=4,base=1,seed=8", 16, 20, 4, 0, true },
    { "resnet:height=11,width=8,channels=2,states=8,project=3,seed=8", 11, 8, 8, 3, true },
};
#define NETS ((int)(sizeof nets / sizeof *nets))

/* Each state is a channel: the pixels that are in it. */
START_TEST(states_of_pixels_are_channels)
{
    enum { MOST = 16 * 20 };
    static image x;
    static double one_hot[MOST * 8];
    const int64_t width = nets[_i].width, V = nets[_i].height * width, K = nets[_i].states;
    const bool residual = nets[_i].residual, project = nets[_i].project > 0;
    sal_error err = { 0 };
    sal_model *model = make(nets[_i].specification);
    int32_t codes[MOST];
    double f, u[MOST];
    set_some(model, true); /* large weights: the pixels matter */
    fill(V, u, 9);
    x = (image){ .channels = K, .height = nets[_i].height, .width = width };
    for (int64_t v = 0; v < V; v++) {
        codes[v] = (int32_t)((u[v] + 1) / 2 * (double)K);
        x.pixel[codes[v]][v / width][v % width] = 1;
        one_hot[v * K + codes[v]] = 1;
    }
    if (project) {
        convolve(model, "proj", &x, nets[_i].project, (window){ 1, 1, 1, 0 });
    }
    if (residual) {
        residual_layers(model, project ? "proj2" : "proj", &x);
    } else {
        plain_layers(model, &x);
    }
    const char *last = residual ? "energy_linear" : "final_linear";
    double *W = layer(model, last, "weight"), *c = layer(model, last, "bias");
    double net = c[0], want = other_terms(model, V, K, codes, V * K, one_hot);
    for (int64_t k = 0; k < x.channels; k++) {
        net += W[k] * x.pixel[k][0][0];
    }
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    ck_assert_double_ge(fabs(net), 0.05);
    ck_assert_double_eq_tol(f, net + want, 1e-10 * (fabs(net) + fabs(want)));
    free(W);
    free(c);
    sal_model_destroy(model);
}
END_TEST

/* The ready sizes are those of the nets for any size, number by number. */
START_TEST(nets_of_one_size_are_those_of_any)
{
    static const char *const pairs[][2] = {
        { "usps-conv:channels=2,seed=3", "conv:height=16,width=16,channels=2,seed=3" },
        { "mnist-conv:channels=2,kind=spin", "conv:channels=2,kind=spin" },
        { "mnist-resnet:channels=2,states=4,base=1", "resnet:channels=2,states=4,base=1" },
    };
    sal_error err = { 0 };
    double f[2];
    sal_model *models[2];
    int32_t *codes = calloc(28 * 28, sizeof *codes);
    for (int v = 0; v < 28 * 28; v += 3) {
        codes[v] = 1;
    }
    for (int k = 0; k < 2; k++) {
        models[k] = make(pairs[_i][k]);
        ck_ok(sal_model_evaluate(models[k], 1, codes, &f[k], NULL, NULL, &err), &err);
    }
    ck_assert_double_eq(f[0], f[1]);
    sal_shape a, b;
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(models[0], k, &a)); k++) {
        ck_assert_str_eq(name, sal_model_parameter(models[1], k, &b));
        ck_assert(a.rank == b.rank && memcmp(a.dim, b.dim, sizeof a.dim) == 0);
    }
    ck_assert_ptr_null(sal_model_parameter(models[1], 1000, &b));
    free(codes);
    sal_model_destroy(models[0]);
    sal_model_destroy(models[1]);
}
END_TEST

/* Levels 0, 1/3, 2/3 and 1 are one channel: what is between two levels is between their values. */
START_TEST(ordinal_pixels_are_one_channel)
{
    sal_error err = { 0 };
    sal_model *model = make("conv:height=8,width=10,channels=2,kind=ordinal,states=4");
    const sal_space *space = sal_model_space(model);
    ck_assert(sal_space_width(space) == 80 && sal_space_states(space, 7) == 4);
    int32_t codes[80];
    double x[80], f[2];
    for (int v = 0; v < 80; v++) {
        codes[v] = v % 4;
        x[v] = v % 4 / 3.0;
    }
    ck_ok(sal_model_evaluate(model, 1, codes, &f[0], NULL, NULL, &err), &err);
    ck_ok(sal_model_evaluate_at(model, 1, x, &f[1], NULL, &err), &err);
    ck_assert_double_eq(f[0], f[1]);
    double *W = layer(model, "net.0", "weight");
    ck_assert_ptr_nonnull(W);
    free(W);
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
        const double shares[3] = { 1 - share[i], share[i], 0 };
        for (int k = 0; k < 3; k++) { /* kept from zero by 0.01 in all */
            ck_assert_double_eq_tol(base[3 * i + k], log(shares[k] + 0.01 / 3), 1e-12);
        }
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
    ck_fails(sal_model_open("conv:kind=ordinal,states=4,base=1", 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "conv: kind=ordinal has no base distribution; expected base=0");
    ck_fails(sal_model_open("resnet:height=7", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "height=7; expected an integer from 8 to 1024");
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
    ck_alloc_sweep(
        sal_model_open("conv:height=8,width=9,channels=1,kind=ordinal,states=3", 0, &model, &err),
        sal_model_destroy(model));
    model = make("mlp:visible=4,hidden=2,base=1,quadratic=1");
    sal_data data = { .rows = 4, .variables = 4, .codes = rows[0] };
    ck_alloc_sweep(
        sal_model_train_start(model, "mlp:visible=4,hidden=2,base=1,quadratic=1", &data, 1, &err),
        (void)0);
    sal_model_destroy(model);
    model = make("mlp:visible=4,hidden=2,states=3,base=1");
    ck_alloc_sweep(
        sal_model_train_start(model, "mlp:visible=4,hidden=2,states=3,base=1", &data, 1, &err),
        (void)0);
    sal_model_destroy(model);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("deep");
    TCase *formulas = tcase_create("formulas");
    tcase_add_loop_test(formulas, perceptrons_are_their_formula, 0, MLPS);
    tcase_add_loop_test(formulas, gradients_match_central_differences, 0, 6);
    tcase_add_loop_test(formulas, states_of_pixels_are_channels, 0, NETS);
    tcase_add_loop_test(formulas, nets_of_one_size_are_those_of_any, 0, 3);
    tcase_add_test(formulas, ordinal_pixels_are_one_channel);
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
