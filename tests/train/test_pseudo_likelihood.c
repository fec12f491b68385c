/* SPDX-License-Identifier: MIT */
/* Pseudo-likelihood: value and gradient against conditionals by hand, the quadratic form against
 * neighbours, consistency, shards, refusals. */
#include "test.h"

#include <math.h>

#include <saltus/program.h>
#include <saltus/saltus.h>

#include "alloc_fail.h"
#include "ad/polynomial.h"
#include "core/threads/shard.h"
#include "formula.h"
#include "models/make/multilinear.h"
#include "tiny_models.h"
#include "train/pseudo_likelihood.h"

#define MOST_PARAMETERS 512
#define ROWS 7

/* ---- models with parameters over a tiny space; NULL over one that they are not made for */

static sal_model *finish(sal_tape *tape, sal_expr f)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    double values[MOST_PARAMETERS];
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    ck_assert_int_le(sal_model_parameters_size(model), MOST_PARAMETERS);
    tiny_normals(11, sal_model_parameters_size(model), 0.3, values);
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    return model;
}

static sal_expr quadratic_part(sal_tape *tape)
{
    sal_expr s = sal_state(tape);
    int64_t N = sal_expr_shape(s).dim[0];
    return sal_add(sal_scale(sal_quad(s, sal_param(tape, "J", SAL_SHAPE(N, N))), 0.7),
                   sal_dot(sal_param(tape, "b", SAL_SHAPE(N)), s));
}

static sal_model *quadratic(const sal_space *space)
{
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    return finish(tape, quadratic_part(tape));
}

static sal_model *general(const sal_space *space)
{
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    int64_t N = sal_expr_shape(s).dim[0];
    sal_expr h = sal_matvec(sal_param(tape, "W", SAL_SHAPE(3, N)), s);
    return finish(tape, sal_add(quadratic_part(tape), sal_logsumexp(h)));
}

/* Pairs over each two neighbouring coordinates of the state and of one with itself. */
static sal_model *edges(const sal_space *space)
{
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    int64_t N = sal_expr_shape(s).dim[0], pairs[2 * TINY_MOST_REALS];
    for (int64_t i = 0; i < N; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = i + 1 < N ? i + 1 : i;
    }
    sal_expr w = sal_param(tape, "w", SAL_SHAPE(N));
    return finish(tape, sal_edges(s, w, N, pairs));
}

/* A table of parameters over each two neighbouring variables; `forbid` adds a constant -inf to
 * every fifth entry, but not to that of codes 0. */
static sal_model *tables_of(const sal_space *space, bool forbid)
{
    int64_t V = sal_space_variables(space), begin[TINY_MOST_REALS + 1] = { 0 };
    int64_t scope[2 * TINY_MOST_REALS], size = 0;
    double walls[256] = { 0 };
    for (int64_t v = 0; v < V; v++) {
        if (space->variables[v].width == 1 && space->variables[v].states > 2) {
            return NULL;
        }
    }
    for (int64_t v = 0; v + 1 < V; v++) {
        int64_t entries = sal_space_states(space, v) * sal_space_states(space, v + 1);
        for (int64_t k = 1; k < entries; k++) {
            walls[size + k] = forbid && k % 5 == 3 ? -INFINITY : 0;
        }
        size += entries;
        scope[2 * v] = v;
        scope[2 * v + 1] = v + 1;
        begin[v + 1] = 2 * (v + 1);
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr T =
        sal_add(sal_param(tape, "T", SAL_SHAPE(size)), sal_constant(tape, walls, SAL_SHAPE(size)));
    return finish(tape, sal_table(tape, T, V - 1, begin, scope));
}

static sal_model *tables(const sal_space *space)
{
    return tables_of(space, false);
}

static sal_model *walls(const sal_space *space)
{
    return tables_of(space, true);
}

/* Whether a variable's square is linear in it. */
static bool square_is_linear(const sal_space *space, int64_t v)
{
    return space->variables[v].kind == SAL_CATEGORICAL || space->variables[v].states == 2;
}

static bool all_squares_are_linear(const sal_space *space)
{
    bool linear = true;
    for (int64_t v = 0; v < space->n_variables; v++) {
        linear &= square_is_linear(space, v);
    }
    return linear;
}

static bool last_square_is_linear(const sal_space *space)
{
    return square_is_linear(space, space->n_variables - 1);
}

static bool always(const sal_space *space)
{
    return space != NULL;
}

static bool never(const sal_space *space)
{
    return space == NULL;
}

static const struct {
    const char *name;
    sal_model *(*make)(const sal_space *space);
    bool (*has_form)(const sal_space *space);
} kinds[] = {
    { "quadratic", quadratic, all_squares_are_linear },
    { "general", general, never },
    { "edges", edges, last_square_is_linear },
    { "tables", tables, always },
    { "walls", walls, never },
};
#define N_KINDS ((int)(sizeof kinds / sizeof *kinds))

/* Ready-made models, with all parameters random; the last are not quadratic. */
static const struct {
    const char *specification;
    bool quadratic;
} ready[] = {
    { "ising-dense:dim=7", true },
    { "potts-dense:dim=3,states=4", true }, /* with couplings within a site */
    { "ising:side=3", true },
    { "ising-er:nodes=8,degree=3,weights=normal", true },
    { "potts:side=2,states=3", true },
    { "rbm:visible=6,hidden=3", false },
};
#define N_READY ((int)(sizeof ready / sizeof *ready))

static sal_model *make_ready(int k)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    double values[MOST_PARAMETERS];
    ck_ok(sal_model_open(ready[k].specification, SAL_F64, &model, &err), &err);
    tiny_normals(12, sal_model_parameters_size(model), 0.3, values);
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    return model;
}

