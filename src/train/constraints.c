/* SPDX-License-Identifier: MIT */
#include "train/constraints.h"

#include <math.h>
#include <string.h>

#include "core/vector/clones.h"
#include "core/error.h"
#include "core/space.h"

/* ---- names of parameters */

/* Call `add` for each parameter of a list "a,b". */
static sal_status each_name(const char *option, const char *list, const sali_program *program,
                            sal_status (*add)(sali_constraints *, const sali_program *, int32_t,
                                              sal_error *),
                            sali_constraints *c, sal_error *err)
{
    sal_status status = SAL_OK;
    for (const char *at = list; status == SAL_OK && *at;) {
        int length = (int)strcspn(at, ",");
        int32_t found = -1;
        for (int32_t p = 0; p < program->n_parameters; p++) {
            const char *name = program->nodes[program->parameters[p].node].name;
            found = strlen(name) == (size_t)length && strncmp(name, at, (size_t)length) == 0
                        ? p
                        : found;
        }
        status = found >= 0
                     ? add(c, program, found, err)
                     : sali_fail(err, SAL_ERR_ARGUMENT, "train: %s: no parameter is called '%.*s'",
                                 option, length > 100 ? 100 : length, at);
        at += length;
        at += *at == ',';
    }
    return status;
}

/* Make the mask `learned`, all 1, if there is none yet. */
static sal_status need_mask(sali_constraints *c, sal_error *err)
{
    if (!c->learned) {
        c->learned = SALI_TAKE(c->memory, double, c->n);
        for (int64_t i = 0; c->learned && i < c->n; i++) {
            c->learned[i] = 1;
        }
    }
    return sali_memory_status(c->memory, err);
}

/* Mark all values of parameter p as not learned. */
static sal_status fix_parameter(sali_constraints *c, const sali_program *program, int32_t p,
                                sal_error *err)
{
    sal_status status = need_mask(c, err);
    const sali_parameter *place = &program->parameters[p];
    for (int64_t i = 0; status == SAL_OK && i < place->size; i++) {
        c->learned[place->first + i] = 0;
    }
    for (int64_t k = 0; k < c->n_blocks; k++) {
        c->blocks[k].fixed |= c->blocks[k].first == place->first;
    }
    return status;
}

/* Append parameter p to the blocks of couplings, once. */
static sal_status add_block(sali_constraints *c, const sali_program *program, int32_t p,
                            sal_error *err)
{
    (void)err;
    const sali_parameter *place = &program->parameters[p];
    const sal_shape *shape = &program->nodes[place->node].shape;
    bool square = shape->rank == 2 && shape->dim[0] == shape->dim[1];
    for (int64_t k = 0; k < c->n_blocks; k++) {
        if (c->blocks[k].first == place->first) {
            return SAL_OK; /* named twice */
        }
    }
    c->blocks[c->n_blocks++] = (sali_coupling_block){ .first = place->first,
                                                      .size = place->size,
                                                      .side = square ? shape->dim[0] : 0 };
    return SAL_OK;
}

/* Set the entries of a block between the reals of one variable to zero, in values [parameters]. */
static void zero_own(const sal_space *space, const sali_coupling_block *block, double *values)
{
    for (int64_t v = 0; v < space->n_variables; v++) {
        const sali_variable *variable = &space->variables[v];
        for (int32_t a = 0; a < variable->width; a++) {
            double *row = values + block->first + (variable->offset + a) * block->side;
            memset(row + variable->offset, 0, (size_t)variable->width * sizeof *row);
        }
    }
}

/* Mark the entries of all blocks between the reals of one variable as not learned.
 * SAL_ERR_ARGUMENT: a block is not N x N. */
static sal_status zero_diagonal(sali_constraints *c, sal_error *err)
{
    const int64_t N = c->space->width;
    sal_status status = need_mask(c, err);
    for (int64_t k = 0; status == SAL_OK && k < c->n_blocks; k++) {
        if (c->blocks[k].side != N) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "train: zero_diagonal needs couplings of %lld x %lld entries",
                             (long long)N, (long long)N);
        }
        zero_own(c->space, &c->blocks[k], c->learned);
    }
    return status;
}

