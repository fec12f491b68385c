/* SPDX-License-Identifier: MIT */
/* Structure by recognition of the formula: that saved models keep it, that formulas written by hand
 * have it, that its draws are exact, and that formulas which are almost of a form have none. */
#include <math.h>

#include <saltus/evaluate.h>
#include <saltus/io.h>
#include <saltus/sample.h>

#include "alloc_fail.h"
#include "bridge_check.h"
#include "models/structure.h"
#include "temp_dir.h"

#define R_MOST 64
#define TOLERANCE 1e-12

/* ---- saved and opened again */

static sal_model *builtin(const char *specification, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_open(specification, dtype, &model, &err), &err);
    return model;
}

/* All parameters moved away from their starting values, which are zero for many. */
static void move_parameters(sal_model *model)
{
    int64_t n = sal_model_parameters_size(model);
    double *flat = malloc((size_t)(2 * n + 1) * sizeof *flat);
    sal_error err;
    ck_ok(sal_model_get_params(model, NULL, flat, &err), &err);
    tiny_normals(51, n, 0.3, flat + n);
    for (int64_t k = 0; k < n; k++) {
        flat[k] += flat[n + k];
    }
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    free(flat);
}

/* The model of the formula that was saved, with the parameters of `model`. */
static sal_model *reopened(const sal_model *model)
{
    int64_t n = sal_model_parameters_size(model);
    double *flat = malloc((size_t)(n + 1) * sizeof *flat);
    sal_model *again = NULL;
    sal_error err;
    ck_ok(sal_model_save(model, temp_path("model.xml"), &err), &err);
    ck_ok(sal_model_open(temp_path("model.xml"), model->dtype, &again, &err), &err);
    ck_ok(sal_model_get_params(model, NULL, flat, &err), &err);
    ck_ok(sal_model_set_params(again, NULL, flat, &err), &err);
    free(flat);
    return again;
}

/* Kept draws, of chains alone or with a hotter replica each. */
static const uint8_t *draws_of(sal_model *model, int64_t replicas, sal_run **run, size_t *size)
{
    static const double temperatures[] = { 1, 1.7 };
    sal_run_options options = { .sampler = "block-gibbs",
                                .chains = 5,
                                .draws = 40,
                                .warmup = 3,
                                .seed = 6,
                                .tempering = { .temperatures = temperatures, .replicas = replicas },
                                .record.draws = true };
    int64_t chains, draws, V;
    int bytes;
    sal_error err;
    ck_ok(sal_sample(model, &options, run, &err), &err);
    sal_run_size(*run, &chains, &draws, &V);
    const uint8_t *codes = sal_run_draws(*run, &bytes);
    *size = (size_t)(chains * draws * V * bytes);
    return codes;
}

static const struct {
    const char *specification;
    sal_dtype dtype;
    const char *oracle; /* that gives exact answers to the structure; NULL: there is none */
} saved[] = {
    { "rbm:visible=30,hidden=12,scale=0.4", SAL_F32, NULL },
    { "rbm:visible=17,hidden=23,scale=0.4", SAL_F64, NULL },
    { "rbm:visible=14,hidden=9,kind=spin,hidden_kind=spin", SAL_F64, NULL },
    { "rbm:visible=9,hidden=12,kind=categorical,states=5", SAL_F32, NULL },
    { "rbm:visible=7,hidden=5,kind=categorical,states=3,hidden_kind=spin", SAL_F64, NULL },
    { "rbm:visible=9,hidden=4,kind=ordinal,states=6", SAL_F64, NULL },
    { "rbm:visible=9,hidden=4,kind=ordinal,states=3,hidden_kind=gaussian", SAL_F32, NULL },
    { "rbm:visible=9,hidden=4,hidden_kind=gaussian", SAL_F64, NULL },
    { "rbm:visible=9,hidden=4,kind=spin,hidden_kind=drelu", SAL_F32, NULL },
    { "rbm:visible=9,hidden=4,kind=categorical,states=3,hidden_kind=drelu", SAL_F64, NULL },
    { "hmm:length=20,states=4,seed=2", SAL_F64, "forward-backward" },
    { "hmm:length=1,states=3,seed=2", SAL_F32, "forward-backward" },
    { "fhmm:length=20,factors=5,seed=3", SAL_F64, "forward-backward" },
    { "fhmm:length=9,factors=1", SAL_F32, "forward-backward" },
    { "crf:tokens=9,labels=3", SAL_F64, "forward-backward" },
    { "mixture:dim=9,states=3,components=4", SAL_F64, "closed form" },
};

