/* SPDX-License-Identifier: MIT */
/* Figures of samples against held-out rows, with errors by leaving out one group at a time. */
#include <math.h>
#include <string.h>

#include <saltus/program.h>
#include "core/error.h"
#include "core/memory.h"
#include "core/rng.h"
#include "stats/mmd.h"
#include "stats/moments.h"
#include "train/data.h"
#include "train/verdict.h"

/* The most columns whose covariances are compared. */
#define MOST_COLUMNS 2048
/* The most held-out rows in the MMD. */
#define MOST_KERNEL_ROWS 10000
/* A correlation of fewer numbers than this is not computed. */
#define LEAST_POINTS 3

/* ---- rows in groups */

sali_grouped sali_grouped_chains(int64_t chains, int64_t draws, const sal_data *rows)
{
    sali_grouped g = { .rows = *rows,
                       .groups = chains < SALI_MOST_GROUPS ? chains : SALI_MOST_GROUPS };
    for (int64_t k = 0; k <= g.groups; k++) {
        g.first[k] = k * chains / g.groups * draws;
    }
    return g;
}

sal_status sali_grouped_rows(const sal_data *data, int64_t most, sali_grouped *out, sal_error *err)
{
    const int64_t n = data->rows < most ? data->rows : most;
    const sali_stream stream = { .purpose = SALI_RNG_STATISTIC };
    const sal_data plain = { .rows = data->rows,
                             .variables = data->variables,
                             .codes = data->codes,
                             .weight = data->weight };
    sal_data some = { 0 };
    sali_memory memory = { 0 };
    uint32_t *order = SALI_TAKE(&memory, uint32_t, n);
    uint32_t *work = SALI_TAKE(&memory, uint32_t, data->rows);
    sal_status status = sali_memory_status(&memory, err);
    if (status == SAL_OK) {
        sali_rng_choose(&stream, (uint32_t)data->rows, (uint32_t)n, work, order);
        status = sali_data_gather(&plain, 0, n, order, &some, err);
    }
    sali_memory_free(&memory);
    *out = sali_grouped_chains(n, 1, &some);
    return status;
}

sali_jackknifed sali_jackknife(int64_t groups, double all, const double *loo)
{
    double mean = 0, squares = 0;
    const double n = (double)groups;
    for (int64_t g = 0; g < groups; g++) {
        mean += loo[g] / n;
    }
    for (int64_t g = 0; g < groups; g++) {
        squares += (loo[g] - mean) * (loo[g] - mean);
    }
    return (sali_jackknifed){ .value = all,
                              .error = groups > 1 ? sqrt((n - 1) / n * squares) : NAN,
                              .corrected = groups > 1 ? n * all - (n - 1) * mean : NAN };
}

/* ---- columns, and their moments */

typedef struct column {
    int64_t variable;
    int32_t state; /* state whose indicator the column is; -1: the column is the code itself */
} column;

typedef struct moments {
    sali_memory memory;
    double total;     /* of the weights */
    double *sums;     /* [C] */
    double *products; /* [C x C], j < i */
    double *x;        /* [C] one row */
    double *means;    /* [C] */
} moments;

struct sali_reference {
    const sal_data *test;
    int64_t n;          /* columns C */
    column *columns;    /* [n] */
    moments moments;    /* of the held-out rows: sums hold means, products hold covariances */
    sali_packed packed; /* held-out rows for the MMD */
    int planes;         /* bit planes that hold all codes of the space */
    double mean_kernel; /* mean kernel of two different held-out rows */
    int threads;        /* as in sal_threads_number */
};

static sal_status moments_create(int64_t C, moments *m, sal_error *err)
{
    m->sums = SALI_TAKE(&m->memory, double, C);
    m->products = SALI_TAKE(&m->memory, double, C *C);
    m->x = SALI_TAKE(&m->memory, double, C);
    m->means = SALI_TAKE(&m->memory, double, C);
    return sali_memory_status(&m->memory, err);
}

static void moments_clear(int64_t C, moments *m)
{
    m->total = 0;
    memset(m->sums, 0, (size_t)C * sizeof *m->sums);
    memset(m->products, 0, (size_t)(C * C) * sizeof *m->products);
}