/* Prepare the group penalty. SAL_ERR_ARGUMENT: a block of couplings is not N x N. */
static sal_status group_blocks(sali_constraints *c, const sal_train_options *o, sal_error *err)
{
    const int64_t V = c->space->n_variables, N = c->space->width;
    for (int64_t k = 0; k < c->n_blocks; k++) {
        if (c->blocks[k].side != N) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "train: couplings.group needs couplings of %lld x %lld entries",
                             (long long)N, (long long)N);
        }
    }
    c->group = 0.5 * o->couplings.group;
    c->step = o->optimiser.method == SAL_SGD
                  ? o->learning_rate / (1 - fmax(o->optimiser.momentum, 0))
                  : 0;
    c->keep = SALI_TAKE(c->memory, double, V *V);
    c->pull = SALI_TAKE(c->memory, double, V *V);
    return sali_memory_status(c->memory, err);
}

sal_status sali_constraints_create(sali_constraints *c, sali_memory *memory, const sal_model *model,
                                   const sal_train_options *options, sal_error *err)
{
    const sali_program *program = sali_model_tape(model)->program;
    bool usual = !options->couplings.names && sali_program_find(program, "J") >= 0;
    const char *couplings = usual ? "J" : options->couplings.names ? options->couplings.names : "";
    *c = (sali_constraints){ .memory = memory,
                             .n = program->parameters_size,
                             .l1 = options->couplings.l1,
                             .zero_diagonal = options->couplings.zero_diagonal,
                             .space = model->space };
    c->blocks = SALI_TAKE(memory, sali_coupling_block, (int64_t)strlen(couplings) + 1);
    sal_status status = sali_memory_status(memory, err);
    status = status ? status : each_name("couplings", couplings, program, add_block, c, err);
    const char *needs = options->couplings.l1 > 0          ? "l1"
                        : options->couplings.group > 0     ? "couplings.group"
                        : options->couplings.zero_diagonal ? "zero_diagonal"
                                                           : NULL;
    if (status == SAL_OK && c->n_blocks == 0 && needs) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: %s needs the names of couplings; %s has no parameter J", needs,
                         model->name);
    }
    if (status == SAL_OK && options->couplings.group > 0) {
        status = group_blocks(c, options, err);
    }
    if (status == SAL_OK && options->couplings.zero_diagonal) {
        status = zero_diagonal(c, err);
    }
    if (status == SAL_OK && options->sparsity.method != SAL_SPARSITY_NONE) {
        status = need_mask(c, err);
    }
    if (status == SAL_OK && options->fixed) {
        status = each_name("fixed", options->fixed, program, fix_parameter, c, err);
    }
    return status;
}

/* ---- use */

void sali_constraints_learn(sali_constraints *c, int64_t i, bool learned)
{
    c->learned[i] = learned;
}

enum { TILE = 16 };

/* Replace a_ij and a_ji by their mean, for all entries of a [n x n]. */
SALI_CLONES static void symmetrise_matrix(int64_t n, double *a)
{
    for (int64_t i0 = 0; i0 < n; i0 += TILE) {
        for (int64_t j0 = 0; j0 <= i0; j0 += TILE) {
            int64_t i1 = i0 + TILE < n ? i0 + TILE : n;
            for (int64_t i = i0; i < i1; i++) {
                int64_t j1 = j0 + TILE < i ? j0 + TILE : i;
                for (int64_t j = j0; j < j1; j++) {
                    a[i * n + j] = a[j * n + i] = 0.5 * (a[i * n + j] + a[j * n + i]);
                }
            }
        }
    }
}

void sali_constraints_start(const sali_constraints *c, double *values)
{
    for (int64_t k = 0; k < c->n_blocks; k++) {
        const sali_coupling_block *block = &c->blocks[k];
        if (block->fixed) {
            continue;
        }
        symmetrise_matrix(block->side, values + block->first);
        if (c->zero_diagonal) {
            zero_own(c->space, block, values);
        }
    }
}

SALI_CLONES static void pull_to_zero(int64_t n, double l1, const double *values, double *gradient)
{
    for (int64_t i = 0; i < n; i++) {
        gradient[i] -= values[i] > 0 ? l1 : values[i] < 0 ? -l1 : 0;
    }
}

/* norms[i V + j] receives the Frobenius norm of the block of variables i and j of a symmetric
 * matrix a, with the same bits as norms[j V + i]. */
