/* SPDX-License-Identifier: MIT */
/* Is eq. 5 of Sansone (2022) what one should learn a balancing function by? On models of nine
 * variables the transition matrix is known, and with it the spectral gap and the expected jump of
 * any balancing function. The best functions by either are compared with those that LSB learns, and
 * with the best ones by eq. 6 and by eq. 3, without the noise of learning.
 *
 *     tuning [--quick | --full] [--svg FIGURE.svg]
 *
 * Two families: the mixtures of LSB 1, and all of log g(t) = log(t) / 2 + phi(|log t|), which are
 * all balancing functions. phi is linear between nodes: at each value of |log t| that the model has
 * if there are at most 8, so that the optimum is over all functions, else at 8 spread ones. The gap
 * is 1 - the second eigenvalue of the transition matrix; its inverse is the time in which the
 * slowest function of the state relaxes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "../program.h"
#include "exact.h"
#include "learned.h"
#include "network.h"
#include "simplex.h"

enum { MOST_NODES = 8 };
enum { GAP, JUMP, OBJECTIVE, INFORMATION, CRITERIA };

static const char *const method_names[] = { "t/(1+t)",  "sqrt(t)",          "min(1,t)",
                                            "max(1,t)", "LSB1, as learned", "LSB2, as learned" };
static const char network[] = "network of exclusive ors";
static const char *const samplers[] = { "lb", "lb", "lb", "lb", "lsb1", "lsb2" };

typedef struct study {
    exact e;
    panel curves; /* g(t) / g(1) of the methods, and of what is best of any g */
    int nodes;
    double node[MOST_NODES]; /* |log t|, rising from the least */
    bool mixture;            /* which family is searched */
    int criterion;
} study;

/* ---- families */

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sal_status place_nodes(study *s)
{
    double *u = malloc((size_t)s->e.moves * sizeof *u);
    if (!u) {
        return SAL_ERR_MEMORY;
    }
    int n = 0;
    for (int i = 0; i < s->e.moves; i++) {
        u[i] = fabs(log(s->e.t[i]));
    }
    qsort(u, (size_t)s->e.moves, sizeof *u, rising);
    for (int i = 0; i < s->e.moves; i++) {
        if (n == 0 || u[i] > u[n - 1] + 1e-9) {
            u[n++] = u[i];
        }
    }
    s->nodes = n < MOST_NODES ? n : MOST_NODES;
    for (int k = 0; k < s->nodes; k++) {
        s->node[k] = n <= MOST_NODES ? u[k] : u[n - 1] * k / (MOST_NODES - 1);
    }
    free(u);
    return SAL_OK;
}

/* phi(u), 0 at the first node, from its values at the others. */
static double phi(const study *s, const double *x, double u)
{
    for (int k = 1; k < s->nodes; k++) {
        double before = k == 1 ? 0 : x[k - 2], part = s->node[k] - s->node[k - 1];
        if (u <= s->node[k] || k == s->nodes - 1) {
            return before + (x[k - 1] - before) * (u - s->node[k - 1]) / part;
        }
    }
    return 0;
}

static int dimension(const study *s)
{
    return s->mixture ? 3 : s->nodes - 1;
}

/* e->g of the parameters x of the family. */
static void take(study *s, const double *x)
{
    const double theta[4] = { 0, x[0], x[1], x[2] };
    if (s->mixture) {
        mixture_function(theta, s->e.moves, s->e.t, s->e.g);
        return;
    }
    for (int i = 0; i < s->e.moves; i++) {
        double u = log(s->e.t[i]);
        s->e.g[i] = exp(u / 2 + phi(s, x, fabs(u)));
    }
}

/* Less is better. */
static double cost(const double *x, void *data)
{
    study *s = data;
    take(s, x);
    worth w = exact_worth(&s->e, s->criterion == GAP);
    return s->criterion == GAP         ? -log(fmax(w.gap, 1e-12))
           : s->criterion == JUMP      ? -w.jump
           : s->criterion == OBJECTIVE ? w.objective
                                       : w.information;
}

static const char *const wanted[CRITERIA] = { "largest gap", "largest jump", "least eq. 6",
                                              "least eq. 3" };

/* The curve of a function of the second family. */
static void draw_phi(study *s, int criterion, const double *x)
{
    panel *p = &s->curves;
    int curve = p->curves++;
    p->name[curve] = wanted[criterion];
    for (int k = 0; k < p->points; k++) {
        double u = log(p->x[k]);
        p->y[curve][k] = exp(u / 2 + phi(s, x, fabs(u)) - phi(s, x, 0));
    }
}

