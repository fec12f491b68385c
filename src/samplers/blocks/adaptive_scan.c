/* SPDX-License-Identifier: MIT */
#include "samplers/blocks/adaptive_scan.h"

#include <float.h>
#include <math.h>

#include "core/error.h"
#include "core/object.h"

/* The part of the probability that is divided equally among all variables. */
#define FLOOR 0.1

sali_adaptive_scan *sali_adaptive_scan_open(void *object, int64_t n)
{
    sali_adaptive_scan *scan = sali_object_array(object, 1, sizeof *scan);
    if (!scan) {
        return NULL;
    }
    scan->n = n;
    scan->p = SALI_OBJECT_ARRAY(object, double, n);
    scan->sum = SALI_OBJECT_ARRAY(object, double, n);
    scan->count = SALI_OBJECT_ARRAY(object, double, n);
    if (sali_object_failed(object)) {
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        scan->p[i] = 1 / (double)n;
        scan->sum[i] = 0.5;
        scan->count[i] = 1;
    }
    return scan;
}

int64_t sali_adaptive_scan_state(void *piece, sali_state_item *items)
{
    sali_adaptive_scan *scan = piece;
    const double n = (double)scan->n;
    sali_state_item p = sali_state_f64("scan", scan->n, scan->p);
    items[0] = sali_state_for(SALI_STATE_TUNED | SALI_STATE_KEPT, sali_state_within(p, 1e-15, 1));
    items[1] = sali_state_sums("wishes", scan->n, scan->sum);
    items[2] = sali_state_within(sali_state_f64("visits", scan->n, scan->count), 1, DBL_MAX);
    items[3] = sali_state_within(sali_state_i64("steps", 1, &scan->steps), 0, n);
    return 4;
}

sal_status sali_adaptive_scan_changed(void *piece, const sali_warmup *at, sal_error *err)
{
    const sali_adaptive_scan *scan = piece;
    (void)at;
    double sum = 0;
    for (int64_t i = 0; i < scan->n; i++) {
        sum += scan->p[i];
    }
    return fabs(sum - 1) < 1e-6
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "scan: probabilities add up to %g, not 1", sum);
}

bool sali_adaptive_scan_due(sali_adaptive_scan *scan, const sali_warmup *warmup)
{
    scan->steps += warmup->window;
    if (scan->steps < scan->n && warmup->done < warmup->total) {
        return false;
    }
    scan->steps = 0;
    return true;
}

void sali_adaptive_scan_collect(sali_adaptive_scan *scan, const double *wishes,
                                const double *visits)
{
    for (int64_t i = 0; i < scan->n; i++) {
        scan->sum[i] += wishes[i];
        scan->count[i] += visits[i];
    }
}

void sali_adaptive_scan_learn(sali_adaptive_scan *scan)
{
    double total = 0;
    for (int64_t i = 0; i < scan->n; i++) {
        total += scan->sum[i] / scan->count[i];
    }
    for (int64_t i = 0; i < scan->n; i++) {
        double share = total > 0 ? scan->sum[i] / scan->count[i] / total : 1 / (double)scan->n;
        scan->p[i] = FLOOR / (double)scan->n + (1 - FLOOR) * share;
    }
}
