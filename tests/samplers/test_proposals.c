/* SPDX-License-Identifier: MIT */
/* The proposals of samplers against the formulas of the papers, and against themselves in other
 * codings of the same model. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/object.h"
#include "samplers/kernels.h"
#include "samplers/blocks/site_choice.h"
#include "samplers/radius_search.h"
#include "transition.h"

/* Rounding of sums over at most 192 states in double. */
#define TOLERANCE 1e-12

/* ---- the papers' formulas */

/* What a move from one state to another looks like. */
typedef struct move {
    int64_t variables, site; /* that change; the last of them */
    int64_t unordered; /* that change, ordinal ones and counts of more than two levels left out */
    int64_t levels;    /* of the largest change of such an ordinal one, */
    int64_t counted;   /* and of such a count */
    double half_gradient; /* g'(x' - x) / 2 */
    double half_newton;   /* the same with slopes of forward differences */
    double difference;    /* f at the end less f at the start */
    double square;        /* |x' - x|^2 */
    double square_fewer;  /* the same with K - 1 reals for a label of K */
    double f;             /* at the end of the move */
    const int32_t *from, *to;
    const double *slope; /* [N] gradient at the start, times beta */
    int64_t step;        /* the chain's */
} move;

/* Log-weight of a move in the proposal of a sampler at a step, from the text; a sampler that is not
 * here is not compared. NAN: these settings are compared elsewhere. */
typedef double formula(const move *m, const sal_space *space,
                       const sali_sampler_settings *settings);

/* Rhodes & Gutmann 2022, eq. 8. In a cycle, Pynadath et al. 2024: at the k-th of K steps
 * exp(beta_k g'(s' - s) - |s' - s|^2 / (2 alpha_k)). A search for beta_0 begins at 1/2. */
static double ncg_formula(const move *m, const sal_space *space,
                          const sali_sampler_settings *settings)
{
    (void)space;
    const sali_sampler *ncg = sali_sampler_find("ncg");
    double weighted = sali_sampler_value(ncg, settings, "preconditioner"), weight = 1, alpha = 1;
    double K = sali_sampler_value(ncg, settings, "cycle");
    double beta0 = fmax(sali_sampler_value(ncg, settings, "beta"), 0.5);
    if (K > 1) {
        double phase = cos(acos(-1) * fmod((double)m->step, K) / K);
        weight = 2 * ((beta0 - 0.5) / 2 * phase + (beta0 + 0.5) / 2);
        alpha = phase + 1;
    }
    return weighted > 0 ? NAN
                        : weight * m->half_gradient - m->square / (2 * alpha * settings->step_size);
}

/* Xiang et al. 2023, eq. 9, supplement 3. */
static double mana_formula(const move *m, const sal_space *space,
                           const sali_sampler_settings *settings)
{
    (void)space;
    double method = sali_sampler_value(sali_sampler_find("mana"), settings, "categorical");
    double square = method == 2 ? m->square_fewer : m->square;
    return m->half_newton - square / (2 * settings->step_size);
}

/* log g(t) of the setting `balance`: Sansone 2022, table of balancing functions. */
static double balanced(double log_t, int balance)
{
    double t = exp(log_t);
    double g[] = { sqrt(t), t / (1 + t), fmin(1, t), fmax(1, t) };
    return log(g[balance]);
}

/* The setting radius; a search begins at 1. */
static double window_of(const sali_sampler *sampler, const sali_sampler_settings *settings)
{
    const double radius = sali_sampler_value(sampler, settings, "radius");
    return radius == SALI_RADIUS_SEARCHED ? 1 : radius;
}

/* A move of up to `sites` variables, within the window: for counts {x - 1, x + 1}, Grathwohl et al.
 * 2021, table 1. */
static double local_formula(const move *m, double log_t, int64_t sites, double radius,
                            double balance)
{
    bool window =
        (radius == 0 || (double)m->levels <= radius) && (double)m->counted <= fmax(radius, 1);
    bool possible = m->variables >= 1 && m->variables <= sites && window;
    return possible ? balanced(log_t, (int)balance) : -INFINITY;
}

/* Grathwohl et al. 2021, algorithm 1; Rhodes & Gutmann 2022, app. G and eq. 29. */
static double gwg_formula(const move *m, const sal_space *space,
                          const sali_sampler_settings *settings)
{
    const sali_sampler *gwg = sali_sampler_find("gwg");
    (void)space;
    return local_formula(m, 2 * m->half_gradient,
                         (int64_t)sali_sampler_value(gwg, settings, "ball"),
                         window_of(gwg, settings), sali_sampler_value(gwg, settings, "balance"));
}