/* ---- the definition */

static double value_at(const sal_model *model, const int32_t *codes)
{
    double f;
    sal_error err = { 0 };
    ck_ok(sal_model_evaluate(model, 1, codes, &f, NULL, NULL, &err), &err);
    return f;
}

/* log PL of a state, from f at its neighbours. */
static double by_hand(const sal_model *model, const int32_t *codes)
{
    const sal_space *space = sal_model_space(model);
    int64_t V = sal_space_variables(space);
    int32_t at[64];
    double sum = 0, f = value_at(model, codes);
    memcpy(at, codes, (size_t)V * sizeof *at);
    for (int64_t v = 0; v < V; v++) {
        double Z = 0;
        for (at[v] = 0; at[v] < sal_space_states(space, v); at[v]++) {
            Z += exp(value_at(model, at) - f);
        }
        at[v] = codes[v];
        sum -= log(Z);
    }
    return sum;
}

static double rows_by_hand(const sal_model *model, int64_t rows, const int32_t *codes)
{
    double sum = 0;
    for (int64_t r = 0; r < rows; r++) {
        sum += by_hand(model, codes + r * sal_space_variables(sal_model_space(model)));
    }
    return sum;
}

/* Random states where f > -inf; the first is all zeros. */
static void draw_rows(const sal_model *model, int64_t rows, int32_t *codes)
{
    const sal_space *space = sal_model_space(model);
    int64_t V = sal_space_variables(space);
    uint32_t x = 12345;
    memset(codes, 0, (size_t)V * sizeof *codes);
    for (int64_t r = 1; r < rows; r++) {
        do {
            for (int64_t v = 0; v < V; v++) {
                x = x * 1664525u + 1013904223u;
                codes[r * V + v] = (int32_t)((x >> 16) % (uint32_t)sal_space_states(space, v));
            }
        } while (value_at(model, codes + r * V) == -INFINITY);
    }
}

/* Sum of log PL over rows in shards of 3, and its gradient times `weight`. */
static double whole(sali_pseudo_likelihood *pl, int64_t V, int64_t rows, const int32_t *codes,
                    double weight, double *gradient)
{
    double sum = 0;
    int64_t shards = (rows + 2) / 3;
    for (int64_t k = 0; k < shards; k++) {
        int64_t n = rows - 3 * k < 3 ? rows - 3 * k : 3;
        sali_pseudo_likelihood_zero(pl, k);
        sum += sali_pseudo_likelihood_add(pl, k, n, codes + 3 * k * V, weight);
    }
    sali_pseudo_likelihood_reduce(pl, gradient);
    return sum;
}

