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
    SALI_EXACT_DIFFERENCES /* differences of f */
} sali_direction;

typedef struct sali_single_site sali_single_site;

/* How moves are drawn from the rows of weights. */
typedef struct sali_site_rule {
    /* Move chain c, whose codes_new and x_new hold its present state, by its present row; sets
     * `made`, `sites` and log_q of chain c. Not called when no move is possible. */
    void (*draw)(sali_single_site *g, sali_chains *chains, int64_t c);
    /* log q of the reverse move, from a row of the moved state; called after `draw`. */
    double (*reverse)(sali_single_site *g, sali_chains *chains, int64_t c,
                      const sali_move_row *row);
} sali_site_rule;

/* Whether the chains are coupled and draw their one move, or staying, by sali_coupled_pick. */
bool sali_single_site_races(const sali_single_site *g, const sali_chains *chains);

/* Several sites drawn independently (one by default); all moves of up to `ball` sites. */
extern const sali_site_rule sali_hops_rule, sali_ball_rule;

typedef struct sali_single_site_options {
    sali_direction direction;
    sali_balance balance;
    int64_t radius;             /* window of moves in levels; 0: all, and counts by 1 */
    const double *searched;     /* NULL, or the radius that a refresh uses instead */
    int64_t hops;               /* sites drawn a step, >= 1 */
    const double *adapted_hops; /* NULL, or the number, at most `hops`, that a refresh uses
                                   instead */
    int64_t ball;               /* sites that move together, >= 1; first-order only */
    const sali_site_rule *rule; /* NULL: by hops and ball */
    sali_couplings *couplings;  /* shared; NULL: gradients or differences are evaluated */
    bool paths;                 /* a step is of many moves */
    bool pairs;                 /* use sali_pairwise_moves where they suit */
} sali_single_site_options;

/* The options of a sampler by its settings "radius", "balance", "hops" and "ball", where it has
 * them, with exact differences if it needs them. */
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
    int64_t *made;  /* [n] number of entries in `sites` */
    double *log_q;  /* [n] log q of the proposal */
    /* On pairwise models, if wanted, with one site a move. If `fast`, which a refresh decides, it
     * does all steps and log_q until the next refresh, and there are no rows. */
    sali_pairwise_moves *pairwise; /* NULL: the model is not pairwise, or its moves are not */
    bool fast;
    sali_followed_gradient followed; /* where f is quadratic, and not `fast` */
};

/* Open `g`, at the beginning of a new object (core/object.h), which becomes *self; on failure the
 * object is freed. `g` may be NULL, for no memory. */
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

/* Evaluate f_new and gradients or differences at the proposed states. */
void sali_single_site_evaluate(sali_single_site *g, sali_chains *chains);

/* If `fast`, prepare the rows of the present states by exact differences; overwrites f_new. */
void sali_single_site_look(sali_single_site *g, sali_chains *chains);

/* At the beginning of a step: recompute gradients that are due, and the rows of their chains. */
void sali_single_site_renew(sali_single_site *g, sali_chains *chains);

/* Prepare the row of chain c at `codes` [V], from the last evaluation there. */
void sali_single_site_prepare(sali_single_site *g, sali_chains *chains, int64_t c,
                              const int32_t *codes, sali_move_row *row);

/* Copy the present state of chain c to codes_new and x_new. */
void sali_single_site_stay(const sali_chains *chains, int64_t c);

/* Set variable `site` of chain c's proposed state. */
void sali_single_site_put(const sali_chains *chains, int64_t c, int64_t site, int32_t code);

/* End a step, after log_ratio was filled: decide, switch rows and gradients of accepted chains, and
 * count the step. */
void sali_single_site_decide(sali_single_site *g, sali_chains *chains);

#endif
