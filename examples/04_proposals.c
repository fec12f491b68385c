/* Lesson 4. What samplers propose: six pictures, on each of two lattices.
 *
 * Two variables with 50 levels each, -1.5 .. 3, and most of the mass along a diagonal: figure 3 of
 * Rhodes & Gutmann 2022, polynomials of order 2 (eq. 19) and 4 (eq. 20). A chain stands at one
 * state, a little off the diagonal. Each panel shows with what probability a sampler proposes each
 * state from there, before it is accepted or refused: ncg, avg and pavg as in figure 1 of the
 * paper, gwg, gwg with a window and uniform as in figure 6, by its formulas. Inside the line lie
 * the states with p(s) of at least e^-3 times the largest.
 *
 *     04_proposals      prints a table and writes 04_proposals.svg */
#include <math.h>
#include <saltus/figure.h>
#include <saltus/saltus.h>
#include <stdlib.h>
#include <string.h>

enum { L = 50, SHOWN = 24, STATES = L * L, PROPOSALS = 6, NOISE = 81 };

/* State number k has level k % L of s_1 and k / L of s_2. */
typedef struct target {
    double level[L], f[STATES]; /* f at all states */
    double edge;                /* f from here on is inside the line */
    int at[2];                  /* the present state's levels */
    double s[2], gradient[2];   /* its values; the gradient of f there */
    double hessian[2][2];       /* likewise */
} target;

typedef void proposal(const target *t, double *q); /* fills q [STATES], in proportion */

/* g'(s' - s), what the gradient promises of level k of variable i */
static double promise(const target *t, int i, int k)
{
    return t->gradient[i] * (t->level[k] - t->s[i]);
}

/* ---- one variable (eq. 6 and appendix G) */

static void window(const target *t, double *q, int radius)
{
    for (int k = 0; k < STATES; k++) {
        int level[2] = { k % L, k / L };
        int i = level[0] == t->at[0]; /* the variable that may differ */
        int step = level[i] - t->at[i];
        if (level[1 - i] == t->at[1 - i] && step != 0 && step >= -radius && step <= radius) {
            q[k] = exp(promise(t, i, level[i]) / 2);
        }
    }
}

static void gwg(const target *t, double *q)
{
    window(t, q, L);
}

static void ordinal_gwg(const target *t, double *q)
{
    window(t, q, 3);
}

/* ---- both variables; a product of what the two propose is filled in by `multiply` */

static void multiply(const double *q1, const double *q2, double weight, double *q)
{
    double sum1 = 0, sum2 = 0;
    for (int k = 0; k < L; k++) {
        sum1 += q1[k];
        sum2 += q2[k];
    }
    for (int k = 0; k < STATES; k++) {
        q[k] += weight * q1[k % L] / sum1 * q2[k / L] / sum2;
    }
}

/* All states within two levels. */
static void uniform(const target *t, double *q)
{
    for (int k = 0; k < STATES; k++) {
        q[k] = abs(k % L - t->at[0]) <= 2 && abs(k / L - t->at[1]) <= 2;
    }
}

/* Eq. 8, with the square completed: exp(g'(s' - s) / 2 - |s' - s|^2 / (2 eps)). */
static void ncg(const target *t, double *q)
{
    const double eps = 0.08;
    double qi[2][L];
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < L; k++) {
            double d = t->level[k] - t->s[i];
            qi[i][k] = exp(promise(t, i, k) / 2 - d * d / (2 * eps));
        }
    }
    multiply(qi[0], qi[1], 1, q);
}

/* The root R of M_eps = M + delta I, with R R = M_eps (2 x 2, symmetric). */
static void root(double M[2][2], double delta, double R[2][2])
{
    double a = M[0][0] + delta, b = M[0][1], c = M[1][1] + delta;
    double d = sqrt(fmax(0, a * c - b * b)), scale = sqrt(a + c + 2 * d);
    R[0][0] = (a + d) / scale;
    R[0][1] = R[1][0] = b / scale;
    R[1][1] = (c + d) / scale;
}

/* Eq. 17, averaged over z = R s + n, n ~ N(0, I), on a grid: exp([g - M s + R z]_i s'_i - delta/2
 * s'_i^2). With M = 0 and delta = 2/eps that is eq. 13. */
