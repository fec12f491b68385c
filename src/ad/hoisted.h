/* SPDX-License-Identifier: MIT */
/* Nodes that depend on parameters and constants only: run once per update of the parameters. */
#ifndef SALI_HOISTED_H
#define SALI_HOISTED_H

#include "ad/params.h"

/* Whether node i is computed (not a leaf, not an alias) and does not depend on the state. */
static inline bool sali_is_hoisted(const sali_program *program, int32_t i)
{
    return !program->nodes[i].varying && program->nodes[i].n_in > 0 &&
           program->steps[i].storage == i;
}

/* Fill the call of hoisted node i; `adjoint` by node, or NULL for forward. `args` has room for
 * its inputs: program->max_inputs are enough. */
void sali_hoisted_call(const sali_params *params, int32_t i, void *const *adjoint, sali_arg *args,
                       sali_call *call);

#endif
