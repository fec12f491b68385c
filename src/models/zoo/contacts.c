#include "models/zoo/contacts.h"

#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "core/error.h"

typedef struct couplings {
    int64_t sites, states, first;
    const double *J;
    double *row, *column; /* means of a block over its columns and rows [states] */
} couplings;

/* The coupling of states a and b of sites i and j. */
static double coupling(const couplings *c, int64_t i, int64_t a, int64_t j, int64_t b)
{
    int64_t N = c->sites * c->states, k = i * c->states + a, l = j * c->states + b;
    return (c->J[k * N + l] + c->J[l * N + k]) / 2;
}

/* Set the means of a block; that of all of it. */
static double block_means(const couplings *c, int64_t i, int64_t j)
{
    double all = 0, q = (double)c->states;
    for (int64_t a = 0; a < c->states; a++) {
        c->row[a] = c->column[a] = 0;
    }
    for (int64_t a = 0; a < c->states; a++) {
        for (int64_t b = 0; b < c->states; b++) {
            double value = coupling(c, i, a, j, b);
            c->row[a] += value / q;
            c->column[b] += value / q;
            all += value / (q * q);
        }
    }
    return all;
}

static double frobenius(const couplings *c, int64_t i, int64_t j)
{
    double sum = 0, all = block_means(c, i, j);
    for (int64_t a = c->first; a < c->states; a++) {
        for (int64_t b = c->first; b < c->states; b++) {
            double value = coupling(c, i, a, j, b) - c->row[a] - c->column[b] + all;
            sum += value * value;
        }
    }
    return sqrt(sum);
}

/* The average-product correction. mean [sites], zeroed. */
static void correct(int64_t sites, int64_t pairs, sali_contact *contacts, double *mean)
{
    double all = 0;
    for (int64_t p = 0; p < pairs; p++) {
        mean[contacts[p].i] += contacts[p].norm / (double)(sites - 1);
        mean[contacts[p].j] += contacts[p].norm / (double)(sites - 1);
        all += contacts[p].norm / (double)pairs;
    }
    for (int64_t p = 0; p < pairs; p++) {
        double product = mean[contacts[p].i] * mean[contacts[p].j];
        contacts[p].score = contacts[p].norm - (all > 0 ? product / all : 0);
    }
}

static int by_score(const void *a, const void *b)
{
    const sali_contact *p = a, *q = b;
    if (p->score != q->score) {
        return p->score > q->score ? -1 : 1;
    }
    return p->i != q->i ? (p->i < q->i ? -1 : 1) : (p->j > q->j) - (p->j < q->j);
}

sal_status sali_contacts(int64_t sites, int64_t states, int64_t first, const double *J,
                         sali_contact *contacts, sal_error *err)
{
    couplings c = { .sites = sites,
                    .states = states,
                    .first = first,
                    .J = J,
                    .row = SALI_NEW_ARRAY(double, states),
                    .column = SALI_NEW_ARRAY(double, states) };
    double *mean = SALI_NEW_ARRAY(double, sites);
    bool ok = c.row && c.column && mean;
    int64_t pairs = 0;
    for (int64_t i = 0; ok && i < sites; i++) {
        for (int64_t j = i + 1; j < sites; j++) {
            contacts[pairs++] = (sali_contact){ .i = i, .j = j, .norm = frobenius(&c, i, j) };
        }
    }
    if (ok) {
        correct(sites, pairs, contacts, mean);
        qsort(contacts, (size_t)pairs, sizeof *contacts, by_score);
    }
    sali_free(c.row);
    sali_free(c.column);
    sali_free(mean);
    return ok ? SAL_OK : sali_fail_memory(err);
}
