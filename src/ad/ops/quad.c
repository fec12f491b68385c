/* s'Ss for a symmetric S that does not depend on the state. Y = S s is one product over the batch
 * and is kept: the gradient 2 Y costs nothing more. S itself gets sum_c g_c s_c s_c'. */
#include <string.h>

#include "ad/ops/matrix.h"
#include "core/error.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const sal_shape *s = &context->in[0]->shape, *S = &context->in[1]->shape;
    if (s->rank != 1 || S->rank != 2 || S->dim[0] != s->dim[0] || S->dim[1] != s->dim[0] ||
        !fits_blas(s)) {
        return sali_shape_fail(node, context, "a vector [n] and a square matrix [n, n]");
    }
    if (context->in[1]->op != SALI_OP_symmetrise) {
        return sali_fail(context->err, SAL_ERR_SHAPE,
                         "quad: the couplings must come from symmetrise");
    }
    node->shape = SAL_SCALAR;
    return sali_expect_attributes(node, 0, 0, context->err);
}

static int64_t saved_size(const sali_node *node, const sali_node *const *in)
{
    (void)node;
    return in[0]->shape.dim[0];
}

static int64_t scratch_size(const sali_node *node, const sali_node *const *in, int64_t chains)
{
    (void)node;
    return chains * in[0]->shape.dim[0];
}

SALI_CLONES static void forward(const sali_call *call)
{
    int64_t n = call->in[0].size;
    const real *s = call->in[0].value;
    real *Y = call->saved, *out = (real *)call->out.value;
    gemm(PLAIN, PLAIN, call->chains, n, n, s, call->in[1].value, 0, Y);
    for (int64_t c = 0; c < call->chains; c++, s += n, Y += n) {
        real sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) {
            sum += s[i] * Y[i];
        }
        out[c] = sum;
    }
}

/* to[c] += factor g[c] x[c] for each row of n. */
static inline void add_rows(int64_t chains, int64_t n, real factor, const real *g, const real *x,
                            real *to)
{
    for (int64_t c = 0; c < chains; c++, x += n, to += n) {
        real gc = factor * g[c];
#pragma omp simd
        for (int64_t i = 0; i < n; i++) {
            to[i] += sali_pull(gc, x[i]);
        }
    }
}

SALI_CLONES static void backward(const sali_call *call)
{
    int64_t n = call->in[0].size;
    const real *g = call->out.adjoint;
    if (call->in[0].adjoint) {
        add_rows(call->chains, n, 2, g, call->saved, call->in[0].adjoint);
    }
    if (call->in[1].adjoint) {
        real *weighted = call->scratch;
        memset(weighted, 0, (size_t)(call->chains * n) * sizeof *weighted);
        add_rows(call->chains, n, 1, g, call->in[0].value, weighted);
        gemm(TURNED, PLAIN, n, n, call->chains, weighted, call->in[0].value, 1,
             call->in[1].adjoint);
    }
}

const sali_op RN(sali_op_quad) = {
    .name = "quad",
    .arity = 2,
    .param_inputs = 1u << 1,
    .symmetric_inputs = 1u << 1,
    .test_low = -2,
    .test_high = 2,
    .doc = "s'Ss",
    .shape = shape,
    .degree = sali_degree_nonlinear,
    .saved_size = saved_size,
    .scratch_size = scratch_size,
    .forward = forward,
    .backward = backward,
};