/* Both ways against the definition and its central differences. */
static void check_model(sal_model *model, const char *name, bool is_quadratic)
{
    sal_error err = { 0 };
    sali_pseudo_likelihood *pl[2] = { NULL, NULL };
    int64_t V = sal_space_variables(sal_model_space(model)), n = sal_model_parameters_size(model);
    int32_t codes[ROWS * 64];
    double got[2][MOST_PARAMETERS], values[MOST_PARAMETERS];
    draw_rows(model, ROWS, codes);
    ck_ok(sali_pseudo_likelihood_create(model, false, 3, 0, 3, 3, &pl[0], &err), &err);
    ck_ok(sali_pseudo_likelihood_create(model, true, 3, 0, 3, 3, &pl[1], &err), &err);
    ck_assert_msg(sali_pseudo_likelihood_is_quadratic(pl[0]) == is_quadratic, "%s", name);
    ck_assert(!sali_pseudo_likelihood_is_quadratic(pl[1]));
    double want = rows_by_hand(model, ROWS, codes);
    for (int w = 0; w < 2; w++) {
        double log_pl = whole(pl[w], V, ROWS, codes, 0.5, got[w]);
        ck_assert_msg(fabs(log_pl - want) < 1e-12 * fabs(want), "%s: %.17g, by hand %.17g", name,
                      log_pl, want);
    }
    ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
    double h = 1e-4, largest = 0;
    for (int64_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(got[1][i]));
    }
    for (int64_t i = 0; i < n; i++) {
        double at = values[i], up, down;
        values[i] = at + h;
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        up = rows_by_hand(model, ROWS, codes);
        values[i] = at - h;
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        down = rows_by_hand(model, ROWS, codes);
        values[i] = at;
        want = 0.5 * (up - down) / (2 * h);
        ck_assert_msg(fabs(got[1][i] - want) < 1e-7 * fmax(1, largest),
                      "%s, parameter %d: %.12g, differences %.12g", name, (int)i, got[1][i], want);
        ck_assert_msg(fabs(got[0][i] - got[1][i]) < 1e-12 * fmax(1, largest),
                      "%s, parameter %d: %.17g by the form, %.17g by neighbours", name, (int)i,
                      got[0][i], got[1][i]);
    }
    ck_assert_msg(largest > 0.01, "%s: the gradient vanishes", name);
    sali_pseudo_likelihood_destroy(pl[0]);
    sali_pseudo_likelihood_destroy(pl[1]);
}

