#include "convergence.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/* ---- exact answers */

/* E c_i c_j from the probabilities of pairs of states [R x R]. */
static void find_moments(truth *t, const double *pairs)
{
    for (int64_t i = 0; i < t->V; i++) {
        for (int64_t j = 0; j < t->V; j++) {
            double sum = 0;
            for (int64_t a = t->begin[i]; a < t->begin[i + 1]; a++) {
                for (int64_t b = t->begin[j]; b < t->begin[j + 1]; b++) {
                    sum += (double)((a - t->begin[i]) * (b - t->begin[j])) * pairs[a * t->R + b];
                }
            }
            t->moments[i * t->V + j] = sum;
        }
    }
}

static sal_status find_answers(truth *t, sal_error *err)
{
    double *pairs = malloc((size_t)(t->R * t->R) * sizeof *pairs);
    t->p = malloc((size_t)t->R * sizeof *t->p);
    t->moments = malloc((size_t)(t->V * t->V) * sizeof *t->moments);
    t->random = malloc((size_t)t->V * sizeof *t->random);
    sal_exact exact;
    sal_status status = pairs && t->p && t->moments && t->random ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status
                    : sal_model_exact(t->model, &(sal_exact_options){ .threads = 1 }, &exact, t->p,
                                      pairs, NULL, err);
    if (status == SAL_OK) {
        find_moments(t, pairs);
    }
    uint64_t state = 1;
    for (int64_t i = 0; status == SAL_OK && i < t->V; i++) {
        state = 6364136223846793005u * state + 1442695040888963407u;
        t->random[i] = (int32_t)((state >> 33) % (uint64_t)(t->begin[i + 1] - t->begin[i]));
    }
    free(pairs);
    return status;
}

sal_status truth_open(const char *specification, truth *t, sal_error *err)
{
    sal_model *model = NULL;
    *t = (truth){ 0 };
    sal_status status = sal_model_open(specification, 0, &model, err);
    return status ? status : truth_of(model, t, err);
}

sal_status truth_of(sal_model *model, truth *t, sal_error *err)
{
    const sal_space *space = sal_model_space(model);
    *t = (truth){ .model = model };
    t->V = t->counted = sal_space_variables(space);
    t->begin = calloc((size_t)t->V + 1, sizeof *t->begin);
    for (int64_t i = 0; t->begin && i < t->V; i++) {
        t->begin[i + 1] = t->begin[i] + sal_space_states(space, i);
    }
    t->R = t->begin ? t->begin[t->V] : 0;
    sal_status status = t->begin ? find_answers(t, err) : SAL_ERR_MEMORY;
    if (status != SAL_OK) {
        truth_free(t);
    }
    return status;
}

void truth_free(truth *t)
{
    sal_model_destroy(t->model);
    free(t->begin);
    free(t->p);
    free(t->moments);
    free(t->random);
    *t = (truth){ 0 };
}

/* ---- sums over the draws of each chain */

typedef struct watch {
    const truth *t;
    int64_t related, chains, draws, thin;
    double *count;    /* [chains x R] */
    double *product;  /* [chains x related x related] sums of c_i c_j, i <= j */
    double *distance; /* [chains x draws] */
    int point;
    curve *out;
} watch;

static void add_state(watch *w, int64_t chain, int64_t draw, const int32_t *codes)
{
    const truth *t = w->t;
    const sal_space *space = sal_model_space(t->model);
    double *count = w->count + chain * t->R, distance = 0;
    bool labels = sal_space_block(space, 0)->kind == SAL_CATEGORICAL;
    for (int64_t i = 0; i < t->V; i++) {
        count[t->begin[i] + codes[i]] += 1;
        int32_t apart = abs(codes[i] - t->random[i]);
        distance += i >= t->counted ? 0 : labels ? apart != 0 : apart;
    }
    for (int64_t i = 0; i < w->related; i++) {
        double *row = w->product + (chain * w->related + i) * w->related;
        for (int64_t j = i; codes[i] != 0 && j < w->related; j++) {
            row[j] += (double)codes[i] * codes[j];
        }
    }
    w->distance[chain * w->draws + draw] = distance;
}

/* ---- errors of one chain's sums over n draws */

/* What the authors' program adds to counts that it divides by. */
#define LEAST_COUNT 1e-5

