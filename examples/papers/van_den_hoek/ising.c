/* Gibbs against Gibbs with gradients on Ising lattices: figures 4, 5, 12 and 13 of van den Hoek's
 * thesis (2022), effective samples of 1000 draws and the time of one. N x N spins, free borders,
 * an edge counts once:
 *
 *     f(s) = J sum_<ij> s_i s_j, s_i = -1 or +1, so that our theta = J / 2
 *
 *     ising [--quick | --full] [--svg FIGURE.svg]
 *
 * --full keeps four times as many draws, as far as N = 20; else N goes up to 14. */
#include "../program.h"
#include "compare.h"

enum { MOST = 20, COUPLINGS = 9 };

typedef struct results {
    int couplings, sides;
    double J[COUPLINGS], N[MOST];
    figures of[COUPLINGS][MOST][SAMPLERS];
} results;

static sal_status measure(results *r, int64_t draws, sal_error *err)
{
    sal_status status = SAL_OK;
    compare_head("Ising", "N     J");
    for (int j = 0; j < r->couplings; j++) {
        for (int n = 0; n < r->sides && status == SAL_OK; n++) {
            char text[80];
            snprintf(text, sizeof text, "ising:cyclic=0,side=%g,theta=%g", r->N[n], r->J[j] / 2);
            printf("%8g%6.1f", r->N[n], r->J[j]);
            status = compare_row(text, draws, r->of[j][n], err);
        }
    }
    return status;
}

/* A panel for one J, a curve a sampler. */
static void draw_samplers(const results *r, int j, bool times, sal_figure *figure)
{
    char title[40];
    snprintf(title, sizeof title, "Figure %d: J = %g", times ? 5 : 4, r->J[j]);
    compare_panel(title, r->sides, r->N, r->of[j], times ? SHOW_PER_SAMPLE : SHOW_ESS, figure);
}

/* A panel for one sampler, a curve a J. */
static void draw_couplings(const results *r, int sampler, sal_figure *figure)
{
    char title[40], name[COUPLINGS][32];
    snprintf(title, sizeof title, "Figure %d: %s", sampler == GWG ? 13 : 12,
             sampler_names[sampler]);
    panel p = { .title = title,
                .x_label = "N",
                .y_label = "ESS of 1000 draws",
                .log_y = true,
                .points = r->sides,
                .curves = r->couplings };
    for (int j = 0; j < r->couplings; j++) {
        snprintf(name[j], sizeof name[j], "J = %g", r->J[j]);
        p.name[j] = name[j];
        for (int n = 0; n < r->sides; n++) {
            p.x[n] = r->N[n];
            p.y[j][n] = r->of[j][n][sampler].ess;
        }
    }
    panel_draw(&p, figure);
}

/* Figures 4 and 5 are of J = 0.1, 0.5, 0.9: every fourth. */
static void draw(const results *r, sal_figure *figure)
{
    for (int times = 0; times < 2; times++) {
        for (int j = 0; j < r->couplings; j += r->couplings == COUPLINGS ? 4 : 1) {
            draw_samplers(r, j, times != 0, figure);
        }
    }
    draw_couplings(r, RANDOM_SCAN, figure);
    draw_couplings(r, GWG, figure);
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static results r;
    const int64_t draws = a->size == QUICK ? 500 : a->size == FULL ? 4000 : 1000;
    r.couplings = a->size == QUICK ? 3 : COUPLINGS;
    for (int j = 0; j < r.couplings; j++) {
        r.J[j] = a->size == QUICK ? 0.1 + 0.4 * j : 0.1 + 0.1 * j;
    }
    r.sides = a->size == QUICK ? 3 : a->size == FULL ? MOST : 14;
    for (int n = 0; n < r.sides; n++) {
        r.N[n] = a->size == QUICK ? 2 + 3 * n : n + 1;
    }
    sal_status status = compare_begin(err);
    status = status ? status : measure(&r, draws, err);
    if (status == SAL_OK && figure) {
        draw(&r, figure);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = {
        .title = "van den Hoek 2022, figures 4, 5, 12 and 13: Ising lattices, is a gradient worth "
                 "its price?",
        .caption = "Effective samples in 1000 draws, and processor time of one thread; "
                   "lattices of N x N spins with free borders.",
        .run = make_figure
    };
    return program_main(argc, argv, &p);
}

/* SPDX-License-Identifier: MIT */
