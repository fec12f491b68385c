/* SPDX-License-Identifier: MIT */
#include "models/levels/levels.h"

#include <string.h>

#include "ad/rewriter.h"
#include "ad/workspace.h"
#include "core/alloc.h"
#include "core/error.h"
#include "models/clamp.h"
#include "models/make/tape_copy.h"

/* ---- the formula with the level held */

typedef struct holder {
    int64_t width;  /* reals of x */
    int64_t n;      /* levels */
    int64_t level;  /* the held one */
    double *chosen; /* [n] one-hot of the held level */
    sal_expr x, t;  /* new nodes of the two parts of the state */
} holder;

/* Elements first .. first + length - 1 of the state, which lie all in x or all in t. */
static sal_expr part_of_state(sali_rewriter *r, const sali_node *place, int64_t first,
                              int64_t length)
{
    const holder *h = r->context;
    const bool level = first >= h->width;
    const int64_t all = level ? h->n : h->width;
    const sal_expr part = level ? h->t : h->x;
    const int64_t ints[] = { 0, level ? first - h->width : first, length };
    return length == all ? part : sali_rewriter_record(r, place, SALI_OP_slice, 1, &part, 3, ints);
}

/* Replace a gather of elements of the state, if they lie all in x or all in t; else *made stays as
 * it is. */
static sal_status gather_of_state(sali_rewriter *r, const sali_node *node, sal_expr *made)
{
    const holder *h = r->context;
    const bool level = node->ints[1] >= h->width;
    const sal_expr part = level ? h->t : h->x;
    int64_t *ints = sali_memdup(node->ints, node->n_ints, sizeof *ints);
    bool same = true;
    for (int64_t k = 1; ints && k < node->n_ints; k++) {
        same &= (ints[k] >= h->width) == level;
        ints[k] -= level ? h->width : 0;
    }
    if (ints && same) {
        *made = sali_rewriter_record(r, node, SALI_OP_gather, 1, &part, node->n_ints, ints);
    }
    sali_free(ints);
    return ints ? SAL_OK : SAL_ERR_MEMORY;
}

/* For an op that reads the whole state: map the node `state` to the concatenation of x and the
 * one-hot of the level. */
static sal_status whole_state(sali_rewriter *r, const sali_node *place, int32_t state)
{
    holder *h = r->context;
    const sal_expr parts[] = { h->x, h->t };
    const int64_t axis = 0;
    if (r->map[state] == h->x.node) {
        sal_expr both = sali_rewriter_record(r, place, SALI_OP_concat, 2, parts, 1, &axis);
        r->map[state] = both.node;
    }
    return r->tape->status;
}

/* Node i as a vector of numbers by channel, if its shape is [channels, 1, 1] and it does not depend
 * on x; else an expression without a tape. */
static sal_expr by_channel(sali_rewriter *r, int32_t i, int64_t channels)
{
    const sal_shape *shape = &r->old[i].shape;
    const sal_expr moved = sali_rewriter_moved(r, i);
    if (r->tape->nodes[moved.node].varying || shape->rank != 3 || shape->dim[0] != channels ||
        shape->dim[1] != 1 || shape->dim[2] != 1) {
        return (sal_expr){ 0 };
    }
    return sali_rewriter_record(r, &r->old[i], SALI_OP_reshape, 1, &moved, 1, shape->dim);
}

/* If `node` adds a number for each channel to a convolution, replace it by a convolution with these
 * numbers added to the bias. */
static void add_to_bias(sali_rewriter *r, const sali_node *node, sal_expr *made)
{
    for (int32_t k = 0; k < 2; k++) {
        const sali_node *conv = &r->old[node->in[k]];
        const sal_expr more = conv->op == SALI_OP_conv2d && conv->shape.dim[0] == node->shape.dim[0]
                                  ? by_channel(r, node->in[1 - k], node->shape.dim[0])
                                  : (sal_expr){ 0 };
        if (more.tape) {
            const sal_expr bias = sali_rewriter_moved(r, conv->in[2]);
            const sal_expr in[] = { sali_rewriter_moved(r, conv->in[0]),
                                    sali_rewriter_moved(r, conv->in[1]),
                                    sali_rewriter_two(r, node, SALI_OP_add, bias, more) };
            *made = sali_rewriter_record(r, conv, SALI_OP_conv2d, 3, in, conv->n_ints, conv->ints);
            return;
        }
    }
}

/* If `node` is the product of the one-hot of the level, as a row, with a matrix, replace it by the
 * row of the held level: what other levels have there is then neither read nor has a gradient. */
