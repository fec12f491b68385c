/* Gibbs against Gibbs with gradients on Potts lattices: figures 6 and 7 of van den Hoek's thesis
 * (2022), the time of a draw and of an effective sample. N x N sites of q labels, free borders, an
 * edge counts once:
 *
 *     f(s) = J sum_<ij> [s_i = s_j], so that our theta = J / 2
 *
 *     potts [--quick | --full] [--svg FIGURE.svg]
 *
 * J = 0.5; --full adds 0.1 and 0.9. The thesis has q up to 10; 20 and 50 are to answer its first
 * open question. */
#include "../program.h"
#include "compare.h"

enum { LABELS = 5, SIDES = 5 };

static const int labels[LABELS] = { 4, 7, 10, 20, 50 };

typedef struct results {
    double J, N[SIDES];
    int labels, sides;
    figures of[LABELS][SIDES][SAMPLERS];
} results;

static sal_status measure(results *r, int64_t draws, sal_error *err)
{
    char text[80];
    sal_status status = SAL_OK;
    snprintf(text, sizeof text, "Potts, J = %g", r->J);
    compare_head(text, "q     N");
    for (int q = 0; q < r->labels; q++) {
        for (int n = 0; n < r->sides && status == SAL_OK; n++) {
            snprintf(text, sizeof text, "potts:cyclic=0,side=%g,states=%d,theta=%g", r->N[n],
                     labels[q], r->J / 2);
            printf("%8d%6g", labels[q], r->N[n]);
            status = compare_row(text, draws, r->of[q][n], err);
        }
    }
    return status;
}

static void draw(const results *r, int q, bool samples, sal_figure *figure)
{
    char title[60];
    snprintf(title, sizeof title, "Figure %d: q = %d, J = %g", samples ? 7 : 6, labels[q], r->J);
    compare_panel(title, r->sides, r->N, r->of[q], samples ? SHOW_PER_SAMPLE : SHOW_DRAW, figure);
}

static sal_status coupling(double J, const arguments *a, sal_figure *figure, sal_error *err)
{
    results r = { .J = J,
                  .labels = a->size == QUICK ? 3 : LABELS,
                  .sides = a->size == QUICK ? 2 : SIDES };
    for (int n = 0; n < r.sides; n++) {
        r.N[n] = 2 + 2 * n;
    }
    sal_status status = measure(&r, a->size == FULL ? 2000 : 400, err);
    for (int samples = 0; samples < 2 && status == SAL_OK && figure; samples++) {
        for (int q = 0; q < r.labels; q++) {
            draw(&r, q, samples != 0, figure);
        }
    }
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    sal_status status = compare_begin(err);
    status = status ? status : coupling(0.5, a, figure, err);
    status = status || a->size != FULL ? status : coupling(0.1, a, figure, err);
    return status || a->size != FULL ? status : coupling(0.9, a, figure, err);
}

int main(int argc, char **argv)
{
    static const program p = {
        .title = "van den Hoek 2022, figures 6 and 7: Potts lattices, more labels, more gradient?",
        .caption = "Processor time of one thread; lattices of N x N "
                   "sites with q labels and free borders.",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