START_TEST(saved_models_give_the_draws_of_ready_made_ones)
{
    for (size_t k = 0; k < sizeof saved / sizeof *saved; k++) {
        sal_model *model = builtin(saved[k].specification, saved[k].dtype), *again;
        move_parameters(model);
        again = reopened(model);
        ck_assert_msg(again->structure && again->structure == model->structure, "%s",
                      saved[k].specification);
        for (int64_t replicas = 1; replicas <= 2; replicas++) {
            sal_run *runs[2];
            size_t sizes[2];
            const uint8_t *a = draws_of(model, replicas, &runs[0], &sizes[0]);
            const uint8_t *b = draws_of(again, replicas, &runs[1], &sizes[1]);
            ck_assert_uint_eq(sizes[0], sizes[1]);
            ck_assert_mem_eq(a, b, sizes[0]);
            sal_run_destroy(runs[0]);
            sal_run_destroy(runs[1]);
        }
        sal_model_destroy(again);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(saved_models_have_exact_answers)
{
    for (size_t k = 0; k < sizeof saved / sizeof *saved; k++) {
        sal_model *model = builtin(saved[k].specification, saved[k].dtype), *again;
        double a[200], b[200];
        sal_exact one, other;
        sal_error err;
        move_parameters(model);
        again = reopened(model);
        if (saved[k].oracle) {
            sal_exact_options by = { .oracle = saved[k].oracle };
            ck_ok(sal_model_exact(model, &by, &one, a, NULL, NULL, &err), &err);
            ck_ok(sal_model_exact(again, &by, &other, b, NULL, NULL, &err), &err);
            ck_assert_double_eq(one.log_z, other.log_z);
            ck_assert_mem_eq(a, b, (size_t)model->space->n_states * sizeof *a);
        }
        sal_model_destroy(again);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- formulas written by hand */

static sal_tape *tape_over(sal_kind kind, int64_t count, int64_t states)
{
    sal_space *space = sal_space_create();
    sal_block block = { .name = "x", .kind = kind, .count = count, .states = states };
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_space_destroy(space);
    return tape;
}

/* Takes the tape; parameters are random. */
static sal_model *model_of(sal_tape *tape, sal_expr f)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    move_parameters(model);
    return model;
}

static sal_expr random_constant(sal_tape *tape, uint32_t index, sal_shape shape)
{
    double values[256];
    int64_t size = 1;
    for (int32_t i = 0; i < shape.rank; i++) {
        size *= shape.dim[i];
    }
    ck_assert(size <= 256);
    tiny_normals(index, size, 0.8, values);
    return sal_constant(tape, values, shape);
}

static sal_expr matrix(sal_tape *tape)
{
    return sal_param(tape, "weights", SAL_SHAPE(3, 4));
}

static sal_expr vector(sal_tape *tape, const char *name, int64_t n)
{
    return sal_param(tape, name, SAL_SHAPE(n));
}

/* The marginal of an RBM with 4 visible and 3 hidden units, in several spellings. */
static sal_expr plain_rbm(sal_tape *t)
{
    sal_expr s = sal_state(t);
    return sal_add(sal_dot(s, vector(t, "a", 4)),
                   sal_sum(sal_softplus(sal_add(vector(t, "d", 3), sal_matvec(matrix(t), s)))));
}

/* Two biases, one of them subtracted; weights are a multiple of a parameter; a constant. */
static sal_expr wordy_rbm(sal_tape *t)
{
    sal_expr s = sal_state(t), W = sal_scale(matrix(t), 1.5), d = vector(t, "d", 3);
    sal_expr drive = sal_sub(sal_add(sal_matvec(W, s), d), random_constant(t, 61, SAL_SHAPE(3)));
    sal_expr linear = sal_sum(sal_mul(vector(t, "a", 4), s));
    sal_expr more = sal_sub(sal_scale(sal_sum(s), 0.3), sal_scalar(t, 2));
    return sal_add(sal_add(sal_sum(sal_softplus(drive)), more), linear);
}

/* Hidden spins: log 2 cosh z = softplus(2 z) - z. */
static sal_expr cosh_rbm(sal_tape *t)
{
    sal_expr s = sal_state(t), z = sal_add(sal_matvec(matrix(t), s), vector(t, "d", 3));
    sal_expr hidden = sal_sum(sal_sub(sal_softplus(sal_scale(z, 2)), z));
    return sal_add(hidden, sal_dot(vector(t, "a", 4), s));
}

/* No biases at all. */
static sal_expr bare_rbm(sal_tape *t)
{
    return sal_sum(sal_softplus(sal_matvec(matrix(t), sal_state(t))));
}

/* One hidden unit, which needs no sum. */
static sal_expr single_rbm(sal_tape *t)
{
    sal_expr W = sal_param(t, "weights", SAL_SHAPE(1, 4));
    return sal_reshape(sal_softplus(sal_matvec(W, sal_state(t))), SAL_SCALAR);
}

/* Weights that are mostly zeros, whose product runs over the others. */
static sal_expr sparse_rbm(sal_tape *t)
{
    double W[8 * 4] = { 0 };
    W[2] = 1.3;
    W[5 * 4] = -0.7;
    sal_expr s = sal_state(t), z = sal_matvec(sal_constant(t, W, SAL_SHAPE(8, 4)), s);
    return sal_add(sal_dot(vector(t, "a", 4), s), sal_sum(sal_softplus(z)));
}

/* Over the one block of the space, by its name. */
static sal_expr block_rbm(sal_tape *t)
{
    sal_expr s = sal_state_block(t, "x");
    sal_expr z = sal_add(sal_matvec(matrix(t), s), vector(t, "d", 3));
    return sal_add(sal_dot(vector(t, "a", 4), s), sal_sum(sal_softplus(z)));
}

static const struct {
    sal_expr (*make)(sal_tape *tape);
    int64_t hidden;
} rbms[] = { { plain_rbm, 3 },  { wordy_rbm, 3 },  { cosh_rbm, 3 }, { bare_rbm, 3 },
             { single_rbm, 1 }, { sparse_rbm, 8 }, { block_rbm, 3 } };
#define N_RBMS ((int)(sizeof rbms / sizeof *rbms))

/* pi P = pi for all pieces of block-gibbs; at beta = 1 what is drawn is taken, or nearly so. */
static void check_invariance(const sal_model *model, double beta, const char *where)
{
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    int64_t pieces = pieces_of(sampler, model, &settings);
    for (int64_t piece = 0; piece < pieces; piece++) {
        transition t = transition_make(sampler, model, &settings, beta, (uint64_t)piece);
        double breach = invariance_breach(t.n, t.pi, t.P);
        ck_assert_msg(breach < TOLERANCE, "%s, beta %g, piece %d: pi P is off by %g", where, beta,
                      (int)piece, breach);
        for (int64_t i = 0; i < t.n; i++) {
            double row = 0;
            for (int64_t j = 0; j < t.n; j++) {
                row += t.P[i * t.n + j];
            }
            ck_assert_double_eq_tol(row, 1, TOLERANCE);
        }
        transition_free(&t);
    }
}

START_TEST(rbms_written_by_hand_have_layers)
{
    for (int k = 0; k < 2 * N_RBMS; k++) {
        char where[40];
        sal_tape *tape = tape_over(k % 2 ? SAL_SPIN : SAL_BINARY, 4, 0);
        sal_model *model = model_of(tape, rbms[k / 2].make(tape));
        snprintf(where, sizeof where, "rbm %d, %s", k / 2, k % 2 ? "spin" : "binary");
        ck_assert_msg(model->structure && model->structure->hidden, "%s", where);
        ck_assert_int_eq(model->structure->hidden(model), rbms[k / 2].hidden);
        check_invariance(model, 1, where);
        check_invariance(model, 0.6, where);
        sal_model_destroy(model);
    }
}
END_TEST

/* Draws of a shard that is open follow all parameters, whichever part they have in the formula. */
START_TEST(layers_follow_parameters)
{
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    for (int k = 0; k < N_RBMS; k++) {
        sal_tape *tape = tape_over(SAL_SPIN, 4, 0);
        sal_model *model = model_of(tape, rbms[k].make(tape));
        bench old = bench_open(sampler, model, &settings, 1, 16, 0);
        move_parameters(model);
        sali_bench_start(&old);
        transition followed = transition_of(&old);
        transition fresh = transition_make(sampler, model, &settings, 1, 0);
        ck_assert_mem_eq(followed.P, fresh.P, 16 * 16 * sizeof *fresh.P);
        transition_free(&followed);
        transition_free(&fresh);
        bench_close(&old);
        sal_model_destroy(model);
    }
}
END_TEST

/* Hidden units of four kinds, with parameters that are not small, over the N reals of any visible
 * units. */
enum { BITS, SPINS, NORMALS, DRELUS };

static int64_t hidden_units_of(int kind)
{
    return kind == NORMALS || kind == DRELUS ? 1 : 2;
}

/* The sum over dReLU units with inputs z; the parameter t. */
static sal_expr drelu_term(sal_expr z, sal_expr delta)
{
    return sal_sum(sal_drelu(z, delta, vector(z.tape, "t", sal_expr_shape(z).dim[0])));
}

static sal_expr any_rbm(sal_tape *t, const sal_space *space, int kind)
{
    const int64_t N = sal_space_width(space), H = hidden_units_of(kind);
    sal_expr s = sal_state(t), z = sal_matvec(sal_param(t, "W", SAL_SHAPE(H, N)), s);
    z = sal_add(z, vector(t, "c", H));
    sal_expr hidden = kind == NORMALS  ? sal_scale(sal_sum(sal_square(z)), 0.4)
                      : kind == BITS   ? sal_sum(sal_softplus(z))
                      : kind == DRELUS ? drelu_term(z, vector(t, "delta", H))
                                       : sal_sum(sal_sub(sal_softplus(sal_scale(z, 2)), z));
    return sal_add(hidden, sal_dot(vector(t, "b", N), s));
}

/* What the parameters of any_rbm become: normals with a deviation of 0.6. */
static sal_model *any_rbm_over(const sal_space *space, int kind)
{
    double flat[64];
    sal_error err;
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = model_of(tape, any_rbm(tape, space, kind));
    ck_assert_int_le(sal_model_parameters_size(model), 64);
    tiny_normals(52, sal_model_parameters_size(model), 0.6, flat);
    ck_ok(sal_model_set_params(model, NULL, flat, &err), &err);
    return model;
}

/* log of the weight that the joint density at an inverse temperature gives to the hidden values h
 * [2] and the state x [N]: of bits in {0, 1}, spins in {-1, 1}, normals and dReLU units. */
static double joint(const sal_model *model, int kind, double beta, const double *h, const double *x)
{
    const int64_t N = model->space->width, H = hidden_units_of(kind);
    double W[32], b[16], c[2], delta[2], t[2], sum = 0;
    sal_error err;
    ck_ok(sal_model_get_params(model, "W", W, &err), &err);
    ck_ok(sal_model_get_params(model, "b", b, &err), &err);
    ck_ok(sal_model_get_params(model, "c", c, &err), &err);
    if (kind == DRELUS) {
        ck_ok(sal_model_get_params(model, "delta", delta, &err), &err);
        ck_ok(sal_model_get_params(model, "t", t, &err), &err);
        const double size = fabs(h[0]), eta = h[0] > 0 ? tanh(t[0]) : -tanh(t[0]);
        sum -= size * size / (2 * (1 + eta)) + sqrt(beta) * delta[0] * size;
    }
    for (int64_t i = 0; i < N; i++) {
        sum += beta * b[i] * x[i];
    }
    for (int64_t k = 0; k < H; k++) {
        double a = c[k];
        for (int64_t i = 0; i < N; i++) {
            a += W[k * N + i] * x[i];
        }
        sum += kind == NORMALS  ? sqrt(0.8 * beta) * h[k] * a - h[k] * h[k] / 2
               : kind == DRELUS ? sqrt(beta) * h[k] * a
                                : beta * h[k] * a;
    }
    return sum;
}

/* Set P [n x n] to sum_h p(h | i) p(j | h), written out with `joint`: sums over all states for what
 * the sampler factorises; normals by the trapezoidal rule, dReLU units by the same rule in t, where
 * h is exp(t - exp(-t)) above 0 and minus that below. */
static void layer_matrix(const sal_model *model, int kind, double beta, double *P)
{
    enum { NODES = 161 };
    static double w[NODES * TINY_MOST_STATES], x[TINY_MOST_REALS];
    const int64_t n = states_count(model->space);
    const int nodes = hidden_units_of(kind) == 1 ? NODES : 4;
    int32_t codes[TINY_MOST_REALS];
    for (int k = 0; k < nodes; k++) {
        const double low = kind == SPINS ? -1 : 0;
        const double bits[] = { k % 2 ? 1 : low, k / 2 ? 1 : low }, normal = 0.2 * (k - NODES / 2);
        const double u = -3.4 + 0.078 * (k / 2), size = exp(u - exp(-u));
        const double half = k % 2 ? size : -size;
        for (int64_t i = 0; i < n; i++) {
            state_codes(model->space, i, codes);
            sali_embed_f64(model->space, 1, codes, x);
            const double *h = kind == NORMALS ? &normal : kind == DRELUS ? &half : bits;
            w[k * n + i] = exp(joint(model, kind, beta, h, x));
            w[k * n + i] *= kind == DRELUS ? (1 + exp(-u)) * size : 1;
        }
    }
    memset(P, 0, (size_t)(n * n) * sizeof *P);
    for (int64_t i = 0; i < n; i++) {
        double of_state = 0;
        for (int k = 0; k < nodes; k++) {
            of_state += w[k * n + i];
        }
        for (int k = 0; k < nodes; k++) {
            double of_hidden = 0;
            for (int64_t j = 0; j < n; j++) {
                of_hidden += w[k * n + j];
            }
            for (int64_t j = 0; j < n; j++) {
                P[i * n + j] += w[k * n + i] / of_state * w[k * n + j] / of_hidden;
            }
        }
    }
}

/* Whether a kind is left to smaller spaces: each Gaussian or dReLU unit has many values to be
 * summed over. */
static bool is_left_out(const sal_space *space, int kind)
{
    return hidden_units_of(kind) == 1 && states_count(space) > 48;
}

/* Bits, spins and dReLU units over visible units of any kind are proposals where they are tempered;
 * Gaussian units are exact at any temperature. */
START_TEST(rbms_over_any_variables_have_layers)
{
    static double P[TINY_MOST_STATES * TINY_MOST_STATES];
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int kind = BITS; kind <= DRELUS && !is_left_out(space, kind); kind++) {
            sal_model *model = any_rbm_over(space, kind);
            ck_assert_msg(model->structure && model->structure->hidden, "%s", tiny_spaces[s].name);
            ck_assert_int_eq(model->structure->hidden(model), hidden_units_of(kind));
            ck_assert(sali_structure_is_whole(model));
            ck_assert(sali_structure_is_exact(model->structure, 0.6) == (kind == NORMALS));
            check_invariance(model, 1, tiny_spaces[s].name);
            check_invariance(model, 0.6, tiny_spaces[s].name);
            for (int hot = 0; hot < 2; hot++) {
                const double beta = hot ? 0.6 : 1;
                transition t = transition_make(sampler, model, &settings, beta, 0);
                layer_matrix(model, kind, beta, P);
                for (int64_t i = 0; i < t.n * t.n; i++) {
                    ck_assert_double_eq_tol(exp(t.log_q[i]), P[i], TOLERANCE);
                    if (!hot || kind == NORMALS) {
                        ck_assert_double_eq_tol(t.P[i], P[i], TOLERANCE);
                    }
                }
                transition_free(&t);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

/* A chain of 3 variables with 3 labels: the same pairs of states between neighbours, of weights
 * that are parameters. `pairs` [2 * edges], `index` [edges] into 4 weights. */
static sal_expr label_chain(sal_tape *t, int64_t edges, const int64_t *pairs, const int64_t *index)
{
    sal_expr s = sal_state(t), w = sal_gather(vector(t, "w", 4), 0, edges, index);
    return sal_add(sal_dot(vector(t, "h", 9), s), sal_edges(s, w, edges, pairs));
}

static const int64_t chain_pairs[] = { 0, 3, 1, 5, 2, 4, 3, 6, 4, 8, 5, 7 };
static const int64_t chain_index[] = { 0, 3, 3, 0, 3, 3 };

START_TEST(chains_written_by_hand_are_drawn_whole)
{
    sal_tape *tape = tape_over(SAL_CATEGORICAL, 3, 3);
    sal_model *model = model_of(tape, label_chain(tape, 6, chain_pairs, chain_index));
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    ck_assert(model->structure && model->structure->chain);
    for (int hot = 0; hot < 2; hot++) {
        transition t = transition_make(sampler, model, &settings, hot ? 0.4 : 1, 0);
        for (int64_t i = 0; i < t.n * t.n; i++) {
            ck_assert_double_eq_tol(t.P[i], t.pi[i % t.n], TOLERANCE);
        }
        transition_free(&t);
    }
    sal_model_destroy(model);
}
END_TEST

/* 3 slices of 2 binary chains: pairs in any order and direction, squares. */
static const int64_t side_pairs[] = { 0, 1, 3, 2, 4, 5, 2, 0, 1, 3, 4, 2, 3, 5, 4, 4 };
static const double side_weights[] = { 0.5, -0.9, 0.4, 0.7, 0.7, 0.7, 0.7, 0.3 };

static sal_expr side_by_side(sal_tape *t, const double *weights, const int64_t *pairs, int64_t n)
{
    sal_expr s = sal_state(t), w = sal_constant(t, weights, SAL_SHAPE(n));
    return sal_sub(sal_edges(s, w, n, pairs), sal_dot(vector(t, "h", 6), s));
}

START_TEST(binary_chains_written_by_hand_are_drawn_one_by_one)
{
    sal_tape *tape = tape_over(SAL_BINARY, 6, 0);
    sal_model *model = model_of(tape, side_by_side(tape, side_weights, side_pairs, 8));
    sal_exact exact[2];
    sal_error err;
    double marginals[12];
    ck_assert(model->structure && model->structure->groups);
    ck_assert_int_eq(model->structure->pieces(model), 2);
    ck_assert_int_eq(model->structure->groups(model), 3);
    check_invariance(model, 1, "side by side");
    check_invariance(model, 0.4, "side by side");
    for (int k = 0; k < 2; k++) {
        sal_exact_options by = { .oracle = k ? "forward-backward" : "enumeration" };
        ck_ok(sal_model_exact(model, &by, &exact[k], marginals, NULL, NULL, &err), &err);
    }
    ck_assert_double_eq_tol(exact[0].log_z, exact[1].log_z, TOLERANCE);
    sal_model_destroy(model);
}
END_TEST

/* Mixtures of any variables: log sum_k exp(W_k x), levels and states. */
START_TEST(mixtures_written_by_hand_are_drawn_whole)
{
    static const char *const spaces[] = { "binary", "spin", "factors", "count" };
    const sali_sampler *sampler = sali_sampler_find("block-gibbs");
    sali_sampler_settings settings = { 0 };
    for (int n = 0; n < 8; n++) { /* the other half with weights of the components */
        const int k = n % 4;
        sal_space *space = tiny_space_make(tiny_space_named(spaces[k]));
        sal_tape *tape = sal_tape_create(space, SAL_F64);
        sal_expr W = sal_param(tape, "W", SAL_SHAPE(3, space->width));
        sal_expr rows = sal_matvec(W, sal_state(tape));
        rows = n < 4 ? rows : sal_add(rows, sal_param(tape, "c", SAL_SHAPE(3)));
        sal_model *model = model_of(tape, sal_logsumexp(rows));
        double total = tiny_log_z(model);
        sal_exact exact;
        double marginals[R_MOST];
        sal_error err;
        ck_assert_msg(model->structure && model->products, "%s", spaces[k]);
        ck_ok(sal_model_exact(model, &(sal_exact_options){ .oracle = "closed form" }, &exact,
                              marginals, NULL, NULL, &err),
              &err);
        ck_assert_double_eq_tol(exact.log_z, total, TOLERANCE);
        if (k < 3) { /* block-gibbs has no counts */
            transition t = transition_make(sampler, model, &settings, 1, 0);
            for (int64_t i = 0; i < t.n * t.n; i++) {
                ck_assert_double_eq_tol(t.P[i], t.pi[i % t.n], TOLERANCE);
            }
            transition_free(&t);
            check_invariance(model, 0.6, spaces[k]);
        }
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* A component of weight 0 is never drawn, also where beta = 0 makes all others alike. */
START_TEST(components_of_weight_0_have_none_at_beta_0)
{
    static const double c[] = { -INFINITY, 0.3, -0.2 }, beta = 0;
    static const int64_t piece = 0;
    static const int32_t codes[3];
    sal_tape *t = tape_over(SAL_BINARY, 3, 0);
    sal_expr rows = sal_matvec(sal_param(t, "W", SAL_SHAPE(3, 3)), sal_state(t));
    sal_model *model = model_of(t, sal_logsumexp(sal_add(rows, sal_param(t, "c", SAL_SHAPE(3)))));
    const sali_piece at = { .n = 1, .piece = &piece, .beta = &beta, .codes = codes };
    double log_q = 0;
    void *ws = NULL;
    sal_error err;
    ck_ok(sal_model_set_params(model, "c", c, &err), &err);
    ck_ok(model->structure->open(model, 1, &ws, &err), &err);
    model->structure->log_q(ws, &at, codes, NULL, &log_q);
    ck_assert_double_eq_tol(log_q, -3 * log(2), TOLERANCE);
    model->structure->close(ws);
    sal_model_destroy(model);
}
END_TEST

/* ---- almost of a form */

/* Takes the tape. */
static void expect_none(sal_tape *tape, sal_expr f, const char *why)
{
    sal_model *model = model_of(tape, f);
    ck_assert_msg(!model->structure && !model->products, "%s", why);
    sal_model_destroy(model);
}

static sal_expr hidden_sum(sal_tape *t, const char *weights)
{
    return sal_sum(sal_softplus(sal_matvec(sal_param(t, weights, SAL_SHAPE(3, 4)), sal_state(t))));
}

START_TEST(what_is_almost_an_rbm_has_no_layers)
{
    sal_tape *t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_scale(bare_rbm(t), 2), "softplus counts twice");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_scale(bare_rbm(t), -1), "softplus is subtracted");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_mul(sal_param(t, "g", SAL_SCALAR), bare_rbm(t)), "a parameter times it");
    t = tape_over(SAL_BINARY, 4, 0); /* 1 before training */
    sal_expr g = sal_add(sal_param(t, "g", SAL_SCALAR), sal_scalar(t, 1));
    expect_none(t, sal_mul(g, bare_rbm(t)), "a parameter and 1, times it");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_dot(vector(t, "g", 3), sal_softplus(sal_matvec(matrix(t), sal_state(t)))),
                "each unit has a weight");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_mean(sal_softplus(sal_matvec(matrix(t), sal_state(t)))), "a mean");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_add(hidden_sum(t, "W"), hidden_sum(t, "U")), "two sums");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_sub(hidden_sum(t, "W"), hidden_sum(t, "U")), "two sums, one subtracted");
    t = tape_over(SAL_BINARY, 4, 0);
    sal_expr once = bare_rbm(t);
    expect_none(t, sal_add(once, once), "the sum twice");
    t = tape_over(SAL_BINARY, 4, 0);
    sal_expr W = matrix(t), product = sal_matvec(W, sal_state(t));
    expect_none(t, sal_sum(sal_softplus(sal_add(product, product))), "W enters twice");
    t = tape_over(SAL_BINARY, 4, 0);
    W = matrix(t);
    product = sal_matvec(W, sal_softplus(sal_state(t)));
    expect_none(t, sal_sum(sal_softplus(product)), "W of something else");
    t = tape_over(SAL_BINARY, 4, 0);
    W = sal_param(t, "W", SAL_SHAPE(4, 4));
    expect_none(t, sal_sum(sal_softplus(sal_matvec(W, sal_matvec(W, sal_state(t))))), "W W v");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(
        t,
        sal_sum(sal_softplus(sal_add(sal_matvec(matrix(t), sal_state(t)), sal_sum(sal_state(t))))),
        "a hidden bias that varies");
    t = tape_over(SAL_BINARY, 4, 0);
    static const int64_t pair[] = { 0, 2 };
    expect_none(t, sal_add(bare_rbm(t), sal_edges(sal_state(t), vector(t, "J", 1), 1, pair)),
                "two visible units that are coupled");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_sum(sal_relu(sal_matvec(matrix(t), sal_state(t)))), "another function");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_exp(bare_rbm(t)), "a function of it");
    t = tape_over(SAL_CATEGORICAL, 2, 2);
    expect_none(t, sal_add(bare_rbm(t), sal_sum(sal_exp(sal_state(t)))), "labels, and a rest");
    t = tape_over(SAL_ORDINAL, 4, 3);
    expect_none(t, sal_add(bare_rbm(t), sal_sum(sal_exp(sal_state(t)))), "levels, and a rest");
}
END_TEST