/* The best of searches that begin at each of the four functions. */
static worth search(study *s, bool mixture, int criterion, int evaluations)
{
    double best[SIMPLEX_DIM] = { 0 }, least = INFINITY;
    s->mixture = mixture;
    s->criterion = criterion;
    for (int method = BARKER; method <= MAX; method++) {
        static const int place[] = { [SQRT] = 0, [BARKER] = 1, [MIN] = 2, [MAX] = 3 };
        double x[SIMPLEX_DIM] = { 0 };
        for (int k = 0; k < dimension(s); k++) {
            double t[2] = { exp(s->node[0]), exp(s->node[(k + 1) % s->nodes]) }, g[2];
            ready_made_function(method, 2, t, g);
            x[k] = mixture ? (place[method] == 0       ? -3
                              : place[method] == k + 1 ? 3
                                                       : 0)
                           : log(g[1] / sqrt(t[1])) - log(g[0] / sqrt(t[0]));
        }
        double value = simplex_minimum(dimension(s), x, evaluations, cost, s);
        if (value < least) {
            least = value;
            for (int k = 0; k < SIMPLEX_DIM; k++) {
                best[k] = x[k];
            }
        }
    }
    if (!mixture) {
        draw_phi(s, criterion, best);
    }
    take(s, best);
    return exact_worth(&s->e, true);
}

/* ---- a model */

static void print(const char *name, worth w)
{
    printf("%-32s %9.5f %8.4f %10.4f %10.4f\n", name, w.gap, w.jump, w.objective, w.information);
    fflush(stdout);
}

static sal_status draw_method(const sal_run *run, int method, panel *p, sal_error *err)
{
    double one = 1, at_one, *g = p->y[p->curves];
    sal_status status = balancing_function(run, method, 1, &one, &at_one, err);
    status = status ? status : balancing_function(run, method, p->points, p->x, g, err);
    p->name[p->curves++] = method_names[method];
    for (int k = 0; k < p->points && status == SAL_OK; k++) {
        g[k] /= at_one;
    }
    return status;
}

/* The four functions, and those that runs learn. */
static sal_status print_methods(sal_model *model, study *s, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int method = BARKER; method <= LSB2 && status == SAL_OK; method++) {
        sal_run *run = NULL;
        const sal_run_options o = { .sampler = samplers[method],
                                    .chains = 30,
                                    .warmup = 2000,
                                    .draws = 1,
                                    .seed = 1,
                                    .threads = 1 };
        status = method >= LSB1 ? sal_sample(model, &o, &run, err) : SAL_OK;
        status = status ? status : balancing_function(run, method, s->e.moves, s->e.t, s->e.g, err);
        status = status ? status : draw_method(run, method, &s->curves, err);
        if (status == SAL_OK) {
            print(method_names[method], exact_worth(&s->e, true));
        }
        sal_run_destroy(run);
    }
    return status;
}

static sal_status study_model(const char *text, int evaluations, sal_figure *figure, sal_error *err)
{
    study s = { .curves = { .title = text,
                            .x_label = "t",
                            .y_label = "g(t) / g(1)",
                            .points = TRACE_POINTS } };
    for (int k = 0; k < TRACE_POINTS; k++) {
        s.curves.x[k] = trace_t(k);
    }
    sal_model *model = NULL;
    sal_status status = strcmp(text, network) == 0 ? made_network(9, &model, err)
                                                   : sal_model_open(text, SAL_F64, &model, err);
    status = status ? status : exact_open(model, &s.e, err);
    status = status ? status : place_nodes(&s);
    if (status == SAL_OK) {
        printf("\n%s\n%-32s %9s %8s %10s %10s\n", text, "", "gap", "jump", "eq. 6", "eq. 3");
        status = print_methods(model, &s, err);
    }
    for (int family = 0; family < 2 && status == SAL_OK; family++) {
        for (int criterion = 0; criterion < CRITERIA; criterion++) {
            char name[60];
            snprintf(name, sizeof name, "%s, %s", wanted[criterion],
                     family == 0 ? "mixture" : "any g");
            print(name, search(&s, family == 0, criterion, evaluations));
        }
    }
    panel_draw(&s.curves, figure);
    exact_close(&s.e);
    sal_model_destroy(model);
    return status;
}

static sal_status make_figure(const arguments *a, sal_figure *figure, sal_error *err)
{
    static const char *const models[] = {
        "ising:side=3,theta=0.1",
        "ising:side=3,theta=0.1,bias=0.3",
        "ising:side=3,theta=0.2",
        "segmentation:side=3,lambda=0,mu=3,noise=uniform,alpha=observed,cyclic=1",
        "segmentation:side=3,lambda=1,mu=1,noise=uniform,alpha=observed,cyclic=1",
        "segmentation:side=3,lambda=1,mu=3,noise=uniform,alpha=observed,cyclic=1",
        network,
    };
    const int n = a->size == QUICK ? 2 : sizeof models / sizeof *models;
    const int evaluations = a->size == QUICK ? 40 : a->size == USUAL ? 300 : 1000;
    sal_status status = SAL_OK;
    for (int k = 0; k < n && status == SAL_OK; k++) {
        status = study_model(models[k], evaluations, figure, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    static const program p = { .title = "Sansone 2022, eq. 5, and what is best",
                               .caption =
                                   "Balancing functions, and the best of all of them by four "
                                   "criteria.",
                               .run = make_figure };
    return program_main(argc, argv, &p);
}
