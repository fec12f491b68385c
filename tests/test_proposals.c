/* The proposals of samplers against the formulas of the papers, and against themselves in other
 * codings of the same model. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "transition.h"

/* Rounding of sums over at most 192 states in double. */
#define TOLERANCE 1e-12

/* ---- the papers' formulas */

/* What a move from one state to another looks like. */
typedef struct move {
    int64_t variables, site, levels; /* that change; the last of them; by how many codes it does */
    double half_gradient;            /* g'(x' - x) / 2 */
    double square;                   /* |x' - x|^2 */
    double f;                        /* at the end of the move */
} move;

/* Log-weight of a move in the proposal of a sampler, from the text; a sampler that is not here is
 * not compared. */
typedef double formula(const move *m, const sal_space *space,
                       const sali_sampler_settings *settings);

/* Rhodes & Gutmann 2022, eq. 8. */
static double ncg_formula(const move *m, const sal_space *space,
                          const sali_sampler_settings *settings)
{
    (void)space;
    return m->half_gradient - m->square / (2 * settings->step_size);
}

/* Grathwohl et al. 2021, algorithm 1. */
static double gwg_formula(const move *m, const sal_space *space,
                          const sali_sampler_settings *settings)
{
    double radius = sali_sampler_value(sali_sampler_find("gwg"), settings, "radius");
    sal_kind kind = space->variables[m->site].kind;
    radius = kind == SAL_COUNT ? 1 : radius; /* table 1: the window {x - 1, x + 1} */
    bool window = kind == SAL_COUNT || (kind == SAL_ORDINAL && radius > 0);
    bool possible = m->variables == 1 && (!window || (double)m->levels <= radius);
    return possible ? m->half_gradient : -INFINITY;
}

/* The conditional of variable 0, which step 0 moves. */
static double gibbs_formula(const move *m, const sal_space *space,
                            const sali_sampler_settings *settings)
{
    (void)space;
    (void)settings;
    return m->variables == 0 || (m->variables == 1 && m->site == 0) ? m->f : -INFINITY;
}

static const struct {
    const char *name;
    formula *log_weight;
} formulas[] = { { "gibbs", gibbs_formula }, { "gwg", gwg_formula }, { "ncg", ncg_formula } };

static move describe(const sal_space *space, const double *gradient, const int32_t *from,
                     const int32_t *to)
{
    double x[2 * TINY_MOST_REALS];
    int32_t both[2 * TINY_MOST_REALS];
    move m = { 0 };
    sal_error err;
    int64_t V = space->n_variables, N = space->width;
    memcpy(both, from, (size_t)V * sizeof *both);
    memcpy(both + V, to, (size_t)V * sizeof *both);
    ck_ok(sal_space_embed(space, 2, both, x, &err), &err);
    for (int64_t v = 0; v < V; v++) {
        m.site = from[v] != to[v] ? v : m.site;
        m.variables += from[v] != to[v];
    }
    m.levels = llabs((long long)to[m.site] - from[m.site]);
    for (int64_t k = 0; k < N; k++) {
        m.half_gradient += gradient[k] * (x[N + k] - x[k]) / 2;
        m.square += (x[N + k] - x[k]) * (x[N + k] - x[k]);
    }
    return m;
}

/* q(i -> .) is the softmax of the formula's log-weights. */
static void check_formula(const contract_case *k)
{
    const sal_space *space = k->model->space;
    int64_t n = states_count(space);
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    double gradient[TINY_MOST_REALS], f, weight[TINY_MOST_STATES];
    formula *log_weight = NULL;
    sal_error err;
    for (size_t s = 0; s < sizeof formulas / sizeof *formulas; s++) {
        log_weight =
            strcmp(formulas[s].name, k->sampler->name) == 0 ? formulas[s].log_weight : log_weight;
    }
    transition t = transition_make(k->sampler, k->model, &k->settings, k->beta, 0);
    for (int64_t i = 0; log_weight && i < n; i++) {
        double sum = 0;
        state_codes(space, i, from);
        ck_ok(sal_model_evaluate(k->model, 1, from, &f, gradient, NULL, &err), &err);
        for (int64_t j = 0; j < n; j++) {
            state_codes(space, j, to);
            move m = describe(space, gradient, from, to);
            m.half_gradient *= k->beta;
            m.f = t.f[j];
            weight[j] = exp(log_weight(&m, space, &k->settings));
            sum += weight[j];
        }
        for (int64_t j = 0; j < n; j++) {
            double q = exp(t.log_q[i * n + j]);
            ck_assert_msg(fabs(q - weight[j] / sum) < TOLERANCE, "%s: q %.15g, by the text %.15g",
                          k->where, q, weight[j] / sum);
        }
    }
    transition_free(&t);
}