static sal_expr squares(sal_tape *t, const char *weights)
{
    return sal_square(sal_matvec(sal_param(t, weights, SAL_SHAPE(3, 4)), sal_state(t)));
}

START_TEST(what_is_almost_an_rbm_of_gaussian_units_has_no_layers)
{
    sal_tape *t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_scale(sal_sum(squares(t, "W")), -1), "squares are subtracted");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_mul(sal_param(t, "g", SAL_SCALAR), sal_sum(squares(t, "W"))),
                "a parameter times the sum");
    t = tape_over(SAL_BINARY, 4, 0);
    const double g[] = { 1, 2, 1 };
    expect_none(t, sal_dot(sal_constant(t, g, SAL_SHAPE(3)), squares(t, "W")),
                "each unit has a weight");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_add(sal_sum(squares(t, "W")), sal_sum(squares(t, "U"))), "two sums");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_add(sal_sum(squares(t, "W")), sal_sum(sal_exp(sal_state(t)))), "a rest");
    t = tape_over(SAL_SPIN, 4, 0);
    expect_none(t, sal_sum(sal_square(sal_tanh(sal_matvec(matrix(t), sal_state(t))))),
                "squares of something else");
}
END_TEST

static sal_expr drelus(sal_tape *t, const char *weights)
{
    sal_expr a = sal_matvec(sal_param(t, weights, SAL_SHAPE(3, 4)), sal_state(t));
    sal_expr delta = vector(t, "delta", 3);
    return sal_sum(sal_drelu(a, delta, sal_param(t, "t", SAL_SHAPE(1))));
}