/* Sansone 2022, eq. 2. */
static double lb_formula(const move *m, const sal_space *space,
                         const sali_sampler_settings *settings)
{
    const sali_sampler *lb = sali_sampler_find("lb");
    (void)space;
    return local_formula(m, m->difference, 1, sali_sampler_value(lb, settings, "radius"),
                         sali_sampler_value(lb, settings, "balance"));
}

/* Sansone 2022, sec. 3.1, with the equal weights that learning starts from. */
static double lsb1_formula(const move *m, const sal_space *space,
                           const sali_sampler_settings *settings)
{
    double radius = sali_sampler_value(sali_sampler_find("lsb1"), settings, "radius"), sum = 0;
    (void)space;
    for (int balance = 0; balance < 4; balance++) {
        sum += exp(local_formula(m, m->difference, 1, radius, balance)) / 4;
    }
    return m->difference > -INFINITY ? log(sum) : -INFINITY;
}

/* Rhodes & Gutmann 2022, app. G; an untuned radius is 1. */
static double mh_uniform_formula(const move *m, const sal_space *space,
                                 const sali_sampler_settings *settings)
{
    double radius = sali_sampler_value(sali_sampler_find("mh-uniform"), settings, "radius");
    (void)space;
    radius = fmax(radius, 1);
    bool window = (double)m->levels <= radius && (double)m->counted <= radius;
    return (double)m->unordered <= radius && window ? 0 : -INFINITY;
}

/* The joint conditional of the first block, which step 0 draws: the last variable that moves is in
 * it. NaN, nothing to say, where it draws another one: test_scans looks at these. */
static double gibbs_formula(const move *m, const sal_space *space,
                            const sali_sampler_settings *settings)
{
    const sali_sampler *gibbs = sali_sampler_find("gibbs");
    double block = sali_sampler_value(gibbs, settings, "block");
    (void)space;
    if (sali_sampler_value(gibbs, settings, "scan") == SALI_SCAN_SHUFFLED ||
        sali_sampler_value(gibbs, settings, "blocks") > 0) {
        return NAN;
    }
    return m->variables == 0 || (double)m->site < block ? m->f : -INFINITY;
}

/* First-order log t of one variable's move to a code; -INFINITY for none. */
static double first_order(const move *m, const sal_space *space, int64_t i, int32_t code,
                          double radius)
{
    const sali_variable *v = &space->variables[i];
    const double *slope = m->slope + v->offset;
    const bool window = v->kind != SAL_CATEGORICAL && (v->kind == SAL_COUNT || radius > 0);
    if (code == m->from[i] || (window && abs(code - m->from[i]) > fmax(radius, 1))) {
        return -INFINITY;
    }
    return v->kind == SAL_CATEGORICAL ? slope[code] - slope[m->from[i]]
                                      : slope[0] * (v->levels[code] - v->levels[m->from[i]]);
}

/* Sun et al. 2023: each variable by its marginal after the time tau, or by a step of Euler's. */
static double jump_formula(const move *m, const sal_space *space,
                           const sali_sampler_settings *settings, bool euler)
{
    const sali_sampler *dlmc = sali_sampler_find("dlmc");
    const double radius = window_of(dlmc, settings);
    const double tau = settings->step_size / sali_default_step_size(space, 1);
    double log_q = 0;
    for (int64_t i = 0; i < space->n_variables; i++) {
        const int32_t states = space->variables[i].states;
        double sum = 1, stay = 1, moves = 0;
        for (int32_t k = 0; k < states; k++) {
            sum += exp(first_order(m, space, i, k, radius));
        }
        for (int32_t k = 0; k < states; k++) {
            const double log_t = first_order(m, space, i, k, radius);
            const double g =
                exp(balanced(log_t, (int)sali_sampler_value(dlmc, settings, "balance")));
            const double nu = exp(log_t) / sum;
            const double p = nu == 0 ? 0
                             : euler ? fmin(tau * g, nu)
                                     : nu * (1 - exp(-tau * g / nu));
            stay -= p;
            moves += k == m->to[i] ? p : 0;
        }
        log_q += log(m->to[i] == m->from[i] ? stay : moves);
    }
    return log_q;
}

