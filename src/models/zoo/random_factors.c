/* SPDX-License-Identifier: MIT */
/* Random factor graphs with random factors of the exponential family.
 *
 * The thesis discards a model with an invalid output and draws another. Here terms are drawn again
 * one by one: they are independent, and f is NaN or +inf at some state exactly if one of them is,
 * so the factors of a graph have the same distribution, and the attempts do not multiply with the
 * number of terms. A model whose every state is forbidden is discarded as a whole, graph and all,
 * if it has few enough states to search. h ~ N(0, 1), a constant of each factor that could be
 * negative, is left out. */
#include "models/zoo/random_factors.h"

#include <math.h>

#include "core/error.h"
#include "models/zoo/making.h"

/* Most draws of a term. One in five draws is the bare parameter, which is always valid. */
#define ATTEMPTS 1000

/* Most models drawn for a seed. */
#define ROUNDS 100

/* ---- drawing */

/* A random stream of a variable in factor j. In each round `part` 0 is for the graph, and each
 * attempt has two further parts. */
static sali_stream stream_of(const sali_random_spec *spec, int64_t j, int64_t variable,
                             uint64_t part)
{
    return (sali_stream){ .seed = spec->seed,
                          .step = (uint64_t)spec->round * (2 * ATTEMPTS + 1) + part,
                          .chain = (uint32_t)(j * spec->n + variable),
                          .purpose = SALI_RNG_PARAMS };
}

int64_t sali_random_scope(const sali_random_spec *spec, int64_t j, int64_t *scope)
{
    int64_t n_scope = 0;
    for (int64_t i = 0; i < spec->n; i++) {
        sali_stream stream = stream_of(spec, j, i, 0);
        if (sali_rng_uniform_at(&stream, 0) < spec->p) {
            scope[n_scope++] = i;
        }
    }
    return n_scope;
}

sal_status sali_random_term(const sali_random_spec *spec, int64_t j, int64_t k, int64_t n_scope,
                            const int64_t *scope, double *T, sali_tree *tree, sal_error *err)
{
    for (uint64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        sali_stream normal = stream_of(spec, j, scope[k], 2 * attempt + 1);
        sali_stream rules = stream_of(spec, j, scope[k], 2 * attempt + 2);
        sali_rng_normal(&normal, 1, T);
        if (sali_tree_draw(&rules, scope[k], n_scope, scope, tree) &&
            sali_tree_valid(tree, *T, spec->states)) {
            return SAL_OK;
        }
    }
    return sali_fail(err, SAL_ERR_MODEL,
                     "random-factors: no valid function of variable %lld in %d attempts",
                     (long long)scope[k], ATTEMPTS);
}

/* ---- recording */

typedef struct recorder {
    sali_making *m;
    const sali_random_spec *spec;
    sal_expr state, one;
    sal_expr *variables; /* [n] slices of the state, recorded when first needed */
    sal_expr sum;        /* sum of the terms so far; its tape is NULL before the first term */
} recorder;

static sal_expr record_variable(recorder *r, int64_t i)
{
    if (!r->variables[i].tape) {
        r->variables[i] = sal_slice(r->state, 0, i, 1);
    }
    return r->variables[i];
}

/* Record a node of a tree; value[i] is the expression of the tree's node i. */
static sal_expr record_node(recorder *r, const sali_tree_node *node, const sal_expr *value)
{
    sal_expr a = value[node->in[0]], b = value[node->in[1]];
    switch (node->op) {
    case SALI_TREE_ADD:
        return sal_add(a, b);
    case SALI_TREE_SUBTRACT:
        return sal_sub(a, b);
    case SALI_TREE_MULTIPLY:
        return sal_mul(a, b);
    case SALI_TREE_LOG:
        return sal_log(a);
    case SALI_TREE_SQUARE:
        return sal_square(a);
    case SALI_TREE_INVERSE:
        return sal_div(r->one, a);
    case SALI_TREE_NEGATE:
        return sal_neg(a);
    case SALI_TREE_VARIABLE:
        return record_variable(r, node->variable);
    default:
        return sal_scalar(r->m->tape, node->constant);
    }
}

/* Add T times the expression of the tree to r->sum. */
static void record_term(recorder *r, double T, const sali_tree *tree)
{
    sal_expr value[SALI_TREE_NODES] = { 0 };
    for (int32_t i = 0; i < tree->n; i++) {
        value[i] = record_node(r, &tree->nodes[i], value);
    }
    sal_expr term = sal_sum(sal_scale(value[tree->n - 1], T));
    r->sum = r->sum.tape ? sal_add(r->sum, term) : term;
}

