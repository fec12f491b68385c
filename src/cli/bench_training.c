/* Iterations of persistent contrastive divergence, on random data. */
#include <stdlib.h>

#include "cli/bench.h"

enum { MOST = 10000, FEWEST = 5 };

typedef struct clocked {
    double times[MOST]; /* of iterations */
    double start, last, seconds;
    int64_t n;
} clocked;

static int note(const sal_train_report *report, void *data)
{
    clocked *t = data;
    (void)report;
    double now = bench_clock();
    if (t->last > 0) { /* the first iteration sets up */
        t->times[t->n++] = now - t->last;
    } else {
        t->start = now;
    }
    t->last = now;
    return t->n == MOST || (t->n >= FEWEST && now - t->start > t->seconds);
}

int bench_training(const bench_case *c, const bench_options *o, sal_model *model)
{
    sal_error err = { 0 };
    int64_t variables = sal_space_variables(sal_model_space(model));
    sal_data data = { .rows = o->batch, .variables = variables };
    clocked *t = calloc(1, sizeof *t);
    data.codes = malloc((size_t)(o->batch * variables));
    if (!t || !data.codes) {
        free(t);
        free(data.codes);
        return cli_fail(SAL_ERR_MEMORY, &err);
    }
    for (int64_t i = 0; i < o->batch * variables; i++) {
        data.codes[i] = (uint8_t)(i * 7 / 3 % 2);
    }
    t->seconds = o->seconds;
    sal_train_options options = { .sampler = "gwg",
                                  .steps = o->steps,
                                  .iterations = MOST + 1,
                                  .batch = o->batch,
                                  .buffer = o->batch,
                                  .learning_rate = 3e-4,
                                  .seed = 1,
                                  .threads = (int)o->threads,
                                  .report = note,
                                  .report_every = 1,
                                  .report_data = t };
    sal_status status = sal_train(model, &data, &options, &err);
    int code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    char name[64];
    snprintf(name, sizeof name, "pcd-gwg-K%lld", (long long)o->steps);
    if (code == CLI_OK) {
        code = bench_print(c, o, name, 1 / bench_median(t->times, t->n), 0);
    }
    free(t);
    free(data.codes);
    return code;
}