static void marginal_errors(const truth *t, const double *count, double n, double *error)
{
    double kl = 0, absolute = 0, squares = 0, reverse = 0;
    for (int64_t a = 0; a < t->R; a++) {
        double q = count[a] / n, p = t->p[a];
        kl += q > 0 ? q * log(q / p) : 0;
        absolute += fabs(q - p);
        squares += (q - p) * (q - p);
    }
    for (int64_t i = 0; i < t->V; i++) {
        double all = n + LEAST_COUNT * (double)(t->begin[i + 1] - t->begin[i]);
        for (int64_t a = t->begin[i]; a < t->begin[i + 1]; a++) {
            double p = t->p[a];
            reverse += p > 0 ? p * log(p * all / (count[a] + LEAST_COUNT)) : 0;
        }
    }
    error[REVERSE_KL] = reverse / (double)t->V;
    error[MARGINAL_KL] = kl / (double)t->V;
    error[MARGINAL] = absolute / (double)t->R;
    error[MEAN_RMSE] = sqrt(squares / (double)t->R);
}

/* The error of a mean code. */
static double mean_error(const truth *t, const double *count, double n, int64_t i, double *mean)
{
    double error = 0;
    *mean = 0;
    for (int64_t a = t->begin[i]; a < t->begin[i + 1]; a++) {
        *mean += (double)(a - t->begin[i]) * t->p[a];
        error += (double)(a - t->begin[i]) * (count[a] / n - t->p[a]);
    }
    return error;
}

/* With d_i, d_j the errors of means of 0 or 1 and d that of c_i c_j, the four entries of a table of
 * pairs are off by d, d_i - d, d_j - d, and d_i + d_j - d. */
static void pair_errors(const watch *w, int64_t chain, double n, double *error)
{
    const truth *t = w->t;
    const double *count = w->count + chain * t->R;
    int64_t K = w->related;
    double pairs = 0, squares = 0;
    for (int64_t i = 0; i < K; i++) {
        double mi, di = mean_error(t, count, n, i, &mi);
        for (int64_t j = i; j < K; j++) {
            double mj, dj = mean_error(t, count, n, j, &mj);
            double d = w->product[(chain * K + i) * K + j] / n - t->moments[i * t->V + j];
            double covariance = d - mi * dj - mj * di - di * dj;
            pairs += fabs(d) + fabs(di - d) + fabs(dj - d) + fabs(di + dj - d);
            squares += (i == j ? 1 : 2) * covariance * covariance;
        }
    }
    error[PAIR] = K > 0 ? pairs / (0.5 * (double)(K * (K + 1))) : NAN;
    error[COVARIANCE] = sqrt(squares);
}

static void note_errors(watch *w, int64_t draws)
{
    curve *out = w->out;
    double n = (double)w->chains, sum[METRICS] = { 0 }, squares[METRICS] = { 0 };
    for (int64_t c = 0; c < w->chains; c++) {
        double error[METRICS];
        marginal_errors(w->t, w->count + c * w->t->R, (double)draws, error);
        pair_errors(w, c, (double)draws, error);
        for (int m = 0; m < METRICS; m++) {
            sum[m] += error[m];
            squares[m] += error[m] * error[m];
        }
    }
    for (int m = 0; m < METRICS; m++) {
        out->error[m][w->point] = sum[m] / n;
        out->spread[m][w->point] = sqrt(fmax(squares[m] - sum[m] * sum[m] / n, 0) / (n * (n - 1)));
    }
    out->steps[w->point++] = draws * w->thin;
}

static int look(const sal_draw *draw, void *data)
{
    watch *w = data;
    int64_t made = draw->index + 1;
    for (int64_t c = 0; c < draw->chains; c++) {
        add_state(w, c, draw->index, draw->codes + c * draw->variables);
    }
    if (w->point < POINTS && made == w->draws >> (POINTS - 1 - w->point)) {
        note_errors(w, made);
    }
    return 0;
}

/* ---- a run */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sal_status find_ess(const watch *w, sal_error *err)
{
    double *ess = malloc((size_t)w->chains * sizeof *ess);
    sal_status status = ess ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t c = 0; c < w->chains && status == SAL_OK; c++) {
        status = sal_stats_ess_tfp(w->draws, w->distance + c * w->draws, &ess[c], err);
        ess[c] = isnan(ess[c]) ? 0 : 1000 * ess[c] / (double)(w->draws * w->thin);
    }
    if (status == SAL_OK) {
        qsort(ess, (size_t)w->chains, sizeof *ess, ascending);
        for (int k = 0; k < 3; k++) {
            w->out->ess[k] = ess[(w->chains - 1) * (k + 1) / 4];
        }
    }
    free(ess);
    return status;
}

static sal_status run(watch *w, const sal_run_options *options, sal_error *err)
{
    sal_run_options o = *options;
    sal_run *sampled = NULL;
    sal_run_summary s = { 0 };
    o.callbacks.draw = look;
    o.callbacks.draw_data = w;
    o.threads = 1;
    clock_t start = clock();
    sal_status status = sal_sample(w->t->model, &o, &sampled, err);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    status = status ? status : sal_run_summarise(sampled, &s, err);
    status = status ? status : find_ess(w, err);
    w->out->step_size = s.step_size;
    w->out->acceptance = s.acceptance_rate;
    w->out->jump = s.mean_jump;
    w->out->step_seconds = seconds / (double)(s.warmup + s.draws * s.thin);
    sal_run_destroy(sampled);
    return status;
}

