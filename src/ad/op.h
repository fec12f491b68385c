/* SPDX-License-Identifier: MIT */
/* What an operation is, and what a node of a tape or a program is.
 *
 * One op is one file in ad/ops, which holds one record `sali_op`, and one line in ad/ops.def. The
 * file is compiled twice (core/real.h); buffers are passed as void pointers to `real`. */
#ifndef SALI_OP_H
#define SALI_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <saltus/ad.h>
#include "core/space.h"

typedef enum sali_op_id {
#define SALI_OP(name) SALI_OP_##name,
#include "ad/ops.def"
#undef SALI_OP
    SALI_OP_COUNT
} sali_op_id;

/* How a node depends on the state, for the choice of exact finite differences. */
typedef enum sali_degree {
    SALI_CONSTANT,    /* not at all */
    SALI_COORDINATES, /* element k is affine in a coordinate of its own, and in nothing else */
    SALI_AFFINE,      /* every element is affine in the whole state */
    SALI_MULTILINEAR, /* affine in the coordinates of each single variable */
    SALI_GENERAL      /* anything */
} sali_degree;

/* One node: an op applied to earlier nodes. Attributes are plain numbers, so that tapes can be
 * saved and read back without code for each op; each op documents and checks its own. */
typedef struct sali_node {
    sali_op_id op;
    int32_t n_in;
    int32_t *in; /* earlier nodes */
    sal_shape shape;
    int64_t n_ints;
    int64_t *ints;
    int64_t n_reals;
    double *reals;
    char *name;       /* of a parameter, else NULL */
    const char *file; /* where the node was recorded; "" when unknown. Not owned: a literal */
    int line;
    bool varying;     /* depends on the state: has a batch axis */
    bool pixel_major; /* of shape [C, H, W], kept as [H W][chains][C]: set by ad/layout.c only */
} sali_node;

/* Which memory layouts of its inputs and output an op's kernels accept (pixel-major: see
 * sali_arg). */
typedef enum sali_op_layout {
    SALI_LAYOUT_CHAINS, /* [chains x size] only */
    SALI_LAYOUT_SAME,   /* elementwise: either, if all operands and the output have the same one */
    SALI_LAYOUT_EACH    /* input 0 and the output may each have either */
} sali_op_layout;

/* What a shape rule sees. The rule sets node->shape from the inputs' shapes and the attributes, or
 * fails. Attributes may come from a hostile file. */
typedef struct sali_shape_context {
    const sal_space *space;
    const sali_node *const *in;
    sal_error *err;
} sali_shape_context;

/* An operand of a kernel: [chains x size] with this stride between chains, or one [size] for all
 * chains (stride 0) when it does not depend on the state. */
typedef struct sali_arg {
    const void *value;
    void *adjoint; /* accumulate here, same layout; NULL: not wanted */
    bool fresh;    /* of input 0 of an op of sets_fresh: `adjoint` holds nothing yet, set it */
    int64_t stride;
    int64_t size;
    const sal_shape *shape;
    bool pixel_major; /* laid out as [H W][chains][C]: only ops of SALI_LAYOUT_EACH read this */
} sali_arg;

/* One execution of a node over a shard. */
typedef struct sali_call {
    const sali_node *node;
    const void *plan;     /* what plan_create made, or NULL */
    const void *prepared; /* what prepare made, or NULL */
    int64_t chains;       /* 1 for nodes that do not depend on the state */
    bool unlimited;       /* ops that are hard limits give 0 (SALI_WANT_UNLIMITED) */
    const int32_t *codes; /* [chains x variables] when the state is on the lattice, else NULL */
    sali_arg *in;
    sali_arg out;  /* out.value is writable in forward; out.adjoint is complete in backward */
    void *saved;   /* [chains x saved_size]: from forward to backward */
    void *scratch; /* [scratch_size(chains)]: free use within one call */
} sali_call;

#define SALI_VARIADIC (-1) /* an arity: one input or more */

/* What a change rule did. DONE: the output is up to date. ROW: nothing; the row must be evaluated
 * again. GIVE_UP: the rule stopped half-way; the whole chain must be evaluated again. */
typedef enum sali_change_outcome {
    SALI_CHANGE_DONE,
    SALI_CHANGE_ROW,
    SALI_CHANGE_GIVE_UP
} sali_change_outcome;
struct sali_change;

/* What the last element of a term does to the product of the other elements. An element that
 * depends on the state must multiply; where it does anything else, the op counts as no polynomial
 * of the state. */
typedef enum sali_term_end {
    SALI_MULTIPLIES,
    SALI_DIVIDES,
    SALI_IF_NOT_ZERO, /* the term counts where the element is not 0 */
    SALI_IF_ZERO
} sali_term_end;

/* One of the `count` terms whose sum is an element of the output: a factor times the product of n
 * elements, namely element at[j] of input input[j]. */
