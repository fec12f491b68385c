/* SPDX-License-Identifier: MIT */
/* How much chains move: acceptance, jumps, and chains that no step moved. */
#include "run/parts/movement.h"

#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"

typedef struct movement {
    sal_run *run;
    double accepted_sum, jump_sum; /* after warm-up, over chains and steps */
    double *moved;                 /* [chains] jumps after warm-up, over steps and all replicas */
} movement;

static sal_status create(void *self, sal_error *err)
{
    movement *m = self;
    m->moved = SALI_TAKE(&m->run->memory, double, m->run->options.chains);
    return sali_memory_status(&m->run->memory, err);
}

/* Add the sums of the chains at temperature 1, shard by shard. */
static void add_sums(const sal_run *run, double *accepted, double *jump)
{
    for (int64_t k = 0; k < run->n_shards; k++) {
        const sali_chains *chains = run->shards[k].chains;
        for (int64_t c = 0; c < chains->n; c++) {
            const bool coldest = chains->id[c] % run->replicas == 0;
            *accepted += coldest ? chains->accepted_sum[c] : 0;
            *jump += coldest ? chains->jump_sum[c] : 0;
        }
    }
}

void sali_run_rates(const sal_run *run, double *acceptance, double *jump)
{
    const movement *m = run->selves[SALI_PART_movement];
    const int64_t open = run->window.warmup ? 0 : sali_run_open_steps(run);
    const double steps = (double)(run->steps + open);
    double accepted_sum = m->accepted_sum, jump_sum = m->jump_sum;
    if (open > 0) {
        add_sums(run, &accepted_sum, &jump_sum);
    }
    *acceptance = accepted_sum / (steps * (double)run->options.chains);
    *jump = jump_sum / (steps * (double)run->options.chains);
}

/* Add the sums of all chains; moved, of all replicas. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    movement *m = self;
    const sal_run *run = m->run;
    (void)refresh;
    (void)err;
    for (int64_t k = 0; !w->warmup && k < run->n_shards; k++) {
        const sali_chains *chains = run->shards[k].chains;
        for (int64_t c = 0; c < chains->n; c++) {
            m->moved[chains->id[c] / run->replicas] += chains->jump_sum[c];
        }
    }
    if (!w->warmup) {
        add_sums(run, &m->accepted_sum, &m->jump_sum);
    }
    return SAL_OK;
}

static int64_t items(void *self, sali_run_shard *shard, sali_state_item *items)
{
    movement *m = self;
    if (shard) {
        return 0;
    }
    items[0] = sali_state_sums("accepted_sum", 1, &m->accepted_sum);
    items[1] = sali_state_sums("jump_sum", 1, &m->jump_sum);
    items[2] = sali_state_sums("moved", m->run->options.chains, m->moved);
    return 3;
}

/* ---- chains that no step moved */

/* The most codes that a check of all single changes may need. */
#define MOST_CODES (1 << 24)

/* *isolated receives whether f is -inf after each change of a single variable of a state; false if
 * that is unknown or would take too many evaluations, and where sums or labels are fixed. */
static sal_status find_isolated(const sal_model *model, const int32_t *codes, bool *isolated,
                                sal_error *err)
{
    const sal_space *space = model->space;
    const int64_t V = space->n_variables;
    int64_t n = 0;
    *isolated = false;
    if (space->unbounded || space->fixed || space->n_states > MOST_CODES / V) {
        return SAL_OK;
    }
    int32_t *rows = SALI_NEW_ARRAY(int32_t, space->n_states * V);
    double *f = SALI_NEW_ARRAY(double, space->n_states);
    sal_status status = rows && f ? SAL_OK : sali_fail_memory(err);
    for (int64_t v = 0; status == SAL_OK && v < V; v++) {
        for (int32_t k = 0; k < space->variables[v].states; k++) {
            if (k != codes[v]) {
                memcpy(rows + n * V, codes, (size_t)V * sizeof *rows);
                rows[n++ * V + v] = k;
            }
        }
    }
    if (status == SAL_OK && n > 0) {
        status = sal_model_evaluate(model, n, rows, f, NULL, NULL, err);
        *isolated = status == SAL_OK;
        status = status == SAL_ERR_MODEL ? SAL_OK : status; /* f of a neighbour is NaN: unknown */
    }
    for (int64_t k = 0; *isolated && k < n; k++) {
        *isolated = f[k] == -INFINITY;
    }
    sali_free(rows);
    sali_free(f);
    return status;
}

/* Report the rates, count the chains that no step moved, and check whether the first of these
 * chains is isolated. */
static sal_status summarise(const void *self, sal_run_summary *s, sal_error *err)
{
    const movement *m = self;
    const sal_run *run = m->run;
    const int32_t *codes = NULL;
    sali_run_rates(run, &s->acceptance_rate, &s->mean_jump);
    for (int64_t k = 0; run->draws_made > 0 && k < run->n_shards; k++) {
        const sali_run_shard *shard = &run->shards[k];
        for (int64_t g = 0; g < shard->groups; g++) {
            if (m->moved[shard->first + g] > 0) {
                continue;
            }
            s->unmoved++;
            codes = codes
                        ? codes
                        : shard->chains->codes + g * run->replicas * run->model->space->n_variables;
        }
    }
    return codes ? find_isolated(run->model, codes, &s->isolated, err) : SAL_OK;
}

const sali_run_part sali_part_movement = {
    .name = "movement",
    .size = sizeof(movement),
    .create = create,
    .window = window,
    .items = items,
    .summarise = summarise,
};

const double *sali_run_moved(const sal_run *run)
{
    const movement *m = run->selves[SALI_PART_movement];
    return m->moved;
}
