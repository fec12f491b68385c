#include "models/structure/pairwise.h"

#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/structure/couplings.h"

void sali_pairwise_destroy(sali_pairwise *p)
{
    if (!p) {
        return;
    }
    sali_free(p->h);
    sali_free(p->begin);
    sali_free(p->couplings);
    sali_free(p);
}

/* The most terms b_i b_j that are gathered. */
#define MOST_PAIRS (INT64_C(1) << 24)

/* Terms of the polynomial, in any order. */
typedef struct pair_term {
    int32_t i, j; /* different */
    double J;
} pair_term;

typedef struct pair_list {
    pair_term *pairs;
    int64_t n, room;
} pair_list;

static sal_status add(sali_coupling_terms *terms, int32_t i, int32_t j, double J)
{
    pair_list *list = terms->to;
    if (list->n == MOST_PAIRS) {
        return SAL_ERR_UNSUPPORTED;
    }
    if (sali_grow((void **)&list->pairs, &list->room, list->n + 1, sizeof *list->pairs) != 0) {
        return SAL_ERR_MEMORY;
    }
    list->pairs[list->n++] = (pair_term){ i, j, J };
    return SAL_OK;
}

/* ---- rows of couplings from terms */

/* Make p's rows of counts in begin[i + 1]: begin[i] becomes the start of row i. */
static void add_up(int64_t n, int64_t *begin)
{
    for (int64_t i = 0; i < n; i++) {
        begin[i + 1] += begin[i];
    }
}

/* After rows were filled by raising their begins to their ends. */
static void restore(int64_t n, int64_t *begin)
{
    for (int64_t i = n; i > 0; i--) {
        begin[i] = begin[i - 1];
    }
    begin[0] = 0;
}

static void append(sali_pairwise *p, int64_t row, int32_t to, double J)
{
    int64_t at = p->begin[row]++;
    p->couplings[at] = (sali_coupling){ .J = J, .to = to };
}

/* Both rows of every term, in the order of the terms. */
static void fill(sali_pairwise *p, const pair_list *list)
{
    for (int64_t k = 0; k < list->n; k++) {
        p->begin[list->pairs[k].i + 1]++;
        p->begin[list->pairs[k].j + 1]++;
    }
    add_up(p->n, p->begin);
    for (int64_t k = 0; k < list->n; k++) {
        append(p, list->pairs[k].i, list->pairs[k].j, list->pairs[k].J);
        append(p, list->pairs[k].j, list->pairs[k].i, list->pairs[k].J);
    }
    restore(p->n, p->begin);
}

/* The transpose of a symmetric matrix is the matrix, with its rows in ascending order; terms of one
 * pair keep theirs. */
static void transpose(const sali_pairwise *from, sali_pairwise *to)
{
    for (int64_t i = 0; i <= from->n; i++) {
        to->begin[i] = from->begin[i];
    }
    for (int64_t i = 0; i < from->n; i++) {
        for (int64_t k = from->begin[i]; k < from->begin[i + 1]; k++) {
            append(to, from->couplings[k].to, (int32_t)i, from->couplings[k].J);
        }
    }
    restore(from->n, to->begin);
}

/* Add up the terms of each pair and drop those that cancel. */
static void merge(sali_pairwise *p)
{
    int64_t used = 0, first = 0;
    for (int64_t i = 0; i < p->n; i++) {
        int64_t end = p->begin[i + 1];
        p->begin[i] = used;
        for (int64_t k = first; k < end;) {
            sali_coupling sum = { .to = p->couplings[k].to };
            for (; k < end && p->couplings[k].to == sum.to; k++) {
                sum.J += p->couplings[k].J;
            }
            if (sum.J != 0) {
                p->couplings[used++] = sum;
            }
        }
        first = end;
    }
    p->begin[p->n] = used;
}

static double largest_sum(const sali_pairwise *p)
{
    double scale = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double sum = fabs(p->h[i]);
        for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
            sum += fabs(p->couplings[k].J);
        }
        scale = sum <= scale ? scale : sum; /* a NaN stays */
    }
    return scale;
}

static sali_pairwise *allocate(int64_t n, int64_t entries)
{
    sali_pairwise *p = SALI_NEW(sali_pairwise);
    if (!p) {
        return NULL;
    }
    p->n = n;
    p->begin = SALI_NEW_ARRAY(int64_t, n + 1);
    p->couplings = SALI_NEW_ARRAY(sali_coupling, entries);
    if (!p->begin || !p->couplings) {
        sali_pairwise_destroy(p);
        return NULL;
    }
    return p;
}

/* Takes terms->linear over. NULL: no memory. */
static sali_pairwise *sort(int64_t n, sali_coupling_terms *terms)
{
    const pair_list *list = terms->to;
    sali_pairwise *unsorted = allocate(n, 2 * list->n);
    sali_pairwise *p = allocate(n, 2 * list->n);
    if (unsorted && p) {
        fill(unsorted, list);
        transpose(unsorted, p);
        merge(p);
        p->constant = terms->constant;
        p->h = terms->linear;
        terms->linear = NULL;
        p->scale = largest_sum(p);
    } else {
        sali_pairwise_destroy(p);
        p = NULL;
    }
    sali_pairwise_destroy(unsorted);
    return p;
}

/* Variables of at most two states. Counts are left out, with a cap of 1 too: how they move is the
 * samplers' own. */
static bool has_bits(const sal_space *space)
{
    bool counts = false;
    for (int64_t b = 0; b < space->n_blocks; b++) {
        counts |= space->stretches[b].kind == SAL_COUNT;
    }
    return space->max_states <= 2 && !counts;
}

sal_status sali_pairwise_create(const sal_model *model, sali_pairwise **out, sal_error *err)
{
    int64_t n = model->space->n_variables;
    pair_list list = { 0 };
    sali_coupling_terms terms = { .unknowns = SALI_BITS, .n = n, .add = add, .to = &list };
    sali_pairwise *p = NULL;
    *out = NULL;
    if (!has_bits(model->space)) {
        return SAL_OK;
    }
    terms.linear = SALI_NEW_ARRAY(double, n);
    sal_status status = terms.linear ? sali_couplings_read(model, &terms) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        p = sort(n, &terms);
        status = p ? SAL_OK : SAL_ERR_MEMORY;
    }
    sali_free(terms.linear);
    sali_free(list.pairs);
    if (p && !(isfinite(p->scale) && isfinite(p->constant))) {
        sali_pairwise_destroy(p);
        p = NULL;
    }
    if (p) {
        p->version = sali_model_version(model);
    }
    *out = p;
    return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : SAL_OK;
}

/* ---- what it says of states */

double sali_pairwise_rise(const sali_pairwise *p, const int32_t *codes, int64_t i)
{
    double sum = p->h[i];
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
        sum += codes[p->couplings[k].to] ? p->couplings[k].J : 0;
    }
    return sum;
}

double sali_pairwise_value(const sali_pairwise *p, const int32_t *codes)
{
    double sum = p->constant;
    for (int64_t i = 0; i < p->n; i++) {
        if (codes[i]) {
            sum += (p->h[i] + sali_pairwise_rise(p, codes, i)) / 2;
        }
    }
    return sum;
}