START_TEST(value_and_gradient_are_those_of_the_definition_on_every_kind_of_space)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int k = 0; k < N_KINDS; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s over %s", kinds[k].name, tiny_spaces[s].name);
            sal_model *model = kinds[k].make(space);
            if (model) {
                check_model(model, name, kinds[k].has_form(space));
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(ready_made_models_follow_the_definition)
{
    for (int k = 0; k < N_READY; k++) {
        sal_model *model = make_ready(k);
        check_model(model, ready[k].specification, ready[k].quadratic);
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- formulas in full */

/* With S = (J + J')/2 and m_i = tanh(z_i), z_i = sum_{j != i} S_ij s_j + b_i:
 * log PL = -sum_i log(1 + exp(-2 s_i z_i)), d/db_i = s_i - m_i, and d/dJ_ij for i != j is half of
 * (s_i - m_i) s_j + (s_j - m_j) s_i. */
START_TEST(dense_ising_model_has_its_known_gradient)
{
    enum { n = 9 };
    sal_error err = { 0 };
    sal_model *model = NULL;
    sali_pseudo_likelihood *pl = NULL;
    double J[n * n], b[n], flat[n * n + n], s[n], m[n], want = 0;
    int32_t codes[n];
    ck_ok(sal_model_open("ising-dense:dim=9", SAL_F64, &model, &err), &err);
    tiny_normals(13, n * n, 0.5, J);
    tiny_normals(14, n, 0.5, b);
    ck_ok(sal_model_set_params(model, "J", J, &err), &err);
    ck_ok(sal_model_set_params(model, "b", b, &err), &err);
    for (int i = 0; i < n; i++) {
        codes[i] = (5 * i + 1) % 3 == 0;
        s[i] = 2 * codes[i] - 1;
    }
    for (int i = 0; i < n; i++) {
        double z = b[i];
        for (int j = 0; j < n; j++) {
            z += j == i ? 0 : (J[i * n + j] + J[j * n + i]) / 2 * s[j];
        }
        m[i] = tanh(z);
        want -= log1p(exp(-2 * s[i] * z));
    }
    ck_ok(sali_pseudo_likelihood_create(model, false, 1, 0, 1, 1, &pl, &err), &err);
    sali_pseudo_likelihood_zero(pl, 0);
    ck_assert_double_eq_tol(sali_pseudo_likelihood_add(pl, 0, 1, codes, 1), want, 1e-12);
    sali_pseudo_likelihood_reduce(pl, flat);
    for (int i = 0; i < n; i++) {
        ck_assert_double_eq_tol(flat[n * n + i], s[i] - m[i], 1e-12);
        for (int j = 0; j < n; j++) {
            double g = i == j ? 0 : ((s[i] - m[i]) * s[j] + (s[j] - m[j]) * s[i]) / 2;
            ck_assert_double_eq_tol(flat[i * n + j], g, 1e-12);
        }
    }
    sali_pseudo_likelihood_destroy(pl);
    sal_model_destroy(model);
}
END_TEST

/* ---- parameters, forbidden rows, types */

START_TEST(changes_of_parameters_are_followed)
{
    sal_error err = { 0 };
    for (int k = 0; k < N_READY; k++) {
        sal_model *model = make_ready(k);
        sali_pseudo_likelihood *pl = NULL;
        int64_t V = sal_space_variables(sal_model_space(model));
        double values[MOST_PARAMETERS], gradient[MOST_PARAMETERS];
        int32_t codes[ROWS * 64];
        draw_rows(model, ROWS, codes);
        ck_ok(sali_pseudo_likelihood_create(model, false, 3, 0, 3, 3, &pl, &err), &err);
        for (int change = 0; change < 2; change++) {
            double before = rows_by_hand(model, ROWS, codes);
            tiny_normals((uint64_t)(20 + change), sal_model_parameters_size(model), 0.4, values);
            ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
            sali_pseudo_likelihood_refresh(pl);
            double want = rows_by_hand(model, ROWS, codes);
            ck_assert(fabs(want - before) > 1e-3);
            ck_assert_double_eq_tol(whole(pl, V, ROWS, codes, 1, gradient), want, 1e-11);
        }
        sali_pseudo_likelihood_destroy(pl);
        sal_model_destroy(model);
    }
}
END_TEST

/* f = -inf at a row: log PL is -inf, and only the other rows count in the gradient. */
START_TEST(forbidden_row_adds_nothing_to_the_gradient)
{
    sal_error err = { 0 };
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_model *model = walls(space);
    sali_pseudo_likelihood *pl = NULL;
    const int32_t codes[] = { 0, 0, 0, 0, 1, 1, 0, 0, 1, 0, 1, 0 };
    double with[MOST_PARAMETERS], without[MOST_PARAMETERS];
    int64_t n = sal_model_parameters_size(model);
    ck_assert(value_at(model, codes) > -INFINITY && value_at(model, codes + 4) == -INFINITY);
    ck_assert(value_at(model, codes + 8) > -INFINITY);
    ck_ok(sali_pseudo_likelihood_create(model, false, 1, 0, 1, 3, &pl, &err), &err);
    sali_pseudo_likelihood_zero(pl, 0);
    ck_assert(sali_pseudo_likelihood_add(pl, 0, 3, codes, 1) == -INFINITY);
    sali_pseudo_likelihood_reduce(pl, with);
    sali_pseudo_likelihood_zero(pl, 0);
    double sum = sali_pseudo_likelihood_add(pl, 0, 1, codes, 1);
    sum += sali_pseudo_likelihood_add(pl, 0, 1, codes + 8, 1);
    sali_pseudo_likelihood_reduce(pl, without);
    ck_assert(isfinite(sum));
    for (int64_t i = 0; i < n; i++) {
        ck_assert_double_eq_tol(with[i], without[i], 1e-14);
    }
    sali_pseudo_likelihood_destroy(pl);
    sal_model_destroy(model);
    sal_space_destroy(space);
}
END_TEST

START_TEST(float_agrees_with_double)
{
    const char *specifications[] = { "ising-dense:dim=12", "potts-dense:dim=4,states=4",
                                     "rbm:visible=8,hidden=4" };
    for (int k = 0; k < 3; k++) {
        double log_pl[2], gradient[2][MOST_PARAMETERS];
        int64_t n = 0;
        for (int d = 0; d < 2; d++) {
            sal_error err = { 0 };
            sal_model *model = NULL;
            sali_pseudo_likelihood *pl = NULL;
            int32_t codes[ROWS * 64];
            ck_ok(sal_model_open(specifications[k], d ? SAL_F32 : SAL_F64, &model, &err), &err);
            draw_rows(model, ROWS, codes);
            n = sal_model_parameters_size(model);
            ck_ok(sali_pseudo_likelihood_create(model, false, 3, 0, 3, 3, &pl, &err), &err);
            log_pl[d] =
                whole(pl, sal_space_variables(sal_model_space(model)), ROWS, codes, 1, gradient[d]);
            sali_pseudo_likelihood_destroy(pl);
            sal_model_destroy(model);
        }
        ck_assert_double_eq_tol(log_pl[0], log_pl[1], 1e-4);
        for (int64_t i = 0; i < n; i++) {
            ck_assert_double_eq_tol(gradient[0][i], gradient[1][i], 1e-4);
        }
    }
}
END_TEST

/* ---- shards */

typedef struct sharded {
    sali_pseudo_likelihood *pl;
    const int32_t *codes;
    double sums[4];
} sharded;

enum { SHARDED_ROWS = 61 };

static void run_shard(void *context, int64_t k)
{
    sharded *job = context;
    int64_t first = sali_shard_first(SHARDED_ROWS, 4, k);
    int64_t n = sali_shard_first(SHARDED_ROWS, 4, k + 1) - first;
    sali_pseudo_likelihood_zero(job->pl, k);
    job->sums[k] = sali_pseudo_likelihood_add(job->pl, k, n, job->codes + first * 12, 0.25);
}

START_TEST(shards_give_the_same_bits_for_any_number_of_threads)
{
    const char *specifications[] = { "ising-dense:dim=12", "rbm:visible=12,hidden=4" };
    const int threads[] = { 1, 2, 7 };
    for (int k = 0; k < 2; k++) {
        sal_error err = { 0 };
        sal_model *model = NULL;
        int32_t codes[SHARDED_ROWS * 12];
        double first[MOST_PARAMETERS], gradient[MOST_PARAMETERS], alone[MOST_PARAMETERS];
        ck_ok(sal_model_open(specifications[k], SAL_F64, &model, &err), &err);
        draw_rows(model, SHARDED_ROWS, codes);
        size_t bytes = (size_t)sal_model_parameters_size(model) * sizeof *first;
        sharded job = { .codes = codes };
        for (int t = 0; t < 3; t++) {
            ck_ok(sali_pseudo_likelihood_create(model, false, 4, 0, 4, 16, &job.pl, &err), &err);
            sal_threads_run(4, threads[t], run_shard, &job);
            sali_pseudo_likelihood_reduce(job.pl, gradient);
            sali_pseudo_likelihood_destroy(job.pl);
            if (t == 0) {
                memcpy(first, gradient, bytes);
            }
            ck_assert_mem_eq(first, gradient, bytes);
        }
        ck_ok(sali_pseudo_likelihood_create(model, false, 1, 0, 1, SHARDED_ROWS, &job.pl, &err),
              &err);
        sali_pseudo_likelihood_zero(job.pl, 0);
        double sum = sali_pseudo_likelihood_add(job.pl, 0, SHARDED_ROWS, codes, 0.25);
        sali_pseudo_likelihood_reduce(job.pl, alone);
        sali_pseudo_likelihood_destroy(job.pl);
        ck_assert_double_eq_tol(sum, job.sums[0] + job.sums[1] + job.sums[2] + job.sums[3], 1e-10);
        for (int64_t i = 0; i < sal_model_parameters_size(model); i++) {
            ck_assert_double_eq_tol(alone[i], first[i], 1e-12);
        }
        sal_model_destroy(model);
    }
}
END_TEST

/* ---- consistency */

enum { SPINS = 5, STATES = 1 << SPINS, EDGES = SPINS * (SPINS - 1) / 2, DRAWS = 40000, LOTS = 50 };

/* sum_e w_e s_i s_j + b's over all pairs. */
static sal_model *complete_ising(void)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "s", .kind = SAL_SPIN, .count = SPINS };
    int64_t pairs[2 * EDGES], n = 0;
    ck_ok(sal_space_add(space, &block, &err), &err);
    for (int64_t i = 0; i < SPINS; i++) {
        for (int64_t j = 0; j < i; j++, n++) {
            pairs[2 * n] = i;
            pairs[2 * n + 1] = j;
        }
    }
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape), w = sal_param(tape, "w", SAL_SHAPE(EDGES));
    sal_expr linear = sal_dot(sal_param(tape, "b", SAL_SHAPE(SPINS)), s);
    sal_model *model = finish(tape, sal_add(sal_edges(s, w, EDGES, pairs), linear));
    sal_space_destroy(space);
    return model;
}

