/* SPDX-License-Identifier: MIT */
/* Values of a program's parameters, of its constants, and of all that depends on nothing else
 * (hoisted: computed once per update, never once per chain or step). Written by one thread while no
 * workspace runs; read by all. */
#ifndef SALI_PARAMS_H
#define SALI_PARAMS_H

#include "ad/program.h"
#include "core/memory.h"

typedef struct sali_params {
    sali_memory memory; /* of all arrays */
    const sali_program *program;
    void **value;    /* by node: real [size], NULL for nodes that vary */
    void **saved;    /* by node: for hoisted nodes' backward */
    void **prepared; /* by node: what its op prepares of these values, or NULL */
    void *scratch;
    bool *stale;      /* [n_nodes] scratch of sali_params_set_one */
    sali_arg *args;   /* [program->max_inputs]: operands of the hoisted call that runs */
    double offset;    /* the sum of the program's addends */
    uint64_t version; /* rises with every update: caches compare it */
} sali_params;

/* All parameters zero; constants filled; hoisted values computed. */
sal_status sali_params_create(const sali_program *program, sali_params **out, sal_error *err);
void sali_params_destroy(sali_params *params);

/* Set all parameters from a flat vector (order and places of program->parameters), or read them
 * into one. */
void sali_params_set(sali_params *params, const double *flat);
void sali_params_get(const sali_params *params, double *flat);

/* Element k of node i, which does not vary, for adding to f; an element of a constant in double. */
double sali_params_addend(const sali_params *params, int32_t i, int64_t k);

/* Set parameter `p` alone, to values [its size]: only what depends on this parameter is computed
 * again. */
void sali_params_set_one(sali_params *params, int32_t p, const double *values);

#endif
