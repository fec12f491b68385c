#include "models/structure/lines.h"

#include "core/alloc.h"
#include "models/structure/weights.h"

/* Element k of an operand as a line; false if it is none. */
static bool operand(const sali_lines *l, const sali_node *node, int which, int64_t k,
                    sali_line *out)
{
    int32_t in = node->in[which];
    int64_t at = sali_weights_source(l->program, node, which, k);
    if (!l->program->nodes[in].varying) {
        *out = (sali_line){ sali_load(l->program->dtype, l->params->value[in], at), 0, 0 };
        return true;
    }
    if (l->node[in]) {
        *out = l->node[in][at];
    }
    return l->node[in] != NULL;
}

/* a + sign b, a b: lines again if one of them is constant or, of sums, they are of one unknown. */
static bool combine(sali_op_id op, const sali_line *a, const sali_line *b, sali_line *out)
{
    const sali_line *moving = a->slope != 0 ? a : b;
    if (op == SALI_OP_mul) {
        *out = (sali_line){ a->base * b->base, a->base * b->slope + b->base * a->slope,
                            moving->unknown };
        return a->slope == 0 || b->slope == 0;
    }
    double sign = op == SALI_OP_sub ? -1 : 1;
    *out = (sali_line){ a->base + sign * b->base, a->slope + sign * b->slope, moving->unknown };
    return a->slope == 0 || b->slope == 0 || a->unknown == b->unknown;
}

static bool line_of(const sali_lines *l, const sali_node *node, int64_t k, sali_line *out)
{
    sali_line a, b;
    switch (node->op) {
    case SALI_OP_reshape:
    case SALI_OP_slice:
    case SALI_OP_gather:
        return operand(l, node, 0, k, out);
    case SALI_OP_scale:
        a = (sali_line){ node->reals[0], 0, 0 };
        return operand(l, node, 0, k, &b) && combine(SALI_OP_mul, &a, &b, out);
    case SALI_OP_add:
    case SALI_OP_sub:
    case SALI_OP_mul:
        return operand(l, node, 0, k, &a) && operand(l, node, 1, k, &b) &&
               combine(node->op, &a, &b, out);
    default:
        return false;
    }
}

bool sali_lines_keep(sali_op_id op)
{
    return op == SALI_OP_reshape || op == SALI_OP_slice || op == SALI_OP_gather ||
           op == SALI_OP_scale || op == SALI_OP_add || op == SALI_OP_sub || op == SALI_OP_mul;
}

/* The lines of node i, if it has any. */
static sal_status find(sali_lines *l, int32_t i, void (*state)(void *, sali_line *), void *context)
{
    const sali_node *node = &l->program->nodes[i];
    int64_t size = l->program->steps[i].size;
    if (!node->varying || (node->op != SALI_OP_state && !sali_lines_keep(node->op))) {
        return SAL_OK;
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        if (l->program->nodes[node->in[k]].varying && !l->node[node->in[k]]) {
            return SAL_OK;
        }
    }
    sali_line *lines = SALI_NEW_ARRAY(sali_line, size);
    if (!lines) {
        return SAL_ERR_MEMORY;
    }
    bool good = true;
    if (node->op == SALI_OP_state) {
        state(context, lines);
    }
    for (int64_t k = 0; good && node->op != SALI_OP_state && k < size; k++) {
        good = line_of(l, node, k, &lines[k]);
    }
    if (good) {
        l->node[i] = lines;
    } else {
        sali_free(lines);
    }
    return SAL_OK;
}

sal_status sali_lines_create(const sali_tape_model *tape, void (*state)(void *, sali_line *),
                             void *context, sali_lines *lines)
{
    *lines = (sali_lines){ .program = tape->program,
                           .params = tape->params,
                           .node = SALI_NEW_ARRAY(sali_line *, tape->program->n_nodes) };
    sal_status status = lines->node ? SAL_OK : SAL_ERR_MEMORY;
    for (int32_t i = 0; status == SAL_OK && i < tape->program->n_nodes; i++) {
        status = find(lines, i, state, context);
    }
    return status;
}

void sali_lines_free(sali_lines *lines)
{
    for (int32_t i = 0; lines->node && i < lines->program->n_nodes; i++) {
        sali_free(lines->node[i]);
    }
    sali_free(lines->node);
    *lines = (sali_lines){ 0 };
}
