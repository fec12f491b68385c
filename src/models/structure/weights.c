#include "models/structure/weights.h"

#include "core/alloc.h"

/* ---- elements of operands */

/* The element of a broadcast operand that element k of the output meets. */
static int64_t broadcast(const sal_shape *out, const sal_shape *in, int64_t k)
{
    int64_t at = 0, stride = 1;
    for (int32_t i = 1; i <= in->rank; i++) {
        int64_t size = in->dim[in->rank - i], whole = out->dim[out->rank - i];
        at += size == 1 ? 0 : k % whole * stride;
        stride *= size;
        k /= whole;
    }
    return at;
}

int64_t sali_weights_source(const sali_program *program, const sali_node *node, int operand,
                            int64_t k)
{
    const sal_shape *in = &program->nodes[node->in[operand]].shape;
    if (node->op != SALI_OP_slice && node->op != SALI_OP_gather) {
        bool same = node->op == SALI_OP_reshape || node->op == SALI_OP_scale ||
                    sali_shape_equal(in, &node->shape);
        return same ? k : broadcast(&node->shape, in, k);
    }
    int64_t axis = node->ints[0], inner = 1;
    for (int32_t i = in->rank - 1; i > axis; i--) {
        inner *= in->dim[i];
    }
    int64_t length = node->shape.dim[axis], at = k / inner % length;
    int64_t index = node->op == SALI_OP_slice ? node->ints[1] + at : node->ints[1 + at];
    return (k / inner / length * in->dim[axis] + index) * inner + k % inner;
}

double *sali_weights_of(sali_weights *w, int32_t node)
{
    if (!w->node[node]) {
        w->node[node] = SALI_NEW_ARRAY(double, w->program->steps[node].size);
    }
    return w->node[node];
}

/* ---- ops */

/* Elementwise and selecting ops: an operand gets the weights times a factor. */
static sal_status push_elements(sali_weights *w, int32_t i, int which, double factor)
{
    const sali_node *node = &w->program->nodes[i];
    double *to = sali_weights_of(w, node->in[which]);
    for (int64_t k = 0; to && k < w->program->steps[i].size; k++) {
        to[sali_weights_source(w->program, node, which, k)] += factor * w->node[i][k];
    }
    return to ? SAL_OK : SAL_ERR_MEMORY;
}

/* Products with, and quotients by, a constant. */
static sal_status push_product(sali_weights *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    bool dot = node->op == SALI_OP_dot;
    int moving = w->program->nodes[node->in[0]].varying ? 0 : 1;
    int32_t constant = node->in[1 - moving];
    if (w->program->nodes[constant].varying || (node->op == SALI_OP_div && moving == 1)) {
        return SAL_ERR_UNSUPPORTED;
    }
    double *to = sali_weights_of(w, node->in[moving]);
    int64_t size = w->program->steps[dot ? node->in[0] : i].size;
    for (int64_t k = 0; to && k < size; k++) {
        int64_t at = dot ? k : sali_weights_source(w->program, node, moving, k);
        int64_t by = dot ? k : sali_weights_source(w->program, node, 1 - moving, k);
        double value = sali_weights_value(w, constant, by), weight = w->node[i][dot ? 0 : k];
        to[at] += node->op == SALI_OP_div ? weight / value : weight * value;
    }
    return to ? SAL_OK : SAL_ERR_MEMORY;
}

static sal_status push_matvec(sali_weights *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    int64_t m = w->program->steps[i].size, n = w->program->steps[node->in[1]].size;
    if (w->program->nodes[node->in[0]].varying) {
        return SAL_ERR_UNSUPPORTED;
    }
    double *to = sali_weights_of(w, node->in[1]);
    for (int64_t k = 0; to && k < m * n; k++) {
        to[k % n] += w->node[i][k / n] * sali_weights_value(w, node->in[0], k);
    }
    return to ? SAL_OK : SAL_ERR_MEMORY;
}

/* Sums and means, of all elements or along an axis. */
static sal_status push_sum(sali_weights *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    const sal_shape *in = &w->program->nodes[node->in[0]].shape;
    int64_t size = w->program->steps[node->in[0]].size, inner = 1, length = size;
    if (node->ints[0] >= 0) {
        length = in->dim[node->ints[0]];
        for (int32_t axis = in->rank - 1; axis > node->ints[0]; axis--) {
            inner *= in->dim[axis];
        }
    }
    double factor = node->op == SALI_OP_mean ? 1 / (double)length : 1;
    double *to = sali_weights_of(w, node->in[0]);
    for (int64_t k = 0; to && k < size; k++) {
        to[k] += factor * w->node[i][k / inner / length * inner + k % inner];
    }
    return to ? SAL_OK : SAL_ERR_MEMORY;
}

sal_status sali_weights_push(sali_weights *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    sal_status status;
    switch (node->op) {
    case SALI_OP_reshape:
    case SALI_OP_slice:
    case SALI_OP_gather:
        return push_elements(w, i, 0, 1);
    case SALI_OP_scale:
        return push_elements(w, i, 0, node->reals[0]);
    case SALI_OP_add:
    case SALI_OP_sub:
        status = push_elements(w, i, 0, 1);
        return status ? status : push_elements(w, i, 1, node->op == SALI_OP_sub ? -1 : 1);
    case SALI_OP_mul:
    case SALI_OP_div:
    case SALI_OP_dot:
        return push_product(w, i);
    case SALI_OP_matvec:
        return push_matvec(w, i);
    case SALI_OP_sum:
    case SALI_OP_mean:
        return push_sum(w, i);
    default:
        return SAL_ERR_UNSUPPORTED;
    }
}

/* ---- all of it */

sal_status sali_weights_create(const sali_tape_model *tape, sali_weights *weights)
{
    int32_t output = tape->program->output;
    *weights = (sali_weights){ .program = tape->program,
                               .params = tape->params,
                               .node = SALI_NEW_ARRAY(double *, tape->program->n_nodes) };
    double *one = weights->node ? sali_weights_of(weights, output) : NULL;
    if (one) {
        one[0] = 1;
    }
    return one ? SAL_OK : SAL_ERR_MEMORY;
}

void sali_weights_free(sali_weights *weights)
{
    for (int32_t i = 0; weights->node && i < weights->program->n_nodes; i++) {
        sali_free(weights->node[i]);
    }
    sali_free(weights->node);
    *weights = (sali_weights){ 0 };
}
