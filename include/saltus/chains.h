/* SPDX-License-Identifier: MIT */
/* Chains that go on for as long as the caller makes steps: a sampler inside a larger one. Between
 * steps the caller may read and set the states, and the parameters of the model:
 *
 *     sal_chains *chains;
 *     sal_chains_create(model, &options, false, &chains, &err);
 *     for (int64_t sweep = 0; sweep < 1000; sweep++) {
 *         sal_chains_step(chains, 10, &err);
 *         sal_chains_codes(chains, codes);
 *         draw_mu(codes, &mu);
 *         sal_model_set_params(model, "mu", &mu, &err);
 *     }
 *     sal_chains_destroy(chains);
 *
 * Steps have the same bits in one call as in many, and as those of sal_sample with the same
 * options, as long as nobody sets states or parameters in between. Random numbers go on: no step
 * repeats those of another. */
#ifndef SALTUS_CHAINS_H
#define SALTUS_CHAINS_H

#include <stdbool.h>
#include <stdint.h>
#include <saltus/model.h>
#include <saltus/sample.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Chains at their present states, and what their sampler knows of these. One thread at a time may
 * use them. While a call makes steps, calls from its callbacks that would change the chains return
 * SAL_ERR_ARGUMENT. */
typedef struct sal_chains sal_chains;

/* Create chains where a run would start.
 * Params:  model    must outlive the chains. Its parameters may change between steps.
 *          options  as for sal_sample. The first `warmup` steps adapt step sizes, temperatures and
 *                   what else the sampler adapts (-1: none do). With `resume` the chains go on from
 *                   a state of sal_chains_state, in a model with the same parameters as then.
 *                   The descriptors of own samplers must live as long as the chains.
 *                   The callback `progress` may end a call of sal_chains_step early. Not for
 *                   chains, and refused: draws, thin, until, seconds, annealing, trajectory,
 *                   steps_per_level, record, comm, and the callbacks `draw` and `state`.
 *          apart    each chain is moved by itself, so that sal_chains_step_each can show each
 *                   chain other parameters. This takes longer where many chains together are
 *                   faster, as with nets; bits may differ from those of chains together.
 * Returns: as sal_sample; SAL_ERR_ARGUMENT also for the options above, and when `progress` stopped
 *          the search for starting states.
 * Cost:    as sal_sample without its steps. Memory O(chains replicas S).
 * Threads: several chains and runs may share a model. */
SAL_API sal_status sal_chains_create(sal_model *model, const sal_run_options *options, bool apart,
                                     sal_chains **chains, sal_error *err);

/* Free chains; NULL is fine. */
SAL_API void sal_chains_destroy(sal_chains *chains);

/* Make n steps of all chains with the parameters that the model has now. During the call nobody can
 * set them (sal_model_set_params refuses).
 * Returns: SAL_OK, also when `progress` ended the call early; SAL_ERR_ARGUMENT (n < 0);
 *          SAL_ERR_MODEL (NaN or +inf, with chain and step; or the parameters make f of a present
 *          state -inf: then set states or parameters, and go on); SAL_ERR_MEMORY.
 * Cost:    n steps of every replica of every chain. Less than 5 us more for a call. After a change
 *          of parameters or states the sampler computes anew what it keeps of the model, such as
 *          couplings, and of all states; for a model from a function, at each call.
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_step(sal_chains *chains, int64_t n, sal_error *err);

/* Make n steps of all chains, one chain after the other, each with parameters of its own: in this
 * thread, before the steps of chain c, `before` is called with c, and sets the parameters of the
 * model. It may be called several times for a chain, when its n steps are made in pieces. The model
 * keeps the parameters of the last call.
 * Params:  before  returns SAL_OK, or a failure with its message, which ends the call. If some
 *                  chains have then made more steps than others, all calls but sal_chains_codes,
 *                  sal_chains_describe and sal_chains_destroy fail.
 * Returns: as sal_chains_step; SAL_ERR_ARGUMENT for chains that are not apart; what `before`
 *          returned.
 * Cost:    as sal_chains_step in one thread, and one evaluation for each call of `before`.
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_step_each(sal_chains *chains, int64_t n,
                                        sal_status (*before)(int64_t chain, void *data,
                                                             sal_error *err),
                                        void *data, sal_error *err);

/* Adapt anew over the next `steps` steps, from the present states; what was found before is
 * forgotten. 0: keep what has been found so far, and stop adapting; the last step that adapts is
 * the next one at the latest. A step size that the options gave is not adapted.
 * Returns: as sal_chains_create; SAL_ERR_ARGUMENT (steps < 0).
 * Cost:    as sal_chains_create; for 0 steps, O(chains).
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_adapt(sal_chains *chains, int64_t steps, sal_error *err);

/* Get the present states, as codes [chains x V] of the whole space.
 * Cost:    O(chains V). */
SAL_API void sal_chains_codes(const sal_chains *chains, int32_t *codes);

/* Set the states of all chains (with tempering, those at temperature 1), codes [chains x V] of the
 * whole space.
 * Returns: SAL_ERR_ARGUMENT (a code out of range; a clamped variable with another code; another
 *          sum, or other labels, than the space fixes);
 *          SAL_ERR_MODEL (f is NaN or infinite there); SAL_ERR_MEMORY. No state has then changed.
 * Cost:    one evaluation of what the sampler needs of all chains.
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_set_codes(sal_chains *chains, const int32_t *codes, sal_error *err);

/* Get f [chains] of the present states, with the parameters that the model has now.
 * Returns: SAL_ERR_MODEL (f is NaN or infinite).
 * Cost:    O(chains); after a change of parameters, one evaluation.
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_log_prob(sal_chains *chains, double *f, sal_error *err);

/* What chains are, and how they move. */
typedef struct sal_chains_info {
    int64_t chains;         /* number of chains */
    int64_t variables;      /* number of variables V of the whole space */
    uint64_t seed;          /* as in the options */
    int64_t steps;          /* steps made by each chain */
    int64_t adapting;       /* how many of the next steps adapt */
    double step_size;       /* of the chains at temperature 1; NaN for samplers without one */
    double acceptance_rate; /* of the steps that did not adapt; NaN before them */
    double mean_jump;       /* mean L1 distance in the embedding that these steps moved */
} sal_chains_info;

/* Get the present numbers. Cost: O(chains). */
SAL_API void sal_chains_describe(const sal_chains *chains, sal_chains_info *info);

/* Get what adaptation found, as sal_run_tuning; the caller destroys the tuning.
 * Returns: SAL_ERR_ARGUMENT while steps adapt; SAL_ERR_MEMORY.
 * Cost:    as sal_run_tuning.
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_tuning(const sal_chains *chains, sal_tuning **tuning, sal_error *err);

/* The state of the chains, to be saved (sal_run_state_save), or as the option `resume` of other
 * chains: these go on with the same bits as the present ones. It has no parameters of the model.
 * It belongs to the chains and is valid until the next call that changes them.
 * Returns: SAL_ERR_MODEL, SAL_ERR_MEMORY.
 * Cost:    O(chains V); after states or parameters were set, one evaluation. Going on from the
 *          state repeats up to some hundred steps, or some sweeps.
 * Threads: one at a time for the same chains. */
SAL_API sal_status sal_chains_state(sal_chains *chains, const sal_run_state **state,
                                    sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