static void auxiliary(const target *t, double M[2][2], double delta, double *q)
{
    double R[2][2], qi[2][L], n[2];
    root(M, delta, R);
    for (int k = 0; k < NOISE * NOISE; k++) {
        n[0] = 0.1 * (k % NOISE - NOISE / 2); /* -4 .. 4 */
        n[1] = 0.1 * (k / NOISE - NOISE / 2);
        for (int i = 0; i < 2; i++) {
            /* R z - M s = delta s + R n */
            double pull = t->gradient[i] + R[i][0] * n[0] + R[i][1] * n[1];
            for (int v = 0; v < L; v++) {
                double d = t->level[v] - t->s[i];
                qi[i][v] = exp(pull * d - delta / 2 * d * d);
            }
        }
        multiply(qi[0], qi[1], exp(-(n[0] * n[0] + n[1] * n[1]) / 2), q);
    }
}

static void avg(const target *t, double *q)
{
    double none[2][2] = { { 0, 0 }, { 0, 0 } };
    auxiliary(t, none, 2 / 0.08, q);
}

/* M is the Hessian where the chain stands, and delta as small as the root allows (appendix F). */
static void pavg(const target *t, double *q)
{
    double M[2][2];
    memcpy(M, t->hessian, sizeof M);
    double mean = (M[0][0] + M[1][1]) / 2, half = (M[0][0] - M[1][1]) / 2;
    double least = mean - sqrt(half * half + M[0][1] * M[0][1]);
    auxiliary(t, M, 1 + fmax(0, -least), q);
}

/* ---- the target */

/* The Hessian by differences of gradients, which exist off the lattice as well. */
static sal_status look(sal_model *model, target *t, sal_error *err)
{
    const double h = 1e-4;
    int32_t codes[2 * STATES];
    double f[4], x[8], g[8];
    for (int k = 0; k < STATES; k++) {
        codes[2 * k] = k % L;
        codes[2 * k + 1] = k / L;
    }
    for (int k = 0; k < L; k++) {
        t->level[k] = -1.5 + 4.5 * k / (L - 1);
    }
    for (int i = 0; i < 2; i++) {
        t->s[i] = t->level[t->at[i]];
    }
    for (int k = 0; k < 4; k++) { /* s + h e_1, s + h e_2, s - h e_1, s - h e_2 */
        for (int i = 0; i < 2; i++) {
            x[2 * k + i] = t->s[i] + (k % 2 == i ? (k < 2 ? h : -h) : 0);
        }
    }
    sal_status status = sal_model_evaluate(model, STATES, codes, t->f, NULL, NULL, err);
    status = status ? status : sal_model_evaluate_at(model, 4, x, f, g, err);
    t->edge = -INFINITY;
    for (int k = 0; status == SAL_OK && k < STATES; k++) {
        t->edge = fmax(t->edge, t->f[k] - 3);
    }
    for (int i = 0; status == SAL_OK && i < 2; i++) {
        t->gradient[i] = (g[i] + g[2 + i] + g[4 + i] + g[6 + i]) / 4;
        for (int j = 0; j < 2; j++) {
            t->hessian[i][j] = (g[2 * j + i] - g[4 + 2 * j + i]) / (2 * h);
        }
    }
    return status;
}

/* ---- table and figure */

static void print_row(const target *t, const char *name, const double *q)
{
    double changed[3] = { 0 }, along = 0, across = 0, inside = 0;
    for (int k = 0; k < STATES; k++) {
        double d1 = t->level[k % L] - t->s[0], d2 = t->level[k / L] - t->s[1];
        changed[(k % L != t->at[0]) + (k / L != t->at[1])] += q[k];
        inside += t->f[k] > t->edge ? q[k] : 0;
        along += q[k] * (d1 + d2) * (d1 + d2) / 2;
        across += q[k] * (d1 - d2) * (d1 - d2) / 2;
    }
    printf("%-13s %6.3f %6.3f %6.3f   %6.3f   %6.2f %7.2f\n", name, changed[0], changed[1],
           changed[2], inside, sqrt(along), sqrt(across));
}

/* The line around the states of large p: along the lower edge and back along the upper one. */
static void add_outline(sal_figure *figure, const target *t)
{
    double x[2 * L + 1], y[2 * L + 1];
    int n = 0;
    for (int c = 0; c < 2 * L; c++) {
        int column = c < L ? c : 2 * L - 1 - c;
        for (int r = 0; r < L; r++) {
            int row = c < L ? r : L - 1 - r;
            if (t->f[row * L + column] > t->edge) {
                x[n] = t->level[column];
                y[n++] = t->level[row];
                break;
            }
        }
    }
    x[n] = x[0];
    y[n++] = y[0];
    sal_figure_series(figure, &(sal_series){ .n = n, .x = x, .y = y, .style = 2 });
}