START_TEST(what_is_almost_an_rbm_of_drelu_units_has_no_layers)
{
    sal_tape *t = tape_over(SAL_BINARY, 4, 0);
    sal_model *model = model_of(t, drelus(t, "W"));
    ck_assert(model->structure && sali_structure_is_whole(model));
    sal_model_destroy(model);
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_scale(drelus(t, "W"), 2), "units count twice");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_mul(sal_param(t, "g", SAL_SCALAR), drelus(t, "W")),
                "a parameter times the sum");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_add(drelus(t, "W"), sal_sum(sal_exp(sal_state(t)))), "a rest");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_add(drelus(t, "W"), sal_sum(squares(t, "U"))), "and squares");
    t = tape_over(SAL_BINARY, 4, 0);
    expect_none(t, sal_add(drelus(t, "W"), bare_rbm(t)), "and bits");
    t = tape_over(SAL_SPIN, 4, 0);
    sal_expr a = sal_tanh(sal_matvec(matrix(t), sal_state(t)));
    expect_none(t, sal_sum(sal_drelu(a, vector(t, "delta", 3), vector(t, "t", 3))),
                "units of something else");
}
END_TEST

/* Other terms beside an RBM leave its layers, whose draws are proposals then. */
START_TEST(an_rbm_with_other_terms_has_layers)
{
    for (int k = 0; k < 4; k++) {
        sal_tape *t = tape_over(k == 1 ? SAL_SPIN : SAL_BINARY, 4, 0);
        sal_expr s = sal_state(t), J = sal_param(t, "J", SAL_SHAPE(4, 4));
        sal_expr deep = sal_matvec(J, sal_silu(sal_matvec(J, s)));
        const sal_expr rest[] = { sal_quad(s, J), sal_sum(sal_tanh(deep)), sal_sum(sal_exp(deep)),
                                  sal_dot(vector(t, "g", 4), sal_mul(s, sal_sin(s))) };
        sal_model *model = model_of(t, sal_add(bare_rbm(t), rest[k]));
        ck_assert(model->structure && !sali_structure_is_whole(model) && !model->products);
        ck_assert_int_eq(model->structure->hidden(model), 3 + 4);
        check_invariance(model, 1, "with a rest");
        check_invariance(model, 0.4, "with a rest, tempered");
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(what_is_almost_a_chain_has_no_messages)
{
    static const int64_t skipping[] = { 0, 3, 1, 5, 2, 4, 0, 6, 4, 8, 5, 7 };
    static const int64_t other_states[] = { 0, 3, 1, 5, 2, 4, 3, 6, 4, 7, 5, 8 };
    static const int64_t other_weights[] = { 0, 3, 3, 1, 3, 3 };
    sal_tape *t = tape_over(SAL_CATEGORICAL, 3, 3);
    expect_none(t, label_chain(t, 6, skipping, chain_index), "first to third");
    t = tape_over(SAL_CATEGORICAL, 3, 3);
    expect_none(t, label_chain(t, 6, other_states, chain_index), "other states");
    t = tape_over(SAL_CATEGORICAL, 3, 3);
    expect_none(t, label_chain(t, 6, chain_pairs, other_weights), "other weights");
    t = tape_over(SAL_CATEGORICAL, 3, 3);
    expect_none(t, label_chain(t, 5, chain_pairs, chain_index), "an edge is missing");
    t = tape_over(SAL_CATEGORICAL, 3, 3);
    expect_none(t, sal_edges(sal_state(t), vector(t, "w", 6), 6, chain_pairs),
                "weights that are equal only before training");
    t = tape_over(SAL_CATEGORICAL, 3, 3);
    sal_expr chain = label_chain(t, 6, chain_pairs, chain_index);
    expect_none(t, sal_add(chain, sal_sum(sal_softplus(sal_state(t)))), "and something else");
    t = tape_over(SAL_BINARY, 9, 0);
    expect_none(t, label_chain(t, 6, chain_pairs, chain_index), "bits");
    t = tape_over(SAL_CATEGORICAL, 3, 3);
    expect_none(t, sal_square(label_chain(t, 6, chain_pairs, chain_index)), "a function of it");
}
END_TEST

START_TEST(what_is_almost_chains_side_by_side_has_none)
{
    static const double uneven[] = { 0.5, -0.9, 0.4, 0.7, 0.7, 0.6, 0.7, 0.3 };
    static const int64_t across[] = { 0, 1, 1, 2, 4, 5, 2, 0, 1, 3, 4, 2, 3, 5, 4, 4 };
    static const int64_t twice[] = { 0, 1, 3, 2, 3, 2, 2, 0, 1, 3, 4, 2, 3, 5, 4, 4 };
    static const int64_t again[] = { 0, 1, 3, 2, 4, 5, 2, 0, 1, 3, 4, 2, 3, 5, 4, 4, 1, 0 };
    static const double again_weights[] = { 0.5, -0.9, 0.4, 0.7, 0.7, 0.7, 0.7, 0.3, 0.5 };
    static const int64_t step_twice[] = { 0, 1, 3, 2, 4, 5, 2, 0, 1, 3, 2, 0, 3, 5, 4, 4 };
    static const int64_t torn[] = { 0, 1, 3, 2, 4, 5, 2, 0, 1, 3, 4, 2 };
    static const int64_t far[] = { 0, 1, 3, 2, 4, 5, 2, 0, 1, 3, 4, 2, 0, 4, 4, 4 };
    const struct {
        const double *weights;
        const int64_t *pairs, n;
        const char *why;
    } cases[] = {
        { uneven, side_pairs, 8, "a step has another weight" },
        { side_weights, across, 8, "a pair of two slices" },
        { side_weights, twice, 8, "a pair twice, another missing" },
        { again_weights, again, 9, "a pair twice" },
        { side_weights, step_twice, 8, "a step twice, another missing" },
        { side_weights, torn, 6, "a step is missing" },
        { side_weights, far, 8, "a step over two slices" },
        { side_weights + 1, side_pairs + 2, 7, "a slice without its pair" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sal_tape *t = tape_over(SAL_BINARY, 6, 0);
        expect_none(t, side_by_side(t, cases[k].weights, cases[k].pairs, cases[k].n), cases[k].why);
    }
    sal_tape *t = tape_over(SAL_SPIN, 6, 0);
    expect_none(t, side_by_side(t, side_weights, side_pairs, 8), "spins");
    t = tape_over(SAL_BINARY, 6, 0);
    expect_none(t, sal_edges(sal_state(t), vector(t, "w", 8), 8, side_pairs),
                "weights that are equal only before training");
}
END_TEST

START_TEST(what_is_almost_a_mixture_is_none)
{
    sal_tape *t = tape_over(SAL_CATEGORICAL, 2, 2);
    expect_none(t, sal_scale(sal_logsumexp(sal_matvec(matrix(t), sal_state(t))), 0.5), "its half");
    t = tape_over(SAL_CATEGORICAL, 2, 2);
    sal_expr square = sal_square(sal_matvec(matrix(t), sal_state(t)));
    expect_none(t, sal_logsumexp(square), "squares");
    t = tape_over(SAL_CATEGORICAL, 2, 2);
    sal_expr mix = sal_logsumexp(sal_matvec(matrix(t), sal_state(t)));
    expect_none(t, sal_add(mix, sal_quad(sal_state(t), sal_param(t, "J", SAL_SHAPE(4, 4)))),
                "and a coupling");
    sal_space *space = sal_space_create();
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "n", .kind = SAL_COUNT, .count = 4 }, &err),
          &err);
    t = sal_tape_create(space, SAL_F64);
    expect_none(t, sal_logsumexp(sal_matvec(matrix(t), sal_state(t))), "counts without a cap");
    sal_space_destroy(space);
}
END_TEST

