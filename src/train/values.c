/* f of any number of states, on all threads. */
#include <string.h>

#include "core/shard.h"
#include "train/trainer.h"

typedef struct values_work {
    const sal_trainer *t;
    sali_workspace *const *ws;
    int64_t n;
    const int32_t *codes;
    double *f;
} values_work;

static void values_shard(void *context, int64_t k)
{
    const values_work *w = context;
    const sal_trainer *t = w->t;
    const sali_train_shard *shard = &t->shards[k];
    const int64_t V = t->model->space->n_variables;
    int64_t from = sali_shard_first(w->n, t->n_shards, k);
    int64_t end = sali_shard_first(w->n, t->n_shards, k + 1);
    while (from < end) {
        int64_t n = end - from < shard->n ? end - from : shard->n;
        sali_model_embed(t->model, n, w->codes + from * V, shard->x);
        sali_workspace_value(w->ws[k], n, w->codes + from * V, shard->x, w->f + from);
        from += n;
    }
}

void sali_train_values(const sal_trainer *t, sali_workspace *const *ws, int64_t n,
                       const int32_t *codes, double *f)
{
    values_work work = { .t = t, .ws = ws, .n = n, .codes = codes, .f = f };
    sali_shard_run(t->n_shards, t->options.threads, values_shard, &work);
}