static void choose_row(sali_rewriter *r, const sali_node *node, sal_expr *made)
{
    const holder *h = r->context;
    int32_t left = sali_rewriter_moved(r, node->in[0]).node;
    while (r->tape->nodes[left].op == SALI_OP_reshape) {
        left = r->tape->nodes[left].in[0];
    }
    if (left == h->t.node && node->shape.dim[0] == 1) {
        const sal_expr rows = sali_rewriter_moved(r, node->in[1]);
        *made = sali_rewriter_record(r, node, SALI_OP_slice, 1, &rows, 3,
                                     (int64_t[]){ 0, h->level, 1 });
    }
}

/* Rewrite rule for node i: replaces the state by x and the constant one-hot of the level. Leaves
 * *made without a tape if the node is to be copied. */
static sal_status hold_level(sali_rewriter *r, int64_t i, sal_expr *made)
{
    const sali_node *node = &r->old[i];
    holder *h = r->context;
    if (node->op == SALI_OP_state) {
        h->x = sali_rewriter_record(r, node, SALI_OP_state, 0, NULL, 0, NULL);
        h->t = sali_rewriter_constant(r, node, h->chosen, SAL_SHAPE(h->n));
        *made = h->x;
        return SAL_OK;
    }
    for (int32_t k = 0; k < node->n_in; k++) {
        if (r->old[node->in[k]].op != SALI_OP_state) {
            continue;
        }
        if (node->op == SALI_OP_slice &&
            (node->ints[1] >= h->width || node->ints[1] + node->ints[2] <= h->width)) {
            *made = part_of_state(r, node, node->ints[1], node->ints[2]);
            return SAL_OK;
        }
        sal_status status = node->op == SALI_OP_gather ? gather_of_state(r, node, made) : SAL_OK;
        return status || made->tape ? status : whole_state(r, node, node->in[k]);
    }
    if (node->op == SALI_OP_add) {
        add_to_bias(r, node, made);
    } else if (node->op == SALI_OP_matmul) {
        choose_row(r, node, made);
    }
    return SAL_OK;
}

/* Make the tape of a program with the level held, over `space`, the space of x. *output is the node
 * of f. */
static sal_status make_tape(const sali_program *program, const sal_space *space, int64_t level,
                            sal_tape **out, int32_t *output, sal_error *err)
{
    const int64_t n = program->space->width - space->width;
    holder h = { .width = space->width, .n = n, .level = level };
    sali_rewriter r = { 0 };
    sal_tape *tape = sali_tape_reopen_over(program, space);
    h.chosen = SALI_NEW_ARRAY(double, n);
    sal_status status = tape && h.chosen ? sali_rewriter_open(&r, tape) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        h.chosen[level] = 1;
        r.context = &h;
        *output = program->output;
        status = sali_rewriter_run(&r, hold_level, output, err);
    }
    if (r.tape) {
        sali_rewriter_close(&r);
    }
    sali_free(h.chosen);
    if (status != SAL_OK) {
        sal_tape_destroy(tape);
        return status == SAL_ERR_MEMORY ? sali_fail_memory(err) : status;
    }
    *out = tape;
    return SAL_OK;
}

/* Whether both programs have parameters of the same names in the same order. */
static bool same_parameters(const sali_program *a, const sali_program *b)
{
    bool same = a->n_parameters == b->n_parameters;
    for (int32_t p = 0; same && p < a->n_parameters; p++) {
        same =
            strcmp(a->nodes[a->parameters[p].node].name, b->nodes[b->parameters[p].node].name) == 0;
    }
    return same;
}

/* Make the model f_t of one level. Returns: SAL_ERR_UNSUPPORTED if it lacks a parameter of the
 * joint model; *out may then be set and is to be destroyed. */
static sal_status make_level(const sal_model *joint, const sal_space *space, int64_t level,
                             sal_model **out, sal_error *err)
{
    sal_tape *tape = NULL;
    sal_expr f = { 0 };
    const sali_program *program = sali_model_tape(joint)->program;
    sal_status status = make_tape(program, space, level, &tape, &f.node, err);
    if (status == SAL_OK) {
        f.tape = tape;
        status = sal_model_from_tape(tape, f, out, err);
    }
    if (status == SAL_OK && !same_parameters(program, sali_model_tape(*out)->program)) {
        status = sali_fail(err, SAL_ERR_UNSUPPORTED, "level %lld uses only some of the parameters",
                           (long long)level);
    }
    if (status == SAL_OK) {
        (*out)->fields = true;
        status = sal_model_set_name(*out, joint->name, err);
    }
    sal_tape_destroy(tape);
    return status;
}

/* ---- the model that stands for all levels */

static sal_status open_first(const sal_model *model, int64_t chains, unsigned wants, void **ws,
                             sal_error *err)
{
    const sal_model *first = ((const sali_levels *)model->content)->at[0];
    return first->ops->open(first, chains, wants, ws, err);
}