static double dlmc_formula(const move *m, const sal_space *space,
                           const sali_sampler_settings *settings)
{
    return jump_formula(m, space, settings, false);
}

static double dlmcf_formula(const move *m, const sal_space *space,
                            const sali_sampler_settings *settings)
{
    return jump_formula(m, space, settings, true);
}

static const struct {
    const char *name;
    formula *log_weight;
} formulas[] = { { "mh-uniform", mh_uniform_formula },
                 { "gibbs", gibbs_formula },
                 { "lb", lb_formula },
                 { "lsb1", lsb1_formula },
                 { "gwg", gwg_formula },
                 { "ncg", ncg_formula },
                 { "dula", ncg_formula },
                 { "mana", mana_formula },
                 { "una", mana_formula },
                 { "dlmc", dlmc_formula },
                 { "dlmcf", dlmcf_formula } };

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
        if (space->variables[v].kind == SAL_CATEGORICAL || space->variables[v].states == 2) {
            m.unordered += from[v] != to[v];
        } else {
            int64_t levels = llabs((long long)to[v] - from[v]);
            int64_t *most = space->variables[v].kind == SAL_COUNT ? &m.counted : &m.levels;
            *most = levels > *most ? levels : *most;
        }
    }
    for (int64_t k = 0; k < N; k++) {
        m.half_gradient += gradient[k] * (x[N + k] - x[k]) / 2;
        m.square += (x[N + k] - x[k]) * (x[N + k] - x[k]);
    }
    return m;
}

/* f of a state with one variable set to a code; f_all of all states. */
static double f_with(const sal_space *space, const double *f_all, const int32_t *codes, int64_t v,
                     int32_t code)
{
    int32_t there[TINY_MOST_REALS];
    memcpy(there, codes, (size_t)space->n_variables * sizeof *there);
    there[v] = code;
    return f_all[state_of(space, there)];
}

/* The part of one variable in the Newton proposal: half slope times move. */
static double half_newton(const sal_space *space, const double *f_all, const int32_t *from,
                          const int32_t *to, int64_t v)
{
    const sali_variable *variable = &space->variables[v];
    double f = f_all[state_of(space, from)];
    if (variable->kind == SAL_CATEGORICAL) {
        return (f_with(space, f_all, from, v, to[v]) - f) / 2;
    }
    int32_t next = from[v] + 1 < variable->states ? from[v] + 1 : from[v] - 1;
    double slope = (f_with(space, f_all, from, v, next) - f) /
                   (variable->levels[next] - variable->levels[from[v]]);
    return slope * (variable->levels[to[v]] - variable->levels[from[v]]) / 2;
}

/* What differences say of a move. */
static void describe_newton(const sal_space *space, const double *f_all, const int32_t *from,
                            const int32_t *to, move *m)
{
    m->square_fewer = m->square;
    for (int64_t v = 0; v < space->n_variables; v++) {
        bool label = space->variables[v].kind == SAL_CATEGORICAL;
        m->half_newton += half_newton(space, f_all, from, to, v);
        m->square_fewer -= label && from[v] != to[v] && (from[v] == 0 || to[v] == 0) ? 1 : 0;
    }
}

/* Probabilities of all states [n] by the softmax of the formula's log-weights. */
static void by_formula(const contract_case *k, const transition *t, formula *log_weight, int64_t i,
                       int64_t step, double *q)
{
    const sal_space *space = k->model->space;
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    double gradient[TINY_MOST_REALS], slope[TINY_MOST_REALS], f, sum = 0;
    double most = sali_sampler_value(k->sampler, &k->settings, "most"); /* 0: no cap */
    sal_error err;
    state_codes(space, i, from);
    ck_ok(sal_model_evaluate(k->model, 1, from, &f, gradient, NULL, &err), &err);
    for (int64_t n = 0; n < space->width; n++) {
        slope[n] = k->beta * gradient[n];
    }
    for (int64_t j = 0; j < t->n; j++) {
        state_codes(space, j, to);
        move m = describe(space, gradient, from, to);
        m.from = from;
        m.to = to;
        m.slope = slope;
        m.step = step;
        m.half_gradient *= k->beta;
        m.f = t->f[j];
        m.difference = t->f[j] - t->f[i];
        describe_newton(space, t->f, from, to, &m);
        bool capped = most > 0 && (double)m.variables > most;
        q[j] = capped ? 0 : exp(log_weight(&m, space, &k->settings));
        sum += q[j];
    }
    for (int64_t j = 0; j < t->n; j++) {
        q[j] /= sum;
    }
}