/* How often each state is drawn, in lots of DRAWS / LOTS draws. */
static void draw_exactly(const sal_model *model, const int32_t *states, double *counts)
{
    double f[STATES], Z = 0;
    sal_error err = { 0 };
    sali_stream stream = { .seed = 3, .purpose = SALI_RNG_TEST };
    ck_ok(sal_model_evaluate(model, STATES, states, f, NULL, NULL, &err), &err);
    for (int k = 0; k < STATES; k++) {
        Z += exp(f[k]);
    }
    memset(counts, 0, LOTS * STATES * sizeof *counts);
    for (int d = 0; d < DRAWS; d++) {
        double left =
            Z * ((double)sali_rng_below(&stream, (uint32_t)d, 1u << 30) + 0.5) / (1 << 30);
        int k = 0;
        while (k + 1 < STATES && left > exp(f[k])) {
            left -= exp(f[k++]);
        }
        counts[d % LOTS * STATES + k]++;
    }
}

/* Gradient of the mean log PL of `n` draws by their counts. */
static void mean_gradient(sali_pseudo_likelihood *pl, const int32_t *states, const double *counts,
                          double n, double *gradient)
{
    sali_pseudo_likelihood_refresh(pl);
    sali_pseudo_likelihood_zero(pl, 0);
    for (int k = 0; k < STATES; k++) {
        sali_pseudo_likelihood_add(pl, 0, 1, states + k * SPINS, counts[k] / n);
    }
    sali_pseudo_likelihood_reduce(pl, gradient);
}

