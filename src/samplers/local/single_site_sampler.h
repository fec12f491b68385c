/* SPDX-License-Identifier: MIT */
/* Samplers that move single variables by locally informed proposals: a direction (how log t =
 * beta (f(s') - f(s)) of all moves is found), a balancing function g, and a way to draw moves from
 * the softmax of log g(t). A step is
 *
 *   row of weights for s; draw s' from it; row of weights for s'; the way back from that; decide.
 *
 * Named samplers fill in sali_single_site_options and use the functions below as they are, or put
 * sali_single_site first in a struct of their own. */
#ifndef SALI_SINGLE_SITE_SAMPLER_H
#define SALI_SINGLE_SITE_SAMPLER_H

#include "samplers/local/ball.h"
#include "samplers/followed_gradient.h"
#include "samplers/kernels.h"
#include "samplers/local/pairwise_moves.h"
#include "samplers/sampler.h"

typedef enum sali_direction {
    SALI_FIRST_ORDER,      /* the gradient's Taylor expansion */
    SALI_EXACT_DIFFERENCES /* of f */
} sali_direction;

typedef struct sali_single_site sali_single_site;

/* How moves are drawn from the rows of weights. */
typedef struct sali_site_rule {
    /* Move chain c, whose codes_new and x_new hold its present state, by its present row; sets
     * `made`, `sites` and log_q of chain c. Not called when no move is possible. */
    void (*draw)(sali_single_site *g, sali_chains *chains, int64_t c);
    /* log q of the way back by a row of the moved state; after `draw`. */
    double (*reverse)(sali_single_site *g, sali_chains *chains, int64_t c,
                      const sali_move_row *row);
} sali_site_rule;

/* Several sites drawn independently (one by default); all moves of up to `ball` sites. */
extern const sali_site_rule sali_hops_rule, sali_ball_rule;

typedef struct sali_single_site_options {
    sali_direction direction;
    sali_balance balance;
    int64_t radius;             /* window of moves in levels; 0: all, and counts by 1 */
    const double *searched;     /* NULL, or the radius that a refresh takes over instead */
    int64_t hops;               /* sites drawn a step, >= 1 */
    const double *adapted_hops; /* NULL, or those that a refresh takes over, `hops` at most */
    int64_t ball;               /* sites that move together, >= 1; first-order only */
    const sali_site_rule *rule; /* NULL: by hops and ball */
    sali_couplings *couplings;  /* shared; NULL: gradients or differences are evaluated */
    bool paths;                 /* a step is of many moves */
    bool pairs;                 /* use sali_pairwise_moves where they suit */
} sali_single_site_options;

/* Those of a sampler by its settings "radius", "balance", "hops" and "ball", where it has them,
 * with exact differences if it needs them. */
sali_single_site_options sali_single_site_settings(const sali_chains *chains,
                                                   const sali_sampler_settings *settings);

struct sali_single_site {
    const sali_site_kernels *kernels;
    sali_single_site_options options;
    int64_t moves; /* of a row: slots, or entries of the ball */
    sali_move_rows rows;
    sali_ball ball;
    void *log_t;    /* real: exact [n x S] of the states last evaluated; first-order [S + 1] */
    int64_t *sites; /* [n x hops or ball] variables drawn, in their order */
    int64_t *made;  /* [n] entries in it */
    double *log_q;  /* [n] of the proposal made */
    /* On pairwise models, if wanted, one site a move: takes over refresh, steps and log_q from the
     * last refresh on if `fast`; then there are no rows. */
    sali_pairwise_moves *pairwise; /* NULL: the model is not pairwise, or its moves are not */
    bool fast;
    sali_followed_gradient followed; /* where f is quadratic, and not `fast` */
};

/* Open `g`, at the beginning of a new object (core/object.h), which becomes *self; on failure it is
 * freed. NULL: no memory. */
sal_status sali_single_site_open(sali_single_site *g, const sali_chains *chains,
                                 const sali_single_site_options *options, void **self,
                                 sal_error *err);

/* An engine's `create`: a sali_single_site alone, by its settings; `shared` is a sali_shared, whose
 * couplings it follows, or NULL. */
sal_status sali_single_site_create(const sali_chains *chains, const sali_sampler_settings *settings,
                                   void *shared, void **self, sal_error *err);

/* Engines' functions, for those that use them as they are. */
#define SALI_SINGLE_SITE_FUNCTIONS                                      \
    .destroy = sali_object_free, .refresh = sali_single_site_refresh,   \
    .follows = sali_single_site_follows, .step = sali_single_site_step, \
    .steps = sali_single_site_steps, .log_q = sali_single_site_log_q
void sali_single_site_refresh(void *self, sali_chains *chains);
bool sali_single_site_follows(const void *self);
void sali_single_site_step(void *self, sali_chains *chains);
void sali_single_site_steps(void *self, sali_chains *chains, int64_t n);
void sali_single_site_log_q(void *self, sali_chains *chains, const int32_t *to, double *log_q);

/* Several hops: the sites in the order drawn are auxiliary variables. None with one hop. */
extern const sali_auxiliary sali_single_site_hops;

/* ---- for rules and steps of other samplers */

/* f_new of the proposed states, and what their rows are made of: gradient or differences. */
void sali_single_site_evaluate(sali_single_site *g, sali_chains *chains);

/* The rows of the present states by exact differences, if `fast`; f_new is f of these states. */
void sali_single_site_look(sali_single_site *g, sali_chains *chains);

/* At a step's beginning: gradients that were followed for long are made anew, and what came of
 * them.
 */
void sali_single_site_renew(sali_single_site *g, sali_chains *chains);

/* The row of chain c at `codes` [V], from what was last evaluated. */
void sali_single_site_prepare(sali_single_site *g, sali_chains *chains, int64_t c,
                              const int32_t *codes, sali_move_row *row);

/* codes_new and x_new of chain c as its present state, to move from there. */
void sali_single_site_stay(const sali_chains *chains, int64_t c);

/* Set variable `site` of chain c's proposed state. */
void sali_single_site_put(const sali_chains *chains, int64_t c, int64_t site, int32_t code);

/* Take over the rows of accepted chains, and end the step; after log_ratio is filled. */
void sali_single_site_decide(sali_single_site *g, sali_chains *chains);

#endif
