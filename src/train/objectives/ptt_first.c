/* SPDX-License-Identifier: MIT */
/* Trajectory tempering that continues from the training of a part of the model, such as the RBM
 * within f = RBM + net. First the part alone climbs its ladder, which is fast. Its levels, states
 * and log Z are also those of the whole model with all other parameters at 0. */
#include "train/objectives/ptt_first.h"

#include <math.h>
#include <string.h>

#include "ad/op.h"
#include "core/alloc.h"
#include "core/error.h"
#include "train/sync.h"
#include "train/trajectory_draw.h"

/* f of the part and f of the whole may differ by a constant, and by this share of their size. */
#define ROUNDING_F32 1e-5
#define ROUNDING_F64 1e-9

/* Mixed into the seed, so that the climb has other random numbers than draws along the trained
 * ladder. */
#define CLIMB (UINT64_C(1) << 63)

/* Where a parameter of the part is in both flat vectors. */
typedef struct place {
    int64_t from, to, size;
} place;

/* *at receives where parameter k of the part is in the whole, by name and shape. SAL_ERR_ARGUMENT:
 * the whole has no such parameter. */
static sal_status find_place(const sal_model *whole, const sal_model *part, int32_t k, place *at,
                             sal_error *err)
{
    const sali_program *from = sali_model_tape(part)->program;
    const sali_program *to = sali_model_tape(whole)->program;
    const sali_node *wanted = &from->nodes[from->parameters[k].node];
    const int32_t j = sali_program_find(to, wanted->name);
    if (j < 0 || !sali_shape_equal(&wanted->shape, &to->nodes[to->parameters[j].node].shape)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: %s has no parameter %s of the shape that it has in %s, whose "
                         "training this one is to go on from",
                         whole->name, wanted->name, part->name);
    }
    *at = (place){ from->parameters[k].first, to->parameters[j].first, to->parameters[j].size };
    return SAL_OK;
}

/* Find the places of all n parameters of the part. */
static sal_status find_places(const sal_model *whole, const sal_model *part, int32_t n,
                              place *places, sal_error *err)
{
    sal_status status = SAL_OK;
    for (int32_t k = 0; status == SAL_OK && k < n; k++) {
        status = find_place(whole, part, k, &places[k], err);
    }
    return status;
}

static void embed_parameters(int64_t n, const place *places, const double *part, double *whole)
{
    for (int64_t k = 0; k < n; k++) {
        memcpy(whole + places[k].to, part + places[k].from, (size_t)places[k].size * sizeof *whole);
    }
}

/* Append the levels that the part `of` climbed to the path of the whole, without step sizes, which
 * may be of another sampler. */
static sal_status take_levels(const sal_trainer *t, const sali_ptt *of, int64_t n,
                              const place *places, sal_error *err)
{
    sali_ptt *p = t->own;
    double *values = SALI_NEW_ARRAY(double, t->optimiser.n);
    bool ok = values != NULL;
    memcpy(p->path->log_base, of->path->log_base,
           (size_t)p->path->states * sizeof *p->path->log_base);
    p->path->levels[0].info = of->path->levels[0].info;
    for (int64_t k = 1; ok && k < of->path->n; k++) {
        sal_trajectory_level info = of->path->levels[k].info;
        info.iteration = 0;
        embed_parameters(n, places, of->path->levels[k].values, values);
        ok = sali_trajectory_push(p->path, &info, 0, values);
    }
    sali_free(values);
    if (!ok) {
        return sali_fail_memory(err);
    }
    sali_params_set(p->last, sali_ptt_last(p)->values);
    return SAL_OK;
}

/* Set f at the reservoir. f of the whole may differ from f of the part by a constant only, which is
 * added to log Z of all levels. SAL_ERR_ARGUMENT: they differ by more. */