sal_status curve_run(const truth *t, int64_t related, const sal_run_options *options, curve *out,
                     sal_error *err)
{
    watch w = { .t = t, .related = related, .out = out };
    w.chains = options->chains;
    w.draws = options->draws;
    w.thin = options->thin > 0 ? options->thin : 1;
    *out = (curve){ 0 };
    w.count = calloc((size_t)(w.chains * t->R), sizeof *w.count);
    w.product = calloc((size_t)(w.chains * related * related + 1), sizeof *w.product);
    w.distance = malloc((size_t)(w.chains * w.draws) * sizeof *w.distance);
    sal_status status = w.count && w.product && w.distance ? run(&w, options, err) : SAL_ERR_MEMORY;
    free(w.count);
    free(w.product);
    free(w.distance);
    return status;
}

sal_status method_run(const truth *t, int64_t related, const sal_run_options *options,
                      const method *m, curve *out, sal_error *err)
{
    sal_run_options o = *options;
    o.sampler = m->sampler;
    if (m->step_size == SEARCH) {
        o.step_size_rule = SAL_STEP_SIZE_SEARCH;
    } else {
        o.step_size = m->step_size;
    }
    return curve_run(t, related, &o, out, err);
}

/* ---- times */

double curves_seconds(const method *methods, const curve *curves, int64_t steps)
{
    double seconds = INFINITY;
    for (int k = 0; methods[k].name; k++) {
        seconds = fmin(seconds, curves[k].step_seconds);
    }
    return seconds * (double)steps;
}

double curve_at_seconds(const curve *c, metric m, double seconds)
{
    int k = 1;
    double steps = seconds / c->step_seconds;
    while (k < POINTS - 1 && (double)c->steps[k] < steps) {
        k++;
    }
    double x0 = log((double)c->steps[k - 1]), x1 = log((double)c->steps[k]);
    double share = (log(steps) - x0) / (x1 - x0);
    return exp((1 - share) * log(c->error[m][k - 1]) + share * log(c->error[m][k]));
}

/* ---- figures */

static void draw_errors(sal_figure *figure, const curves_view *v, const method *methods,
                        const curve *curves, bool time)
{
    const char *label = v->label ? v->label : "RMSE of means";
    sal_figure_panel(figure, &(sal_panel){ .title = v->title,
                                           .x = { .label = time ? "processor time [s]" : "steps",
                                                  .logarithmic = true },
                                           .y = { .label = label, .logarithmic = true } });
    for (int k = 0; methods[k].name; k++) {
        const curve *c = &curves[k];
        double x[POINTS], y[POINTS], low[POINTS], high[POINTS];
        for (int p = 0; p < POINTS; p++) {
            x[p] = (double)c->steps[p] * (time ? c->step_seconds : 1);
            y[p] = v->scale * c->error[v->metric][p];
            low[p] = y[p] - v->scale * c->spread[v->metric][p];
            high[p] = y[p] + v->scale * c->spread[v->metric][p];
        }
        sal_figure_series(figure, &(sal_series){ .name = time ? NULL : methods[k].name,
                                                 .mark = SAL_MARK_BOTH,
                                                 .n = POINTS,
                                                 .x = x,
                                                 .y = y,
                                                 .low = low,
                                                 .high = high,
                                                 .style = k + 1 });
    }
}

static void draw_ess(sal_figure *figure, const curves_view *v, const method *methods,
                     const curve *curves)
{
    const char *names[MOST_METHODS];
    double ess[3][MOST_METHODS];
    int n = 0;
    for (; methods[n].name; n++) {
        names[n] = methods[n].name;
        for (int q = 0; q < 3; q++) {
            double second = 1e-3 / curves[n].step_seconds;
            ess[q][n] = curves[n].ess[q] * (v->per_second ? second : 1);
        }
    }
    sal_figure_panel(figure, &(sal_panel){ .title = v->title,
                                           .x = { .categories = names, .n_categories = n },
                                           .y = { .label = v->per_second ? "ESS per second"
                                                                         : "ESS in 1000 steps" } });
    sal_figure_series(
        figure,
        &(sal_series){ .mark = SAL_MARK_BARS, .n = n, .y = ess[1], .low = ess[0], .high = ess[2] });
}

void curves_draw(sal_figure *figure, const curves_view *v, const method *methods,
                 const curve *curves)
{
    if (figure) {
        draw_errors(figure, v, methods, curves, false);
        draw_errors(figure, v, methods, curves, true);
        draw_ess(figure, v, methods, curves);
    }
}

/* SPDX-License-Identifier: MIT */
