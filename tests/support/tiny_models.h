/* SPDX-License-Identifier: MIT */
/* Spaces of every kind so small that all their states can be listed, and models over them. */
#ifndef TINY_MODELS_H
#define TINY_MODELS_H

#include <math.h>
#include <stdint.h>

#include "core/rng.h"
#include "limit_model.h"
#include "models/model.h"
#include "test.h"

typedef struct tiny_space {
    const char *name;
    int n_blocks;
    sal_block blocks[6];
} tiny_space;

static const double uneven_levels[] = { -1.5, -0.2, 0.3, 2.0 };
static const double two_levels[] = { -1.0, 1.5 };

#define TINY_BINARY(n)                                     \
    {                                                      \
        .name = "binary", .kind = SAL_BINARY, .count = (n) \
    }
#define TINY_SPIN(n)                                   \
    {                                                  \
        .name = "spin", .kind = SAL_SPIN, .count = (n) \
    }
#define TINY_GRID(n)                                                                            \
    {                                                                                           \
        .name = "grid", .kind = SAL_ORDINAL, .count = (n), .states = 4, .levels = uneven_levels \
    }
#define TINY_PAIR(n)                                                                         \
    {                                                                                        \
        .name = "pair", .kind = SAL_ORDINAL, .count = (n), .states = 2, .levels = two_levels \
    }
#define TINY_LABEL(n)                                                       \
    {                                                                       \
        .name = "label", .kind = SAL_CATEGORICAL, .count = (n), .states = 3 \
    }
#define TINY_TWO(n)                                                       \
    {                                                                     \
        .name = "two", .kind = SAL_CATEGORICAL, .count = (n), .states = 2 \
    }
#define TINY_COUNT(n)                                              \
    {                                                              \
        .name = "count", .kind = SAL_COUNT, .count = (n), .cap = 3 \
    }
#define TINY_BIT(n)                                              \
    {                                                            \
        .name = "bit", .kind = SAL_COUNT, .count = (n), .cap = 1 \
    }
#define TINY_SINGLE                                                        \
    {                                                                      \
        .name = "single", .kind = SAL_CATEGORICAL, .count = 1, .states = 1 \
    }

static const tiny_space tiny_spaces[] = {
    { "binary", 1, { TINY_BINARY(4) } },
    { "spin", 1, { TINY_SPIN(4) } },
    { "grid", 1, { TINY_GRID(2) } },
    { "pair", 1, { TINY_PAIR(3) } },
    { "label", 2, { TINY_LABEL(2), TINY_SINGLE } },
    { "twins", 5, { TINY_BINARY(1), TINY_TWO(1), TINY_SPIN(1), TINY_SINGLE, TINY_PAIR(2) } },
    { "count", 2, { TINY_COUNT(2), TINY_BIT(1) } },
    { "factors", 5, { TINY_SPIN(1), TINY_LABEL(1), TINY_SINGLE, TINY_PAIR(1), TINY_BINARY(2) } },
    { "mixed",
      6,
      { TINY_BINARY(2), TINY_SPIN(1), TINY_GRID(1), TINY_PAIR(1), TINY_LABEL(1), TINY_SINGLE } },
};
#define N_TINY_SPACES ((int)(sizeof tiny_spaces / sizeof *tiny_spaces))

/* Spaces whose sums or labels are fixed. */
static const int64_t tiny_once[] = { 1, 1, 1, 1 }, tiny_seats[] = { 2, 1, 1 };
#define TINY_CHOSEN(n, k)                                                                 \
    {                                                                                     \
        .name = "chosen", .kind = SAL_BINARY, .count = (n), .fixed_sum = true, .sum = (k) \
    }
#define TINY_MAGNETISED(n, M)                                                               \
    {                                                                                       \
        .name = "magnetised", .kind = SAL_SPIN, .count = (n), .fixed_sum = true, .sum = (M) \
    }
