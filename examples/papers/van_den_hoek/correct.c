/* Do the samplers draw from the target? Figures 2 and 3 of van den Hoek's thesis (2022), and the
 * chi-square tests of its section 4.1, with a test that can fail beside them.
 *
 *     correct [--quick | --full] [--svg FIGURE.svg]
 *
 * Ising lattices with J = 0.1 and free borders, an edge counting once: 2 x 2 spins for the figures,
 * 4 x 4 for the tests. The thesis tests the counts of 10 chains of 10,000 draws, averaged over the
 * chains, which shrinks chi-square to a tenth, while draws that follow one another increase it.
 * What holds: if many independent chains start at exact draws, their states are exact independent
 * draws after any number of steps: 3 x 3 spins, so that no state is rare. dula, which always
 * accepts, is there to be caught. */
#include <math.h>
#include <stdlib.h>
#include "../panel.h"
#include "../program.h"

static const char *const samplers[] = { "gibbs:scan=random", "gwg", "dula" };
static const char *const names[] = { "Gibbs", "GWG", "DULA" };
enum { GIBBS, GWG, DULA, SAMPLERS };

enum { MOST_SPINS = 16, CHAINS = 10, DRAWS = 10000, FIGURE_CHAINS = 100, STEPS = 16 };

typedef struct target {
    sal_model *model;
    int spins, states; /* 2^spins; of state k spin i has the code k >> i & 1 */
    double *p;         /* [states] */
} target;

static void target_close(target *t)
{
    sal_model_destroy(t->model);
    free(t->p);
}

static sal_status target_open(int side, target *t, sal_error *err)
{
    char text[80];
    *t = (target){ .spins = side * side, .states = 1 << (side * side) };
    snprintf(text, sizeof text, "ising:cyclic=0,side=%d,theta=0.05", side);
    sal_status status = sal_model_open(text, 0, &t->model, err);
    int32_t *codes = malloc((size_t)t->states * MOST_SPINS * sizeof *codes);
    t->p = malloc((size_t)t->states * sizeof *t->p);
    status = status ? status : codes && t->p ? SAL_OK : SAL_ERR_MEMORY;
    for (int k = 0; k < t->states && status == SAL_OK; k++) {
        for (int i = 0; i < t->spins; i++) {
            codes[k * t->spins + i] = k >> i & 1;
        }
    }
    status =
        status ? status : sal_model_evaluate(t->model, t->states, codes, t->p, NULL, NULL, err);
    double z = 0;
    for (int k = 0; k < t->states && status == SAL_OK; k++) {
        z += t->p[k] = exp(t->p[k]);
    }
    for (int k = 0; k < t->states && status == SAL_OK; k++) {
        t->p[k] /= z;
    }
    free(codes);
    return status;
}

static int state_of(const target *t, const int32_t *codes)
{
    int state = 0;
    for (int i = 0; i < t->spins; i++) {
        state |= codes[i] << i;
    }
    return state;
}

/* ---- runs */

/* What is counted: draws of all chains, or the first so many of each chain by itself. */
typedef struct counts {
    const target *t;
    int64_t draws;
    bool each;     /* chain by itself */
    double *count; /* [states], or [chains x states] */
} counts;

static int count_draw(const sal_draw *draw, void *data)
{
    counts *c = data;
    for (int64_t k = 0; k < draw->chains && draw->index < c->draws; k++) {
        int state = state_of(c->t, draw->codes + k * c->t->spins);
        c->count[(c->each ? k * c->t->states : 0) + state] += 1;
    }
    return 0;
}

static sal_status run(counts *c, int sampler, int64_t chains, int64_t thin, const int32_t *init,
                      sal_error *err)
{
    sal_run *sampled = NULL;
    const sal_run_options o = { .sampler = samplers[sampler],
                                .chains = chains,
                                .warmup = -1,
                                .draws = c->draws,
                                .thin = thin,
                                .seed = 1,
                                .threads = 1,
                                .step_size = sampler == DULA ? 1 : 0,
                                .init = init,
                                .callbacks = { .draw = count_draw, .draw_data = c } };
    sal_status status = sal_sample(c->t->model, &o, &sampled, err);
    sal_run_destroy(sampled);
    return status;
}