static void block_norms(const sal_space *space, const double *a, double *norms)
{
    const int64_t V = space->n_variables, N = space->width;
    memset(norms, 0, (size_t)(V * V) * sizeof *norms);
    for (int64_t i = 0; i < V; i++) {
        const sali_variable *vi = &space->variables[i];
        for (int64_t row = vi->offset; row < vi->offset + vi->width; row++) {
            for (int64_t j = 0; j < i; j++) {
                const double *x = a + row * N + space->variables[j].offset;
                for (int32_t k = 0; k < space->variables[j].width; k++) {
                    norms[i * V + j] += x[k] * x[k];
                }
            }
        }
        for (int64_t j = 0; j < i; j++) {
            norms[i * V + j] = norms[j * V + i] = sqrt(norms[i * V + j]);
        }
    }
}

/* to = keep to - pull from, by blocks of two variables; blocks of a variable with itself stay as
 * they are. */
static void scale_blocks(const sal_space *space, const double *keep, const double *pull,
                         const double *from, double *to)
{
    const int64_t V = space->n_variables, N = space->width;
    for (int64_t i = 0; i < V; i++) {
        const sali_variable *vi = &space->variables[i];
        for (int64_t row = vi->offset; row < vi->offset + vi->width; row++) {
            for (int64_t j = 0; j < V; j++) {
                const int64_t first = row * N + space->variables[j].offset;
                const double kept = keep[i * V + j], pulled = pull[i * V + j];
                for (int64_t k = first; i != j && k < first + space->variables[j].width; k++) {
                    to[k] = kept * to[k] - pulled * from[k];
                }
            }
        }
    }
}

/* Subtract the subgradient of the group penalty; where a block is zero, the subgradient that leaves
 * least of the gradient. */
static void pull_groups(const sali_constraints *c, const double *values, double *gradient)
{
    const int64_t V = c->space->n_variables;
    block_norms(c->space, gradient, c->keep);
    block_norms(c->space, values, c->pull);
    for (int64_t k = 0; k < V * V; k++) {
        if (c->pull[k] > 0) {
            c->keep[k] = 1;
            c->pull[k] = c->group / c->pull[k];
        } else {
            c->keep[k] = c->keep[k] > c->group ? 1 - c->group / c->keep[k] : 0;
        }
    }
    scale_blocks(c->space, c->keep, c->pull, values, gradient);
}

void sali_constraints_shrink(const sali_constraints *c, double share, double *values)
{
    const int64_t V = c->space->n_variables;
    for (int64_t b = 0; c->group > 0 && c->step > 0 && b < c->n_blocks; b++) {
        double *J = values + c->blocks[b].first, shrink = share * c->step * c->group;
        if (c->blocks[b].fixed) {
            continue;
        }
        block_norms(c->space, J, c->keep);
        for (int64_t k = 0; k < V * V; k++) {
            c->keep[k] = c->keep[k] > shrink ? 1 - shrink / c->keep[k] : 0;
        }
        memset(c->pull, 0, (size_t)(V * V) * sizeof *c->pull);
        scale_blocks(c->space, c->keep, c->pull, J, J);
    }
}

SALI_CLONES static void mask_gradient(int64_t n, const double *learned, double *gradient)
{
    for (int64_t i = 0; i < n; i++) {
        gradient[i] = learned[i] == 0 ? 0 : gradient[i];
    }
}

void sali_constraints_gradient(const sali_constraints *c, const double *values, double *gradient)
{
    for (int64_t k = 0; k < c->n_blocks; k++) {
        const sali_coupling_block *block = &c->blocks[k];
        symmetrise_matrix(block->side, gradient + block->first);
        if (c->l1 > 0) {
            pull_to_zero(block->size, c->l1, values + block->first, gradient + block->first);
        }
        if (c->group > 0 && c->step == 0) {
            pull_groups(c, values + block->first, gradient + block->first);
        }
    }
    if (c->learned) {
        mask_gradient(c->n, c->learned, gradient);
    }
}

void sali_constraints_decays(const sali_constraints *c, double *decays)
{
    for (int64_t i = 0; i < c->n; i++) {
        decays[i] = c->learned ? c->learned[i] : 1;
    }
    for (int64_t k = 0; c->l1 > 0 && k < c->n_blocks; k++) {
        memset(decays + c->blocks[k].first, 0, (size_t)c->blocks[k].size * sizeof *decays);
    }
}
