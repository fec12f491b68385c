/* SPDX-License-Identifier: MIT */
/* The interface between models and samplers. A model implements sali_model_ops; samplers call the
 * functions at the end. */
#ifndef SALI_MODEL_H
#define SALI_MODEL_H

#include <saltus/model.h>
#include "core/element.h"
#include "core/memory.h"
#include "models/remark.h"
#include "core/space.h"

/* NO_LIMITS: leave out the hard limits of f (sal_at_most), if the model has any. */
enum {
    SALI_WANT_VALUE = 0,
    SALI_WANT_GRADIENT = 1,
    SALI_WANT_DIFFERENCES = 2,
    SALI_WANT_NO_LIMITS = 4
};

/* What a model implements. `ws` is a workspace of one thread and one shard; x is real
 * [chains x N] in the model's type; codes are [chains x V], NULL when x may be off the lattice. */
typedef struct sali_model_ops {
    sal_status (*open)(const sal_model *model, int64_t chains, unsigned wants, void **ws,
                       sal_error *err); /* required */
    void (*close)(void *ws);            /* required */
    void (*value)(void *ws, int64_t chains, const int32_t *codes, const void *x,
                  double *f); /* required */
    void (*gradient)(void *ws, int64_t chains, const int32_t *codes, const void *x, double *f,
                     void *gradient); /* if has_gradient */
    /* Create a model whose f is minus the number of violated constraints; *out is NULL if the
     * constraints are not known. */
    sal_status (*feasibility)(const sal_model *model, sal_model **out,
                              sal_error *err); /* optional */
    /* Write the indices (in order of recording) of up to `most` factors that forbid the state
     * `codes` [V]. Returns how many were written. */
    int64_t (*violated)(const sal_model *model, const int32_t *codes, int64_t most,
                        int64_t *factors);       /* optional */
    uint64_t (*version)(const sal_model *model); /* optional: rises when parameters change */
    void (*destroy)(void *content);              /* required */
} sali_model_ops;

struct sal_model {
    const sali_model_ops *ops;
    void *content;
    sal_space *space;
    sal_dtype dtype;
    bool has_gradient;
    bool multilinear;
    bool trackable;   /* models/tracker.h */
    bool limited;     /* f has hard limits, which can be left out */
    bool conditional; /* a denoising chain: f(x, t) is no log-probability of x */
    bool fields;      /* chains have linear terms besides f (sali_evaluator_set_field) */
    const struct sali_structure *structure; /* models/structure.h; NULL: none is known */
    void *structure_data;
    const struct sali_products_rule *products; /* models/structure/products.h; NULL: none */
    const struct sali_statistic *statistic;    /* models/statistic.h; NULL: there is none */
    void *statistic_data;
    const struct sali_decoding *decoding; /* models/decoding.h; NULL: there is no rule */
    sali_memory kept;                     /* arrays that `statistic` and `structure` use */
    char *name;
    sali_remark remark;       /* from reading the file that the model was made of */
    struct sali_names *names; /* models/names.h; NULL: the variables have none */
    _Atomic int holders;      /* owners; atomic: runs in several threads hold a model */
    /* Couplings of the two-state variables' bits, shared by all who hold them, and NULL when nobody
     * does (models/structure/couplings.h). Protected by `busy`, which is held for a moment only. */
    struct sali_couplings *couplings;
    _Atomic bool busy;
};

/* SAL_ERR_UNSUPPORTED for a conditional energy, whose f must not be taken for a log-probability. */
sal_status sali_model_check_joint(const sal_model *model, sal_error *err);

/* A model around `content`; takes content and space over, also on failure. */
sal_status sali_model_create(const sali_model_ops *ops, void *content, sal_space *space,
                             sal_dtype dtype, const char *name, sal_model **out, sal_error *err);
sal_model *sali_model_hold(sal_model *model);

/* ---- what samplers use */

/* First-order change of f when variable v goes from code `from` to `to`: g'(s' - s). `gradient` [N]
 * is the gradient of the whole state. */
double sali_first_order(sal_dtype dtype, const void *gradient, const sali_variable *v, int32_t from,
                        int32_t to);

typedef struct sali_evaluator sali_evaluator;