#define TINY_SHARED(n, k)                                                                          \
    {                                                                                              \
        .name = "shared", .kind = SAL_COUNT, .count = (n), .cap = 3, .sum = (k), .fixed_sum = true \
    }
#define TINY_SEATED                                                                              \
    {                                                                                            \
        .name = "seated", .kind = SAL_CATEGORICAL, .count = 4, .states = 3, .labels = tiny_seats \
    }
#define TINY_PERMUTED                                                                             \
    {                                                                                             \
        .name = "permuted", .kind = SAL_CATEGORICAL, .count = 4, .states = 4, .labels = tiny_once \
    }
static const tiny_space tiny_slices[] = {
    { "chosen", 1, { TINY_CHOSEN(5, 2) } },
    { "magnetised", 1, { TINY_MAGNETISED(5, -1) } },
    { "two of two", 1, { TINY_MAGNETISED(2, 0) } },
    { "shared", 1, { TINY_SHARED(4, 5) } },
    { "seated", 1, { TINY_SEATED } },
    { "permuted", 1, { TINY_PERMUTED } },
    { "chosen and magnetised", 2, { TINY_CHOSEN(4, 1), TINY_MAGNETISED(3, 1) } },
    { "seated and shared", 2, { TINY_SEATED, TINY_SHARED(2, 3) } },
    { "chosen of mixed", 4, { TINY_SPIN(1), TINY_CHOSEN(3, 2), TINY_LABEL(1), TINY_SHARED(2, 2) } },
};
#define N_TINY_SLICES ((int)(sizeof tiny_slices / sizeof *tiny_slices))

static inline const tiny_space *tiny_space_named(const char *name)
{
    int s = 0;
    while (strcmp(tiny_spaces[s].name, name) != 0) {
        s++;
    }
    return &tiny_spaces[s];
}

static inline sal_space *tiny_space_make(const tiny_space *tiny)
{
    sal_error err;
    sal_space *space = sal_space_create();
    for (int b = 0; b < tiny->n_blocks; b++) {
        ck_ok(sal_space_add(space, &tiny->blocks[b], &err), &err);
    }
    return space;
}

/* n normals of standard deviation `scale`, the `k`-th lot. */
static inline void tiny_normals(uint64_t k, int64_t n, double scale, double *out)
{
    sali_stream stream = { .seed = 20240517, .step = k, .purpose = SALI_RNG_TEST };
    sali_rng_normal(&stream, n, out);
    for (int64_t i = 0; i < n; i++) {
        out[i] *= scale;
    }
}

/* ---- models; each returns NULL over a space it is not made for */

#define TINY_HIDDEN 5
#define TINY_MOST_REALS 16
#define TINY_MOST_STATES 256

/* s'Js + b's + 1.5 sum tanh h + log sum exp h, h = Ws + c: linear in no variable. */
static inline sal_model *tiny_formula(const sal_space *space, sal_dtype dtype)
{
    int64_t N = sal_space_width(space);
    double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    double W[TINY_HIDDEN * TINY_MOST_REALS], c[TINY_HIDDEN];
    sal_model *model = NULL;
    sal_error err;
    ck_assert_int_le(N, TINY_MOST_REALS);
    tiny_normals(1, N * N, 0.25, J);
    tiny_normals(2, N, 0.4, b);
    tiny_normals(3, TINY_HIDDEN * N, 0.6, W);
    tiny_normals(4, TINY_HIDDEN, 0.5, c);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape);
    sal_expr h = sal_add(sal_matvec(sal_constant(tape, W, SAL_SHAPE(TINY_HIDDEN, N)), s),
                         sal_constant(tape, c, SAL_SHAPE(TINY_HIDDEN)));
    sal_expr quadratic = sal_add(sal_quad(s, sal_constant(tape, J, SAL_SHAPE(N, N))),
                                 sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s));
    sal_expr f =
        sal_add(quadratic, sal_add(sal_scale(sal_sum(sal_tanh(h)), 1.5), sal_logsumexp(h)));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* A factor for each two neighbouring variables, about every sixth entry -inf; all codes 0 is never
 * forbidden. Multilinear. */
