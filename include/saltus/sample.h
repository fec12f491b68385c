/* Sampling: run chains of a sampler on a model, and look at what came out. */
#ifndef SALTUS_SAMPLE_H
#define SALTUS_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <saltus/model.h>
#include <saltus/options.h>
#include <saltus/status.h>
#include <saltus/trajectory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How a step size is found in warm-up, for samplers that have one. */
typedef enum sal_step_size_rule {
    SAL_STEP_SIZE_USUAL, /* ADAPT; a fixed usual one for samplers without acceptance (dula, ...) */
    SAL_STEP_SIZE_ADAPT, /* stochastic approximation to an acceptance of 0.574 (Roberts & Rosenthal
                            1998), within the range of SEARCH; all through warm-up */
    SAL_STEP_SIZE_SEARCH /* the largest mean jump among five magnitudes, then the deciles of the
                            best one (Rhodes & Gutmann, app. H): a quarter of warm-up each, after a
                            quarter of ADAPT; the last quarter runs with what was found */
} sal_step_size_rule;

/* What warm-up found, to be saved and given to another run. */
typedef struct sal_tuning sal_tuning;

/* All that a run needs to go on from where it stood, as if it had never stopped. */
typedef struct sal_run_state sal_run_state;

/* One draw of all chains, as a run shows it; good during the call. */
typedef struct sal_draw {
    int64_t index;                 /* from 0, of warm-up and after it in counts of their own */
    bool warmup;                   /* whether it is one of warm-up */
    int64_t chains;                /* of the run */
    int64_t variables;             /* V, of the whole space */
    const int32_t *codes;          /* [chains x V] of the whole space */
    const double *log_prob;        /* [chains] f */
    const double *acceptance_rate; /* [chains] mean probability of acceptance of the steps since the
                                      draw before; 1 for samplers that always move */
    const double *jump;            /* [chains] L1 distances in the embedding that these steps moved,
                                      added up; swaps between temperatures do not count */
    const double *step_size;       /* [chains] NaN for samplers without one */
} sal_draw;

/* Parallel tempering: every chain has replicas at temperatures T_0 = 1 < T_1 < .. that target
 * exp(f / T) and exchange their states; draws and all figures are those of temperature 1. It costs
 * `replicas` times the time, and lets chains cross between modes (docs/tuning.md). For exact
 * samplers.
 * Source: Okabe et al. 2001; Syed et al. 2022. */
typedef struct sal_tempering_options {
    int64_t replicas;           /* 0: 1, none, or as many as `tuning` has */
    const double *temperatures; /* [replicas], from 1 up; NULL: found in warm-up */
    int64_t swap_every;         /* steps from one swap to the next; 0: an interval */
} sal_tempering_options;

/* Annealing: a search for a state of large f, by chains that cool down over the draws. The usual
 * temperatures come from the sizes of differences of f (docs/tuning.md). */
typedef struct sal_annealing_options {
    bool on;     /* search instead of sampling */
    double from; /* temperature of warm-up and of the first draw; 0: by f */
    double to;   /* of the last draw, reached geometrically; 0: by f */
} sal_annealing_options;

/* Variables that a run keeps fixed. */
typedef struct sal_clamps {
    int64_t n;                /* how many; 0: none */
    const int64_t *variables; /* [n] which */
    const int32_t *codes;     /* [n] to which codes */
} sal_clamps;

/* What a run keeps or shows beyond its figures. */
typedef struct sal_record_options {
    bool draws;  /* hold all draws in memory, for sal_run_draws */
    bool best;   /* note the best state met, for sal_run_best; annealing does so always */
    bool warmup; /* hand states of warm-up to `draw` too, every `thin` steps */
} sal_record_options;

/* What a run calls, always from the calling thread. NULL: nothing. */
typedef struct sal_run_callbacks {
    /* For each draw, in their order, a window of steps after it was made. A return value other than
     * 0 stops the run as `progress` does; the draws that the window had made already are kept, but
     * not shown. Memory: up to 64 MiB for the window's draws (of warm-up at least 25, in annealing
     * those of 256 steps). */
    int (*draw)(const sal_draw *draw, void *data);
    void *draw_data; /* passed to `draw` */

    /* Now and then (at least every few hundred steps) with the number of steps done and in all; a
     * return value other than 0 stops the run after that step: what is there is kept. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */

    /* With the state at the start, at the end of warm-up and then at fixed steps, a few hundred or
     * some sweeps apart, after the draws before that were shown: to save it
     * (sal_draw_writer_open). A return value other than 0 stops the run. */
    int (*state)(const sal_run_state *state, void *data);
    void *state_data; /* passed to `state` */
} sal_run_callbacks;

