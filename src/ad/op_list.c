/* SPDX-License-Identifier: MIT */
/* What operations there are, for people and for other languages. */
#include <string.h>

#include <saltus/program.h>
#include "ad/op.h"

bool sali_op_find(const char *name, sali_op_id *id)
{
    for (int k = 0; k < SALI_OP_COUNT; k++) {
        if (strcmp(sali_op_f64((sali_op_id)k)->name, name) == 0) {
            *id = (sali_op_id)k;
            return true;
        }
    }
    return false;
}

/* How the degree of an op's value follows from the degrees of its inputs, in words; "" for a
 * leaf. */
static const char *degree(const sali_op *op)
{
    if (op->arity == 0) {
        return "";
    }
    if (op->degree == sali_degree_nonlinear) {
        return "general";
    }
    if (op->degree == sali_degree_bilinear) {
        return "as one input, if the other is fixed";
    }
    return !op->degree || op->degree == sali_degree_linear || op->degree == sali_degree_mixing
               ? "as its inputs"
               : "a rule of its own";
}

bool sal_op_list(int64_t index, sal_op_info *info)
{
    if (!info || index < 0 || index >= SALI_OP_COUNT) {
        return false;
    }
    const sali_op *op = sali_op_f64((sali_op_id)index);
    *info = (sal_op_info){ .name = op->name,
                           .doc = op->doc,
                           .degree = degree(op),
                           .inputs = op->arity,
                           .fixed = op->param_inputs,
                           .changes = op->change != NULL };
    return true;
}