/* The variables where two states differ, the first two; their number. */
static int64_t changes(const sal_space *space, int64_t i, int64_t j, int64_t *site)
{
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    int64_t n = 0;
    state_codes(space, i, from);
    state_codes(space, j, to);
    for (int64_t v = 0; v < space->n_variables; v++) {
        if (from[v] != to[v]) {
            site[n < 2 ? n : 1] = v;
            n++;
        }
    }
    return n;
}

/* The probability that `hops` draws of sites give those of `drawn` and no others: by inclusion and
 * exclusion over the sets of sites that they are from. */
static double exactly(int64_t V, const double *site, unsigned drawn, int64_t hops)
{
    double sum = 0;
    for (unsigned from = drawn;; from = (from - 1) & drawn) {
        double p = 0, sign = 1;
        for (int64_t v = 0; v < V; v++) {
            p += from >> v & 1 ? site[v] : 0;
            sign *= (drawn & ~from) >> v & 1 ? -1 : 1;
        }
        sum += sign * pow(p, (double)hops);
        if (from == 0) {
            return sum;
        }
    }
}

/* Several hops, from the probabilities q of one: a set of sites, and a value for each. */
static void several_hops(const sal_space *space, int64_t n, int64_t i, int64_t hops, double *q)
{
    const int64_t V = space->n_variables;
    double site[TINY_MOST_REALS] = { 0 }, several[TINY_MOST_STATES];
    int32_t from[TINY_MOST_REALS], to[TINY_MOST_REALS];
    int64_t s[2];
    state_codes(space, i, from);
    for (int64_t j = 0; j < n; j++) {
        if (changes(space, i, j, s) == 1) {
            site[s[0]] += q[j];
        }
    }
    for (int64_t j = 0; j < n; j++) {
        unsigned drawn = 0;
        several[j] = 1;
        state_codes(space, j, to);
        for (int64_t v = 0; v < V; v++) {
            if (from[v] != to[v]) {
                int32_t one[TINY_MOST_REALS];
                memcpy(one, from, sizeof one);
                one[v] = to[v];
                drawn |= 1u << v;
                several[j] *= site[v] == 0 ? 0 : q[state_of(space, one)] / site[v];
            }
        }
        several[j] *= drawn ? exactly(V, site, drawn, hops) : 0;
    }
    memcpy(q, several, (size_t)n * sizeof *q);
}

/* A random scan of Gibbs sampling: the conditionals of all variables, each as often. */
static void random_scan(const sal_space *space, const transition *t, int64_t i, double *q)
{
    int64_t V = space->n_variables, s[2] = { 0 };
    memset(q, 0, (size_t)t->n * sizeof *q);
    for (int64_t v = 0; v < V; v++) {
        double sum = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t j = 0; j < t->n; j++) {
                int64_t changed = changes(space, i, j, s);
                bool possible = changed == 0 || (changed == 1 && s[0] == v);
                sum += possible && pass == 0 ? exp(t->f[j]) : 0;
                q[j] += possible && pass == 1 ? exp(t->f[j]) / sum / (double)V : 0;
            }
        }
    }
}

/* Sites drawn a step at its beginning: adaptation begins at 2. */
static int64_t hops_of(const contract_case *k)
{
    const bool has = strcmp(k->sampler->name, "gwg") == 0;
    const int64_t hops = (int64_t)sali_sampler_value(k->sampler, &k->settings, "hops");
    return !has ? 1 : hops > 0 ? hops : k->model->space->n_variables > 1 ? 2 : 1;
}

/* q(i -> .) is what the formula gives, of step number `step`. */
static void check_step(const contract_case *k, formula *log_weight, int64_t step)
{
    double q[TINY_MOST_STATES];
    transition t = transition_make(k->sampler, k->model, &k->settings, k->beta, (uint64_t)step);
    for (int64_t i = 0; i < t.n; i++) {
        by_formula(k, &t, log_weight, i, step, q);
        if (sali_sampler_value(k->sampler, &k->settings, "scan") > SALI_SCAN_SHUFFLED) {
            random_scan(k->model->space, &t, i, q);
        } else if (hops_of(k) > 1) {
            several_hops(k->model->space, t.n, i, hops_of(k), q);
        }
        for (int64_t j = 0; j < t.n; j++) {
            double made = exp(t.log_q[i * t.n + j]);
            ck_assert_msg(isnan(q[j]) || fabs(made - q[j]) < TOLERANCE,
                          "%s, step %d: q %.15g, by the text %.15g", k->where, (int)step, made,
                          q[j]);
        }
    }
    transition_free(&t);
}