/* What to run. Fields left zero take their defaults.
 *
 * An *interval* is the time after which replicas swap: a sweep of samplers that move one variable
 * (or block) a step, 5 steps of samplers that move all of them. */
typedef struct sal_run_options {
    const char *sampler; /* a name of sal_sampler_list, with settings of its own if wanted:
                            "gwg:radius=2"; NULL: one that suits the model (docs/samplers.md) */
    int64_t chains;      /* >= 1; 0: 4 */
    int64_t warmup;      /* steps before the first draw, adaptation included; -1: none; 0: 1000, or
                            10 intervals if these are more; with tempering or annealing 1000
                            intervals */
    int64_t draws;       /* kept states of each chain; 0: 1000 */
    int64_t thin;        /* steps from one draw to the next; 0: 1, with tempering or annealing an
                            interval */
    uint64_t seed;       /* same seed, same bits, whatever the number of threads */
    int threads;         /* 0: OpenMP's choice */

    double step_size; /* of samplers that have one, in squared units of the embedding (eps of Rhodes
                         & Gutmann); 0: as step_size_rule says */
    sal_step_size_rule step_size_rule; /* when step_size is 0 */
    const double *preconditioner;      /* of samplers that take one (pavg): M [N x N] over the reals
                                          of the whole space, in units of the Hessian of f
                                          (docs/tuning.md); sal_data_preconditioner (train.h) makes
                                          one of data. NULL: the sampler's own choice */
    const sal_tuning *tuning;          /* what an earlier run found: used as it is, and nothing is
                                          adapted. Only read during the call. NULL: none */

    sal_tempering_options tempering; /* replicas that exchange states */
    sal_annealing_options annealing; /* a search for the best state */
    sal_clamps clamps;               /* variables that stay fixed */
    sal_record_options record;       /* what is kept */
    sal_run_callbacks callbacks;     /* what is called */

    /* Sweeps along the path of a training: a step visits every level, from independent variables up
     * to the model (docs/training.md). Not together with replicas, annealing, tuning or clamped
     * variables; `sampler` moves the states at each level. Must live as long as the call, and be
     * given again to go on. NULL: none. */
    const struct sal_trajectory *trajectory;

    const int32_t *init; /* starting codes [chains x V] of the whole space, for all replicas of a
                            chain alike; or NULL: random */

    /* Samplers of the caller's, which `sampler` may name too (sampler.h); ends with NULL. They must
     * live as long as the run. NULL: none. */
    const struct sal_sampler_descriptor *const *own_samplers;

    /* Go on from the state of an earlier run to the same bits as if that had never stopped, with
     * the options that sal_run_state_options gives: only draws (in all; not fewer than were made,
     * and no others in annealing), threads, record.draws and what is called may be different.
     * `draw` is called for the earlier draws again, from the first one on, whose acceptance, jump
     * and step size are NaN out of a run's memory. NULL: begin anew. Only read during the call. */
    const sal_run_state *resume;
} sal_run_options;

/* Those of them that texts can set, by their names in `saltus sample`. */
SAL_API const sal_option_table *sal_run_option_table(void);

/* A run that was made: draws, or what was counted of them, and its figures. */
typedef struct sal_run sal_run;

/* Sample. Chains start at `init`, or at random states (counts without a cap: 0 to 9) where f is
 * finite: a random state with forbidden factors is repaired by reducing their number.
 * Returns: SAL_OK (also when stopped by `progress`); SAL_ERR_ARGUMENT (an option out of range, or
 *          no such sampler; names it); SAL_ERR_UNSUPPORTED (the sampler needs what the model lacks;
 *          names samplers that work; or it cannot be tempered or tuned as asked); SAL_ERR_DATA
 *          (`tuning` is of another sampler or model); SAL_ERR_MODEL (NaN or +inf, with chain and
 *          step; or no feasible start); SAL_ERR_MEMORY.
 * Cost:    (warmup + draws thin) steps of every replica of every chain. Memory: 16 bytes a draw and
 *          chain (f, and the distance for the ESS), O(chains replicas S), plus chains draws V codes
 *          with record.draws.
 * Threads: several runs may share a model whose parameters do not change. */
SAL_API sal_status sal_sample(sal_model *model, const sal_run_options *options, sal_run **run,
                              sal_error *err);

/* Free a run; NULL is fine. */
SAL_API void sal_run_destroy(sal_run *run);

