/* SPDX-License-Identifier: MIT */
/* The program: a frozen tape. Immutable, shared by all threads. */
#ifndef SALI_PROGRAM_H
#define SALI_PROGRAM_H

#include "ad/fusion.h"
#include "ad/tape.h"
#include "core/element.h"

/* What the program knows of a node besides the node itself. */
typedef struct sali_step {
    const sali_op *op;
    void *plan;
    const sali_node **in; /* the nodes of the inputs */
    int64_t size;         /* elements of one state's value */
    int64_t saved_size;   /* elements kept per chain from forward to backward */
    sali_degree degree;
    bool state_path; /* varies with the state: gets an adjoint when the state gradient is wanted */
    bool param_path; /* depends on a parameter: has an adjoint for parameter gradients */
    bool in_double;  /* adds a number to the rest of f: not called, the number is added in double */
    int32_t storage; /* the node whose buffer holds the value: itself, or an alias's input */
} sali_step;

/* A parameter's place in the flat vector of all parameters. */
typedef struct sali_parameter {
    int32_t node;
    int64_t first, size;
} sali_parameter;

/* The nodes as recorded, before the passes, without their numbers: for people to compare with the
 * program's nodes. */
typedef struct sali_listing {
    int32_t n_nodes, output;
    sali_node *nodes;
    sali_degree *degree;
} sali_listing;

typedef struct sali_program {
    sal_space *space;
    sal_dtype dtype;
    int32_t n_nodes;
    int32_t max_inputs; /* the most inputs of a node */
    int32_t n_inputs;   /* number of inputs of all nodes together */
    sali_node *nodes;
    sali_step *steps;
    int32_t output; /* node of f, a scalar */
    int32_t root;   /* f without its addends: what is computed for each state */
    int32_t n_addends;
    int32_t *addends; /* scalar nodes that do not vary: f is the root and these, in double */
    int32_t state;    /* node of the state, or -1 if f does not read it */
    int32_t n_parameters;
    sali_parameter *parameters;
    int64_t parameters_size; /* of the flat vector */
    uint32_t passes;         /* SAL_PASS_* */
    sali_listing recorded;
    sali_fusion fusion;
} sali_program;

/* Freeze a tape: check that f is a scalar of it, run the tape's passes on a copy, infer degrees,
 * make the ops' plans. Parameters keep the order of their recording. Returns: the tape's first
 * mistake, SAL_ERR_SHAPE when f is not a scalar, SAL_ERR_MEMORY. */
sal_status sali_program_create(const sal_tape *tape, sal_expr f, sali_program **out,
                               sal_error *err);
void sali_program_destroy(sali_program *program);

/* Index into `parameters`, or -1. */
int32_t sali_program_find(const sali_program *program, const char *name);

/* Elements of scratch that the largest call over `chains` chains needs. */
int64_t sali_program_scratch(const sali_program *program, int64_t chains);

/* Whether f is multilinear: then the gradient gives the exact finite differences (eq. 11
 * of the Newton paper). */
bool sali_program_is_multilinear(const sali_program *program);

/* Whether f has hard limits (sali_op.limit), which workspaces can leave out. */
bool sali_program_is_limited(const sali_program *program);

/* Set *trackable to whether tracking chains of a program (models/tracker.h) costs less than
 * evaluating it: all ops have change rules, and no product takes the result of another product.
 * Models keep the answer. Returns: SAL_ERR_MEMORY. */
sal_status sali_program_is_trackable(const sali_program *program, bool *trackable, sal_error *err);

/* Whether node i is computed in every replay: it varies, is no leaf, no alias, and no sum that is
 * added in double at the end. */
static inline bool sali_is_called(const sali_program *program, int32_t i)
{
    return program->nodes[i].varying && program->nodes[i].n_in > 0 &&
           program->steps[i].storage == i && !program->steps[i].in_double;
}

#endif
