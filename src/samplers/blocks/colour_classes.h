/* SPDX-License-Identifier: MIT */
/* Classes of variables no two of which are in a term of f together, so that given all others they
 * are independent and can be drawn at once (a lattice is a checkerboard of two). */
#ifndef SALI_COLOUR_CLASSES_H
#define SALI_COLOUR_CLASSES_H

#include "samplers/blocks/partition.h"
#include "samplers/sampler.h"

/* The classes of a model by a greedy colouring of its interaction graph
 * (models/structure/interactions.h), as blocks of variables. *why receives NULL, or the reason why
 * there are no classes that would help; then `classes` is empty. */
sal_status sali_colour_classes(const sal_model *model, sali_blocks *classes, const char **why,
                               sal_error *err);

/* Draws of classes, for the chains of one shard: an object (core/object.h). `classes` must outlive
 * it. */
typedef struct sali_class_draws sali_class_draws;
sal_status sali_class_draws_create(const sali_chains *chains, const sali_blocks *classes,
                                   sali_class_draws **out, sal_error *err);
void sali_class_draws_refresh(sali_class_draws *d, sali_chains *chains);

/* step: draw class piece[c] of each chain. log_q: log q(present state -> to) of such a step, [n].
 */
void sali_class_draws_step(sali_class_draws *d, sali_chains *chains, const int64_t *piece);
void sali_class_draws_log_q(const sali_class_draws *d, const sali_chains *chains,
                            const int64_t *piece, const int32_t *to, double *log_q);

#endif