static void add_panel(sal_figure *figure, const target *t, int order, const char *name,
                      const double *q)
{
    static double shown[SHOWN * SHOWN];
    char title[40];
    snprintf(title, sizeof title, "order %d: %s", order, name);
    for (int k = 0; k < SHOWN * SHOWN; k++) {
        shown[k] = sqrt(q[k / SHOWN * L + k % SHOWN]); /* the root: small ones are seen, too */
    }
    const sal_heatmap map = { .rows = SHOWN,
                              .columns = SHOWN,
                              .values = shown,
                              .label = "root of q",
                              .upward = true,
                              .x0 = t->level[0],
                              .dx = t->level[1] - t->level[0],
                              .y0 = t->level[0],
                              .dy = t->level[1] - t->level[0] };
    sal_figure_panel(figure, &(sal_panel){ .title = title,
                                           .x = { .label = "s_1" },
                                           .y = { .label = "s_2" },
                                           .square = true,
                                           .heatmap = &map });
    add_outline(figure, t);
    sal_figure_mark(figure, t->s[0], t->s[1], NULL);
}

/* The table and the panels of one lattice. */
static sal_status show(int order, sal_figure *figure, sal_error *err)
{
    static const struct {
        const char *name;
        proposal *fill;
    } proposals[PROPOSALS] = { { "gwg", gwg },         { "gwg:radius=3", ordinal_gwg },
                               { "uniform", uniform }, { "ncg", ncg },
                               { "avg", avg },         { "pavg", pavg } };
    char lattice[40];
    target t = { .at = { 9, 6 } };
    sal_model *model = NULL;
    snprintf(lattice, sizeof lattice, "ordinal-poly%d:dim=2", order);
    sal_status status = sal_model_open(lattice, SAL_F64, &model, err);
    status = status ? status : look(model, &t, err);
    sal_model_destroy(model);
    if (status != SAL_OK) {
        return status;
    }
    printf("%s at (%.2f, %.2f), gradient (%.2f, %.2f)\n", lattice, t.s[0], t.s[1], t.gradient[0],
           t.gradient[1]);
    printf("Hessian %.2f, and %.2f off its diagonal\n\n", t.hessian[0][0], t.hessian[0][1]);
    printf("                variables changed     inside   root of mean square\n");
    printf("proposal        none    one   both  the line    along  across the diagonal\n");
    for (int k = 0; k < PROPOSALS; k++) {
        static double q[STATES];
        double sum = 0;
        memset(q, 0, sizeof q);
        proposals[k].fill(&t, q);
        for (int j = 0; j < STATES; j++) {
            sum += q[j];
        }
        for (int j = 0; j < STATES; j++) {
            q[j] /= sum;
        }
        print_row(&t, proposals[k].name, q);
        add_panel(figure, &t, order, proposals[k].name, q);
    }
    printf("\n");
    return SAL_OK;
}

/* What to see:
 *
 * - gwg moves in a cross, and believes the slope where it stands however far it goes: most of what
 *   it proposes is where p is next to nothing. A window of levels mends that (appendix G).
 * - ncg and avg change both variables, and lean the way the gradient points. They propose the same
 *   here, since on so fine a lattice both are normal with variance eps. On a coarse one, as for
 *   spins, they differ (lesson 5).
 * - pavg alone has a proposal that is longer along the diagonal than across it. The numbers do not
 *   say so of order 4, where the slope is steep: across includes the way back to the diagonal. */
int main(void)
{
    sal_error err = { 0 };
    sal_figure *figure = NULL;
    sal_figure_options o = { .title = "What samplers propose", .panel_width = 200 };
    sal_status status = sal_figure_create(&o, &figure, &err);
    status = status ? status : show(2, figure, &err);
    status = status ? status : show(4, figure, &err);
    status = status ? status : sal_figure_write(figure, "04_proposals.svg", &err);
    sal_figure_destroy(figure);
    if (status != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    printf("wrote 04_proposals.svg\n");
}

/* SPDX-License-Identifier: MIT */