static inline sal_model *tiny_tables(const sal_space *space, sal_dtype dtype)
{
    int64_t V = sal_space_variables(space), begin[TINY_MOST_REALS + 1] = { 0 };
    int64_t scope[2 * TINY_MOST_REALS], size = 0;
    double T[256];
    sal_model *model = NULL;
    sal_error err;
    for (int64_t v = 0; v < V; v++) {
        if (space->variables[v].width == 1 && space->variables[v].states > 2) {
            return NULL;
        }
    }
    tiny_normals(5, 256, 0.8, T);
    for (int64_t v = 0; v + 1 < V; v++) {
        int64_t entries = sal_space_states(space, v) * sal_space_states(space, v + 1);
        for (int64_t k = 1; k < entries; k++) {
            T[size + k] = (7 * (size + k)) % 6 == 5 ? -INFINITY : T[size + k];
        }
        size += entries;
        scope[2 * v] = v;
        scope[2 * v + 1] = v + 1;
        begin[v + 1] = 2 * (v + 1);
    }
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr f = sal_table(tape, sal_constant(tape, T, SAL_SHAPE(size)), V - 1, begin, scope);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* Quadratic and multilinear: couplings of all pairs of variables of two states, and b's. */
static inline sal_model *tiny_pairwise(const sal_space *space, sal_dtype dtype)
{
    int64_t N = sal_space_width(space);
    double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    sal_model *model = NULL;
    sal_error err;
    if (space->max_states > 2) {
        return NULL;
    }
    tiny_normals(6, N * N, 0.4, J);
    tiny_normals(7, N, 0.4, b);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), terms = sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s);
    int64_t pairs[TINY_MOST_REALS * TINY_MOST_REALS], n = 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t j = 0; j < i; j++) {
            if (sali_space_owner(space, i) != sali_space_owner(space, j)) {
                pairs[2 * n] = i;
                pairs[2 * n++ + 1] = j;
            }
        }
    }
    sal_expr f = sal_add(sal_edges(s, sal_constant(tape, J, SAL_SHAPE(n)), n, pairs), terms);
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* Quadratic with dense couplings, of all coordinates with all, over spaces with more than two
 * states somewhere. */