/* The figures of a run. */
typedef struct sal_run_summary {
    const char *model;       /* its name */
    const char *sampler;     /* as it was asked for */
    int64_t variables;       /* V, of the whole space */
    int64_t chains;          /* as asked for */
    int64_t warmup;          /* steps of warm-up */
    int64_t draws;           /* made, of each chain */
    int64_t thin;            /* steps from one draw to the next */
    uint64_t seed;           /* as asked for */
    int threads;             /* that worked on it, at most */
    bool stopped;            /* by `progress`, before all draws were made */
    double step_size;        /* final; NaN for samplers without one */
    int step_size_bound;     /* where adaptation ended: 1 at its upper bound, -1 at its lower one;
                                0: between them, or nothing was adapted */
    double step_size_target; /* the acceptance that adaptation aimed at; NaN: none */
    double acceptance_rate;  /* after warm-up: accepted / proposed */
    double mean_jump;        /* mean L1 distance between successive states in the embedding */
    int64_t unmoved;         /* chains of which no step, of any replica, changed a variable; where
                                there are some, ESS and autocorrelation_time are NaN, and R-hat
                                unless others disagree with them */
    bool isolated;           /* and that no change of a single variable could have moved: f is -inf
                                at all of them, at the end of the first such chain */
    double ess_min;          /* the least ESS of a chain */
    double ess_median;       /* the median of the chains' */
    double ess_max; /* the largest. ESS by TFP's estimator on the L1 distance to one random state
                       (Rhodes & Gutmann, app. J; of variables with more than 32 labels to a random
                       half of them; where it never changes, on f), at most draws log10 draws */
    double ess_per_second;       /* sum over chains of that, per second of sampling */
    double ess_total;            /* sum over chains of that */
    double ess_per_step;         /* ess_total by step of a single chain */
    double autocorrelation_time; /* integrated, of the same distance, in steps
                                    (sal_stats_autocorrelation_time) */
    double rhat_max;         /* the largest of: rank-normalised split R-hat of f; split R-hat of the
                                values of ordinal variables and counts, of those with a cap also of
                                the distances to the median; split R-hat of the indicators of the
                                states of categorical variables and of those of two levels */
    int64_t rhat_variable;   /* where it is largest: a variable, or -1 for f */
    int32_t rhat_code;       /* and the state; -1 for a variable judged by its values */
    int64_t disagreeing;     /* number of variables with an R-hat above 1.1 */
    double log_prob_mean;    /* mean f over draws */
    double seconds;          /* sampling, without warm-up */
    double warmup_seconds;   /* of warm-up */
    double steps_per_second; /* steps of the whole batch */

    int64_t replicas;           /* 1 without tempering; the arrays live as long as the run */
    const double *temperatures; /* [replicas] */
    const double *swap_rates;   /* [replicas - 1] accepted / tried after warm-up, pairs (r, r+1) */
    double swap_rate_min;       /* NaN without tempering */
    double round_trips;         /* states that went from T = 1 to the hottest and back, per chain */
    double barrier;             /* sum of the swaps' rejection rates: about twice as many replicas,
                                   and one, serve best (Syed et al. 2022); NaN */
    int64_t levels;             /* of the trajectory; 0 without one */
    double level_rate_min;      /* the least rate of swaps between two levels; NaN without */
    double arrivals;            /* states that came up from the first level, per chain; NaN */
    bool annealed;              /* R-hat and ESS then mean nothing */
    double anneal_from;         /* the temperatures */
    double anneal_to;           /* that annealing went through */
    double best_log_prob;       /* NaN unless tracked */

    const char *statistic; /* a figure of its states that the model reports beside f, such as its
                              reconstruction error; NULL: none. Lives as long as the model */
    double statistic_mean; /* over the draws of all chains; NaN without */
    double statistic_deviation; /* likewise */
    double statistic_best;      /* of the best state; NaN unless tracked */
} sal_run_summary;

/* The figures of a run.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(chains draws log draws + V).
 * Threads: any. */
SAL_API sal_status sal_run_summarise(const sal_run *run, sal_run_summary *summary, sal_error *err);

/* The summary for people, with a warning and what to try when chains disagree.
 * Returns: SAL_ERR_IO when the stream has an error; SAL_ERR_MEMORY.
 * Cost:    as sal_run_summarise.
 * Threads: any. */
SAL_API sal_status sal_run_print_summary(const sal_run *run, FILE *stream);