START_TEST(maximum_pseudo_likelihood_finds_the_couplings_of_exact_draws)
{
    enum { P = EDGES + SPINS };
    sal_error err = { 0 };
    sal_model *model = complete_ising();
    sali_pseudo_likelihood *pl = NULL;
    int32_t states[STATES * SPINS];
    static double counts[LOTS * STATES];
    double lots[LOTS][P], all[STATES] = { 0 }, truth[P], values[P] = { 0 }, gradient[P];
    for (int k = 0; k < STATES * SPINS; k++) {
        states[k] = k / SPINS >> k % SPINS & 1;
    }
    draw_exactly(model, states, counts);
    ck_ok(sal_model_get_params(model, NULL, truth, &err), &err);
    ck_ok(sali_pseudo_likelihood_create(model, false, 1, 0, 1, 1, &pl, &err), &err);
    for (int l = 0; l < LOTS; l++) {
        mean_gradient(pl, states, counts + l * STATES, DRAWS / LOTS, lots[l]);
        for (int k = 0; k < STATES; k++) {
            all[k] += counts[l * STATES + k];
        }
    }
    for (int i = 0; i < P; i++) {
        double mean = 0, square = 0;
        for (int l = 0; l < LOTS; l++) {
            mean += lots[l][i] / LOTS;
            square += lots[l][i] * lots[l][i] / LOTS;
        }
        double error = sqrt((square - mean * mean) / (LOTS - 1));
        ck_assert_msg(fabs(mean) < 4 * error && error < 0.01, "%d: %g, standard error %g", i, mean,
                      error);
    }
    for (int step = 0; step < 400; step++) {
        ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
        mean_gradient(pl, states, all, DRAWS, gradient);
        for (int i = 0; i < P; i++) {
            values[i] += 0.2 * gradient[i];
        }
    }
    for (int i = 0; i < P; i++) {
        ck_assert_double_eq_tol(gradient[i], 0, 1e-6);
        ck_assert_msg(fabs(values[i] - truth[i]) < 0.03, "%d: %g, truth %g", i, values[i],
                      truth[i]);
    }
    sali_pseudo_likelihood_destroy(pl);
    sal_model_destroy(model);
}
END_TEST

/* ---- refusals and memory */

static void refuse(sal_model *model, const char *message)
{
    sal_error err = { 0 };
    sali_pseudo_likelihood *pl = NULL;
    ck_fails(sali_pseudo_likelihood_create(model, false, 1, 0, 1, 1, &pl, &err),
             SAL_ERR_UNSUPPORTED, &err, message);
    ck_assert_ptr_null(pl);
    sal_model_destroy(model);
}

START_TEST(models_that_cannot_be_trained_are_refused)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "n", .kind = SAL_COUNT, .count = 2 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    refuse(quadratic(space), "has counts without a cap, whose conditionals are infinite sums");
    sal_space_destroy(space);
}
END_TEST