/* Add one row, codes [V], with its weight to the sums and products of m. */
static void moments_add(const sali_reference *r, double weight, const uint8_t *codes, moments *m)
{
    const int64_t C = r->n;
    double *x = m->x;
    for (int64_t i = 0; i < C; i++) {
        const column *c = &r->columns[i];
        x[i] = c->state < 0 ? codes[c->variable] : codes[c->variable] == c->state;
    }
    m->total += weight;
    for (int64_t i = 0; i < C; i++) {
        if (x[i] != 0) {
            const double wx = weight * x[i];
            double *row = m->products + i * C;
            m->sums[i] += wx;
            for (int64_t j = 0; j < i; j++) {
                row[j] += wx * x[j];
            }
        }
    }
}

static void moments_add_rows(const sali_reference *r, const sal_data *rows, int64_t from,
                             int64_t to, moments *m)
{
    for (int64_t k = from; k < to; k++) {
        moments_add(r, rows->weight ? rows->weight[k] : 1, rows->codes + k * rows->variables, m);
    }
}

/* ---- correlations */

typedef struct pearson {
    double n, x, y, xx, yy, xy;
} pearson;

/* Add a pair of numbers to the sums of a correlation. */
static void pearson_add(pearson *p, double x, double y)
{
    p->n += 1;
    p->x += x;
    p->y += y;
    p->xx += x * x;
    p->yy += y * y;
    p->xy += x * y;
}

/* The correlation of the pairs; NaN where x or y is constant, up to rounding, or pairs are few. */
static double pearson_of(const pearson *p)
{
    double xx = p->xx - p->x * p->x / p->n, yy = p->yy - p->y * p->y / p->n;
    bool varies = xx > 1e-12 * p->xx && yy > 1e-12 * p->yy && p->n >= LEAST_POINTS;
    return varies ? (p->xy - p->x * p->y / p->n) / sqrt(xx * yy) : NAN;
}

/* The sum of squares of x about their mean. */
static double squares_of(const pearson *p)
{
    return p->xx - p->x * p->x / p->n;
}

/* Correlate means (with[0]) and covariances (with[1]) of the rows in m, without those in `without`
 * (NULL: none), with those of the held-out rows. x of `change` is how they differ from those of all
 * rows in m. */
static void correlate_moments(const sali_reference *r, const moments *m, const moments *without,
                              pearson with[2], pearson change[2])
{
    const int64_t C = r->n;
    const double total = m->total - (without ? without->total : 0);
    double *mean = m->x, *own = m->means; /* between rows x is free */
    memset(with, 0, 2 * sizeof *with);
    memset(change, 0, 2 * sizeof *change);
    for (int64_t i = 0; i < C; i++) {
        own[i] = m->sums[i] / m->total;
        mean[i] = (m->sums[i] - (without ? without->sums[i] : 0)) / total;
        pearson_add(&with[0], mean[i], r->moments.sums[i]);
        pearson_add(&change[0], mean[i] - own[i], 0);
    }
    for (int64_t i = 0; i < C; i++) {
        for (int64_t j = 0; j < i; j++) {
            int64_t k = i * C + j;
            if (r->columns[i].variable != r->columns[j].variable) {
                double product = m->products[k] - (without ? without->products[k] : 0);
                double covariance = product / total - mean[i] * mean[j];
                pearson_add(&with[1], covariance, r->moments.products[k]);
                pearson_add(&change[1], covariance - m->products[k] / m->total + own[i] * own[j],
                            0);
            }
        }
    }
}