/* How far averages over the draws of all chains are from the exact ones. */
typedef struct sal_run_errors {
    double marginal_mean; /* |q_i(k) - p_i(k)|, mean over variables and states */
    double marginal_l1;   /* sum_k |q_i(k) - p_i(k)|, mean over variables */
    double marginal_max;  /* the largest |q_i(k) - p_i(k)| */
    double pair_l1;       /* sum_kl |q_ij(k,l) - p_ij(k,l)|, mean over pairs i <= j; NaN unknown */
    double covariance;    /* Frobenius norm of the difference of the embedding's covariances; NaN
                             unknown */
} sal_run_errors;

/* Compare a run with exact marginals [R] and pairs [R x R] of the whole space, laid out as
 * sal_model_exact's. pairs may be NULL; they are compared if the run kept its draws.
 * Returns: SAL_ERR_ARGUMENT when the run was stopped before its first draw; SAL_ERR_UNSUPPORTED
 *          for counts without a cap; SAL_ERR_MEMORY.
 * Cost:    O(R); with pairs O(chains draws V^2 + R^2).
 * Threads: any.
 * Source:  Rhodes & Gutmann 2022, table 5 (there by chain, here from all draws together). */
SAL_API sal_status sal_run_measure_errors(const sal_run *run, const double *marginals,
                                          const double *pairs, sal_run_errors *errors,
                                          sal_error *err);

/* The distance of the draws' distribution over states from the exact one. */
typedef struct sal_run_variation {
    double distance; /* total variation: half of sum_s |share of draws - p(s)| */
    double ideal;    /* its expectation for round(ess_total) independent exact draws: what sampling
                        noise alone makes of it */
    double states;   /* how many there are */
} sal_run_variation;

/* The total variation distance to enumeration, of a run that kept its draws.
 * Params:  limit: the most states to enumerate; 0: 2^20. threads: as in the options.
 * Returns: SAL_ERR_UNSUPPORTED when there are more states, or counts without a cap;
 *          SAL_ERR_ARGUMENT when the run kept or made no draws; SAL_ERR_MODEL; SAL_ERR_MEMORY.
 * Cost:    f of all states, O(chains draws V). Memory two numbers a state.
 * Threads: any; works on `threads` threads. */
SAL_API sal_status sal_run_total_variation(const sal_run *run, int64_t limit, int threads,
                                           sal_run_variation *variation, sal_error *err);

/* Whether the figures say that the averages cannot be trusted (chains disagree, or one never
 * moved); then `text` receives what was found and what to try, cut to `room` bytes. */
SAL_API bool sal_run_warning(const sal_run_summary *summary, char *text, size_t room);

/* Probabilities of all states of all variables (clamped ones are point masses), one row a variable
 * after another: [sum of states], from draws of all chains. A count without a cap has
 * SAL_COUNT_LEVELS entries: of 0, 1, 2, .., and in the last one of all counts from there on (63 or
 * more); what is known of larger ones is in the draws.
 * Returns: SAL_ERR_ARGUMENT when the run was stopped before its first draw; SAL_ERR_MEMORY.
 * Cost:    O(R).
 * Threads: any. */
SAL_API sal_status sal_run_marginals(const sal_run *run, double *marginals, sal_error *err);

/* f of every draw [chains x draws]. Lives as long as the run. */
SAL_API const double *sal_run_log_probs(const sal_run *run);

/* All draws as codes [chains x draws x V] of the whole space, one byte each if every variable has
 * at most 256 states (*bytes is 1), else int32 (4); counts without a cap have more. NULL without
 * record.draws. Lives as long as the run. */
SAL_API const void *sal_run_draws(const sal_run *run, int *bytes);

/* The best state that any chain (or replica) met after warm-up, codes [V] of the whole space, and
 * its f; either may be NULL. Of equal ones the first chain's.
 * Returns: SAL_ERR_ARGUMENT when the run neither annealed nor had record.best, or was stopped
 * before its first step after warm-up. Cost:    O(V). Threads: any. */
SAL_API sal_status sal_run_best(const sal_run *run, int32_t *codes, double *log_prob,
                                sal_error *err);

/* Sample-wise majority vote: the state drawn most often, over all chains (Wang et al. 2022, used in
 * sec. 7.2 of the Newton proposal's paper). Of equally frequent ones the one with larger f, then
 * the one drawn first, chain by chain.
 * Params:  codes [V] of the whole space. votes: how many draws it has; may be NULL.
 * Returns: SAL_ERR_ARGUMENT without record.draws or without a draw; SAL_ERR_MEMORY.
 * Cost:    O(chains draws V).
 * Threads: any. */
SAL_API sal_status sal_run_vote(const sal_run *run, int32_t *codes, int64_t *votes, sal_error *err);