START_TEST(proposals_are_those_of_the_papers)
{
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        sal_model *model = tiny_formula(space, SAL_F64);
        for_every_sampler(model, model, tiny_spaces[s].name, check_formula);
        sal_model_destroy(model);
        sal_space_destroy(space);
    }
}
END_TEST

/* ---- one model in three codings */

/* The same f of four two-state variables b in {0, 1}, from the reals of a coding. */
static sal_model *coded_model(sal_kind kind)
{
    double J[16], b[4];
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    sal_block block = { .name = "x", .kind = kind, .count = 4, .states = 2 };
    ck_ok(sal_space_add(space, &block, &err), &err);
    tiny_normals(11, 16, 0.5, J);
    tiny_normals(12, 4, 0.5, b);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr x = sal_state(tape);
    if (kind == SAL_SPIN) {
        x = sal_scale(sal_add(x, sal_scalar(tape, 1)), 0.5);
    } else if (kind == SAL_CATEGORICAL) {
        x = sal_reshape(sal_slice(sal_state_block(tape, "x"), 1, 1, 1), SAL_SHAPE(4));
    }
    sal_expr h = sal_add(sal_matvec(sal_constant(tape, J, SAL_SHAPE(4, 4)), x),
                         sal_constant(tape, b, SAL_SHAPE(4)));
    sal_expr f = sal_add(sal_dot(h, x), sal_scale(sal_sum(sal_tanh(h)), 2));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(codings_of_one_model_give_the_same_chain)
{
    static const sal_kind kinds[] = { SAL_BINARY, SAL_SPIN, SAL_CATEGORICAL };
    static const double scale[] = { 1, 4, 2 }; /* |s' - s|^2 of one move */
    const sali_sampler *sampler;
    for (int64_t k = 0; (sampler = sali_sampler_at(k)) != NULL; k++) {
        transition binary = { 0 };
        for (int coding = 0; coding < 3; coding++) {
            sal_model *model = coded_model(kinds[coding]);
            sali_sampler_settings settings = { .step_size = 0.7 * scale[coding] };
            sal_error err;
            ck_assert_double_eq(sali_default_step_size(model->space, 0.7), settings.step_size);
            ck_ok(sali_specification_values(sampler->name, sampler->parameters, settings.values,
                                            &err),
                  &err);
            if (has_matrix(sampler) &&
                sali_sampler_check(sampler, &settings, model, NULL) == SAL_OK) {
                transition t = transition_make(sampler, model, &settings, 1, 1);
                for (int64_t i = 0; coding > 0 && i < t.n * t.n; i++) {
                    ck_assert_msg(fabs(t.P[i] - binary.P[i]) < TOLERANCE,
                                  "%s, coding %d: P %.15g, binary %.15g", sampler->name, coding,
                                  t.P[i], binary.P[i]);
                }
                if (coding == 0) {
                    binary = t;
                } else {
                    transition_free(&t);
                }
            }
            sal_model_destroy(model);
        }
        transition_free(&binary);
    }
}
END_TEST

static Suite *proposals_suite(void)
{
    Suite *suite = suite_create("proposals");
    TCase *tcase = tcase_create("proposals");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, proposals_are_those_of_the_papers);
    tcase_add_test(tcase, codings_of_one_model_give_the_same_chain);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(proposals_suite());
}