/* ---- figures 2 and 3 */

enum { LENGTHS = 3, SMALL_STATES = 16 };

static const int lengths[LENGTHS] = { 100, 1000, 10000 };

static void draw_bars(const target *t, int sampler, int draws, const double *count,
                      sal_figure *figure)
{
    char title[60];
    double share[SMALL_STATES];
    snprintf(title, sizeof title, "Figure %d: %s, %d draws", sampler == GWG ? 3 : 2, names[sampler],
             draws);
    for (int k = 0; k < t->states; k++) {
        share[k] = count[k] / draws;
    }
    sal_figure_panel(figure, &(sal_panel){ .title = title,
                                           .x = { .label = "state" },
                                           .y = { .label = "probability", .high = 0.25 } });
    sal_figure_series(
        figure, &(sal_series){ .name = "exact", .mark = SAL_MARK_BARS, .n = t->states, .y = t->p });
    sal_figure_series(
        figure,
        &(sal_series){ .name = "draws", .mark = SAL_MARK_BARS, .n = t->states, .y = share });
}

/* The total variation distance of single chains, as point k of the panel; the first is drawn. */
static sal_status length(const target *t, int sampler, int k, panel *p, sal_figure *figure,
                         sal_error *err)
{
    static double count[FIGURE_CHAINS * SMALL_STATES];
    double distance[FIGURE_CHAINS] = { 0 };
    counts c = { .t = t, .draws = lengths[k], .each = true, .count = count };
    for (int i = 0; i < FIGURE_CHAINS * SMALL_STATES; i++) {
        count[i] = 0;
    }
    sal_status status = run(&c, sampler, FIGURE_CHAINS, 1, NULL, err);
    for (int i = 0; i < FIGURE_CHAINS; i++) {
        for (int s = 0; s < t->states; s++) {
            distance[i] += fabs(count[i * t->states + s] / lengths[k] - t->p[s]) / 2;
        }
    }
    p->x[k] = lengths[k];
    p->y[sampler][k] = mean_of(FIGURE_CHAINS, distance, &p->sd[sampler][k]);
    if (status == SAL_OK && figure) {
        draw_bars(t, sampler, lengths[k], count, figure);
    }
    return status;
}

static sal_status show_distributions(sal_figure *figure, sal_error *err)
{
    target t;
    panel p = { .title = "Figures 2 and 3: 2 x 2 spins",
                .x_label = "draws",
                .y_label = "total variation",
                .y_format = "%.4f",
                .points = LENGTHS,
                .curves = 2,
                .name = { "Gibbs", "GWG" } };
    sal_status status = target_open(2, &t, err);
    for (int sampler = 0; sampler < 2; sampler++) {
        for (int k = 0; k < LENGTHS && status == SAL_OK; k++) {
            status = length(&t, sampler, k, &p, figure, err);
        }
    }
    if (status == SAL_OK) {
        panel_print(&p);
    }
    target_close(&t);
    return status;
}

/* ---- chi-square */

/* The quantile of a normal variable that corresponds to chi-square x, by Wilson & Hilferty (1931);
 * good to three digits from some 30 degrees of freedom on. */
static double deviate(double df, double x)
{
    return (cbrt(x / df) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df));
}

static double critical(double df, double quantile)
{
    double root = 1 - 2 / (9 * df) + quantile * sqrt(2 / (9 * df));
    return df * root * root * root;
}

/* Pearson's statistic (eq. 32) of counts among n draws. States with an expectation under `least`
 * are one cell. */
static double chi_square(const target *t, const double *count, double n, double least, double *df)
{
    double sum = 0, rest = 0, rest_expected = 0;
    *df = -1;
    for (int k = 0; k < t->states; k++) {
        double expected = n * t->p[k];
        if (expected < least) {
            rest += count[k];
            rest_expected += expected;
        } else {
            sum += (count[k] - expected) * (count[k] - expected) / expected;
            *df += 1;
        }
    }
    if (rest_expected > 0) {
        sum += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
        *df += 1;
    }
    return sum;
}