/* ---- bridges */

static void check_bridge(sal_model *model, bool weighed, const char *where)
{
    static const double betas[] = { 0, 0.3, 1 };
    double log_base[R_MOST], want[TINY_MOST_STATES], f[TINY_MOST_STATES], pi[TINY_MOST_STATES];
    sali_bridge bridge;
    sal_error err;
    random_base(model->space, 0.8, log_base);
    ck_ok(sali_bridge_create(model, log_base, &bridge, &err), &err);
    ck_assert_msg(bridge.model->structure != NULL, "%s", where);
    ck_assert_int_eq(bridge.model->structure->log_density != NULL, weighed);
    for (int k = 0; k < 3; k++) {
        sali_bridge_set(&bridge, betas[k]);
        between(model, log_base, betas[k], want);
        states_probabilities(bridge.model, 1, f, pi);
        for (int64_t i = 0; i < states_count(model->space); i++) {
            ck_assert_double_eq_tol(f[i], want[i], 1e-11);
        }
        check_invariance(bridge.model, 1, where);
        check_invariance(bridge.model, 0.6, where);
    }
    sali_bridge_free(&bridge);
}

START_TEST(bridges_keep_their_target)
{
    static const char *const chains[] = { "hmm:length=3,states=3,sigma=0.7,p=0.6",
                                          "crf:tokens=3,labels=3,features=2,scale=0.7,seed=2",
                                          "fhmm:length=3,factors=2,sigma=0.8,p=0.7,v=0.3,seed=5" };
    for (int k = 0; k < 2 * N_RBMS; k++) {
        sal_tape *tape = tape_over(k % 2 ? SAL_SPIN : SAL_BINARY, 4, 0);
        sal_model *model = model_of(tape, rbms[k / 2].make(tape));
        check_bridge(model, true, k % 2 ? "rbm, spin" : "rbm, binary");
        sal_model_destroy(model);
    }
    for (int k = 0; k < 3; k++) {
        sal_model *model = builtin(chains[k], SAL_F64);
        check_bridge(model, false, chains[k]);
        sal_model_destroy(model);
    }
    for (int s = 0; s < N_TINY_SPACES; s++) { /* their bases are no linear functions of levels */
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int kind = BITS; kind <= DRELUS && !is_left_out(space, kind); kind++) {
            sal_model *model = any_rbm_over(space, kind);
            check_bridge(model, kind != NORMALS, tiny_spaces[s].name);
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

/* A formula that only looks like a bridge to an RBM has no structure. */
START_TEST(only_bridges_may_weigh_the_hidden_units)
{
    sal_tape *t = tape_over(SAL_BINARY, 4, 0);
    sal_expr rest = sal_sub(sal_scalar(t, 1), sal_param(t, "beta", SAL_SCALAR));
    sal_expr beta = sal_param(t, "bridge.beta", SAL_SCALAR);
    sal_expr base = sal_mul(rest, sal_dot(vector(t, "a", 4), sal_state(t)));
    expect_none(t, sal_add(sal_mul(beta, bare_rbm(t)), base), "a parameter times the sum");
}
END_TEST

START_TEST(annealing_by_layers_finds_log_z)
{
    for (int k = 0; k < 3; k++) {
        sal_model *model = builtin(k == 0   ? "rbm:visible=60,hidden=8,scale=0.7"
                                   : k == 1 ? "hmm:length=30,states=3,seed=4"
                                            : "fhmm:length=12,factors=4,seed=4",
                                   SAL_F64);
        sal_ais_options options = {
            .sampler = "block-gibbs", .chains = 300, .temperatures = 120, .seed = 9
        };
        sal_ais_estimate e;
        sal_error err;
        double log_z = 0, marginals[200];
        sal_exact exact;
        if (k == 0) { /* by the hidden units: log sum_h exp(c'h) prod_i (1 + exp(b_i + (W'h)_i)) */
            double W[8 * 60], terms[256];
            move_parameters(model);
            double b[60], c[8];
            ck_ok(sal_model_get_params(model, "W", W, &err), &err);
            ck_ok(sal_model_get_params(model, "b", b, &err), &err);
            ck_ok(sal_model_get_params(model, "c", c, &err), &err);
            for (int h = 0; h < 256; h++) {
                terms[h] = 0;
                for (int j = 0; j < 8; j++) {
                    terms[h] += h >> j & 1 ? c[j] : 0;
                }
                for (int i = 0; i < 60; i++) {
                    double odds = b[i];
                    for (int j = 0; j < 8; j++) {
                        odds += h >> j & 1 ? W[60 * j + i] : 0;
                    }
                    terms[h] += log1p(exp(odds));
                }
            }
            log_z = log_sum(256, terms);
        } else {
            ck_ok(sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, &err), &err);
            log_z = exact.log_z;
        }
        ck_ok(sal_ais(model, &options, &e, NULL, &err), &err);
        ck_assert_msg(fabs(e.log_z - log_z) < 4 * e.standard_error && e.standard_error < 0.3,
                      "%d: log Z %g, exactly %g, standard error %g", k, e.log_z, log_z,
                      e.standard_error);
        ck_assert(k == 0 ? e.acceptance_rate > 0.3 && e.acceptance_rate < 0.99
                         : e.acceptance_rate > 1 - 1e-9);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- memory */

static sal_status make(const char *specification, sal_model **model)
{
    sal_status status = sal_model_open(specification, SAL_F64, model, NULL);
    ck_assert(status != SAL_OK || (*model)->structure);
    return status;
}

START_TEST(allocation_failures_leave_no_model_without_its_structure)
{
    static const char *const specifications[] = { "rbm:visible=4,hidden=3",
                                                  "hmm:length=3",
                                                  "fhmm:length=3,factors=2",
                                                  "mixture:dim=2",
                                                  "rbm:visible=2,hidden=3,kind=ordinal,states=3",
                                                  "rbm:visible=2,hidden=3,hidden_kind=gaussian",
                                                  "rbm:visible=2,hidden=3,hidden_kind=drelu" };
    for (size_t k = 0; k < sizeof specifications / sizeof *specifications; k++) {
        sal_model *model = NULL;
        ck_alloc_sweep(make(specifications[k], &model), sal_model_destroy(model));
    }
}
END_TEST

/* The state that each of four chains draws by workspace `ws` from all zeros. */
static void draw_by(const sal_model *model, void *ws, int32_t *to)
{
    enum { CHAINS = 4 };
    static const int64_t piece[CHAINS];
    static const double beta[CHAINS] = { 1, 0.5, 1, 2 };
    const int64_t n = CHAINS * model->space->n_variables;
    int32_t *codes = calloc((size_t)n, sizeof *codes);
    sali_stream streams[CHAINS];
    for (uint32_t c = 0; c < CHAINS; c++) {
        streams[c] = (sali_stream){ .seed = 4, .chain = c, .purpose = SALI_RNG_TEST };
    }
    sali_piece at = { .n = CHAINS, .piece = piece, .beta = beta, .codes = codes };
    model->structure->draw(ws, &at, streams, to);
    free(codes);
}

/* A workspace reads changed parameters without memory of its own: draws cannot report that there is
 * none. */
START_TEST(draws_read_changed_parameters_without_allocating)
{
    for (size_t k = 0; k < sizeof saved / sizeof *saved; k++) {
        sal_model *model = builtin(saved[k].specification, saved[k].dtype);
        const int64_t n = 4 * model->space->n_variables;
        int32_t *to = calloc((size_t)n, sizeof *to), *expected = calloc((size_t)n, sizeof *to);
        void *ws = NULL, *later = NULL;
        sal_error err;
        ck_ok(model->structure->open(model, 4, &ws, &err), &err);
        draw_by(model, ws, to);
        move_parameters(model);
        alloc_fail_at(1);
        draw_by(model, ws, to);
        ck_assert_msg(!alloc_failed(), "%s", saved[k].specification);
        alloc_fail_at(0);
        ck_ok(model->structure->open(model, 4, &later, &err), &err);
        draw_by(model, later, expected);
        ck_assert_mem_eq(to, expected, (size_t)n * sizeof *to);
        model->structure->close(later);
        model->structure->close(ws);
        free(expected);
        free(to);
        sal_model_destroy(model);
    }
}
END_TEST

static Suite *recognition_suite(void)
{
    Suite *suite = suite_create("recognition");
    TCase *tcase = tcase_create("recognition");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, saved_models_give_the_draws_of_ready_made_ones);
    tcase_add_test(tcase, saved_models_have_exact_answers);
    tcase_add_test(tcase, rbms_written_by_hand_have_layers);
    tcase_add_test(tcase, rbms_over_any_variables_have_layers);
    tcase_add_test(tcase, layers_follow_parameters);
    tcase_add_test(tcase, chains_written_by_hand_are_drawn_whole);
    tcase_add_test(tcase, binary_chains_written_by_hand_are_drawn_one_by_one);
    tcase_add_test(tcase, mixtures_written_by_hand_are_drawn_whole);
    tcase_add_test(tcase, components_of_weight_0_have_none_at_beta_0);
    tcase_add_test(tcase, what_is_almost_an_rbm_has_no_layers);
    tcase_add_test(tcase, what_is_almost_an_rbm_of_gaussian_units_has_no_layers);
    tcase_add_test(tcase, what_is_almost_an_rbm_of_drelu_units_has_no_layers);
    tcase_add_test(tcase, an_rbm_with_other_terms_has_layers);
    tcase_add_test(tcase, what_is_almost_a_chain_has_no_messages);
    tcase_add_test(tcase, what_is_almost_chains_side_by_side_has_none);
    tcase_add_test(tcase, what_is_almost_a_mixture_is_none);
    tcase_add_test(tcase, bridges_keep_their_target);
    tcase_add_test(tcase, only_bridges_may_weigh_the_hidden_units);
    tcase_add_test(tcase, annealing_by_layers_finds_log_z);
    tcase_add_test(tcase, allocation_failures_leave_no_model_without_its_structure);
    tcase_add_test(tcase, draws_read_changed_parameters_without_allocating);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(recognition_suite());
}