START_TEST(multilinear_form_keeps_f_and_the_order_of_parameters)
{
    for (int k = 0; k < N_READY; k++) {
        sal_error err = { 0 };
        sal_model *model = make_ready(k), *form = NULL;
        double values[MOST_PARAMETERS];
        int32_t codes[ROWS * 64];
        ck_ok(sali_multilinear_form(model, &form, &err), &err);
        ck_assert((form != NULL) == ready[k].quadratic);
        if (form && form != model) {
            ck_assert_int_eq(sal_model_parameters_size(form), sal_model_parameters_size(model));
            for (int64_t p = 0; sal_model_parameter(model, p, NULL); p++) {
                ck_assert_str_eq(sal_model_parameter(form, p, NULL),
                                 sal_model_parameter(model, p, NULL));
            }
            ck_ok(sal_model_get_params(model, NULL, values, &err), &err);
            ck_ok(sal_model_set_params(form, NULL, values, &err), &err);
            draw_rows(model, ROWS, codes);
            int64_t V = sal_space_variables(sal_model_space(model));
            for (int r = 0; r < ROWS; r++) {
                ck_assert_double_eq_tol(value_at(form, codes + r * V),
                                        value_at(model, codes + r * V), 1e-12);
            }
        }
        sal_model_destroy(form);
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(failing_allocations_are_reported)
{
    for (int k = 0; k < N_READY; k += N_READY - 1) {
        sal_error err = { 0 };
        sal_model *model = make_ready(k);
        sali_pseudo_likelihood *pl = NULL;
        ck_alloc_sweep(sali_pseudo_likelihood_create(model, false, 2, 0, 2, 3, &pl, &err),
                       (sali_pseudo_likelihood_destroy(pl), pl = NULL));
        sal_model_destroy(model);
    }
}
END_TEST

/* f = theta * edges(u state, w): affine in w where u and theta are constants, not where two of the
 * three are parameters. */
START_TEST(products_of_parameters_are_not_linear)
{
    const double ones[] = { 1, 1, 1 };
    const int64_t pairs[] = { 0, 1, 1, 2 };
    for (int which = 0; which < 8; which++) {
        sal_error err;
        sal_tape *tape = formula_tape(SAL_SPIN, 3, 0);
        sal_expr theta = which & 1 ? sal_param(tape, "theta", SAL_SHAPE(1))
                                   : sal_constant(tape, ones, SAL_SHAPE(1));
        sal_expr u =
            which & 2 ? sal_param(tape, "u", SAL_SHAPE(3)) : sal_constant(tape, ones, SAL_SHAPE(3));
        sal_expr w =
            which & 4 ? sal_param(tape, "w", SAL_SHAPE(2)) : sal_constant(tape, ones, SAL_SHAPE(2));
        formula f = formula_freeze(
            tape, sal_dot(theta, sal_reshape(sal_edges(sal_mul(u, sal_state(tape)), w, 2, pairs),
                                             SAL_SHAPE(1))));
        bool linear;
        ck_ok(sali_program_is_linear_in_params(f.program, &linear, &err), &err);
        ck_assert_msg(linear == (which == 0 || which == 1 || which == 4), "%d", which);
        formula_melt(f);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pseudo_likelihood");
    TCase *tcase = tcase_create("pseudo_likelihood");
    tcase_add_test(tcase, products_of_parameters_are_not_linear);
    tcase_add_test(tcase, value_and_gradient_are_those_of_the_definition_on_every_kind_of_space);
    tcase_add_test(tcase, ready_made_models_follow_the_definition);
    tcase_add_test(tcase, dense_ising_model_has_its_known_gradient);
    tcase_add_test(tcase, changes_of_parameters_are_followed);
    tcase_add_test(tcase, forbidden_row_adds_nothing_to_the_gradient);
    tcase_add_test(tcase, float_agrees_with_double);
    tcase_add_test(tcase, shards_give_the_same_bits_for_any_number_of_threads);
    tcase_add_test(tcase, maximum_pseudo_likelihood_finds_the_couplings_of_exact_draws);
    tcase_add_test(tcase, models_that_cannot_be_trained_are_refused);
    tcase_add_test(tcase, multilinear_form_keeps_f_and_the_order_of_parameters);
    tcase_add_test(tcase, failing_allocations_are_reported);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
