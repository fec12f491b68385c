/* SPDX-License-Identifier: MIT */
#include "models/make/soften.h"

#include <math.h>

#include "ad/rewriter.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"
#include "models/tape_model.h"

/* What the rule for nodes knows. */
typedef struct softener {
    const sali_tape_model *content;
    double price;
    bool any; /* something was replaced */
} softener;

/* The least finite value of node `node`, which does not depend on the state; *forbids receives
 * whether one of its values is -inf. */
static double least_finite(const sali_tape_model *content, int32_t node, bool *forbids)
{
    const sali_program *program = content->program;
    const void *values = content->params->value[node];
    double least = 0;
    bool found = false;
    *forbids = false;
    for (int64_t k = 0; k < program->steps[node].size; k++) {
        const double value = sali_load(program->dtype, values, k);
        *forbids |= value == -INFINITY;
        if (isfinite(value)) {
            least = found ? fmin(least, value) : value;
            found = true;
        }
    }
    return least;
}

/* The number `value` as a node. */
static sal_expr number(sali_rewriter *r, const sali_node *place, double value)
{
    return sali_rewriter_constant(r, place, &value, (sal_shape){ .rank = 0 });
}

/* Rewrite rule for node i: a table without its -inf, or a slope in place of a hard limit. */
static sal_status soften_node(sali_rewriter *r, int64_t i, sal_expr *made)
{
    softener *s = r->context;
    const sali_node *node = &r->old[i];
    const sali_op *op = s->content->program->steps[i].op;
    if (op->next_table) {
        bool forbids;
        const double least = least_finite(s->content, node->in[1], &forbids);
        if (forbids) {
            const sal_expr floor = number(r, node, least - s->price);
            const sal_expr table = sali_rewriter_two(r, node, SALI_OP_maximum,
                                                     sali_rewriter_moved(r, node->in[1]), floor);
            const sal_expr in[] = { sali_rewriter_moved(r, node->in[0]), table };
            *made = sali_rewriter_record(r, node, node->op, 2, in, node->n_ints, node->ints);
            s->any = true;
        }
    } else if (op->limit) {
        const sal_expr most = number(r, node, node->reals[0]);
        const sal_expr above =
            sali_rewriter_two(r, node, SALI_OP_sub, sali_rewriter_moved(r, node->in[0]), most);
        const sal_expr excess = sali_rewriter_record(r, node, SALI_OP_relu, 1, &above, 0, NULL);
        *made = sali_rewriter_two(r, node, SALI_OP_mul, excess, number(r, node, -s->price));
        s->any = true;
    }
    return r->tape->status;
}

/* Make a model of the rewritten tape with the parameters of `of`, which is not clamped. *out stays
 * NULL if nothing was replaced. */
static sal_status soften_tape(const sal_model *of, double price, sal_model **out, sal_error *err)
{
    softener s = { .content = sali_model_tape(of), .price = price };
    sal_tape *tape = sali_tape_reopen(s.content->program);
    int32_t output = s.content->program->output;
    sali_rewriter r = { 0 };
    sal_status status =
        tape && sali_rewriter_open(&r, tape) == SAL_OK ? SAL_OK : sali_fail_memory(err);
    r.context = &s;
    status = status ? status : sali_rewriter_run(&r, soften_node, &output, err);
    status = status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
    sali_rewriter_close(&r);
    if (status == SAL_OK && s.any) {
        status =
            sali_tape_model_remake(of, tape, (sal_expr){ .tape = tape, .node = output }, out, err);
    }
    sal_tape_destroy(tape);
    return status;
}

sal_status sali_soften(const sal_model *of, double price, sal_model **out, sal_error *err)
{
    const sal_model *inner = sali_clamp_inner(of);
    sal_model *soft = NULL;
    *out = NULL;
    sal_status status = sali_model_tape(inner) ? soften_tape(inner, price, &soft, err) : SAL_OK;
    if (status != SAL_OK || !soft || inner == of) {
        *out = soft;
        return status;
    }
    status = sali_clamp_alike(of, soft, out, err);
    sal_model_destroy(soft);
    return status;
}
