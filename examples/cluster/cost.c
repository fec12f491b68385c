/* SPDX-License-Identifier: MIT */
/* What a step of a run, or an iteration of a training, takes on many ranks: a model of its cost,
 * fitted to what measure.sh measured on one machine, and drawn to 1024 ranks of a cluster.
 *
 *     cost MEASURED.TXT [FIGURE.SVG]
 *
 * With S shards of 32 rows on P ranks, one after another:
 *
 *     u + ceil(S / P) s + E (o + k L ceil(log2 P)) + B (1 / W + r)
 *
 * u is what every rank does alike, s the time of a shard, E the number of exchanges, each with an
 * overhead o and k messages in a row for each doubling of the ranks; L is the delay of the network,
 * B the bytes that come or go at rank 0, W the network's rate, and r what a byte costs besides. u
 * and s come from one rank with two numbers of rows, o from two ranks on one machine, k and r from
 * far ranks, by least squares. B has a part for each row, and for trainings a part for each
 * parameter that grows with log2 P: sums travel in a tree, and the result comes back. */
#include <math.h>
#include <saltus/figure.h>
#include <saltus/saltus.h>
#include <stdio.h>
#include <string.h>

enum { WORKS = 3, MOST_ROWS = 64, DOUBLINGS = 10, SHARD = 32, SHARDS = 1 << DOUBLINGS };

/* One line of the table. */
typedef struct measured {
    char work[16];
    double rows, ranks, delay, rate; /* seconds; bytes a second, 0: one machine */
    double seconds, exchanges, bytes;
} measured;

typedef struct work {
    const char *name, *title;
    double parameters; /* a byte of them is sent for each of 12 bytes: 4 of sums, 8 of the result */
    double u, s, o, k, r, exchanges, row_bytes;
} work;

static work works[WORKS] = {
    { .name = "sample", .title = "sampling: 50 x 50 spins, gwg" },
    { .name = "rbm",
      .title = "training: RBM of 784 + 500 units",
      .parameters = 784 * 500 + 784 + 500 },
    { .name = "conv", .title = "training: conv net of USPS, gwg", .parameters = 284385 },
};

static int64_t read_table(const char *path, measured *rows)
{
    FILE *file = fopen(path, "r");
    int64_t n = 0;
    measured m;
    while (file && n < MOST_ROWS &&
           fscanf(file, "%15s %lf %lf %lf %lf %lf %lf %lf", m.work, &m.rows, &m.ranks, &m.delay,
                  &m.rate, &m.seconds, &m.exchanges, &m.bytes) == 8) {
        m.delay /= 1e3;
        m.rate *= 125e3;
        rows[n++] = m;
    }
    if (file) {
        fclose(file);
    }
    return n;
}

static double doublings(double ranks)
{
    return ceil(log2(ranks));
}

static double bytes_of(const work *w, double rows, double ranks)
{
    return rows * w->row_bytes + 12 * w->parameters * doublings(ranks);
}

/* Seconds of a step or iteration. */
static double predict(const work *w, double rows, double ranks, double delay, double rate,
                      double besides)
{
    const double bytes = ranks > 1 ? bytes_of(w, rows, ranks) : 0;
    const double exchanges = ranks > 1 ? w->exchanges : 0;
    return w->u + ceil(ceil(rows / SHARD) / ranks) * w->s +
           exchanges * (w->o + w->k * delay * doublings(ranks)) +
           (rate > 0 ? bytes * (1 / rate + besides) : 0);
}

static bool is_of(const measured *m, const work *w, double ranks, double rows)
{
    return strcmp(m->work, w->name) == 0 && m->ranks == ranks && (rows == 0 || m->rows == rows);
}

/* k and r: what far ranks take beyond the rest, by least squares of relative errors. */
static void fit_far(work *w, int64_t n, const measured *rows)
{
    double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
    w->k = w->r = 0;
    for (int64_t i = 0; i < n; i++) {
        const measured *m = &rows[i];
        if (strcmp(m->work, w->name) == 0 && m->rate > 0) {
            const double weight = 1 / (m->seconds * m->seconds);
            const double rest = m->seconds - predict(w, m->rows, m->ranks, m->delay, m->rate, 0);
            const double a = w->exchanges * m->delay * doublings(m->ranks);
            const double b = bytes_of(w, m->rows, m->ranks);
            aa += weight * a * a;
            ab += weight * a * b;
            bb += weight * b * b;
            ay += weight * a * rest;
            by += weight * b * rest;
        }
    }
    const double det = aa * bb - ab * ab;
    w->k = (ay * bb - by * ab) / det;
    w->r = (by * aa - ay * ab) / det;
    if (w->r < 0 || det <= 0) { /* bytes count for nothing */
        w->r = 0;
        w->k = ay / aa;
    }
}

