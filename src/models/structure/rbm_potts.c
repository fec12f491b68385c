/* SPDX-License-Identifier: MIT */
/* A hidden unit's term is softplus(y) = y / 2 + psi(y), with y = c + sum_i w_i(s_i), where w_i has
 * the mean 0 over the states of site i. psi is even, and but for a constant
 *
 *     psi(y) = -1 / (2 pi) int g(t) exp(i t y) dt,    g(t) = pi / (t sinh(pi t)),
 *
 * if only such differences of psi are taken that the integrand is finite at t = 0. The mean over
 * the states of a site replaces exp(i t w_k(s_k)) by chi_k(t), its mean. So the terms of one and of
 * two sites are, with u_i(a) = exp(i t w_i(a)) / chi_i - 1,
 *
 *     h_i(a)     = w_i(a) / 2 - 1 / (2 pi) int g(t) exp(i t c) prod_k chi_k(t) u_i(a) dt,
 *     J_ij(a, b) =            - 1 / (2 pi) int g(t) exp(i t c) prod_k chi_k(t) u_i(a) u_j(b) dt.
 *
 * The integral is twice the real part of the sum over t = (m + 1/2) step, which repeats psi with a
 * period of 2 pi / step: its error is exp(-REACH) if that is REACH more than the largest |y|. */
#include "models/structure/rbm_potts.h"

#include <complex.h>
#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/vector/blas.h"
#include "models/clamp.h"
#include "models/structure/affine_form.h"
#include "models/structure/sum_form.h"

#define REACH 25.0
#define LAST 9.0 /* of t: g is below 1e-11 there */
/* Most nodes of an integral: units whose |y| may be above about 5700 are refused. */
#define MOST_NODES 8192
/* In place of chi_i(t) = 0, by which its factor in the product is divided away. */
#define TINY 1e-100

static const double pi = 3.14159265358979323846;

typedef struct rbm {
    sali_sum_form sum;
    sali_affine_form units;
} rbm;

/* Read the form of f into *r. SAL_ERR_UNSUPPORTED: it is not known to be an RBM of letters. */
static sal_status find_form(const sal_model *model, rbm *r)
{
    const sali_tape_model *tape = sali_model_tape(model);
    const sal_space *space = model->space;
    if (!tape || sali_clamp_inner(model) != model || tape->program->state < 0) {
        return SAL_ERR_UNSUPPORTED;
    }
    for (int64_t i = 0; i < space->n_variables; i++) {
        if (space->variables[i].kind != SAL_CATEGORICAL ||
            space->variables[i].states != space->variables[0].states ||
            space->variables[i].states < 2) {
            return SAL_ERR_UNSUPPORTED;
        }
    }
    const sali_program *program = tape->program;
    sal_status status = sali_sum_form_find(tape, &r->sum);
    const int32_t core = status == SAL_OK && !r->sum.rest ? r->sum.core : -1;
    const bool fits = core >= 0 && program->steps[core].op->hidden == SALI_HIDES_BITS &&
                      sali_affine_form_find(program, program->nodes[core].in[0], &r->units);
    return status ? status : fits ? SAL_OK : SAL_ERR_UNSUPPORTED;
}

bool sali_is_rbm_of_letters(const sal_model *model)
{
    rbm r;
    return find_form(model, &r) == SAL_OK;
}

/* ---- one hidden unit */

typedef struct work {
    sali_memory memory;
    int64_t sites, states, N, H;
    sali_sum_reader sum;
    double *c;            /* [H] */
    double *w;            /* [N] of a unit, each site's with the mean 0 */
    double *left, *right; /* [2 x nodes x N] of a unit: real and imaginary parts of u, and what they
                             are multiplied by */
    double complex *chi;  /* [sites] */
} work;

