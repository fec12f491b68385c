/* SPDX-License-Identifier: MIT */
/* What the parts of parallel trajectory tempering tell each other. */
#ifndef SALI_PTT_PARTS_H
#define SALI_PTT_PARTS_H

#include "train/ptt.h"

/* ---- ptt.c */

/* Streams of random numbers that all chains share, numbered by sweeps. */
enum { SALI_PTT_SWAP, SALI_PTT_CHOICE, SALI_PTT_RESAMPLE };
sali_stream sali_ptt_stream(const sal_trainer *trainer, uint32_t stream);

/* Chains at members of the reservoir, evenly spaced. */
void sali_ptt_take_chains(sal_trainer *trainer);

/* ---- ptt_levels.c */

static inline const sali_path_level *sali_ptt_last(const sali_ptt *p)
{
    return &p->path->levels[p->path->n - 1];
}

/* f at codes [n x V]: of the present model, and of the last level. */
void sali_ptt_value_now(const sal_trainer *trainer, int64_t n, const int32_t *codes, double *f);
void sali_ptt_value_last(const sal_trainer *trainer, int64_t n, const int32_t *codes, double *f);

/* The weights [n] of states of one distribution under another, whose log-weights are d [n] up to a
 * constant; they sum to 1. Returns: the share of the states that counts, their effective number
 * over that of those that the other allows; 0: none has a weight. Few states that weigh much are a
 * mode that grows, which the rates of swaps hardly see. */
double sali_ptt_weights(int64_t n, const double *d, double *weight);

/* The rate of swaps between the two, from states of the first with these weights. */
double sali_ptt_rate(sali_ptt *p, int64_t n, const double *d, const double *weight);

/* f of the present model at the reservoir, into stored_now, and less that of the last level, into
 * a. */
void sali_ptt_compare(sal_trainer *trainer);

/* Levels up to the present model, which is left to be at `beta`, as many as it takes for each to
 * keep a share of the states of the one before; then chains there. False in *arrived: there is no
 * way, and the present model is one on it. Cost: for each level some visits by all the reservoir.
 * Returns: SAL_ERR_MODEL (too many levels; chains met NaN), SAL_ERR_MEMORY. */
sal_status sali_ptt_travel(sal_trainer *trainer, double beta, bool *arrived, sal_error *err);

void sali_ptt_free_visitors(const sal_trainer *trainer, sali_ptt *p);

#endif