/* Draw and record all terms. `scope` [n] and `tree` are scratch. */
static sal_status record_terms(recorder *r, int64_t *scope, sali_tree *tree)
{
    sal_status status = SAL_OK;
    for (int64_t j = 0; status == SAL_OK && j < r->spec->m; j++) {
        int64_t n_scope = sali_random_scope(r->spec, j, scope);
        for (int64_t k = 0; status == SAL_OK && k < n_scope; k++) {
            double T;
            status = sali_random_term(r->spec, j, k, n_scope, scope, &T, tree, r->m->err);
            if (status == SAL_OK) {
                record_term(r, T, tree);
            }
        }
    }
    return status;
}

/* ---- the model */

enum { VARIABLES, FACTORS, CHANCE, SEED, STATES };

/* Record f of one round on a new tape, which replaces m->tape. */
static sal_status record_round(sali_making *m, const sali_random_spec *spec, sal_expr *f)
{
    recorder r = { .m = m, .spec = spec, .variables = SALI_BORROW(m, sal_expr, spec->n) };
    int64_t *scope = SALI_BORROW(m, int64_t, spec->n);
    sali_tree *tree = SALI_BORROW(m, sali_tree, 1);
    if (!r.variables || !scope || !tree) {
        return sali_fail_memory(m->err);
    }
    sal_tape_destroy(m->tape);
    r.state = sali_making_state(m, "theta", spec->states == 2 ? SAL_BINARY : SAL_ORDINAL, spec->n,
                                spec->states);
    r.one = sal_scalar(m->tape, 1);
    sal_status status = m->status ? m->status : record_terms(&r, scope, tree);
    *f = r.sum.tape ? r.sum : sal_scalar(m->tape, 0); /* no variable in any factor */
    return status;
}

/* Most states among which a state of finite f is searched. */
#define MOST_STATES 65536.0
#define BATCH 256

/* Set *found to whether some state has finite f; true, without a search, if there are too many
 * states. */
static sal_status look_for_state(sali_making *m, const sali_random_spec *spec, sal_expr of,
                                 bool *found)
{
    double states = pow(spec->states, (double)spec->n), f[BATCH];
    sal_model *model = NULL;
    *found = states > MOST_STATES;
    if (*found) {
        return SAL_OK;
    }
    int32_t *codes = SALI_BORROW(m, int32_t, BATCH * spec->n);
    sal_status status =
        codes ? sal_model_from_tape(m->tape, of, &model, m->err) : sali_fail_memory(m->err);
    for (int64_t first = 0; status == SAL_OK && !*found && first < (int64_t)states;
         first += BATCH) {
        for (int64_t c = 0; c < BATCH; c++) { /* past the last state: the first ones */
            int64_t digits = first + c;
            for (int64_t v = 0; v < spec->n; v++, digits /= spec->states) {
                codes[c * spec->n + v] = (int32_t)(digits % spec->states);
            }
        }
        status = sal_model_evaluate(model, BATCH, codes, f, NULL, NULL, m->err);
        for (int64_t c = 0; status == SAL_OK && c < BATCH; c++) {
            *found = *found || isfinite(f[c]);
        }
    }
    sal_model_destroy(model);
    return status;
}

/* Draw models until one has a state of finite f. Returns: SAL_ERR_MODEL after ROUNDS models. */
static sal_status random_factors(sali_making *m, sal_expr *f)
{
    sali_random_spec spec = { .n = (int64_t)m->values[VARIABLES],
                              .m = (int64_t)m->values[FACTORS],
                              .p = m->values[CHANCE],
                              .states = (int32_t)m->values[STATES],
                              .seed = m->seed };
    sal_status status = SAL_OK;
    bool found = false;
    for (; status == SAL_OK && !found && spec.round < ROUNDS; spec.round++) {
        status = record_round(m, &spec, f);
        status = status ? status : look_for_state(m, &spec, *f, &found);
    }
    return status || found
               ? status
               : sali_fail(m->err, SAL_ERR_MODEL,
                           "random-factors: all of %d models drawn forbid every state; use fewer "
                           "factors",
                           ROUNDS);
}

const sali_builtin sali_builtin_random_factors = {
    .name = "random-factors",
    .doc = "sum of T_k eta_k(theta) over m random factors, eta_k random expressions of a grammar, "
           "T_k ~ N(0, 1), theta in {0 .. states - 1}^n",
    .source = "van den Hoek 2022, sec. 3, algorithms 5 and 6",
    .dtype = SAL_F64,
    .settings = { [VARIABLES] = { "n", 10, 1, 1000, true, "variables", NULL },
                  [FACTORS] = { "m", 5, 1, 1000, true, "factors", NULL },
                  [CHANCE] = { "p", 0.5, 0, 1, false, "chance that a variable is in a factor",
                               NULL },
                  [SEED] = SALI_SEED("the graph and factors"),
                  [STATES] = { "states", 2, 2, 64, true, "values of a variable: 0, 1, ..", NULL } },
    .formula = random_factors,
};