/* Read the weights of unit k into w->w in the zero-sum gauge. Returns its bias in that gauge. */
static double read_unit(const work *w, const rbm *r, int64_t k)
{
    const sali_params *params = w->sum.tape->params;
    double c = w->c[k];
    for (int64_t i = 0; i < w->sites; i++) {
        double *site = w->w + i * w->states, mean = 0;
        for (int64_t a = 0; a < w->states; a++) {
            site[a] = r->units.factor * sali_load(params->program->dtype, params->value[r->units.W],
                                                  k * w->N + i * w->states + a);
            mean += site[a] / (double)w->states;
        }
        for (int64_t a = 0; a < w->states; a++) {
            site[a] -= mean;
        }
        c += mean;
    }
    return c;
}

/* The largest |y| of a unit with bias c. */
static double largest(const work *w, double c)
{
    double sum = fabs(c);
    for (int64_t i = 0; i < w->sites; i++) {
        double most = 0;
        for (int64_t a = 0; a < w->states; a++) {
            most = fmax(most, fabs(w->w[i * w->states + a]));
        }
        sum += most;
    }
    return sum;
}

/* Write the row of node t of a unit with bias c into left and right, `nodes` rows apart, and add
 * its part of the terms of one site to h. `step` is the weight of the node. */
static void add_node(work *w, double c, double t, double step, int64_t node, int64_t nodes,
                     double *h)
{
    double complex product = cexp(I * t * c);
    for (int64_t i = 0; i < w->sites; i++) {
        double complex chi = 0;
        for (int64_t a = 0; a < w->states; a++) {
            chi += cexp(I * t * w->w[i * w->states + a]) / (double)w->states;
        }
        w->chi[i] = cabs(chi) < TINY ? TINY : chi;
        product *= w->chi[i];
    }
    product *= -step / (t * sinh(pi * t)); /* 2 / (2 pi) times g */
    double *real = w->left + node * w->N, *imaginary = real + nodes * w->N;
    double *by_real = w->right + node * w->N, *by_imaginary = by_real + nodes * w->N;
    for (int64_t k = 0; k < w->N; k++) {
        const double complex u = cexp(I * t * w->w[k]) / w->chi[k / w->states] - 1;
        const double complex times = product * u;
        real[k] = creal(u);
        imaginary[k] = cimag(u);
        by_real[k] = creal(times);
        by_imaginary[k] = -cimag(times);
        h[k] += creal(times);
    }
}

/* The distance of the nodes of a unit with inputs y up to `most`. */
static double step_of(double most)
{
    return 2 * pi / (most + REACH);
}

static int64_t count_nodes(double step)
{
    return (int64_t)ceil(LAST / step);
}

/* Add the terms of unit k to h and J, the blocks of a site with itself included. */
static void add_unit(work *w, const rbm *r, int64_t k, sali_potts *p)
{
    const double c = read_unit(w, r, k), step = step_of(largest(w, c));
    const int64_t nodes = count_nodes(step), N = w->N;
    for (int64_t m = 0; m < nodes; m++) {
        add_node(w, c, ((double)m + 0.5) * step, step, m, nodes, p->h);
    }
    for (int64_t i = 0; i < N; i++) {
        p->h[i] += w->w[i] / 2;
    }
    sali_blas_single_thread_begin();
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)N, (int)N, (int)(2 * nodes), 1,
                w->left, (int)N, w->right, (int)N, 1, p->J, (int)N);
    sali_blas_single_thread_end();
}

/* Allocate left and right for the unit with most nodes. SAL_ERR_ARGUMENT if these are too many, or
 * a unit has another weight than 1. */
static sal_status make_room(work *w, const rbm *r, sal_error *err)
{
    int64_t nodes = 0;
    for (int64_t k = 0; k < w->H; k++) {
        const double most = largest(w, read_unit(w, r, k));
        const double limit = 2 * pi * MOST_NODES / LAST - REACH;
        if (w->sum.weight[k] != 1) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "hidden unit %lld counts %g times; expected 1",
                             (long long)k, w->sum.weight[k]);
        }
        if (!(most < limit)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "the input of hidden unit %lld may be %g; expected less than %.0f for "
                             "couplings of pairs",
                             (long long)k, most, limit);
        }
        const int64_t own = count_nodes(step_of(most));
        nodes = own > nodes ? own : nodes;
    }
    w->left = SALI_TAKE(&w->memory, double, 2 * nodes * w->N);
    w->right = SALI_TAKE(&w->memory, double, 2 * nodes * w->N);
    return sali_memory_status(&w->memory, err);
}