sal_status sali_compare_moments(const sali_reference *r, const sali_grouped *rows,
                                sali_jackknifed *means, sali_jackknifed *covariances,
                                sal_error *err)
{
    moments all = { 0 }, group = { 0 };
    double loo[2][SALI_MOST_GROUPS], noise[2] = { 0 };
    const double G = (double)rows->groups;
    pearson whole[2], with[2], change[2];
    sali_jackknifed *out[2] = { means, covariances };
    sal_status status = moments_create(r->n, &all, err);
    status = status ? status : moments_create(r->n, &group, err);
    if (status == SAL_OK) {
        moments_add_rows(r, &rows->rows, 0, rows->rows.rows, &all);
        correlate_moments(r, &all, NULL, whole, change);
        for (int64_t g = 0; g < rows->groups; g++) {
            moments_clear(r->n, &group);
            moments_add_rows(r, &rows->rows, rows->first[g], rows->first[g + 1], &group);
            correlate_moments(r, &all, &group, with, change);
            for (int k = 0; k < 2; k++) {
                loo[k][g] = pearson_of(&with[k]);
                noise[k] += (G - 1) / G * squares_of(&change[k]);
            }
        }
        for (int k = 0; k < 2; k++) {
            *out[k] = sali_jackknife(rows->groups, pearson_of(&whole[k]), loo[k]);
            out[k]->reliability = 1 - noise[k] / squares_of(&whole[k]);
        }
    }
    sali_memory_free(&all.memory);
    sali_memory_free(&group.memory);
    return status;
}

/* ---- MMD */

