/* SPDX-License-Identifier: MIT */
/* Random tapes: expression trees over random small spaces, drawn from a probabilistic grammar
 * (after van den Hoek 2022, An evaluation of MCMC samplers for models with discrete parameters,
 * section 3.2). Each nonterminal is a shape; a production is an op with operands of suitable
 * shapes, or a leaf. Every expression carries an interval that holds its elements, by which
 * operands are brought into the range where their op is tested, and results kept small. */
#ifndef RANDOM_TAPE_H
#define RANDOM_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ad/tape.h"

typedef enum random_style {
    RANDOM_ANY,      /* all ops */
    RANDOM_SMOOTH,   /* without kinks and jumps */
    RANDOM_QUADRATIC /* polynomials of degree two in two-level variables and one-hots */
} random_style;

/* Tape number `seed` of a style, over a space of its own, with its output. */
sal_tape *random_tape(uint64_t seed, random_style style, sal_dtype dtype, sal_expr *f);

/* The same, but the first choices are these bytes', one each. */
sal_tape *random_tape_by(const uint8_t *choices, size_t n_choices, uint64_t seed,
                         random_style style, sal_dtype dtype, sal_expr *f);

/* n numbers of stream `k` of a tape's seed, in (low, high). */
void random_numbers(uint64_t seed, uint32_t k, int64_t n, double low, double high, double *out);

/* Ops that the generator leaves out: they have demands of their own on their inputs. */
bool random_tape_leaves_out(sali_op_id op);

#endif