static uint64_t version(const sal_model *model)
{
    return sali_model_version(((const sali_levels *)model->content)->at[0]);
}

static void destroy(void *content)
{
    sali_levels *levels = content;
    for (int64_t t = 0; levels->at && t < levels->n; t++) {
        sal_model_destroy(levels->at[t]);
    }
    sali_free(levels->at);
    sal_model_destroy(levels->joint);
    sali_free(levels);
}

static void close_first(void *ws)
{
    sali_workspace_destroy(ws);
}

static void value(void *ws, int64_t chains, const int32_t *codes, const void *x, double *f)
{
    sali_workspace_value(ws, chains, codes, x, f);
}

static void gradient(void *ws, int64_t chains, const int32_t *codes, const void *x, double *f,
                     void *to)
{
    sali_workspace_gradient(ws, chains, codes, x, f, to);
}

static const sali_model_ops levels_ops = { .open = open_first,
                                           .close = close_first,
                                           .value = value,
                                           .gradient = gradient,
                                           .version = version,
                                           .destroy = destroy };

int64_t sal_model_levels(const sal_model *model)
{
    const sal_space *space = model->space;
    const sal_block *last = &space->blocks[space->n_blocks - 1];
    const bool over = space->n_blocks > 1 && last->count == 1 && last->kind == SAL_CATEGORICAL;
    return over && sali_clamp_inner(model) == model && sali_model_tape(model) ? last->states : 0;
}

sal_space *sali_levels_space(const sal_model *joint)
{
    const sal_space *space = joint->space;
    const int64_t V = space->n_variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, V);
    sal_space *made = NULL;
    for (int64_t v = 0; codes && v < V - 1; v++) {
        codes[v] = -1;
    }
    if (codes) {
        sali_space_subset(space, codes, &made, NULL);
    }
    sali_free(codes);
    return made;
}

/* Make the models of all levels, with the parameters of the joint model. On failure those made so
 * far remain in levels->at. */
static sal_status make_levels(sali_levels *levels, const sal_space *space, sal_error *err)
{
    sal_status status = levels->at ? SAL_OK : sali_fail_memory(err);
    for (int64_t t = 0; status == SAL_OK && t < levels->n; t++) {
        status = make_level(levels->joint, space, t, &levels->at[t], err);
    }
    status = status && status != SAL_ERR_MEMORY
                 ? sali_fail_prefix(err, SAL_ERR_UNSUPPORTED, "the level of %s cannot be held",
                                    levels->joint->name)
                 : status;
    return status ? status : sali_levels_share_params(levels, err);
}

sal_status sali_levels_create(sal_model *joint, sal_model **out, sal_error *err)
{
    const int64_t n = sal_model_levels(joint);
    if (n == 0) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s is over no levels: expected a formula f(x, t) whose last block is one "
                         "categorical variable, the level t; ready-made nets get it by "
                         "levels=8,base=1",
                         joint->name);
    }
    sal_space *space = sali_levels_space(joint);
    sali_levels *levels = SALI_NEW(sali_levels);
    if (!space || !levels) {
        sal_space_destroy(space);
        sali_free(levels);
        return sali_fail_memory(err);
    }
    *levels = (sali_levels){ .joint = sali_model_hold(joint),
                             .n = n,
                             .at = SALI_NEW_ARRAY(sal_model *, n) };
    sal_model *made = NULL;
    sal_status status = make_levels(levels, space, err);
    if (status != SAL_OK) {
        sal_space_destroy(space);
        destroy(levels);
        return status;
    }
    status = sali_model_create(&levels_ops, levels, space, joint->dtype, joint->name, &made, err);
    if (status == SAL_OK) {
        made->has_gradient = true;
        made->conditional = true;
        *out = made;
    }
    return status;
}

sal_status sali_levels_for_rows(sal_model *model, int64_t variables, sal_model **out,
                                sal_error *err)
{
    if (sal_model_levels(model) > 0 && variables == model->space->n_variables - 1) {
        return sali_levels_create(model, out, err);
    }
    *out = sali_model_hold(model);
    return SAL_OK;
}

const sali_levels *sali_model_levels(const sal_model *model)
{
    return model->ops == &levels_ops ? model->content : NULL;
}

sal_status sali_levels_share_params(const sali_levels *levels, sal_error *err)
{
    const sali_tape_model *joint = sali_model_tape(levels->joint);
    double *flat = SALI_NEW_ARRAY(double, joint->program->parameters_size);
    if (!flat) {
        return sali_fail_memory(err);
    }
    sali_params_get(joint->params, flat);
    for (int64_t t = 0; t < levels->n; t++) {
        sali_params_set(sali_model_tape(levels->at[t])->params, flat);
    }
    sali_free(flat);
    return SAL_OK;
}
