#include "samplers/blocks/adaptive_scan.h"

#include <float.h>
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"

/* The part of the probability that all variables share. */
#define FLOOR 0.1

void sali_adaptive_scan_destroy(sali_adaptive_scan *scan)
{
    if (scan) {
        sali_free(scan->p);
        sali_free(scan->sum);
        sali_free(scan->count);
        sali_free(scan);
    }
}

sali_adaptive_scan *sali_adaptive_scan_create(int64_t n)
{
    sali_adaptive_scan *scan = SALI_NEW(sali_adaptive_scan);
    if (!scan) {
        return NULL;
    }
    scan->n = n;
    scan->p = SALI_NEW_ARRAY(double, n);
    scan->sum = SALI_NEW_ARRAY(double, n);
    scan->count = SALI_NEW_ARRAY(double, n);
    if (!scan->p || !scan->sum || !scan->count) {
        sali_adaptive_scan_destroy(scan);
        return NULL;
    }
    for (int64_t i = 0; i < n; i++) {
        scan->p[i] = 1 / (double)n;
        scan->sum[i] = 0.5;
        scan->count[i] = 1;
    }
    return scan;
}

int64_t sali_adaptive_scan_tuned(sali_adaptive_scan *scan, sali_tuned *items)
{
    items[0] =
        (sali_tuned){ .name = "scan", .n = scan->n, .values = scan->p, .low = 1e-15, .high = 1 };
    return 1;
}

sal_status sali_adaptive_scan_retune(const sali_adaptive_scan *scan, sal_error *err)
{
    double sum = 0;
    for (int64_t i = 0; i < scan->n; i++) {
        if (!(scan->p[i] > 0)) {
            return sali_fail(err, SAL_ERR_DATA, "scan: probability %lld is %g; expected > 0",
                             (long long)(i + 1), scan->p[i]);
        }
        sum += scan->p[i];
    }
    return fabs(sum - 1) < 1e-6
               ? SAL_OK
               : sali_fail(err, SAL_ERR_DATA, "scan: probabilities add up to %g, not 1", sum);
}

int64_t sali_adaptive_scan_state(sali_adaptive_scan *scan, sali_state_item *items)
{
    items[0] = sali_state_f64("scan", scan->n, scan->p);
    items[1] = sali_state_f64("wishes", scan->n, scan->sum);
    items[2] = sali_state_f64("visits", scan->n, scan->count);
    items[3] = sali_state_i64("steps", 1, &scan->steps);
    return 4;
}

sal_status sali_adaptive_scan_restored(const sali_adaptive_scan *scan, sal_error *err)
{
    sal_status status = sali_state_check_f64("wishes", scan->n, scan->sum, 0, DBL_MAX, err);
    status =
        status ? status : sali_state_check_f64("visits", scan->n, scan->count, 1, DBL_MAX, err);
    status = status ? status : sali_state_check_i64("steps", 1, &scan->steps, 0, scan->n, err);
    return status ? status : sali_adaptive_scan_retune(scan, err);
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

void sali_adaptive_scan_collect(sali_adaptive_scan *scan, double *wishes, double *visits)
{
    for (int64_t i = 0; i < scan->n; i++) {
        scan->sum[i] += wishes[i];
        scan->count[i] += visits[i];
        wishes[i] = visits[i] = 0;
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
