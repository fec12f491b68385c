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
 * period of 2 pi / step: its error is exp(-REACH) if that is REACH more than the largest |y|.
 *
 * The term psi(y) of a dReLU unit grows as y^2 and has no such g. It is replaced by psi(y) times a
 * window that is 1 up to the largest |y| and falls to 0 beyond, whose Fourier series has the
 * coefficients G_m at t = m step in place of -g(t) step / (2 pi). */
#include "models/structure/rbm_potts.h"

#include <complex.h>
#include <float.h>
#include <math.h>

#include "core/error.h"
#include "core/memory.h"
#include "core/vector/blas.h"
#include "core/vector/drelu.h"
#include "models/clamp.h"
#include "models/structure/affine_form.h"
#include "models/structure/sum_form.h"
#include "stats/fft.h"

#define REACH 25.0
#define LAST 9.0 /* of t: g is below 1e-11 there */
/* Most nodes of an integral: bits whose |y| may be above about 5700 are refused. */
#define MOST_NODES 8192
/* Of dReLU units: the window is erfc(|y| - largest - EDGE) / 2, and ends after 2 EDGE; of the
 * Fourier series, what is below SMALL times its largest term is left out; most samples of psi; most
 * nodes that are treated at a time; largest share of psi that rounding of psi(0) may be. */
#define EDGE 6.0
#define SMALL 1e-14
#define LEAST_DIGITS 1e-10
#define MOST_SAMPLES (INT64_C(1) << 18)
#define CHUNK 1024
/* In place of chi_i(t) = 0, by which its factor in the product is divided away. */
#define TINY 1e-100

static const double pi = 3.14159265358979323846;

typedef struct rbm {
    sali_sum_form sum;
    sali_affine_form units;
    int32_t core;
    bool drelu; /* the units are dReLU units, else bits */
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
    const sali_hidden hidden = core >= 0 ? program->steps[core].op->hidden : SALI_HIDES_NOTHING;
    r->core = core;
    r->drelu = hidden == SALI_HIDES_DRELU;
    const bool fits = (r->drelu || hidden == SALI_HIDES_BITS) &&
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
    int64_t rows;         /* nodes that left and right have room for */
    int64_t nodes;        /* of the unit: */
    double *t;            /* [MOST_NODES] */
    double complex *weight; /* [MOST_NODES] */
    double *re, *im;        /* [MOST_SAMPLES] of dReLU units: psi, then its Fourier series */
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

/* Write the row of node `from` + `node` of a unit with bias c into left and right, whose real and
 * imaginary parts are `nodes` rows apart, and add its part of the terms of one site to h. */
static void add_node(work *w, double c, int64_t from, int64_t node, int64_t nodes, double *h)
{
    const double t = w->t[from + node];
    double complex product = cexp(I * t * c);
    for (int64_t i = 0; i < w->sites; i++) {
        double complex chi = 0;
        for (int64_t a = 0; a < w->states; a++) {
            chi += cexp(I * t * w->w[i * w->states + a]) / (double)w->states;
        }
        w->chi[i] = cabs(chi) < TINY ? TINY : chi;
        product *= w->chi[i];
    }
    product *= w->weight[from + node];
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

/* Set the nodes of a bit with inputs y up to `most`, of which there are at most MOST_NODES. */
static void place_nodes(work *w, double most)
{
    const double step = step_of(most);
    w->nodes = count_nodes(step);
    for (int64_t m = 0; m < w->nodes; m++) {
        const double t = w->t[m] = ((double)m + 0.5) * step;
        w->weight[m] = -step / (t * sinh(pi * t)); /* 2 / (2 pi) times g */
    }
}

/* Input `k` of the node of the hidden units, for unit `unit`. */
static double unit_number(const work *w, const rbm *r, int k, int64_t unit)
{
    const sali_params *params = w->sum.tape->params;
    const int32_t node = params->program->nodes[r->core].in[k];
    return sali_load(params->program->dtype, params->value[node],
                     params->program->steps[node].size == 1 ? 0 : unit);
}

/* Set w->re [n] to psi - psi(0) times the window of dReLU unit `unit`, with inputs up to `most`, at
 * n points `spacing` apart around 0, and w->im to 0. Returns whether these are numbers, and psi(0),
 * about Delta^2 / 2 where Delta is below 0, leaves their digits. */
static bool sample_term(work *w, const rbm *r, int64_t unit, double most, double spacing, int64_t n)
{
    const double delta = unit_number(w, r, 1, unit), t = unit_number(w, r, 2, unit), zero = 0;
    double plus, minus, mean, constant, range = 0;
    sali_drelu_sides(1, &t, &plus, &minus);
    const sali_drelu numbers = { &delta, &plus, &minus };
    sali_drelu_values(1, &numbers, &zero, &constant, &mean);
    bool good = isfinite(constant);
    for (int64_t k = 0; k < n; k++) {
        const double y = ((double)k - (double)n / 2) * spacing;
        sali_drelu_values(1, &numbers, &y, &w->re[k], &mean);
        good &= isfinite(w->re[k]);
        w->re[k] = (w->re[k] - constant) * erfc(fabs(y) - most - EDGE) / 2;
        w->im[k] = 0;
        range = fmax(range, fabs(w->re[k]));
    }
    return good && DBL_EPSILON * fabs(constant) <= LEAST_DIGITS * range;
}

/* The place at which a Fourier transform of n = 2^bits numbers leaves its term m. */
static int64_t place_of(int64_t m, int64_t n)
{
    int64_t place = 0;
    for (; n > 1; n /= 2, m /= 2) {
        place = 2 * place + m % 2;
    }
    return place;
}

/* Append the node of term m of the Fourier series of n samples that is in w->re and w->im. */
static void append_node(work *w, double step, int64_t m, int64_t n)
{
    const int64_t at = place_of(m, n);
    const double sign = m % 2 ? -1 : 1; /* the samples begin at half a period below 0 */
    w->t[w->nodes] = (double)m * step;
    w->weight[w->nodes++] = sign * 2 * (w->re[at] + I * w->im[at]) / (double)n;
}

/* The number of terms 0 .. n / 2 of a Fourier series, in w->re and w->im, without the small ones at
 * its end. */
static int64_t count_terms(const work *w, int64_t n)
{
    double most = 0;
    int64_t count = 0;
    for (int64_t k = 1; k < n; k++) { /* term 0, a constant, is at place 0 */
        most = fmax(most, hypot(w->re[k], w->im[k]));
    }
    for (int64_t m = 0; m <= n / 2; m++) {
        const int64_t at = place_of(m, n);
        count = hypot(w->re[at], w->im[at]) > SMALL * most ? m + 1 : count;
    }
    return count;
}

/* Set w->re and w->im to the Fourier transform of the samples of sample_term. SAL_ERR_ARGUMENT:
 * they are no samples. */
static sal_status transform_samples(work *w, const rbm *r, int64_t unit, double most,
                                    double spacing, int64_t n, sal_error *err)
{
    sali_memory own = { 0 };
    sali_fft fft;
    sal_status status = sali_fft_init(&fft, &own, n, err);
    if (status == SAL_OK && !sample_term(w, r, unit, most, spacing, n)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "the input of hidden unit %lld may be %g, and its delta is %g: its term "
                           "is too large for couplings of pairs",
                           (long long)unit, most, unit_number(w, r, 1, unit));
    } else if (status == SAL_OK) {
        sali_fft_forward(&fft, w->re, w->im);
    }
    sali_memory_free(&own);
    return status;
}

/* Set the nodes of dReLU unit `unit` with inputs y up to `most`. SAL_ERR_ARGUMENT if they are too
 * many. The term 0 of the Fourier series is a constant. */
static sal_status find_nodes(work *w, const rbm *r, int64_t unit, double most, sal_error *err)
{
    const double period = 2 * (most + 2 * EDGE);
    int64_t n = sali_fft_size(most < MOST_SAMPLES ? (int64_t)(4 * period) : MOST_SAMPLES);
    int64_t terms = n;
    for (; n <= MOST_SAMPLES; n *= 2) { /* until the last half of the terms are small */
        sal_status status = transform_samples(w, r, unit, most, period / (double)n, n, err);
        if (status != SAL_OK) {
            return status;
        }
        terms = count_terms(w, n);
        if (terms <= n / 4) {
            break;
        }
    }
    w->nodes = 0;
    if (n > MOST_SAMPLES || terms > MOST_NODES) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "the input of hidden unit %lld may be %g, and its term takes more than %d "
                         "waves; couplings of pairs are known for smaller weights only, or for a "
                         "delta, which is %g, nearer to 0",
                         (long long)unit, most, MOST_NODES, unit_number(w, r, 1, unit));
    }
    for (int64_t m = 1; m < terms; m++) {
        append_node(w, 2 * pi / period, m, n);
    }
    return SAL_OK;
}

