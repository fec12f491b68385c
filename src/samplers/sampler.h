/* Samplers: a descriptor each, the chains of a shard that they move, and the kernels they share. */
#ifndef SALI_SAMPLER_H
#define SALI_SAMPLER_H

#include <saltus/sample.h>
#include "core/rng.h"
#include "models/model.h"

/* The chains of one shard: the one owner of codes, embedding and f, present and proposed. */
typedef struct sali_chains {
    const sal_model *model;
    const sal_space *space;
    sali_evaluator *evaluator;
    int64_t n;
    size_t element; /* bytes of a real */

    int32_t *codes;     /* [n x V] present */
    void *x;            /* real [n x N] */
    double *f;          /* [n] */
    int32_t *codes_new; /* proposed */
    void *x_new;
    double *f_new;
    void *gradient; /* real [n x N]: of whatever was evaluated last */

    /* Random streams: chain c of the shard draws from (seed, id[c], step[c]). */
    uint64_t seed;
    uint32_t *id;
    uint64_t *step; /* steps made so far by each chain: rises with every step */

    /* Filled by sali_chains_decide for each chain at every step. */
    double *log_ratio; /* of the Metropolis-Hastings acceptance, input */
    bool *accepted;

    /* Sums over steps since they were last cleared. */
    double accepted_sum, acceptance_sum, jump_sum;

    /* The first NaN or +inf met: its chain in the shard (or -1), step and state [V]. */
    int64_t bad_chain;
    uint64_t bad_step;
    double bad_value;
    int32_t *bad_codes;
} sali_chains;

/* Options of a sampler, resolved: no zeros that stand for defaults. */
typedef struct sali_sampler_settings {
    double step_size; /* start value when adapted */
    bool adapt_step_size;
    int64_t radius; /* INT64_MAX: all levels */
} sali_sampler_settings;

enum {
    SALI_SAMPLER_EXACT = 1,
    SALI_SAMPLER_GRADIENT = 2,    /* needs a gradient */
    SALI_SAMPLER_DIFFERENCES = 4, /* uses exact differences */
    SALI_SAMPLER_REVERSIBLE = 8,  /* the step as a whole satisfies detailed balance */
    SALI_SAMPLER_STEP_SIZE = 16,  /* has one */
    SALI_SAMPLER_SWEEP = 32,      /* step t moves variable t mod V; log_q is that piece's, which is
                                     exact by itself */
    SALI_SAMPLER_RADIUS = 64
};

/* A row of the table of samplers. `self` is the sampler's state for one shard. */
typedef struct sali_sampler {
    const char *name, *doc, *source;
    unsigned flags;
    unsigned kinds; /* OR of 1 << sal_kind */

    sal_status (*create)(const sali_chains *chains, const sali_sampler_settings *settings,
                         void **self, sal_error *err);
    void (*destroy)(void *self);
    /* Make what is cached of the present states (after a start or new parameters); sets f. */
    void (*refresh)(void *self, sali_chains *chains);
    /* One step of every chain. */
    void (*step)(void *self, sali_chains *chains);
    /* log q(present state -> to) of the next step's proposal, [n]; `to` [n x V]. After refresh. */
    void (*log_q)(void *self, sali_chains *chains, const int32_t *to, double *log_q);
    /* Set the step size (adaptation); NULL without one. */
    void (*set_step_size)(void *self, sali_chains *chains, double step_size);
} sali_sampler;

/* The record of a name, or NULL; entry `index`, NULL past the end. */
const sali_sampler *sali_sampler_find(const char *name);
const sali_sampler *sali_sampler_at(int64_t index);

/* Refuse a sampler that the model cannot serve, naming those that it can. */
sal_status sali_sampler_check(const sali_sampler *sampler, const sal_model *model, sal_error *err);

/* Find a sampler that serves the model, and resolve its settings; a step size or radius of 0 is not
 * given. Returns: SAL_ERR_ARGUMENT (no such sampler; an option that it does not have or that is out
 * of range), SAL_ERR_UNSUPPORTED. */
sal_status sali_sampler_choose(const char *name, const sal_model *model, double step_size,
                               int64_t radius, const sali_sampler **sampler,
                               sali_sampler_settings *settings, sal_error *err);

/* The usual step size of a space for a sampler with one: `base` for binary variables, scaled with
 * the squared spacing of levels (2 base for one-hot, 4 base for spins). */
double sali_default_step_size(const sal_space *space, double base);

/* ---- chains.c */

/* `wants` as for the evaluator; codes, id and step are the caller's to fill. */
sal_status sali_chains_create(const sal_model *model, int64_t n, unsigned wants, uint64_t seed,
                              sali_chains **out, sal_error *err);
void sali_chains_destroy(sali_chains *chains);

/* Make x from codes, after the caller changed them. */
void sali_chains_embed(sali_chains *chains);

/* The stream of chain c at its present step for a purpose. */
static inline sali_stream sali_chains_stream(const sali_chains *chains, int64_t c,
                                             sali_purpose purpose)
{
    return (sali_stream){
        .seed = chains->seed, .step = chains->step[c], .chain = chains->id[c], .purpose = purpose
    };
}

/* Row c of an array of `width` elements a chain. */
static inline void *sali_row(const sali_chains *chains, void *rows, int64_t c, int64_t width)
{
    return (char *)rows + (size_t)(c * width) * chains->element;
}

/* Evaluate the proposed states: f_new, and the gradient when wanted; notes NaN and +inf. */
void sali_chains_propose(sali_chains *chains, bool gradient);

/* The same for the present states: f, and the gradient when wanted. */
void sali_chains_start(sali_chains *chains, bool gradient);

/* Note a value that must not be, of chain c at `codes` [n x V]; the first one is kept. */
void sali_chains_note_bad(sali_chains *chains, int64_t c, const int32_t *codes, double value);

/* Log of the Metropolis-Hastings ratio f' - f + log q(s' -> s) - log q(s -> s'), with the rules for
 * infinities: a forbidden s' is never accepted, a finite one always from a forbidden s. */
double sali_mh_log_ratio(double f, double f_new, double log_q_forward, double log_q_reverse);

/* Accept or reject by log_ratio; accepted chains take codes_new, x_new, f_new; counts and jumps. */
void sali_chains_decide(sali_chains *chains);

/* Chain c moves one variable by an exact conditional to a state of value f; sums as for an
 * acceptance of 1. */
void sali_chains_move(sali_chains *chains, int64_t c, int64_t site, int32_t code, double f);

/* Every chain's step counter rises by one. */
void sali_chains_tick(sali_chains *chains);

#endif
