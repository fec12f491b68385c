/* SPDX-License-Identifier: MIT */
#include "ad/layout.h"

static sali_op_layout layout_of(const sali_program *program, const sali_node *node)
{
    return sali_op_of(program->dtype, node->op)->layout;
}

/* Whether the node's op could write its value pixel-major, in an order that differs from [chains x
 * size]. */
static bool is_candidate(const sali_program *program, const sali_node *node)
{
    return node->varying && node->shape.rank == 3 && node->shape.dim[1] * node->shape.dim[2] > 1 &&
           layout_of(program, node) != SALI_LAYOUT_CHAINS;
}

/* Whether all operands of an elementwise node are pixel-major and none is stretched. */
static bool operands_agree(const sali_program *program, const sali_node *node)
{
    for (int32_t k = 0; k < node->n_in; k++) {
        const sali_node *in = &program->nodes[node->in[k]];
        if (!in->pixel_major || !sali_shape_equal(&in->shape, &node->shape)) {
            return false;
        }
    }
    return true;
}

/* Clear `pixel_major` of the node or of its inputs where the node's op does not accept that layout.
 * Returns whether a flag changed. */
static bool take_back(sali_program *program, sali_node *node)
{
    sali_op_layout layout = layout_of(program, node);
    bool changed = false;
    if (layout == SALI_LAYOUT_SAME && node->pixel_major && !operands_agree(program, node)) {
        node->pixel_major = false;
        changed = true;
    }
    if (layout == SALI_LAYOUT_EACH || node->pixel_major) {
        return changed;
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        sali_node *in = &program->nodes[node->in[k]];
        changed |= in->pixel_major;
        in->pixel_major = false;
    }
    return changed;
}

void sali_choose_layouts(sali_program *program)
{
    for (int32_t i = 0; i < program->n_nodes; i++) {
        program->nodes[i].pixel_major = is_candidate(program, &program->nodes[i]);
    }
    bool changed = true;
    while (changed) {
        changed = false;
        for (int32_t i = program->n_nodes - 1; i >= 0; i--) {
            changed |= take_back(program, &program->nodes[i]);
        }
    }
}
