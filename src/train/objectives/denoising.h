/* SPDX-License-Identifier: MIT */
/* The denoising chain of a training (models/levels/noise.h). */
#ifndef SALI_OBJECTIVE_DENOISING_H
#define SALI_OBJECTIVE_DENOISING_H

#include "run/trajectory/trajectory.h"
#include "train/trainer.h"

typedef struct sali_denoising_training {
    sali_memory memory;
    sal_trajectory *path; /* the noise, and each level's steps and step size */
    /* A level may run away: its energy turns so rough that its chains no longer reach values of f
     * as high as the data's. Then training goes back to the older of two copies, with more steps at
     * that level. */
    struct {
        double *gap;         /* [T] moving averages of mean f(data) - mean f(samples) */
        int64_t copies, all; /* copies made so far, and times that training went back */
        int64_t *times;      /* [T] times that training went back because of this level */
        double *values;      /* [2 x parameters]; copy number k is at k mod 2 */
        double *averages;    /* [2 x parameters]; NULL: there are none */
        double *log_step;    /* [2 x T]; NULL: step sizes do not change */
    } back;
    int32_t *codes;   /* [batch x V] x_t of each row */
    double **uniform; /* [n_shards][2 V] */
    void **field;     /* [n_shards], real [n x N] of the shard's chains */
} sali_denoising_training;

#endif
