/* SPDX-License-Identifier: MIT */
/* What measurements share: medians, times of calls, and the sizes of a case. */
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench.h"

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *numbers, int64_t n)
{
    qsort(numbers, (size_t)n, sizeof *numbers, ascending);
    return numbers[n / 2];
}

double bench_time(void (*work)(void *context, int64_t calls), void *context, double seconds)
{
    double times[1000], spent = 0;
    int64_t n = 0, calls = 1;
    while (n < 1000 && (spent < seconds || n < 5)) {
        double start = cli_clock();
        work(context, calls);
        double taken = cli_clock() - start;
        spent += taken;
        if (taken < 0.02) {
            calls *= 2;
        } else {
            times[n++] = taken / (double)calls;
        }
    }
    return bench_median(times, n);
}

int64_t bench_batch(const bench_case *c, const bench_options *o)
{
    return o->batch ? o->batch : c->batch ? c->batch : 50;
}

int64_t bench_size(const bench_case *c, const bench_options *o)
{
    int64_t given = !c->size_option ? 0 : strcmp(c->size_option, "side") == 0 ? o->side : o->dim;
    return given ? given : c->size;
}

int64_t bench_states(const bench_case *c, const bench_options *o)
{
    return o->states && c->states ? o->states : c->states;
}

int64_t bench_steps(const bench_case *c, const bench_options *o)
{
    return o->steps ? o->steps : c->training ? c->training->steps : 50;
}
