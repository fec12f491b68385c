/* Lesson 7. Balancing functions, and learning one.
 *
 * A locally balanced sampler (Zanella 2020) knows t = p(s') / p(s) for every s' that differs from s
 * in one variable, and proposes s' in proportion to g(t), where g(t) = t g(1/t). Four such g are
 * usual: sqrt(t), t / (1 + t), min(1, t), max(1, t). Which is best? Sansone (2022, section 5.1)
 * finds that it depends on the model, and lets warm-up learn it: lsb1 a mixture of the four, lsb2
 * a monotonic network.
 *
 * The model: a disc was seen with noise, y_i ~ N(3 x_i, 3^2), and the posterior of its pixels x_i =
 * -1 or 1 is sampled (eq. 7, "case 4"), from random pixels on. Two things count: how soon the disc
 * is found, and how many effective samples come after.
 *
 *     07_learned_balance      prints a table and writes 07_learned_balance.svg */
#include <math.h>
#include <saltus/figure.h>
#include <saltus/saltus.h>
#include <string.h>

enum { SAMPLERS = 6, SIDE = 30, PIXELS = SIDE * SIDE, CHAINS = 8, WARMUP = 2000, THIN = 5 };
enum { POINTS = WARMUP / THIN, PICTURE = 300 / THIN, SHOWN = 60, T = 41, BLOCKS = 20, UNITS = 20 };
enum { MOST_THETA = 2 * BLOCKS * UNITS };

static const char *const names[SAMPLERS] = {
    "lb:balance=sqrt", "lb:balance=barker", "lb:balance=min", "lb:balance=max", "lsb1", "lsb2"
};

typedef struct result {
    double climb[POINTS];     /* mean f of the chains in warm-up, every THIN steps */
    double picture[PIXELS];   /* the first chain at step 300 */
    double theta[MOST_THETA]; /* what lsb1 or lsb2 learned */
    double acceptance, ess, mean;
} result;

/* Its short name. */
static const char *label(int sampler)
{
    const char *setting = strchr(names[sampler], '=');
    return setting ? setting + 1 : names[sampler];
}

/* ---- running */

static int note(const sal_draw *draw, void *data)
{
    result *r = data;
    if (draw->warmup && draw->index < POINTS) {
        double sum = 0;
        for (int c = 0; c < CHAINS; c++) {
            sum += draw->log_prob[c] / CHAINS;
        }
        r->climb[draw->index] = sum;
        for (int v = 0; draw->index == PICTURE && v < PIXELS; v++) {
            r->picture[v] = draw->codes[v];
        }
    }
    return 0;
}

/* A run's tuning is what its warm-up has learned. */
static sal_status read_theta(const sal_run *run, double theta[MOST_THETA], sal_error *err)
{
    sal_tuning *tuning = NULL;
    const double *values;
    int64_t n;
    sal_status status = sal_run_tuning(run, &tuning, err);
    status = status ? status : sal_tuning_values(tuning, "sampler.theta", &values, &n, err);
    for (int64_t k = 0; status == SAL_OK && k < n; k++) {
        theta[k] = values[k];
    }
    sal_tuning_destroy(tuning);
    return status;
}

static sal_status measure(sal_model *model, const char *sampler, result *r, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_options o = { .sampler = sampler, .chains = CHAINS, .warmup = WARMUP, .draws = 4000 };
    o.thin = THIN;
    o.callbacks.draw = note;
    o.callbacks.draw_data = r;
    o.record.warmup = true;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        r->acceptance = s.acceptance_rate;
        r->ess = s.ess_total;
        r->mean = s.log_prob_mean;
        status = strncmp(sampler, "lsb", 3) ? SAL_OK : read_theta(run, r->theta, err);
    }
    sal_run_destroy(run);
    return status;
}

/* The step at which 98% of the way up to the mean of f lies behind. */
static int arrival(const result *r)
{
    int k = 0;
    while (k < POINTS - 1 && r->climb[k] < r->climb[0] + 0.98 * (r->mean - r->climb[0])) {
        k++;
    }
    return (k + 1) * THIN;
}

/* ---- the balancing functions */

/* The four in the order of `names`. */
static double usual_g(int which, double t)
{
    const double g[] = { sqrt(t), t / (1 + t), fmin(1, t), fmax(1, t) };
    return g[which];
}