/* How exact differences are found, the cheapest first. */
typedef enum sali_strategy {
    SALI_BY_GRADIENT,   /* the gradient of a multilinear f gives them (Newton eq. 11) */
    SALI_BY_CHANGES,    /* every op follows a change of one variable: try each (ad/changes.h) */
    SALI_BY_NEIGHBOURS, /* evaluate all neighbours, in batches; always applies */
    SALI_STRATEGIES
} sali_strategy;

/* The strategy in words, to follow "by" in a sentence. */
const char *sali_strategy_name(sali_strategy strategy);
bool sali_strategy_applies(const sal_model *model, sali_strategy strategy);
sali_strategy sali_strategy_best(const sal_model *model);

/* An evaluator for up to `chains` chains in one thread. `wants` is an OR of SALI_WANT_*. */
sal_status sali_evaluator_create(const sal_model *model, int64_t chains, unsigned wants,
                                 sali_evaluator **out, sal_error *err);

/* sali_evaluator_create with a given strategy for differences. Returns: SAL_ERR_UNSUPPORTED if the
 * strategy does not apply to the model. */
sal_status sali_evaluator_create_by(const sal_model *model, int64_t chains, unsigned wants,
                                    sali_strategy strategy, sali_evaluator **out, sal_error *err);
void sali_evaluator_destroy(void *evaluator);

/* From now on row c is evaluated as f(x) + field[first + c]'x: values, gradients and differences.
 * sali_evaluator_begin_at sets `first`; a new field sets it to 0. `field`, real [n x N], stays the
 * caller's and may change between calls; NULL: f alone. Only for models with `fields`, so that
 * nobody takes their couplings for all of f. */
void sali_evaluator_set_field(sali_evaluator *evaluator, const void *field);
void sali_evaluator_begin_at(sali_evaluator *evaluator, int64_t first);

void sali_value(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x, double *f);
void sali_gradient(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                   double *f, void *gradient);

/* Exact differences of all single-variable moves, real [chains x S] by slots (core/space.h). In a
 * variable of several levels the slot of the present code is 0, and the slot of a code that a count
 * cannot have is -inf. */
void sali_differences(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                      double *f, void *slots);

/* Exact differences of requested moves only. to[c * V + v] requests the move of variable v of chain
 * c to that code; -1 requests all its codes, and its present code requests none. `to` NULL: all
 * moves. Other slots keep their values, or receive exact differences too where these cost
 * nothing. */
void sali_differences_to(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                         const int32_t *to, double *f, void *slots);

/* Exact differences of one variable a chain: delta[c * max_states + k] = f(s with s_i at entry k) -
 * f(s) for i = sites[c]. f [chains] holds f(s) on entry. */
void sali_differences_at(sali_evaluator *e, int64_t chains, const int32_t *codes, const void *x,
                         const int64_t *sites, const double *f, double *delta);

uint64_t sali_model_version(const sal_model *model);

/* The embedding of rows of codes in the model's type. */
void sali_model_embed(const sal_model *model, int64_t chains, const int32_t *codes, void *x);

/* Write the reals of variable v at `code` into the row x [N] of one chain. */
void sali_model_embed_one(const sal_model *model, int64_t v, int32_t code, void *x);

/* Slots [chains x S] as rows of all entries of all variables (0 for the present states): the layout
 * of sal_model_evaluate's differences. */
void sali_spread_slots(const sal_model *model, int64_t chains, const int32_t *codes,
                       const void *slots, double *rows);

/* Add field[c]'x[c] to f[c], and field[c] to the gradient of row c; f or `gradient` may be NULL.
 * Compiled for both types. */
void sali_add_fields_f32(int64_t chains, int64_t width, const float *field, const float *x,
                         double *f, float *gradient);
void sali_add_fields_f64(int64_t chains, int64_t width, const double *field, const double *x,
                         double *f, double *gradient);

/* Moves of single variables by the first-order Taylor expansion, for the model's type. */
void sali_taylor_slots(const sal_model *model, int64_t chains, const int32_t *codes,
                       const void *gradient, void *slots);

/* Moves of single variables by the first-order Taylor expansion at x: slots of g'(s' - s).
 * Compiled for both types; `slots` may not alias. */
void sali_taylor_slots_f32(const sal_space *space, int64_t chains, const int32_t *codes,
                           const float *gradient, float *slots);
void sali_taylor_slots_f64(const sal_space *space, int64_t chains, const int32_t *codes,
                           const double *gradient, double *slots);

#endif