/* The thesis's test, and what the counts themselves would say. */
static sal_status test_chains(const target *t, int sampler, sal_error *err)
{
    double df, *count = calloc((size_t)t->states, sizeof *count);
    counts c = { .t = t, .draws = DRAWS, .count = count };
    sal_status status = count ? run(&c, sampler, CHAINS, 1, NULL, err) : SAL_ERR_MEMORY;
    double summed = status ? 0 : chi_square(t, count, CHAINS * DRAWS, 0, &df);
    if (status == SAL_OK) { /* (O/10 - E/10)^2 / (E/10) is a tenth of (O - E)^2 / E */
        printf("%-6s %10.1f  %-8s %10.1f  %-8s", names[sampler], summed / CHAINS,
               summed / CHAINS < critical(df, 2.3263) ? "accepted" : "rejected", summed,
               summed < critical(df, 2.3263) ? "accepted" : "rejected");
    }
    free(count);
    return status;
}

/* Independent draws by the inverse of the distribution function, from Knuth's MMIX generator. */
static void draw_exactly(const target *t, int64_t chains, int32_t *codes)
{
    uint64_t bits = 2022;
    double *until = malloc((size_t)t->states * sizeof *until);
    for (int k = 0; until && k < t->states; k++) {
        until[k] = t->p[k] + (k ? until[k - 1] : 0);
    }
    for (int64_t c = 0; until && c < chains; c++) {
        bits = 6364136223846793005u * bits + 1442695040888963407u;
        double u = (double)(bits >> 11) * 0x1p-53;
        int low = 0;
        for (int high = t->states - 1; low < high;) {
            int middle = (low + high) / 2;
            if (until[middle] > u) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        for (int i = 0; i < t->spins; i++) {
            codes[c * t->spins + i] = low >> i & 1;
        }
    }
    free(until);
}

static sal_status test_independent(const target *t, int sampler, int64_t chains, sal_error *err)
{
    double df, *count = calloc((size_t)t->states, sizeof *count);
    int32_t *init = calloc((size_t)(chains * t->spins), sizeof *init);
    counts c = { .t = t, .draws = 1, .count = count };
    sal_status status = count && init ? SAL_OK : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        draw_exactly(t, chains, init);
        status = run(&c, sampler, chains, STEPS, init, err);
    }
    if (status == SAL_OK) {
        double x = chi_square(t, count, (double)chains, 5, &df);
        printf(" %10.1f %8.0f %8.4f\n", x, df, erfc(deviate(df, x) / sqrt(2)) / 2);
    }
    free(count);
    free(init);
    return status;
}

static sal_status show_tests(int64_t chains, sal_error *err)
{
    target large = { 0 }, small = { 0 };
    sal_status status = target_open(4, &large, err);
    status = status ? status : target_open(3, &small, err);
    printf("\nChi-square, 4 x 4 spins, critical value %.0f; and 3 x 3 spins, %lld independent "
           "chains after %d steps\n",
           critical((1 << MOST_SPINS) - 1, 2.3263), (long long)chains, STEPS);
    printf("%-6s %20s %20s  %28s\n%-6s %10s %9s %10s %9s  %9s %8s %8s\n", "", "as in the thesis",
           "counts not averaged", "independent chains", "", "X2", "", "X2", "", "X2", "df", "P");
    for (int sampler = 0; sampler < SAMPLERS && status == SAL_OK; sampler++) {
        status = test_chains(&large, sampler, err);
        status = status ? status : test_independent(&small, sampler, chains, err);
    }
    target_close(&large);
    target_close(&small);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    const int64_t draws = a->size == QUICK ? 40000 : a->size == FULL ? 1000000 : 200000;
    sal_status status = show_distributions(figure, err);
    return status ? status : show_tests(draws, err);
}

int main(int argc, char **argv)
{
    static const program p = {
        .title = "van den Hoek 2022, figures 2 and 3: draws and the exact distribution",
        .caption = "Ising lattice of 2 x 2 spins, J = 0.1; one chain from a random start.",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