/* h of lsb2: rising lines of log t; the largest line of each block, and the least of these. */
static double network_h(const double *theta, double t)
{
    const double *log_slope = theta, *height = theta + BLOCKS * UNITS;
    double least = INFINITY;
    for (int b = 0; b < BLOCKS; b++) {
        double largest = -INFINITY;
        for (int k = b * UNITS; k < (b + 1) * UNITS; k++) {
            largest = fmax(largest, exp(log_slope[k]) * log(t) + height[k]);
        }
        least = fmin(least, largest);
    }
    return log1p(exp(least));
}

static double g_of(int sampler, const double *theta, double t)
{
    double sum = 0, total = 0;
    if (sampler < 4) {
        return usual_g(sampler, t);
    }
    if (sampler == 5) { /* min(h(t), t h(1/t)) is balanced, whatever h */
        return fmin(network_h(theta, t), t * network_h(theta, 1 / t));
    }
    for (int k = 0; k < 4; k++) { /* softmax weights */
        sum += exp(theta[k]) * usual_g(k, t);
        total += exp(theta[k]);
    }
    return sum / total;
}

/* ---- the figure */

static void add_panels(sal_figure *figure, const result *r)
{
    static double step[SHOWN], climb[SHOWN], t[T], g[T];
    sal_figure_panel(
        figure, &(sal_panel){ .title = "warm-up: mean f of 8 chains", .x = { .label = "step" } });
    for (int k = 0; k < SAMPLERS; k++) {
        for (int i = 0; i < SHOWN; i++) { /* every 20th step, up to 1200 */
            step[i] = (4 * i + 1) * THIN;
            climb[i] = r[k].climb[4 * i];
        }
        sal_figure_series(figure,
                          &(sal_series){ .name = label(k), .n = SHOWN, .x = step, .y = climb });
    }
    sal_figure_panel(figure, &(sal_panel){ .title = "g(t) / g(1)",
                                           .x = { .label = "t", .logarithmic = true },
                                           .y = { .logarithmic = true } });
    for (int k = 0; k < SAMPLERS; k++) {
        for (int i = 0; i < T; i++) {
            t[i] = exp(0.2 * (i - T / 2)); /* e^-4 .. e^4 */
            g[i] = g_of(k, r[k].theta, t[i]) / g_of(k, r[k].theta, 1);
        }
        sal_figure_series(figure, &(sal_series){ .name = label(k), .n = T, .x = t, .y = g });
    }
    for (int k = 0; k < SAMPLERS; k++) {
        char title[64];
        snprintf(title, sizeof title, "%s after 300 steps", label(k));
        const sal_images images = { .n = 1, .height = SIDE, .width = SIDE, .values = r[k].picture };
        sal_figure_panel(figure, &(sal_panel){ .title = title, .images = &images });
    }
}

static sal_status draw(const result *r, sal_error *err)
{
    sal_figure *figure = NULL;
    sal_figure_options o = {
        .title = "Balancing functions", .columns = 4, .panel_width = 240, .panel_height = 200
    };
    sal_status status = sal_figure_create(&o, &figure, err);
    if (status == SAL_OK) {
        add_panels(figure, r);
        status = sal_figure_write(figure, "07_learned_balance.svg", err);
    }
    sal_figure_destroy(figure);
    return status;
}

int main(void)
{
    static result r[SAMPLERS];
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_status status = sal_model_open("segmentation:lambda=1,mu=3", 0, &model, &err);
    for (int k = 0; status == SAL_OK && k < SAMPLERS; k++) {
        status = measure(model, names[k], &r[k], &err);
    }
    status = status ? status : draw(r, &err);
    if (status != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    printf("                after the warm-up         g(t) / g(1)\n");
    printf("g          arrived   accepted    ESS    t=1/9    1/3      3      9\n");
    for (int k = 0; k < SAMPLERS; k++) {
        const double *theta = r[k].theta, one = g_of(k, theta, 1);
        printf("%-10s %7d %10.3f %6.0f ", label(k), arrival(&r[k]), r[k].acceptance, r[k].ess);
        printf("  %6.2f %6.2f %6.2f %6.2f\n", g_of(k, theta, 1. / 9) / one,
               g_of(k, theta, 1. / 3) / one, g_of(k, theta, 3) / one, g_of(k, theta, 9) / one);
    }
    const double *a = r[4].theta;
    double total = exp(a[0]) + exp(a[1]) + exp(a[2]) + exp(a[3]);
    printf("\nweights that lsb1 learned: sqrt %.3f, barker %.3f, min %.3f, max %.3f\n",
           exp(a[0]) / total, exp(a[1]) / total, exp(a[2]) / total, exp(a[3]) / total);
    sal_model_destroy(model);
}

/* SPDX-License-Identifier: MIT */