/* Add the terms of unit k to h and J, the blocks of a site with itself included. */
static sal_status add_unit(work *w, const rbm *r, int64_t k, sali_potts *p, sal_error *err)
{
    const double c = read_unit(w, r, k), most = largest(w, c);
    const int64_t N = w->N;
    sal_status status = SAL_OK;
    if (r->drelu) {
        status = find_nodes(w, r, k, most, err);
    } else {
        place_nodes(w, most);
        for (int64_t i = 0; i < N; i++) {
            p->h[i] += w->w[i] / 2;
        }
    }
    for (int64_t from = 0; status == SAL_OK && from < w->nodes; from += w->rows) {
        const int64_t left = w->nodes - from, nodes = left < w->rows ? left : w->rows;
        for (int64_t m = 0; m < nodes; m++) {
            add_node(w, c, from, m, nodes, p->h);
        }
        sali_blas_single_thread_begin();
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)N, (int)N, (int)(2 * nodes), 1,
                    w->left, (int)N, w->right, (int)N, 1, p->J, (int)N);
        sali_blas_single_thread_end();
    }
    return status;
}

/* Allocate left and right, for bits for the unit with most nodes. SAL_ERR_ARGUMENT if these are too
 * many, or a unit has another weight than 1. */
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
        if (r->drelu ? !isfinite(most) : !(most < limit)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "the input of hidden unit %lld may be %g; expected less than %.0f for "
                             "couplings of pairs",
                             (long long)k, most, limit);
        }
        const int64_t own = r->drelu ? CHUNK : count_nodes(step_of(most));
        nodes = own > nodes ? own : nodes;
    }
    w->rows = nodes;
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
        status = add_unit(w, r, k, p, err);
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
    w->t = SALI_TAKE(&w->memory, double, MOST_NODES);
    w->weight = SALI_TAKE(&w->memory, double complex, MOST_NODES);
    w->re = r->drelu ? SALI_TAKE(&w->memory, double, MOST_SAMPLES) : NULL;
    w->im = r->drelu ? SALI_TAKE(&w->memory, double, MOST_SAMPLES) : NULL;
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
                               "the model is not known to be an RBM of letters with hidden bits, "
                               "spins or dReLU units, and nothing else");
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