static sal_status take_values(sal_trainer *t, const sali_ptt *of, sal_error *err)
{
    sali_ptt *p = t->own;
    const double rounding = t->model->dtype == SAL_F32 ? ROUNDING_F32 : ROUNDING_F64;
    double low = INFINITY, high = -INFINITY, size = 1;
    sali_ptt_value_last(t, p->M, p->stored, p->stored_f);
    for (int64_t m = 0; m < p->M; m++) {
        const double d = p->stored_f[m] - of->stored_f[m];
        if (!isfinite(d)) { /* f of the part is finite at states that were drawn */
            return sali_fail(err, SAL_ERR_MODEL,
                             "train: with its other parameters at 0, f of %s is not finite at a "
                             "state of the training that this one is to go on from",
                             t->model->name);
        }
        low = fmin(low, d);
        high = fmax(high, d);
        size = fmax(size, fabs(p->stored_f[m]));
    }
    for (int64_t k = 1; k < p->path->n; k++) {
        sal_trajectory_level *info = &p->path->levels[k].info;
        info->log_z += info->beta * (low + high) / 2;
    }
    return high - low <= rounding * size
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: with its other parameters at 0, f of %s differs from that of "
                           "the model whose training this one is to go on from, by %g to %g",
                           t->model->name, low, high);
}

/* Set the present model: the part as it was trained, all other parameters as they start. */
static void take_parameters(sal_trainer *t, int64_t n, const place *places, const double *top)
{
    embed_parameters(n, places, top, t->values);
    sali_train_start_at(t);
}

/* Take levels, reservoir and log Z from the trainer `part`, which has climbed the ladder, and
 * travel on to the starting model. */
static sal_status take_over(sal_trainer *t, const sal_trainer *part, int64_t n, const place *places,
                            sal_error *err)
{
    sali_ptt *p = t->own;
    const sali_ptt *of = sali_ptt_of(part);
    const int64_t V = t->model->space->n_variables;
    bool arrived = true;
    sal_status status = sali_train_sync_status(t, take_levels(t, of, n, places, err), err);
    if (status != SAL_OK) {
        return status;
    }
    memcpy(p->stored, of->stored, (size_t)(p->M * V) * sizeof *p->stored);
    memcpy(p->family, of->family, (size_t)p->M * sizeof *p->family);
    memcpy(p->influence, of->influence, SALI_PTT_FAMILIES * sizeof *p->influence);
    p->disturbed = of->disturbed;
    status = take_values(t, of, err);
    if (status == SAL_OK) {
        take_parameters(t, n, places, part->values);
        status = sali_ptt_travel(t, 1, &arrived, err);
    }
    return status || arrived ? status
                             : sali_fail(err, SAL_ERR_MODEL,
                                         "train: no states are left on the way from the first "
                                         "training to %s; try a start with smaller parameters",
                                         t->model->name);
}

/* The progress callback of the climb: reports `done` levels to the caller of the training. Returns
 * whether to stop, on all ranks alike. */
static int tell_level(int64_t done, int64_t total, void *data)
{
    sal_trainer *t = data;
    sali_ptt *p = t->own;
    bool lost = false;
    (void)total;
    p->climbed = done;
    bool stopped = sali_train_show_progress(t);
    p->climbed = 0;
    sali_train_sync_answer(t, &stopped, &lost);
    return stopped;
}

sal_status sali_ptt_begin_after(sal_trainer *t, bool *stopped, sal_error *err)
{
    const sal_ptt_options *o = &t->options.ptt;
    const sal_trajectory_options climb = { .chains = t->options.batch,
                                           .reservoir = o->reservoir,
                                           .steps = o->first->steps,
                                           .seed = t->options.seed ^ CLIMB, /* draws have another */
                                           .threads = t->options.threads };
    sali_ptt_climb part = { 0 };
    const int32_t n = sali_model_tape(o->first_model)->program->n_parameters;
    place *places = SALI_NEW_ARRAY(place, n);
    sal_status status = places ? SAL_OK : sali_fail_memory(err);
    status = status ? status : find_places(t->model, o->first_model, n, places, err);
    status = sali_train_sync_status(t, status, err);
    status =
        status ? status
               : sali_ptt_climb_open(&part, o->first_model, o->first, &climb, t->options.comm, err);
    status = status ? status : sali_ptt_replay(part.trainer, o->first, tell_level, t, stopped, err);
    status = status || *stopped ? status : take_over(t, part.trainer, n, places, err);
    sali_ptt_climb_close(&part);
    sali_free(places);
    return status;
}
