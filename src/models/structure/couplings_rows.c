/* SPDX-License-Identifier: MIT */
/* Couplings of bits as sparse rows. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "models/structure/couplings.h"

/* The most terms b_i b_j that are gathered. */
#define MOST_PAIRS (INT64_C(1) << 24)

/* The term J b_i b_j of the polynomial. */
typedef struct pair_term {
    int32_t i, j; /* different */
    double J;
} pair_term;

typedef struct pair_list {
    pair_term *pairs;
    int64_t n, room;
} pair_list;

/* Append a term to the pair_list of `terms`: its function `add`. */
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

/* Rows that are being filled. */
typedef struct row_list {
    int64_t n;
    int64_t *begin; /* [n + 1] */
    sali_coupling *couplings;
} row_list;

static bool allocate_rows(row_list *rows, int64_t n, int64_t entries)
{
    *rows = (row_list){ n, SALI_NEW_ARRAY(int64_t, n + 1), SALI_NEW_ARRAY(sali_coupling, entries) };
    return rows->begin && rows->couplings;
}

static void free_rows(row_list *rows)
{
    sali_free(rows->begin);
    sali_free(rows->couplings);
}

/* Turn the lengths of rows in begin[i + 1] into starts: begin[i] becomes the start of row i. */
static void add_up(int64_t n, int64_t *begin)
{
    for (int64_t i = 0; i < n; i++) {
        begin[i + 1] += begin[i];
    }
}

/* Reset begin[i] to the start of row i, after `append_coupling` has moved it to the end of the row.
 */
static void restore_begins(int64_t n, int64_t *begin)
{
    for (int64_t i = n; i > 0; i--) {
        begin[i] = begin[i - 1];
    }
    begin[0] = 0;
}

/* Append a coupling at begin[row], and move begin[row] past it. */
static void append_coupling(row_list *p, int64_t row, int32_t to, double J)
{
    int64_t at = p->begin[row]++;
    p->couplings[at] = (sali_coupling){ .J = J, .to = to };
}

/* Write each term into row i and row j, in the order of the terms. */
static void fill_rows(row_list *p, const pair_list *list)
{
    for (int64_t k = 0; k < list->n; k++) {
        p->begin[list->pairs[k].i + 1]++;
        p->begin[list->pairs[k].j + 1]++;
    }
    add_up(p->n, p->begin);
    for (int64_t k = 0; k < list->n; k++) {
        append_coupling(p, list->pairs[k].i, list->pairs[k].j, list->pairs[k].J);
        append_coupling(p, list->pairs[k].j, list->pairs[k].i, list->pairs[k].J);
    }
    restore_begins(p->n, p->begin);
}

/* Copy a symmetric matrix by transposing it, which sorts each row by `to`; terms of one pair keep
 * their order. */
static void transpose_rows(const row_list *from, row_list *to)
{
    for (int64_t i = 0; i <= from->n; i++) {
        to->begin[i] = from->begin[i];
    }
    for (int64_t i = 0; i < from->n; i++) {
        for (int64_t k = from->begin[i]; k < from->begin[i + 1]; k++) {
            append_coupling(to, from->couplings[k].to, (int32_t)i, from->couplings[k].J);
        }
    }
    restore_begins(from->n, to->begin);
}

/* Add up the terms of each pair, and drop pairs whose sum is 0. */
static void merge_pairs(row_list *p)
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

/* The largest |linear_i| + sum_j |J_ij|; NaN if any is. */
static double largest_sum(const sali_coupling_values *v)
{
    double largest = 0;
    for (int64_t i = 0; i < v->n; i++) {
        double sum = fabs(v->linear[i]);
        for (int64_t k = v->begin[i]; k < v->begin[i + 1]; k++) {
            sum += fabs(v->couplings[k].J);
        }
        largest = isnan(largest) || sum <= largest ? largest : sum;
    }
    return largest;
}

/* Replace the rows in `values` by the rows of the terms in the list. SAL_ERR_MEMORY: the old rows
 * stay. */
static sal_status sort_terms(const pair_list *list, sali_coupling_values *values)
{
    row_list unsorted = { 0 }, rows = { 0 };
    bool good = allocate_rows(&unsorted, values->n, 2 * list->n) &&
                allocate_rows(&rows, values->n, 2 * list->n);
    if (good) {
        fill_rows(&unsorted, list);
        transpose_rows(&unsorted, &rows);
        merge_pairs(&rows);
        sali_free(values->begin);
        sali_free(values->couplings);
        values->begin = rows.begin;
        values->couplings = rows.couplings;
    } else {
        free_rows(&rows);
    }
    free_rows(&unsorted);
    return good ? SAL_OK : SAL_ERR_MEMORY;
}

sal_status sali_couplings_read_rows(const sal_model *model, sali_coupling_values *values)
{
    pair_list list = { 0 };
    sali_coupling_terms terms = {
        .unknowns = SALI_BITS, .n = values->n, .linear = values->linear, .add = add, .to = &list
    };
    memset(terms.linear, 0, (size_t)terms.n * sizeof *terms.linear);
    sal_status status = sali_couplings_read(model, &terms);
    status = status ? status : sort_terms(&list, values);
    if (status == SAL_OK) {
        values->constant = terms.constant;
        values->scale = 1;
        values->largest = largest_sum(values);
        values->finite = isfinite(values->largest) && isfinite(values->constant);
    }
    sali_free(list.pairs);
    return status;
}

/* ---- f at states */

double sali_couplings_rise(const sali_coupling_values *p, const int32_t *codes, int64_t i)
{
    double sum = p->linear[i];
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
        sum += codes[p->couplings[k].to] ? p->couplings[k].J : 0;
    }
    return sum;
}

double sali_couplings_value(const sali_coupling_values *p, const int32_t *codes)
{
    double sum = p->constant;
    for (int64_t i = 0; i < p->n; i++) {
        if (codes[i]) {
            sum += (p->linear[i] + sali_couplings_rise(p, codes, i)) / 2;
        }
    }
    return sum;
}