static void check_formula(const contract_case *k)
{
    const int64_t cycle = (int64_t)sali_sampler_value(k->sampler, &k->settings, "cycle");
    for (size_t s = 0; s < sizeof formulas / sizeof *formulas; s++) {
        for (int64_t step = 0; step == 0 || step <= cycle; step++) {
            if (strcmp(formulas[s].name, k->sampler->name) == 0) {
                check_step(k, formulas[s].log_weight, step);
            }
        }
    }
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

/* After warm-up of an adaptive scan: what is shared adds up to 1 and has its floor, a variable that
 * seldom wants to move is drawn less, and the proposal uses it. */
START_TEST(adaptive_scans_draw_restless_variables_more)
{
    static const double bias[] = { 0.1, 4, -0.2, 0.3 };
    const sali_sampler *gibbs = sali_sampler_find("gibbs");
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sali_sampler_settings settings = { 0 };
    double *scan;
    bool changed = false;
    double log_q[256], sum = 0;
    sal_error err;
    sal_expr f = sal_dot(sal_constant(tape, bias, SAL_SHAPE(4)), sal_state(tape));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sali_specification_values("gibbs:scan=adaptive", gibbs->settings, settings.values, &err),
          &err);
    bench b = bench_open(gibbs, model, &settings, 1, 16, 0);
    for (int step = 0; step < 400; step++) {
        sali_engine(gibbs)->step(b.self, b.chains);
    }
    sali_warmup warmup = { model, 1, 1, NULL, &b.chains, &b.self, 400, 400, 400 };
    ck_ok(sali_engine(gibbs)->adapt(b.shared, &warmup, &changed, &err), &err);
    ck_assert(changed);
    ck_assert_int_eq(tuned_values(gibbs, b.shared, &scan), 4);
    for (int v = 0; v < 4; v++) {
        sum += scan[v];
        ck_assert_double_ge(scan[v], 0.025);
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    /* The mean of 1 - p(present | rest) is 2 p (1 - p). */
    double p = 1 / (1 + exp(-4.0)), q = 1 / (1 + exp(-0.1));
    ck_assert_double_eq_tol((scan[1] - 0.025) / (scan[0] - 0.025), p * (1 - p) / (q * (1 - q)),
                            0.02);
    for (int64_t c = 0; c < 16; c++) {
        state_codes(space, c, b.chains->codes + 4 * c);
    }
    sali_chains_embed(b.chains);
    sali_engine(gibbs)->refresh(b.self, b.chains);
    bench_proposals(&b, log_q);
    ck_assert_double_eq_tol(exp(log_q[0 * 16 + 4]), scan[1] * p, 1e-12);
    bench_close(&b);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* All states are equally likely: a variable that is drawn moves half of the times. */
START_TEST(adaptive_scans_draw_by_their_probabilities)
{
    enum { V = 4, CHAINS = 64, STEPS = 200 };
    static const double p[V] = { 0.1, 0.6, 0.05, 0.25 }, nothing[V] = { 0 };
    const sali_sampler *gibbs = sali_sampler_find("gibbs");
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    sali_sampler_settings settings = { 0 };
    double *scan, moves[V] = { 0 }, all = 0;
    sal_error err;
    sal_expr f = sal_dot(sal_constant(tape, nothing, SAL_SHAPE(V)), sal_state(tape));
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    ck_ok(sali_specification_values("gibbs:scan=adaptive", gibbs->settings, settings.values, &err),
          &err);
    bench b = bench_open(gibbs, model, &settings, 1, CHAINS, 0);
    ck_assert_int_eq(tuned_values(gibbs, b.shared, &scan), V);
    memcpy(scan, p, sizeof p);
    sali_engine(gibbs)->refresh(b.self, b.chains);
    for (int step = 0; step < STEPS; step++) {
        int32_t before[CHAINS * V];
        memcpy(before, b.chains->codes, sizeof before);
        sali_engine(gibbs)->step(b.self, b.chains);
        for (int i = 0; i < CHAINS * V; i++) {
            moves[i % V] += b.chains->codes[i] != before[i];
            all += b.chains->codes[i] != before[i];
        }
    }
    ck_assert_double_eq_tol(all / (CHAINS * STEPS), 0.5, 0.02);
    for (int v = 0; v < V; v++) {
        ck_assert_double_eq_tol(moves[v] / all, p[v], 0.03);
    }
    bench_close(&b);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
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
            ck_ok(
                sali_specification_values(sampler->name, sampler->settings, settings.values, &err),
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

/* Kernels sum over lanes: numbers of variables from less than one row of lanes to several. */
START_TEST(factorised_draws_are_weighed_as_log_q_says)
{
    for (int64_t V = 1; V <= 40; V++) {
        sal_space *space = sal_space_create();
        sal_block block = { .name = "b", .kind = SAL_SPIN, .count = V };
        sali_move_rows rows = { 0 };
        int32_t codes[40] = { 0 }, to[40];
        double g[40], x[40], u[40], want = 0;
        sal_error err;
        ck_ok(sal_space_add(space, &block, &err), &err);
        void *owner = sali_object(1);
        sali_move_rows_create(owner, space, V, SAL_F64, 1, &rows);
        tiny_normals(40 + (uint64_t)V, V, 2, g);
        for (int64_t v = 0; v < V; v++) {
            u[v] = ((double)(v * 37 % 64) + 0.5) / 64;
            codes[v] = v % 3 == 0;
        }
        const sali_factorised q = { .alpha = 1, .gradient = g, .y = g };
        sali_factorised_kernels_f64.prepare(space, codes, &q, rows.rows);
        double drawn = sali_factorised_kernels_f64.draw(space, codes, u, rows.rows, to, x);
        for (int64_t v = 0; v < V; v++) {
            double odds = codes[v] ? -2 * g[v] : 2 * g[v];
            want += (to[v] != codes[v] ? odds : 0) - log1p(exp(odds));
        }
        double told = sali_factorised_kernels_f64.log_q(space, codes, to, rows.rows);
        ck_assert_msg(
            fabs(drawn - want) < 1e-12 * (double)V && fabs(told - want) < 1e-12 * (double)V,
            "%d variables: drawn %.15g, log_q %.15g, by the text %.15g", (int)V, drawn, told, want);
        sali_object_free(owner);
        sal_space_destroy(space);
    }
}
END_TEST

/* With a flat f and any step each flip has probability 1/2: log q is -V log 2, for numbers of
 * variables whose product of odds, 2^V, is far beyond any double. */
START_TEST(log_q_of_many_variables_is_finite)
{
    static const int64_t sizes[] = { 999, 1000, 1001, 1600, 8193 };
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const int64_t V = sizes[k];
        sal_space *space = sal_space_create();
        sal_block block = { .name = "b", .kind = SAL_BINARY, .count = V };
        sali_move_rows rows = { 0 };
        sal_error err;
        ck_ok(sal_space_add(space, &block, &err), &err);
        int32_t *codes = calloc((size_t)V, sizeof *codes), *to = calloc((size_t)V, sizeof *to);
        double *g = calloc((size_t)V, sizeof *g);
        void *owner = sali_object(1);
        sali_move_rows_create(owner, space, V, SAL_F64, 1, &rows);
        const sali_factorised q = { .alpha = 1, .gradient = g, .y = g };
        sali_factorised_kernels_f64.prepare(space, codes, &q, rows.rows);
        double told = sali_factorised_kernels_f64.log_q(space, codes, to, rows.rows);
        ck_assert_double_eq_tol(told, -(double)V * M_LN2, 1e-10 * (double)V);
        sali_object_free(owner);
        sal_space_destroy(space);
        free(codes);
        free(to);
        free(g);
    }
}
END_TEST

static Suite *proposals_suite(void)
{
    Suite *suite = suite_create("proposals");
    TCase *tcase = tcase_create("proposals");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, factorised_draws_are_weighed_as_log_q_says);
    tcase_add_test(tcase, log_q_of_many_variables_is_finite);
    tcase_add_test(tcase, proposals_are_those_of_the_papers);
    tcase_add_test(tcase, adaptive_scans_draw_restless_variables_more);
    tcase_add_test(tcase, adaptive_scans_draw_by_their_probabilities);
    tcase_add_test(tcase, codings_of_one_model_give_the_same_chain);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(proposals_suite());
}