typedef struct sali_op_term {
    int64_t count; /* the same for all elements; 0: with these attributes the op is no polynomial */
    double factor; /* 0: there is no such term */
    int32_t n;     /* 1 to 3 */
    int32_t input[3];
    int64_t at[3];
    sali_term_end end;
} sali_op_term;

/* Term t of element k of a node. */
typedef struct sali_term_place {
    const sali_node *node;
    const sali_node *const *in;
    int64_t k, t;
} sali_term_place;

/* One table of a sum of tables over states of variables: an array over the variables scope[0 ..
 * length - 1], the last variable fastest, at elements start .. start + size - 1 of input 1. */
typedef struct sali_op_table {
    int64_t index; /* index of the table in the node; -1 before the first */
    int64_t length, start, size;
    const int64_t *scope;
} sali_op_table;

/* How many elements of the output change with one element of an input. */
typedef enum sali_op_reach {
    SALI_REACHES_FEW,
    SALI_REACHES_MANY,          /* many, where the output has many */
    SALI_REACHES_MANY_UNPLANNED /* many; few if the node has a plan, which lists nonzero entries */
} sali_op_reach;

/* Ops that sum out a hidden variable: f = log sum_h exp(..). */
typedef enum sali_hidden {
    SALI_HIDES_NOTHING,
    SALI_HIDES_BITS,   /* element k is log sum_{h in 0, 1} exp(h a_k) */
    SALI_HIDES_INDEX,  /* log sum_k exp(a_k) */
    SALI_HIDES_NORMAL, /* w > 0 times element k is log E exp(sqrt(2 w) h a_k), h standard normal */
    SALI_HIDES_DRELU   /* element k is log of the integral of exp(h a_k - U(h)) / sqrt(2 pi), with
                          Delta and t of U (core/vector/drelu.h) as inputs 1 and 2 */
} sali_hidden;

typedef struct sali_op {
    const char *name;
    int32_t arity;             /* number of inputs, or SALI_VARIADIC */
    uint32_t param_inputs;     /* bit k < 32: input k must not depend on the state */
    uint32_t symmetric_inputs; /* bit k < 32: input k must be a symmetrise node */
    int32_t axes;              /* how many of its first integers are axes */
    bool limit;                /* 0 or -inf: a hard limit, which call.unlimited makes 0 */
    bool alias;                /* the output is input 0 in another shape: no kernel */
    sali_op_layout layout;
    bool linear;           /* in all inputs together: backward reads the output's adjoint only */
    bool params_by_inputs; /* adjoints of param_inputs: from inputs and the output's adjoint only */
    bool by_rows;    /* time in proportion to the chains, even few; implied by SALI_LAYOUT_SAME */
    bool sets_fresh; /* backward sets input 0's adjoint where it is fresh; other inputs are
                        parameters */
    bool changes_gradient;      /* `change` also keeps the gradient of input 0, the state */
    double test_low, test_high; /* inputs for which the op and its derivative are tested */
    const char *doc;            /* one line for lists: the formula */
    sali_hidden hidden;
    sali_op_reach reach;
    bool lists_pairs; /* term t is w_t s_i s_j; ints = { i of term 0, j of term 0, i of term 1, .. }
                       */

    sal_status (*shape)(sali_node *node, const sali_shape_context *context);
    /* Degree of the output, from the degrees in_degree [n_in] of the inputs. NULL:
     * sali_degree_linear. */
    sali_degree (*degree)(const sali_node *node, const sali_node *const *in,
                          const sali_degree *in_degree, const sal_space *space);
    /* The terms of an op that is a polynomial of its inputs; NULL: the op is no polynomial. Term 0
     * of element 0 multiplies elements of all the inputs that any term multiplies; other terms may
     * be single elements (a bias). Analyses of formulas call this function, and know no op by its
     * name. */
    sali_op_term (*term)(const sali_term_place *place);
    /* Advance `table` to the next table of the node; false: there are no more. `space` gives the
     * numbers of states of the variables. NULL: the op is no sum of tables of the state. */
    bool (*next_table)(const sali_node *node, const sal_space *space, sali_op_table *table);
    int64_t (*saved_size)(const sali_node *node, const sali_node *const *in);
    int64_t (*scratch_size)(const sali_node *node, const sali_node *const *in, int64_t chains);
    /* Store in *plan what the kernels need besides the inputs, made once when the tape is frozen.
     * *plan may be NULL on success: no plan is needed. */
    sal_status (*plan_create)(const sali_node *node, const sali_node *const *in,
                              const sal_space *space, void **plan, sal_error *err);
    /* Rearrange the inputs that do not depend on the state, at each update of the parameters, into
     * real [prepared_size]. `call` has the values of these inputs, the plan and scratch for one
     * chain, no more. */
    int64_t (*prepared_size)(const sali_node *node, const sali_node *const *in);
    void (*prepare)(const sali_call *call, void *prepared);
    void (*forward)(const sali_call *call);
    /* Accumulates into in[k].adjoint; a zero adjoint contributes exactly zero. */
    void (*backward)(const sali_call *call);
    /* Update the output after few elements of the inputs changed in one chain (ad/change.h). NULL:
     * the row is evaluated again. */
    sali_change_outcome (*change)(struct sali_change *change);
} sali_op;