/* ---- all of them */

/* Add what f has beside the hidden units: the linear terms, each site's less their mean. */
static void add_linear(const work *w, sali_potts *p)
{
    for (int64_t i = 0; i < w->sites; i++) {
        const double *linear = w->sum.linear + i * w->states;
        double mean = 0;
        for (int64_t a = 0; a < w->states; a++) {
            mean += linear[a] / (double)w->states;
        }
        for (int64_t a = 0; a < w->states; a++) {
            p->h[i * w->states + a] += linear[a] - mean;
        }
    }
}

/* Make J symmetric to the last bit, and 0 between the states of one site. */
static void finish_couplings(const work *w, double *J)
{
    for (int64_t k = 0; k < w->N; k++) {
        for (int64_t l = 0; l <= k; l++) {
            const double value =
                k / w->states == l / w->states ? 0 : (J[k * w->N + l] + J[l * w->N + k]) / 2;
            J[k * w->N + l] = J[l * w->N + k] = value;
        }
    }
}

/* Fill h and J, which are zeros. */
static sal_status fill(work *w, const rbm *r, sali_potts *p, sal_error *err)
{
    sali_affine_form_bias(&r->units, w->sum.tape->params, w->c);
    sal_status status = make_room(w, r, err);
    for (int64_t k = 0; status == SAL_OK && k < w->H; k++) {
        add_unit(w, r, k, p);
    }
    add_linear(w, p);
    finish_couplings(w, p->J);
    return status;
}

/* Allocate the arrays of *w and of *p, and read the sum form; all are to be freed even on
 * failure. */
static sal_status open_work(const sal_model *model, const rbm *r, work *w, sali_potts *p,
                            sal_error *err)
{
    w->sites = p->sites = model->space->n_variables;
    w->states = p->states = model->space->variables[0].states;
    w->N = model->space->width;
    w->H = r->units.size;
    w->c = SALI_TAKE(&w->memory, double, w->H);
    w->w = SALI_TAKE(&w->memory, double, w->N);
    w->chi = SALI_TAKE(&w->memory, double complex, w->sites);
    p->h = SALI_NEW_ARRAY(double, w->N);
    p->J = SALI_NEW_ARRAY(double, w->N * w->N);
    if (model->space->blocks[0].letters) {
        strcpy(p->alphabet, model->space->blocks[0].letters); /* which have room */
    }
    sal_status status = sali_memory_status(&w->memory, err);
    if (status == SAL_OK &&
        (!p->h || !p->J || sali_sum_reader_open(sali_model_tape(model), &r->sum, &w->sum))) {
        status = sali_fail_memory(err);
    }
    return status;
}

sal_status sali_potts_of_rbm(const sal_model *model, sali_potts *out, sal_error *err)
{
    rbm r = { 0 };
    work w = { 0 };
    sali_potts p = { 0 };
    sal_status status = find_form(model, &r);
    if (status != SAL_OK) {
        return status == SAL_ERR_MEMORY
                   ? sali_fail_memory(err)
                   : sali_fail(err, SAL_ERR_ARGUMENT,
                               "the model is not known to be an RBM of letters with hidden bits or "
                               "spins, and nothing else");
    }
    if (model->space->width > SALI_POTTS_MOST) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the variables have %lld labels in all; expected %d at most",
                         (long long)model->space->width, SALI_POTTS_MOST);
    }
    status = open_work(model, &r, &w, &p, err);
    status = status ? status : fill(&w, &r, &p, err);
    sali_sum_reader_close(&w.sum);
    sali_memory_free(&w.memory);
    return SALI_GIVE_STRUCT(status, p, out, sali_potts_free);
}
