/* SPDX-License-Identifier: MIT */
/* Inside of annealed importance sampling: the path and its chains. */
#ifndef SALI_AIS_H
#define SALI_AIS_H

#include <saltus/evaluate.h>
#include "core/threads/shard.h"
#include "models/make/bridge.h"
#include "parallel/ranks.h"
#include "samplers/sampler.h"

typedef struct sali_ais_shard {
    int64_t first, n; /* chains */
    sali_chains *chains;
    void *self;      /* of the sampler */
    double *f;       /* [n] at the temperature before */
    double *uniform; /* [V] scratch of draws */
    double moves;    /* steps made, sum over chains */
} sali_ais_shard;

typedef struct sali_ais {
    sal_ais_options options; /* resolved */
    double *log_base;        /* [R] */
    sali_bridge bridge;
    const sali_sampler *sampler;
    sali_sampler_settings settings;
    void *shared; /* of the sampler */
    int64_t n_shards;
    sali_memory memory;   /* owns the arrays of `ranks`, and chain_begin */
    sali_ranks ranks;     /* which rank owns each shard; shards of other ranks have no chains */
    int64_t *chain_begin; /* [n_shards + 1] */
    sali_pace pace;
    sali_ais_shard *shards;
    double *log_weight;     /* [chains] the sum of the increments so far */
    int64_t stage;          /* 0 .. temperatures, in the direction of the path */
    double accepted, moves; /* sums over chains and steps of this rank; at the end of all ranks */
} sali_ais;

/* beta_t for t = 0 .. T. */
double sali_ais_beta(sal_ais_schedule schedule, int64_t t, int64_t T);

/* Make everything that a path needs; *ais is zero before. Call sali_ais_free also after a
 * failure. */
sal_status sali_ais_prepare(sali_ais *ais, sal_model *model, const sal_ais_options *options,
                            sal_error *err);
void sali_ais_free(sali_ais *ais);

#endif
