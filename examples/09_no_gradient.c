/* Lesson 9. An energy without a gradient.
 *
 * A town has 64 customers and 15 places where a shop could open. Each customer goes to the open
 * shop that serves him best, and an open shop costs a rent:
 *
 *     f(S) = sum_j max_{i in S} c_ij - rent |S|     (Xiang et al. 2023, section 7.1)
 *
 * The maximum is no formula with a useful slope: what a closed shop would bring is not in the
 * gradient. So f is a function in C that gives values only. Samplers that need a gradient refuse
 * it. What is left:
 *
 *     gibbs   one variable at a time, from its exact conditional
 *     lb      one variable, chosen by all differences f(s') - f(s) (lesson 7)
 *     mana    all variables at once: as ncg (lesson 5), with differences in the place of the
 *             gradient (eq. 9 and 10; "Newton's series")
 *     una     mana without the accept step, which is wrong by a little (lesson 6)
 *
 *     09_no_gradient      prints two tables: p(S) in proportion to exp f(S), and to exp 4 f(S) */
#include <math.h>
#include <saltus/saltus.h>

enum { SHOPS = 15, CUSTOMERS = 64, SAMPLERS = 4, DRAWS = 6000, CHAINS = 8 };

typedef struct town {
    double value[SHOPS][CUSTOMERS]; /* c_ij */
    double rent;
    double scale; /* how much a difference of 1 counts: p(S) = exp(scale f(S)) / Z */
} town;

/* x holds 1 for an open shop and 0 for a closed one. Several threads call this at once, so it only
 * reads. */
static double utility(const double *x, double *gradient, void *data)
{
    const town *t = data;
    double f = 0, best[CUSTOMERS] = { 0 };
    (void)gradient; /* NULL, as has_gradient is false */
    for (int i = 0; i < SHOPS; i++) {
        f -= t->rent * x[i];
        for (int j = 0; x[i] > 0 && j < CUSTOMERS; j++) {
            best[j] = best[j] > t->value[i][j] ? best[j] : t->value[i][j];
        }
    }
    for (int j = 0; j < CUSTOMERS; j++) {
        f += best[j];
    }
    return t->scale * f;
}

/* Multiples of an irrational number, less their whole part, fill 0 .. 1 evenly. */
static double coordinate(int k, double step)
{
    return fmod(0.5 + k * step, 1);
}

/* A shop is worth 1 to a customer at its door, and 0.14 to one a quarter of the town away. */
static void build(town *t)
{
    for (int i = 0; i < SHOPS; i++) {
        for (int j = 0; j < CUSTOMERS; j++) {
            double dx = coordinate(i, 0.7548776662) - coordinate(j, 0.6180339887);
            double dy = coordinate(i, 0.5698402910) - coordinate(j, 0.4256660113);
            t->value[i][j] = exp(-32 * (dx * dx + dy * dy));
        }
    }
}

static sal_status make_model(town *t, sal_model **model, sal_error *err)
{
    sal_block shops = { .name = "open", .kind = SAL_BINARY, .count = SHOPS };
    sal_callback f = { .f = utility, .data = t };
    sal_space *space = sal_space_create();
    sal_status status = sal_space_add(space, &shops, err);
    status = status ? status : sal_model_from_callback(space, &f, model, err);
    sal_space_destroy(space);
    return status;
}

static sal_status measure(sal_model *model, const char *sampler, double step_size,
                          const double *marginals, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_errors errors;
    sal_run_options o = { .sampler = sampler, .chains = CHAINS, .warmup = 500, .draws = DRAWS };
    o.step_size = step_size;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    status = status ? status : sal_run_measure_errors(run, marginals, NULL, &errors, err);
    if (status == SAL_OK) {
        printf("%-8s %8.3f %8.2f %8.1f %8.3f %8.4f\n", sampler, s.acceptance_rate, s.mean_jump,
               1000 * s.ess_per_step, s.rhat_max, errors.marginal_mean);
    }
    sal_run_destroy(run);
    return status;
}

/* Samplers that cannot serve a model say so. */
static sal_status refuse(town *t, sal_error *err)
{
    sal_run *run = NULL;
    sal_model *model = NULL;
    t->rent = 4;
    t->scale = 1;
    sal_status status = make_model(t, &model, err);
    status = status ? status : sal_sample(model, &(sal_run_options){ .sampler = "gwg" }, &run, err);
    printf("gwg: %s\n", err->message);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

static sal_status visit(town *t, double scale, sal_error *err)
{
    static const char *const samplers[SAMPLERS] = { "gibbs", "lb", "mana", "una" };
    static const double step_sizes[SAMPLERS] = { 0, 0, 0, 0.2 }; /* 0: adapted, or there is none */
    double marginals[2 * SHOPS], open = 0;
    sal_exact exact;
    sal_model *model = NULL;
    t->scale = scale;
    t->rent = 4;
    sal_status status = make_model(t, &model, err);
    status = status ? status : sal_model_exact(model, NULL, &exact, marginals, NULL, NULL, err);
    for (int i = 0; status == SAL_OK && i < SHOPS; i++) {
        open += marginals[2 * i + 1];
    }
    if (status == SAL_OK) {
        printf("\nscale %g: %.2f shops are open on average\n\n", scale, open);
        printf("sampler  accepted  changed   ESS/1000   R-hat    error\n");
    }
    for (int k = 0; status == SAL_OK && k < SAMPLERS; k++) {
        status = measure(model, samplers[k], step_sizes[k], marginals, err);
    }
    sal_model_destroy(model);
    return status;
}

/* What to see:
 *
 * - mana changes two shops a step where the others change at most one, and a step of it is worth
 *   two or three of theirs while f is gentle. It adds up the differences of single changes: two
 *   shops that would serve the same customers it may open both.
 * - At scale 4 that sum is further from the truth. Warm-up shortens the steps until enough of them
 *   are accepted, most of which then stay where they are: mana is no better than lb.
 * - una is not exact. At scale 1 its error is more than twice that of the others, and more draws do
 *   not help.
 * - A step of gibbs takes 2 values of f, one of the others 16. */
int main(void)
{
    static town t;
    sal_error err = { 0 }, refusal = { 0 };
    build(&t);
    if (refuse(&t, &refusal) == SAL_OK || visit(&t, 1, &err) != SAL_OK ||
        visit(&t, 4, &err) != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
}

/* SPDX-License-Identifier: MIT */