static bool fit(work *w, int64_t n, const measured *rows)
{
    double few = 0, many = 0, two = 0;
    for (int64_t i = 0; i < n; i++) {
        const measured *m = &rows[i];
        few = is_of(m, w, 1, 128) ? m->seconds : few;
        many = is_of(m, w, 1, 256) ? m->seconds : many;
        if (is_of(m, w, 2, 128) && m->rate == 0) {
            two = m->seconds;
            w->exchanges = m->exchanges;
            w->row_bytes = (m->bytes - 12 * w->parameters) / m->rows;
        }
    }
    w->s = (many - few) / 4;
    w->u = fmax(few - 4 * w->s, 0);
    w->s = (few - w->u) / 4;
    w->o = fmax((two - w->u - 2 * w->s) / w->exchanges, 0);
    fit_far(w, n, rows);
    return few > 0 && many > 0 && two > 0;
}

/* ---- what is printed and drawn */

static const struct {
    const char *name;
    double delay, rate, overhead; /* seconds, bytes a second, seconds of an exchange */
} networks[] = { { "InfiniBand, 2 us, 12 GB/s", 2e-6, 12e9, 2e-6 },
                 { "Ethernet, 30 us, 1.2 GB/s", 30e-6, 1.2e9, 10e-6 },
                 { "far, 5 ms, 0.12 GB/s", 5e-3, 0.12e9, 10e-6 } };
#define NETWORKS ((int)(sizeof networks / sizeof *networks))

static void print_fit(const work *w, int64_t n, const measured *rows)
{
    printf("\n%s\n  u %.3g ms, s %.3g ms, o %.3g ms, k %.2f, r %.3g ns; %.3g exchanges; %.3g "
           "bytes a row\n  ranks  delay [ms]  rate [MB/s]  measured [ms]  model [ms]\n",
           w->title, 1e3 * w->u, 1e3 * w->s, 1e3 * w->o, w->k, 1e9 * w->r, w->exchanges,
           w->row_bytes);
    for (int64_t i = 0; i < n; i++) {
        const measured *m = &rows[i];
        if (strcmp(m->work, w->name) == 0) {
            printf("  %5.0f  %10.1f  %11.1f  %13.3f  %10.3f\n", m->ranks, 1e3 * m->delay,
                   m->rate / 1e6, 1e3 * m->seconds,
                   1e3 * predict(w, m->rows, m->ranks, m->delay, m->rate, w->r));
        }
    }
}

/* Speed-up over one rank of 1024 shards, on 1, 2, 4, .. ranks, and a panel of it. */
static void draw(const work *w, sal_figure *figure)
{
    double x[DOUBLINGS + 1], y[DOUBLINGS + 1];
    const double rows = SHARD * SHARDS, one = predict(w, rows, 1, 0, 0, 0);
    sal_figure_panel(figure, &(sal_panel){ .title = w->title,
                                           .x = { .label = "ranks", .logarithmic = true },
                                           .y = { .label = "speed-up", .logarithmic = true } });
    for (int j = 0; j < NETWORKS; j++) {
        work on = *w;
        int half = 0, best = 0;
        on.o = networks[j].overhead;
        printf("  %-26s", networks[j].name);
        for (int p = 0; p <= DOUBLINGS; p++) {
            x[p] = exp2(p);
            y[p] = one / predict(&on, rows, x[p], networks[j].delay, networks[j].rate, 0);
            half = y[p] >= x[p] / 2 ? p : half;
            best = y[p] > y[best] ? p : best;
            if (p % 2 == 0) {
                printf("  %6.1f", y[p]);
            }
        }
        printf("   %4.0f %8.0f\n", exp2(half), exp2(best));
        sal_figure_series(figure, &(sal_series){ .name = networks[j].name,
                                                 .mark = SAL_MARK_BOTH,
                                                 .n = DOUBLINGS + 1,
                                                 .x = x,
                                                 .y = y });
    }
    sal_figure_series(
        figure, &(sal_series){ .name = "one for each rank", .n = DOUBLINGS + 1, .x = x, .y = x });
}

int main(int argc, char **argv)
{
    measured rows[MOST_ROWS];
    sal_figure *figure = NULL;
    sal_error err = { 0 };
    if (argc < 2) {
        fprintf(stderr, "cost MEASURED.TXT [FIGURE.SVG]\n");
        return 64;
    }
    const int64_t n = read_table(argv[1], rows);
    bool good = true;
    for (int k = 0; k < WORKS && good; k++) {
        good = fit(&works[k], n, rows);
    }
    if (!good) {
        fprintf(stderr, "%s: not a table of measure.sh\n", argv[1]);
        return 65;
    }
    const sal_figure_options options = {
        .title = "1024 shards of 32 rows on many ranks",
        .description = "Speed-up against ranks for sampling and two trainings, on three networks",
    };
    sal_status status = sal_figure_create(&options, &figure, &err);
    for (int k = 0; k < WORKS && status == SAL_OK; k++) {
        print_fit(&works[k], n, rows);
        printf("  speed-up on ranks               1       4      16      64     256    1024   half "
               "of it, most: up to\n");
        draw(&works[k], figure);
    }
    status = status ? status : sal_figure_write(figure, argc > 2 ? argv[2] : "cost.svg", &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    sal_figure_destroy(figure);
    return status != SAL_OK;
}