/* Dimension-wise majority vote: every variable takes the code it had most often, the smaller of
 * equally frequent ones; with `ones` > 0, for spaces of two-level variables, the `ones` variables
 * that had code 1 most often take it, of equally frequent ones the first, and the others code 0
 * (the Newton proposal's paper, supplement 8, algorithm 2).
 * Params:  ones: number of variables to select, at most V; 0: no such constraint.
 *          codes [V] of the whole space.
 * Returns: SAL_ERR_ARGUMENT without a draw, for `ones` out of range, or with `ones` for variables
 *          of more than two levels; SAL_ERR_UNSUPPORTED with counts without a cap; SAL_ERR_MEMORY.
 * Cost:    O(R + V log V).
 * Threads: any. */
SAL_API sal_status sal_run_vote_by_dimension(const sal_run *run, int64_t ones, int32_t *codes,
                                             sal_error *err);

/* What the run used after warm-up: step sizes, temperatures, and what the sampler adapted, for
 * sal_run_options.tuning and sal_tuning_save. The caller destroys it; it outlives the run.
 * Returns: SAL_ERR_ARGUMENT when the run was stopped in its warm-up; SAL_ERR_MEMORY.
 * Cost:    O(what the sampler adapts): a few numbers, or as many as slots.
 * Threads: any. */
SAL_API sal_status sal_run_tuning(const sal_run *run, sal_tuning **tuning, sal_error *err);

/* Numbers of a tuning by name: "step_size" and "temperatures" of each replica, the coldest first;
 * what the sampler adapts by itself has "sampler." before its name, as in the file that
 * sal_tuning_save writes ("sampler.theta" of lsb1 and lsb2).
 * Params:  values  [n], the tuning's own: lives as long as it does. NULL: only n is wanted.
 *          n       NULL: known.
 * Returns: SAL_ERR_NOT_FOUND, naming those that are there; *values and *n are untouched then.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status sal_tuning_values(const sal_tuning *tuning, const char *name,
                                     const double **values, int64_t *n, sal_error *err);

/* Free a tuning; NULL is fine. */
SAL_API void sal_tuning_destroy(sal_tuning *tuning);

/* The state of a run, stopped or complete, to go on from: sal_run_options.resume. What the run made
 * after it, some hundred steps at most or some sweeps, is made once more, with the same bits. Lives
 * as long as the run, which must have kept its draws (record.draws); draws that are written to a
 * file are resumed from there (sal_run_state_open). */
SAL_API const sal_run_state *sal_run_last_state(const sal_run *run);

/* The options of the run that a state is of, with `resume` set to it; what was called is not among
 * them. Texts and arrays are the state's.
 * Returns: SAL_ERR_DATA for a damaged state.
 * Cost:    O(chains V).
 * Threads: any. */
SAL_API sal_status sal_run_state_options(const sal_run_state *state, sal_run_options *options,
                                         sal_error *err);

/* The name of its model. */
SAL_API const char *sal_run_state_model(const sal_run_state *state);

/* Free a state that sal_run_state_open made; NULL is fine. */
SAL_API void sal_run_state_destroy(sal_run_state *state);

/* Codes of the last states [chains x V] of the whole space.
 * Returns: SAL_OK.
 * Cost:    O(chains V).
 * Threads: any. */
SAL_API sal_status sal_run_last(const sal_run *run, int32_t *codes, sal_error *err);

/* Chains, draws made (less than asked for when stopped), and variables of the whole space. */
SAL_API void sal_run_size(const sal_run *run, int64_t *chains, int64_t *draws, int64_t *variables);

/* The model as it was given to sal_sample. Lives as long as the run. */
SAL_API const sal_model *sal_run_model(const sal_run *run);

/* Number of draws made. */
SAL_API int64_t sal_run_n_draws(const sal_run *run);

/* ---- the samplers */

/* A sampler. */
typedef struct sal_sampler_info {
    const char *name;     /* as in sal_run_options */
    const char *doc;      /* what a step is, one line */
    const char *source;   /* paper and algorithm */
    bool exact;           /* leaves the target invariant */
    bool needs_gradient;  /* of the model */
    char kinds[64];       /* "binary spin ordinal categorical count"; "capped-count" if not
                             those without a cap */
    char parameters[256]; /* the keys with their defaults: "hops=1, radius=0" */
    const char *alias;    /* another name of it, or NULL */
} sal_sampler_info;

/* Sampler `index`, from 0; false past the end. */
SAL_API bool sal_sampler_list(int64_t index, sal_sampler_info *info);

#ifdef __cplusplus
}
#endif
#endif