sal_status sali_compare_kernel(const sali_reference *r, const sali_grouped *rows,
                               sali_jackknifed *mmd2, sal_error *err)
{
    sali_packed packed = { 0 };
    const int64_t G = rows->groups;
    /* Sums of the kernel over pairs of group g and another one, and of g and held-out rows. */
    double others[SALI_MOST_GROUPS], other_pairs[SALI_MOST_GROUPS], to_test[SALI_MOST_GROUPS],
        test_pairs[SALI_MOST_GROUPS], loo[SALI_MOST_GROUPS];
    double all = 0, pairs = 0, cross = 0, cross_pairs = 0;
    bool ok = sali_packed_make(&packed, rows->rows.rows, rows->rows.variables, rows->rows.codes,
                               r->planes) == 0;
    for (int64_t g = 0; ok && g < G; g++) {
        int64_t n = rows->first[g + 1] - rows->first[g];
        sali_packed part = sali_packed_rows(&packed, rows->first[g], n);
        double within, pairs_within;
        ok = sali_kernel_sum(&part, NULL, r->threads, &within, &pairs_within) == 0 &&
             sali_kernel_sum(&part, &packed, r->threads, &others[g], &other_pairs[g]) == 0 &&
             sali_kernel_sum(&part, &r->packed, r->threads, &to_test[g], &test_pairs[g]) == 0;
        if (!ok) {
            break;
        }
        others[g] -= 2 * within + (double)n; /* pairs within the group */
        other_pairs[g] -= (double)(n * n);
        all += others[g] / 2;
        pairs += other_pairs[g] / 2;
        cross += to_test[g];
        cross_pairs += test_pairs[g];
    }
    for (int64_t g = 0; ok && g < G; g++) {
        loo[g] = (all - others[g]) / (pairs - other_pairs[g]) -
                 2 * (cross - to_test[g]) / (cross_pairs - test_pairs[g]);
    }
    if (ok) { /* NaN with less than two held-out rows; r->mean_kernel has no error */
        *mmd2 = sali_jackknife(G, all / pairs - 2 * cross / cross_pairs, loo);
        mmd2->value += r->mean_kernel;
        mmd2->corrected += r->mean_kernel;
    }
    sali_packed_free(&packed);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- the nearest-neighbour classifier */

/* Every row has as many candidates of its own kind as of the other kind, and none of its own group:
 * `each` rows of each of the groups, n = each groups of them, and n - each + 1 held-out rows. */
typedef struct neighbours {
    int64_t each, groups;
    sali_packed own, test;
    double *right; /* [held-out rows + groups] the shares of right answers at the held-out rows, and
                      those of the groups */
} neighbours;

/* The share of held-out rows among the nearest candidates of row `row` of `of`, 0 to 1 where there
 * are ties. Rows own_from .. own_to - 1 of s->own, and row test_row of s->test, are no
 * candidates. */
static double share_of_test(const neighbours *s, const sali_packed *of, int64_t row,
                            int64_t own_from, int64_t own_to, int64_t test_row)
{
    int64_t own_times, test_times;
    const int64_t own = sali_packed_nearest(of, row, &s->own, own_from, own_to, &own_times);
    const int64_t test =
        sali_packed_nearest(of, row, &s->test, test_row, test_row + 1, &test_times);
    return own < test ? 0 : test < own ? 1 : (double)test_times / (double)(own_times + test_times);
}

static void classify_test_row(void *context, int64_t t)
{
    const neighbours *s = context;
    const int64_t group = t % s->groups;
    s->right[t] = share_of_test(s, &s->test, t, group * s->each, (group + 1) * s->each, t);
}

static void classify_group(void *context, int64_t g)
{
    const neighbours *s = context;
    const int64_t m = s->test.rows;
    double sum = 0;
    for (int64_t row = g * s->each; row < (g + 1) * s->each; row++) {
        sum += 1 - share_of_test(s, &s->own, row, g * s->each, (g + 1) * s->each, row % m);
    }
    s->right[m + g] = sum / (double)s->each;
}

/* Copy `each` rows of each group, evenly spaced, to `to` [groups x each x V]. */
static void take_from_groups(const sali_grouped *rows, int64_t each, uint8_t *to)
{
    const int64_t V = rows->rows.variables;
    for (int64_t g = 0; g < rows->groups; g++) {
        const int64_t n = rows->first[g + 1] - rows->first[g];
        for (int64_t k = 0; k < each; k++, to += V) {
            memcpy(to, rows->rows.codes + (rows->first[g] + k * n / each) * V, (size_t)V);
        }
    }
}

sal_status sali_compare_neighbours(const sali_reference *r, const sali_grouped *rows,
                                   sali_jackknifed *accuracy, sal_error *err)
{
    const int64_t G = rows->groups, V = rows->rows.variables;
    int64_t each = G > 1 ? (r->packed.rows - 1) / (G - 1) : 0;
    for (int64_t g = 0; g < G; g++) {
        const int64_t n = rows->first[g + 1] - rows->first[g];
        each = n < each ? n : each;
    }
    *accuracy = (sali_jackknifed){ NAN, NAN, NAN, 0 };
    if (each == 0) {
        return SAL_OK;
    }
    neighbours s = { .each = each, .groups = G };
    sali_memory memory = { 0 };
    uint8_t *codes = SALI_TAKE(&memory, uint8_t, each * G * V);
    s.test = sali_packed_rows(&r->packed, 0, each * (G - 1) + 1);
    s.right = SALI_TAKE(&memory, double, s.test.rows + G);
    bool ok = !memory.refused;
    if (ok) {
        take_from_groups(rows, each, codes);
        ok = sali_packed_make(&s.own, each * G, V, codes, r->planes) == 0;
    }
    if (ok) {
        double test, own, of_test, of_own; /* means, and variances */
        sal_threads_run(s.test.rows, r->threads, classify_test_row, &s);
        sal_threads_run(G, r->threads, classify_group, &s);
        sali_moments(s.test.rows, s.right, &test, &of_test);
        sali_moments(G, s.right + s.test.rows, &own, &of_own);
        accuracy->value = accuracy->corrected = (test + own) / 2;
        accuracy->error = sqrt(of_test / (double)s.test.rows + of_own / (double)G) / 2;
    }
    sali_packed_free(&s.own);
    sali_memory_free(&memory);
    return ok ? SAL_OK : sali_fail_memory(err);
}

/* ---- f */

sal_status sali_mean_f(const sal_model *model, const sali_grouped *rows, sali_jackknifed *f,
                       sal_error *err)
{
    const sal_data *data = &rows->rows;
    double loo[SALI_MOST_GROUPS], group[SALI_MOST_GROUPS], weights[SALI_MOST_GROUPS], all = 0,
                                                                                      total = 0;
    double *values = SALI_NEW_ARRAY(double, data->rows);
    sal_status status =
        values ? sali_evaluate_rows(model, data, values, err) : sali_fail_memory(err);
    for (int64_t g = 0; status == SAL_OK && g < rows->groups; g++) {
        group[g] = weights[g] = 0;
        for (int64_t k = rows->first[g]; k < rows->first[g + 1]; k++) {
            double w = data->weight ? data->weight[k] : 1;
            group[g] += w * values[k];
            weights[g] += w;
        }
        all += group[g];
        total += weights[g];
    }
    for (int64_t g = 0; status == SAL_OK && g < rows->groups; g++) {
        loo[g] = (all - group[g]) / (total - weights[g]);
    }
    if (status == SAL_OK) {
        *f = sali_jackknife(rows->groups, all / total, loo);
    }
    sali_free(values);
    return status;
}

/* ---- the held-out rows */

/* List the columns of the space, at most MOST_COLUMNS, evenly spaced. */
static sal_status list_columns(const sal_space *space, sali_reference *r, sal_error *err)
{
    int64_t all = 0, k = 0;
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        all += variable->kind == SAL_CATEGORICAL && variable->states > 2 ? variable->states : 1;
    }
    const int64_t most = all < MOST_COLUMNS ? all : MOST_COLUMNS;
    r->columns = SALI_NEW_ARRAY(column, most);
    if (!r->columns) {
        return sali_fail_memory(err);
    }
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        bool one_hot = variable->kind == SAL_CATEGORICAL && variable->states > 2;
        for (int32_t s = 0; s < (one_hot ? variable->states : 1); s++, k++) {
            if (r->n < most && k >= (int64_t)((double)r->n / (double)most * (double)all)) {
                r->columns[r->n++] = (column){ v, one_hot ? s : -1 };
            }
        }
    }
    return SAL_OK;
}

