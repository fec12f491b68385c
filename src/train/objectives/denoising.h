/* SPDX-License-Identifier: MIT */
/* The denoising chain of a training (models/levels/noise.h). */
#ifndef SALI_OBJECTIVE_DENOISING_H
#define SALI_OBJECTIVE_DENOISING_H

#include "run/trajectory.h"
#include "train/trainer.h"

typedef struct sali_denoising_training {
    sali_memory memory;
    sal_trajectory *path; /* the noise, and each level's steps and step size */
    int32_t *codes;       /* [batch x V] of x_t */
    double **uniform;     /* [n_shards][2 V] */
    void **field;         /* [n_shards], real [n x N] of the shard's chains */
} sali_denoising_training;

#endif