static inline sal_model *tiny_dense(const sal_space *space, sal_dtype dtype)
{
    int64_t N = sal_space_width(space);
    double J[TINY_MOST_REALS * TINY_MOST_REALS], b[TINY_MOST_REALS];
    sal_model *model = NULL;
    sal_error err;
    if (space->max_states <= 2) {
        return NULL;
    }
    tiny_normals(8, N * N, 0.5, J);
    tiny_normals(9, N, 0.4, b);
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_expr s = sal_state(tape), terms = sal_dot(sal_constant(tape, b, SAL_SHAPE(N)), s);
    sal_expr f =
        sal_sub(terms, sal_scale(sal_quad(s, sal_constant(tape, J, SAL_SHAPE(N, N))), 0.5));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

/* sum of 0.9 sin(x_i + i), and 0.7 x_0 x_last; `data` points to N. */
static inline double tiny_callback_f(const double *x, double *gradient, void *data)
{
    int64_t N = *(const int64_t *)data;
    double f = 0.7 * x[0] * x[N - 1];
    for (int64_t i = 0; i < N; i++) {
        f += 0.9 * sin(x[i] + (double)i);
        if (gradient) {
            gradient[i] = 0.9 * cos(x[i] + (double)i);
        }
    }
    if (gradient) {
        gradient[0] += 0.7 * x[N - 1];
        gradient[N - 1] += 0.7 * x[0];
    }
    return f;
}

static inline sal_model *tiny_callback(const sal_space *space, sal_dtype dtype)
{
    static int64_t widths[TINY_MOST_REALS + 1];
    int64_t *N = &widths[sal_space_width(space)];
    sal_model *model = NULL;
    sal_error err;
    if (dtype != SAL_F64) {
        return NULL; /* callbacks compute in double only */
    }
    *N = sal_space_width(space);
    sal_callback callback = { .f = tiny_callback_f, .data = N, .has_gradient = true };
    ck_ok(sal_model_from_callback(space, &callback, &model, &err), &err);
    return model;
}

static const struct {
    const char *name;
    sal_model *(*make)(const sal_space *space, sal_dtype dtype);
} tiny_models[] = {
    { "formula", tiny_formula }, { "tables", tiny_tables },     { "pairwise", tiny_pairwise },
    { "dense", tiny_dense },     { "callback", tiny_callback },
};
#define N_TINY_MODELS ((int)(sizeof tiny_models / sizeof *tiny_models))

/* Ready-made models of which samplers know the structure, and tiny_limited; 64 states at most. */
static const char *const tiny_builtins[] = {
    "rbm:visible=4,hidden=3,scale=0.9",
    "rbm:visible=2,hidden=3,kind=categorical,states=3,scale=0.9",
    "rbm:visible=2,hidden=1,kind=ordinal,states=4,hidden_kind=gaussian,scale=1.3",
    "rbm:visible=2,hidden=1,kind=categorical,states=3,hidden_kind=drelu,scale=1.3",
    "ising:side=2,theta=0.3,bias=0.2",
    "mlp:visible=4,hidden=3,layers=1,units=2",
    "at-most",
    "fhmm:length=3,factors=2,sigma=0.8,p=0.7,v=0.3,seed=5",
    "crf:tokens=2,labels=3,features=2,scale=0.7,seed=2",
    "ordinal-poly2:dim=2,components=3,levels=4",
    "mixture:dim=3,states=2,components=2,seed=3",
    "hmm:length=2,states=3,sigma=0.7,p=0.6",
    "max-cut:nodes=4,degree=2.5,weights=normal,seed=2",
    "cellular-potts:side=2,states=2,kappa=0.3",
    "facility-location:facilities=4,customers=6,components=3,lambda=1.5",
    "limit",
    "regression:dim=5,rows=4,irrelevant=0",
};
/* The last six are left to their own tests where sanitizers make them slow. */
#define N_TINY_BUILTINS \
    ((int)(sizeof tiny_builtins / sizeof *tiny_builtins) - (TEST_SANITIZED ? 6 : 0))

/* One of them; an RBM with biases, a net with an RBM with parameters that are not small. */
static inline sal_model *tiny_builtin(int k, sal_dtype dtype)
{
    sal_model *model = NULL;
    double b[6], c[3], net[64];
    sal_error err;
    if (strcmp(tiny_builtins[k], "limit") == 0) {
        return tiny_limit(dtype);
    }
    if (strcmp(tiny_builtins[k], "at-most") == 0) {
        return tiny_limited(LIMIT_BY_AT_MOST, dtype);
    }
    ck_ok(sal_model_open(tiny_builtins[k], dtype, &model, &err), &err);
    if (strncmp(tiny_builtins[k], "rbm", 3) == 0) {
        tiny_normals(6, sal_space_width(model->space), 0.7, b);
        tiny_normals(7, 3, 0.7, c);
        ck_ok(sal_model_set_params(model, "b", b, &err), &err);
        ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    }
    if (strstr(tiny_builtins[k], "drelu")) {
        ck_ok(sal_model_set_params(model, "delta", (double[]){ 0.6 }, &err), &err);
        ck_ok(sal_model_set_params(model, "atanh_eta", (double[]){ -0.5 }, &err), &err);
    }
    if (strncmp(tiny_builtins[k], "mlp", 3) == 0) {
        tiny_normals(8, sal_model_parameters_size(model), 1.2, net);
        ck_ok(sal_model_set_params(model, NULL, net, &err), &err);
    }
    return model;
}

#endif