/* Set the means and covariances of the held-out rows. */
static sal_status take_moments(sali_reference *r, sal_error *err)
{
    moments *m = &r->moments;
    sal_status status = moments_create(r->n, m, err);
    if (status == SAL_OK) {
        moments_add_rows(r, r->test, 0, r->test->rows, m);
    }
    for (int64_t i = 0; status == SAL_OK && i < r->n; i++) {
        m->sums[i] /= m->total;
        for (int64_t j = 0; j < i; j++) {
            double *p = &m->products[i * r->n + j];
            *p = *p / m->total - m->sums[i] * m->sums[j];
        }
    }
    return status;
}

/* Pack at most MOST_KERNEL_ROWS held-out rows, and set the mean kernel of two of them. */
static sal_status take_kernel(const sal_space *space, sali_reference *r, sal_error *err)
{
    sal_data rows = { 0 };
    sali_grouped some = { 0 };
    uint8_t largest = space->unbounded || space->max_states > UINT8_MAX
                          ? UINT8_MAX
                          : (uint8_t)(space->max_states > 1 ? space->max_states - 1 : 1);
    double sum = NAN, pairs = 1;
    rows = *r->test;
    rows.weight = NULL;
    r->planes = sali_packed_planes(1, &largest);
    sal_status status = sali_grouped_rows(&rows, MOST_KERNEL_ROWS, &some, err);
    bool ok = status == SAL_OK &&
              sali_packed_make(&r->packed, some.rows.rows, some.rows.variables, some.rows.codes,
                               r->planes) == 0 &&
              sali_kernel_sum(&r->packed, NULL, r->threads, &sum, &pairs) == 0;
    r->mean_kernel = ok ? sum / pairs : NAN; /* NaN for one row */
    sal_data_destroy(&some.rows);
    return status || ok ? status : sali_fail_memory(err);
}

sal_status sali_reference_create(const sal_space *space, const sal_data *test, int threads,
                                 sali_reference **out, sal_error *err)
{
    sali_reference *r = SALI_NEW_ARRAY(sali_reference, 1);
    if (!r) {
        return sali_fail_memory(err);
    }
    r->test = test;
    r->threads = threads;
    sal_status status = list_columns(space, r, err);
    status = status ? status : take_moments(r, err);
    status = status ? status : take_kernel(space, r, err);
    return SALI_GIVE(status, r, out, sali_reference_destroy);
}

void sali_reference_destroy(sali_reference *r)
{
    if (r) {
        sali_free(r->columns);
        sali_memory_free(&r->moments.memory);
        sali_packed_free(&r->packed);
        sali_free(r);
    }
}

double sali_reference_spread(const sali_reference *r)
{
    return 1 - r->mean_kernel;
}