/* Store the op of this name in *id; false: there is none. */
bool sali_op_find(const char *name, sali_op_id *id);

/* The record of an op for a type; rules other than kernels are the same for both. */
const sali_op *sali_op_f32(sali_op_id id);
const sali_op *sali_op_f64(sali_op_id id);
static inline const sali_op *sali_op_of(sal_dtype dtype, sali_op_id id)
{
    return dtype == SAL_F32 ? sali_op_f32(id) : sali_op_f64(id);
}

static inline bool sali_arity_fits(const sali_op *op, int64_t n_in)
{
    return op->arity == SALI_VARIADIC ? n_in >= 1 && n_in < INT32_MAX : n_in == op->arity;
}

/* Number of elements of a shape (1 for a scalar). */
static inline int64_t sali_shape_size(const sal_shape *shape)
{
    int64_t size = 1;
    for (int32_t i = 0; i < shape->rank; i++) {
        size *= shape->dim[i];
    }
    return size;
}

/* Number of elements of a shape that a caller or a file gave; -1 if the rank or a size is out of
 * range, or the number overflows. */
int64_t sali_shape_checked_size(const sal_shape *shape);

bool sali_shape_equal(const sal_shape *a, const sal_shape *b);

/* Write a shape as text, "[500, 784]" or "[]" for a scalar, into a buffer of SALI_SHAPE_TEXT bytes.
 * Returns buffer. */
#define SALI_SHAPE_TEXT 96
char *sali_shape_text(const sal_shape *shape, char *buffer);

/* The error of an op whose shapes do not fit: op, shapes of all inputs, what was expected. */
sal_status sali_shape_fail(const sali_node *node, const sali_shape_context *context,
                           const char *expected);

/* Shape rules and degree rules that several ops share. */
sal_status sali_shape_same(sali_node *node, const sali_shape_context *context);
sal_status sali_shape_broadcast(sali_node *node, const sali_shape_context *context);
/* ints[0]: an axis, or -1 for all elements. `along` keeps the input's shape; `reduce` drops the
 * axis. */
sal_status sali_shape_along(sali_node *node, const sali_shape_context *context);
sal_status sali_shape_reduce(sali_node *node, const sali_shape_context *context);
/* Shape rule of a leaf that has reals_per_element real attributes for each element. */
sal_status sali_shape_given(sali_node *node, const sali_shape_context *context,
                            int64_t reals_per_element);
/* The saved_size of an op that saves a number for each element of its first input. */
int64_t sali_saved_as_first(const sali_node *node, const sali_node *const *in);
sali_degree sali_degree_nonlinear(const sali_node *node, const sali_node *const *in,
                                  const sali_degree *in_degree, const sal_space *space);
sali_degree sali_degree_linear(const sali_node *node, const sali_node *const *in,
                               const sali_degree *in_degree, const sal_space *space);
sali_degree sali_degree_mixing(const sali_node *node, const sali_node *const *in,
                               const sali_degree *in_degree, const sal_space *space);
sali_degree sali_degree_bilinear(const sali_node *node, const sali_node *const *in,
                                 const sali_degree *in_degree, const sal_space *space);

/* Terms that several ops share. `same`: the element of input 0 with the output's index. `either`
 * and `both`: the sum and the product of two inputs that are broadcast. */
sali_op_term sali_term_same(const sali_term_place *place);
sali_op_term sali_term_either(const sali_term_place *place);
sali_op_term sali_term_both(const sali_term_place *place);

/* Index of the element of a broadcast operand that goes into element k of the output. */
int64_t sali_broadcast_at(const sal_shape *out, const sal_shape *in, int64_t k);

/* A shape as [outer, n, inner], where n is the size of an axis; axis -1 counts all axes as one. */
typedef struct sali_axis_view {
    int64_t outer, n, inner;
} sali_axis_view;
sali_axis_view sali_axis_of(const sal_shape *shape, int64_t axis);

/* Where element k of a shape lies along an axis: k = (outer n + at) inner + rest. */
typedef struct sali_axis_place {
    int64_t n, inner; /* size of the axis; stride between its elements */
    int64_t outer, at, rest;
} sali_axis_place;
sali_axis_place sali_axis_find(const sal_shape *shape, int64_t axis, int64_t k);

/* Whether indices alone show which elements of a node belong to the same variable: the node is the
 * state, or its elements are coordinates of a space in which every variable has one coordinate, so
 * that all belong to different variables. */
bool sali_names_variables(const sali_node *node, sali_degree degree, const sal_space *space);

/* Fail unless the node has exactly these numbers of attributes (files are hostile). */
sal_status sali_expect_attributes(const sali_node *node, int64_t n_ints, int64_t n_reals,
                                  sal_error *err);

#endif
