/* SPDX-License-Identifier: MIT */
/* Sampling: run the chains of a sampler on a model, and read the results. */
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

/* How warm-up finds the step size of a sampler that has one (docs/tuning.md). */
typedef enum sal_step_size_rule {
    SAL_STEP_SIZE_USUAL, /* ADAPT; for samplers without acceptance (dula, ...) a fixed default */
    SAL_STEP_SIZE_ADAPT, /* stochastic approximation to an acceptance rate of 0.574 (Roberts &
                            Rosenthal 1998), all through warm-up */
    SAL_STEP_SIZE_SEARCH /* the step size with the largest mean jump, from a search in two stages
                            (Rhodes & Gutmann, app. H) */
} sal_step_size_rule;

/* The values that warm-up found. You can save them and use them in another run. */
typedef struct sal_tuning sal_tuning;

/* The complete state of a run. A run resumed from it continues as if it had never stopped. */
typedef struct sal_run_state sal_run_state;

/* One draw of all chains, as the `draw` callback receives it. Its pointers are valid during the
 * call. */
typedef struct sal_draw {
    int64_t index;                 /* counted from 0; draws of warm-up have a count of their own */
    bool warmup;                   /* whether the draw belongs to warm-up */
    int64_t chains;                /* number of chains */
    int64_t variables;             /* number of variables V of the whole space */
    const int32_t *codes;          /* [chains x V] the states, as codes of the whole space */
    const double *log_prob;        /* [chains] f of the states */
    const double *acceptance_rate; /* [chains] mean acceptance probability of the steps since the
                                      previous draw; 1 for samplers that always move */
    const double *jump;      /* [chains] sum of the L1 distances, in the embedding, that those steps
                                moved; swaps between temperatures do not count */
    const double *step_size; /* [chains] NaN for samplers without one */
} sal_draw;

/* Parallel tempering, which lets chains cross between modes (docs/tuning.md): every chain has
 * replicas at temperatures T_0 = 1 < T_1 < .. that target exp(f / T) and exchange their states.
 * Draws and all figures are those of temperature 1. For exact samplers.
 * Cost:    `replicas` times the time.
 * Source:  Okabe et al. 2001; Syed et al. 2022. */
typedef struct sal_tempering_options {
    int64_t replicas; /* of each chain; 0: as many as `tuning` has, else 1 (no tempering) */
    const double *temperatures; /* [replicas], rising from 1; NULL: warm-up finds them */
    int64_t swap_every;         /* steps between two swaps; 0: one interval */
    /* After each swap, chains 2k and 2k + 1 exchange a cluster of variables at each temperature at
     * which warm-up finds clusters to be small (docs/tuning.md). For formulas whose terms have few
     * variables each.
     * Source:  Houdayer 2001; Zhu, Ochoa & Katzgraber 2015. */
    bool houdayer;
} sal_tempering_options;

/* How the temperature goes in annealing (docs/tuning.md). */
typedef enum sal_annealing_schedule {
    SAL_ANNEAL_GEOMETRIC, /* falls by equal factors, from `from` to `to` */
    SAL_ANNEAL_LINEAR,    /* from (1 - t / T) at step t of T, and not below `to` */
    SAL_ANNEAL_REHEAT,    /* falls by equal factors, and when the search stagnates rises to a
                             little above where chains freeze, again and again */
    SAL_ANNEAL_RLSA       /* LINEAR, with the sampler rlsa unless one is given */
} sal_annealing_schedule;

/* Annealing searches for a state of large f: the chains cool down over the draws. The default
 * temperatures come from the sizes of differences of f (docs/tuning.md).
 *
 * With more than one cooling, or with `seconds`, sal_sample makes whole coolings one after the
 * other, each from new starts with a seed of its own, and its result is the run of the best one:
 * that of the largest statistic of a decoded state, or without decoding the largest f; the first of
 * equals. The same seed and number of coolings give the same bits; the time decides only how many
 * coolings are made. Without `draws`, the first cooling has 240 draws, and each other one twice as
 * many as the one before. Without `from`, the coolings after the first begin a little above the
 * temperature at which the first one froze. Callbacks see the draws of one cooling after the other.
 * Such a search cannot be saved and resumed.
 * Source: Kirkpatrick, Gelatt & Vecchi 1983. REHEAT after ReSCO (2025). RLSA: regularised Langevin
 * simulated annealing (2025). */
typedef struct sal_annealing_options {
    bool on; /* search instead of sampling; a schedule other than GEOMETRIC also says so */
    sal_annealing_schedule schedule; /* how temperatures fall */
    double from;      /* temperature of warm-up and of the first draw; 0: computed from f */
    double to;        /* temperature of the last draw; 0: computed from f */
    int64_t coolings; /* how many, at most; 0: one of `draws`, or with `seconds` any number */
    double seconds;   /* begin no cooling that would end later, and stop then; 0: no limit */
} sal_annealing_options;

/* Variables that a run keeps fixed. */
typedef struct sal_clamps {
    int64_t n;                /* number of fixed variables; 0: none */
    const int64_t *variables; /* [n] their indices */
    const int32_t *codes;     /* [n] their codes */
} sal_clamps;

/* What a run keeps or reports besides its figures. */
typedef struct sal_record_options {
    bool draws;  /* keep all draws in memory, for sal_run_draws */
    bool best;   /* keep the best state met, for sal_run_best; annealing always does */
    bool warmup; /* call `draw` during warm-up too, every `thin` steps */
} sal_record_options;

/* Functions that a run calls, always from the calling thread. NULL: not called. */
typedef struct sal_run_callbacks {
    /* Called for each draw, in order, once the window of steps that holds the draw is complete. A
     * return value other than 0 stops the run as `progress` does; the run keeps the other draws of
     * the window but does not report them. Memory: up to 64 MiB for the draws of a window (in
     * warm-up at least 25 draws, in annealing those of 256 steps). */
    int (*draw)(const sal_draw *draw, void *data);
    void *draw_data; /* passed to `draw` */

    /* Called at least every few hundred steps, with the number of steps done and the total. A
     * return value other than 0 stops the run after that step; the run keeps its results so far.
     * Also called with 0 steps while chains look for states of finite f; a run that is stopped
     * there has no draws and cannot be resumed. */
    int (*progress)(int64_t done, int64_t total, void *data);
    void *progress_data; /* passed to `progress` */

    /* Called with the state at the start, at the end of warm-up, and then at fixed steps (a few
     * hundred steps or some sweeps apart), after all earlier draws were reported. Use it to save
     * the state (sal_draw_writer_open). A return value other than 0 stops the run. */
    int (*state)(const sal_run_state *state, void *data);
    void *state_data; /* passed to `state` */
} sal_run_callbacks;

/* What to run. Fields left zero take their defaults.
 *
 * An *interval* is the default time between two swaps of replicas: one sweep for samplers that move
 * one variable (or block) per step, 5 steps for samplers that move all variables. */
typedef struct sal_run_options {
    const char *sampler; /* a name of docs/samplers.md, with settings if wanted: "gwg:radius=2";
                            NULL: one that suits the model (docs/samplers.md) */
    int64_t chains;      /* >= 1; 0: 4 */
    int64_t warmup; /* steps before the first draw, including adaptation; -1: none; 0: the larger of
                       1000 steps and 10 intervals; with tempering 1000 intervals; with annealing
                       a tenth of the draws' steps, and 1000 at least */
    int64_t draws;  /* draws kept from each chain; 0: 1000 */
    int64_t thin;   /* steps between two draws; 0: 1, with tempering or annealing one interval */
    int64_t steps_per_level; /* with `trajectory`: times as many sampler steps at each level as in
                                its training; 0: 1, down a denoising chain 2 */
    const char *until; /* "ess=N", "rhat=X" or "ess=N,rhat=X": end when the sum of the ESS of all
                          chains is N or more and no R-hat above 1.1 makes it worthless, and the
                          largest R-hat is X or less. The run looks at 100
                          draws of each chain, 200, 400 and so on, at most `draws` (0: 102400):
                          looking often would stop it at lucky moments. NULL: after `draws` */
    double seconds;    /* stop after so much time; 0: never. Draws do not depend on the clock, their
                          number does */
    uint64_t seed;     /* the same seed gives the same bits, for any number of threads */
    int threads;       /* 0: OMP_NUM_THREADS, or all processors */
    struct sal_comm *comm; /* processes that share the run (mpi.h): all of them call sal_sample with
                              the same arguments but for threads and callbacks. Callbacks are
                              called, and results are there, at rank 0. Must outlive the run. NULL:
                              this process alone */

    double step_size; /* of samplers that have one, in squared units of the embedding (eps of Rhodes
                         & Gutmann); 0: found by step_size_rule */
    sal_step_size_rule step_size_rule; /* used when step_size is 0 */
    const double *preconditioner; /* M [N x N] for samplers that take one (pavg), over the reals of
                                     the whole space, in units of the Hessian of f (docs/tuning.md).
                                     sal_data_preconditioner (train.h) computes M from data. NULL:
                                     the sampler's own choice */
    const sal_tuning *tuning; /* from an earlier run, instead of adaptation; only read during the
                                 call; NULL: none */

    sal_tempering_options tempering; /* replicas that exchange states */
    sal_annealing_options annealing; /* a search for the best state */
    sal_clamps clamps;               /* variables that stay fixed */
    sal_record_options record;       /* what the run keeps */
    sal_run_callbacks callbacks;     /* functions that the run calls */

    /* Sweep along the path of a training: each step visits every level, from independent variables
     * up to the model, and `sampler` moves the states at each level (docs/training.md). Cannot be
     * combined with replicas, annealing, tuning or clamped variables. Must live as long as the
     * call; to resume the run, pass it again. NULL: none. */
    const struct sal_trajectory *trajectory;

    const int32_t *init; /* starting codes [chains x V] of the whole space, the same for all
                            replicas of a chain; NULL: random. Random numbers depend on them as on
                            the seed: chains that go on from the last states of another run with the
                            same seed do not repeat that run's choices */

    /* Your own samplers (sampler.h), which `sampler` may also name; the list ends with NULL. They
     * must live as long as the run. NULL: none. */
    const struct sal_sampler_descriptor *const *own_samplers;

    /* Resume an earlier run from its state, with the same bits as if it had never stopped. Take the
     * options from sal_run_state_options. You may change only threads, record.draws, the callbacks
     * and draws: the total, at least the number already made, and unchanged in annealing. `draw` is
     * called for the earlier draws again, from the first one on; when they come from a run's
     * memory, their acceptance_rate, jump and step_size are NaN. Only read during the call. NULL:
     * start a new run. */
    const sal_run_state *resume;
} sal_run_options;

/* The result of a run: draws, or counts of them, and figures. */
typedef struct sal_run sal_run;

/* Sample. Chains start at `init`, at draws from a Bayesian network in the order of its parents, or
 * at random states (counts without a cap start at 0 to 9). A start with forbidden factors is
 * repaired by reducing their number.
 * Returns: SAL_OK (also when `progress` stopped the run); SAL_ERR_ARGUMENT (an option out of range,
 *          or no such sampler; names it); SAL_ERR_UNSUPPORTED (the model lacks what the sampler
 *          needs: names samplers that work; or the sampler cannot be tempered or tuned as asked);
 *          SAL_ERR_DATA (`tuning` is of another sampler or model); SAL_ERR_MODEL (NaN or +inf, with
 *          chain and step; or no feasible start); SAL_ERR_MEMORY.
 * Cost:    (warmup + draws thin) steps of every replica of every chain. Memory: 16 bytes per draw
 *          and chain (f, and the distance for the ESS), O(chains replicas S), plus chains draws V
 *          codes with record.draws.
 * Threads: several runs may share a model whose parameters do not change. The model must outlive
 *          the run. */
SAL_API sal_status sal_sample(sal_model *model, const sal_run_options *options, sal_run **run,
                              sal_error *err);

/* Open the trajectory along which a run of a trained model is to be made, for the option
 * `trajectory`: that of the training, if it saved one and the options ask for no other way of
 * sampling. Other ways are a sampler, tempering, annealing, a tuning, a preconditioner, a step size
 * or its rule, and clamped variables.
 * Params:  specification  what the model was opened by (sal_model_open); it need not be trained.
 *          options        those of the run, without `trajectory`; NULL: the defaults.
 *          ladder         NULL: as above; "yes": the trajectory, whatever the options say; "no":
 *                         none.
 *          trajectory     receives it, to be destroyed after the run; NULL where there is none.
 * Returns: as sal_trajectory_open, but SAL_ERR_NOT_FOUND with "yes" only; SAL_ERR_ARGUMENT (another
 *          word). *trajectory is then untouched.
 * Cost:    as sal_trajectory_open.
 * Threads: any. */
SAL_API sal_status sal_trajectory_suggest(const char *specification, const sal_model *model,
                                          const sal_run_options *options, const char *ladder,
                                          sal_trajectory **trajectory, sal_error *err);

/* Free a run; NULL is fine. */
SAL_API void sal_run_destroy(sal_run *run);

/* Variables that a summary names, at most. */
enum { SAL_RUN_NAMED = 8 };

/* The figures of a run. */
typedef struct sal_run_summary {
    const char *model;   /* name of the model */
    const char *sampler; /* as in the options */
    bool approximate;    /* whether even endless runs of it have another distribution than exp(f) */
    int64_t variables;   /* number of variables V of the whole space */
    int64_t chains;      /* as in the options */
    int64_t warmup;      /* number of warm-up steps */
    int64_t draws;       /* number of draws made from each chain */
    int64_t thin;        /* steps between two draws */
    uint64_t seed;       /* as in the options */
    int threads;         /* the largest number of threads that worked on the run */
    bool stopped;        /* whether a callback or the time stopped the run before its end */
    const char *until;   /* as in the options; NULL: the run had no aim */
    bool reached;        /* whether the run came to that aim, and ended there */
    double step_size;    /* the final one; NaN for samplers without one */
    int step_size_bound; /* where adaptation ended: 1 at its upper bound, -1 at its lower bound, 0
                            between them or without adaptation */
    double step_size_target; /* acceptance rate that adaptation aimed at; NaN: none */
    double acceptance_rate;  /* after warm-up: steps that Metropolis and Hastings accept / steps */
    double mean_jump;        /* mean L1 distance between successive states in the embedding */
    int64_t unmoved; /* chains in which no step of any replica changed a variable. If there are any,
                        ESS and autocorrelation_time are NaN, and so is R-hat unless other chains
                        disagree with them */
    bool isolated;   /* whether also no change of a single variable could move the first unmoved
                        chain: f is -inf at every neighbour of its last state */
    double ess_min;  /* the smallest ESS of a chain */
    double ess_median; /* the median of the chains' ESS */
    double ess_max; /* the largest ESS of a chain. ESS by TFP's estimator, on the L1 distance to one
                       random state, at most draws log10 draws (Rhodes & Gutmann, app. J;
                       docs/diagnosing.md) */
    double ess_per_second;       /* ess_total per second of sampling */
    double ess_total;            /* sum of the ESS of all chains */
    double ess_per_step;         /* ess_total per step of a single chain */
    double autocorrelation_time; /* integrated, of the same distance as the ESS, in steps
                                    (sal_stats_autocorrelation_time) */
    double rhat_max;       /* the largest R-hat: of f, and of the values or states of the variables
                              (docs/diagnosing.md) */
    int64_t rhat_variable; /* the variable where R-hat is largest; -1 for f */
    int32_t rhat_code;     /* the state of that variable; -1 for a variable judged by its values */
    int64_t disagreeing;   /* number of variables with an R-hat above 1.1 */
    int64_t unchanged;     /* number of variables, without clamped ones, that had the same state in
                              all draws of a chain, in each chain (docs/diagnosing.md); 0 for
                              annealing and with fewer than 4 draws */
    int64_t unchanged_first[SAL_RUN_NAMED]; /* the first of these variables; -1 in what is left */
    int64_t stuck[2];    /* one of them, or two together, that draws of f would show in other states
                            many times: the draws miss those states. -1 in what is left, and twice
                            if none is known */
    double stuck_chance; /* the share of draws that would show other states of `stuck`, given all
                            other variables: the least of several chains; NaN if none is known */
    int64_t unreached; /* number of states that f allows and that the sampler cannot reach from the
                          most probable one; -1 where that is not known: for more than 256 states
                          (4096 with gibbs, lb and lsb), annealing, and samplers without a
                          transition matrix */
    double log_prob_mean; /* mean of f over the draws */
    sal_dtype dtype;      /* of the model */
    double rounding; /* by how much rounding to this type may have changed f of a draw: its largest
                        magnitude, without additive constants, times 2^-24, in double 2^-53 */
    double seconds;  /* of sampling, without warm-up */
    double warmup_seconds;   /* of warm-up */
    double steps_per_second; /* steps of the whole batch */

    int64_t replicas;           /* 1 without tempering; the arrays below live as long as the run */
    const double *temperatures; /* [replicas] */
    const double *swap_rates; /* [replicas - 1] accepted / tried swaps after warm-up, for the pairs
                                 (r, r+1) */
    double swap_rate_min;     /* the smallest swap rate; NaN without tempering */
    double round_trips; /* states that went from T = 1 to the hottest temperature and back, per
                           chain */
    double barrier; /* sum of the swaps' rejection rates; NaN without tempering. The best number of
                       replicas is about 2 barrier + 1 (Syed et al. 2022) */
    int64_t houdayer_levels; /* temperatures at which draws had exchanges of clusters; 0 without */
    const double *houdayer_shares; /* [replicas] the part of the differing variables that was in
                                      clusters at each temperature, in the second half of warm-up
                                      (without warm-up: in the run); NaN where replicas never
                                      differed; NULL without exchanges of clusters */
    int64_t levels;                /* number of levels of the trajectory; 0 without one */
    double level_rate_min; /* the smallest swap rate between two levels; NaN without levels */
    double arrivals; /* states that came up from the first level, per chain; NaN without levels */
    bool annealed;   /* whether the run annealed; R-hat and ESS then mean nothing */
    double anneal_from; /* first temperature of annealing */
    double anneal_to;   /* last temperature of annealing */
    int64_t coolings;   /* number of coolings made; the run is the best one; 1 without annealing */
    int64_t cooling;    /* number of that one, from 0 */
    int64_t reheats;    /* how often the temperature rose again, by SAL_ANNEAL_REHEAT */
    double reheat_to;   /* the temperature that it rose to; NaN if it never did */
    double search_seconds;   /* of all coolings; NaN if there was one */
    double best_log_prob;    /* f of the best state; NaN unless the run kept that state */
    const char *decoded;     /* what decoded states are, such as "independent set", or that clamped
                                variables allow none; NULL: the run has none (sal_run_decoded) */
    double decoded_log_prob; /* f of the best decoded state; NaN without one */

    const char *exact; /* where chains disagree or do not move, or the sampler is approximate, after
                          4 draws or more: an oracle of sal_model_exact that answers in about a
                          second or in less time than the run took; NULL: none is known after a
                          short look, or none was looked for */
    bool exact_is_short; /* it answers in about a second; false: only in less time than the run */
    bool clusters; /* chains disagree or have no ESS, no oracle is near, and samplers of clusters
                      serve the model, of which no pairs contradict each other */
    const char *missed; /* what the sampler was to find in warm-up and did not, or why a search
                           ended early, and what would help, in sentences; NULL: nothing. Lives as
                           long as the run */

    const char *statistic;      /* name of a figure that the model reports besides f, such as its
                                   reconstruction error; NULL: none. Lives as long as the model */
    double statistic_mean;      /* its mean over the draws of all chains; NaN without a statistic */
    double statistic_deviation; /* its standard deviation; NaN without a statistic */
    double statistic_best;    /* its value at the best state; NaN unless the run kept that state */
    double statistic_decoded; /* its value at the best decoded state; NaN without one */
} sal_run_summary;

/* Compute the figures of a run.
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(chains draws log draws + V).
 * Threads: any. */
SAL_API sal_status sal_run_summarise(const sal_run *run, sal_run_summary *summary, sal_error *err);

/* Get a figure of a run by the name of its field in sal_run_summary, such as "rhat_max". This
 * does not depend on the layout of the struct.
 * Params:  name   a field that is a number or a truth value (0 or 1). sal_flat_run_summary also has
 *                 the texts and arrays.
 *          value  the number; a seed above 2^53 is rounded.
 * Returns: SAL_ERR_NOT_FOUND (no such field; names the one that is nearest); SAL_ERR_ARGUMENT
 *          (NULL); SAL_ERR_MEMORY. *value is then untouched.
 * Cost:    as sal_run_summarise.
 * Threads: any. */
SAL_API sal_status sal_run_summary_value(const sal_run *run, const char *name, double *value,
                                         sal_error *err);

/* Print the summary as readable text, with a warning and advice when chains disagree.
 * Returns: SAL_ERR_IO when the stream has an error; SAL_ERR_MEMORY.
 * Cost:    as sal_run_summarise.
 * Threads: any. */
SAL_API sal_status sal_run_print_summary(const sal_run *run, FILE *stream);

/* The errors of averages over the draws of all chains, against exact probabilities p. */
typedef struct sal_run_errors {
    double marginal_mean; /* |q_i(k) - p_i(k)|, mean over variables and states */
    double marginal_l1;   /* sum_k |q_i(k) - p_i(k)|, mean over variables */
    double marginal_max;  /* the largest |q_i(k) - p_i(k)| */
    double pair_l1;       /* sum_kl |q_ij(k,l) - p_ij(k,l)|, mean over pairs i <= j; NaN: unknown */
    double covariance;    /* Frobenius norm of the difference of the embedding's covariances; NaN:
                             unknown */
} sal_run_errors;

/* Compare a run with exact marginals [R] and pairs [R x R] of the whole space, in the layout of
 * sal_model_exact. `pairs` may be NULL; pairs are compared only if the run kept its draws.
 * Returns: SAL_ERR_ARGUMENT when the run was stopped before its first draw; SAL_ERR_UNSUPPORTED for
 *          counts without a cap; SAL_ERR_MEMORY.
 * Cost:    O(R); with pairs O(chains draws V^2 + R^2).
 * Threads: any.
 * Source:  Rhodes & Gutmann 2022, table 5 (there for each chain, here for all draws together). */
SAL_API sal_status sal_run_measure_errors(const sal_run *run, const double *marginals,
                                          const double *pairs, sal_run_errors *errors,
                                          sal_error *err);

/* The distance between the draws' distribution over states and the exact distribution. */
typedef struct sal_run_variation {
    double distance; /* total variation: half of sum_s |share of draws - p(s)| */
    double ideal;    /* the expected distance of round(ess_total) independent exact draws: the part
                        that sampling noise alone explains */
    double states;   /* number of states */
} sal_run_variation;

/* Compute the total variation distance to the exact distribution, by enumeration, for a run that
 * kept its draws.
 * Params:  limit: the largest number of states to enumerate; 0: 2^20. threads: as in the options.
 * Returns: SAL_ERR_UNSUPPORTED when there are more states, or counts without a cap;
 *          SAL_ERR_ARGUMENT when the run kept or made no draws; SAL_ERR_MODEL; SAL_ERR_MEMORY.
 * Cost:    f of all states, O(chains draws V). Memory: two numbers per state.
 * Threads: any; works on `threads` threads. */
SAL_API sal_status sal_run_total_variation(const sal_run *run, int64_t limit, int threads,
                                           sal_run_variation *variation, sal_error *err);

/* Room for the text of any warning. */
enum { SAL_WARNING_SIZE = 4096 };

/* Tell whether the averages of a run cannot be trusted, because chains disagree or one never moved.
 * If so, `text` receives the finding and advice, cut to `room` bytes: SAL_WARNING_SIZE holds all.
 */
SAL_API bool sal_run_warning(const sal_run_summary *summary, char *text, size_t room);

/* Estimate the probabilities of all states of all variables from the draws of all chains: [sum of
 * states], variable 0 first. Clamped variables are point masses. A count without a cap has
 * SAL_COUNT_LEVELS entries, for 0, 1, 2, ..; the last entry is the probability of 63 or more. Read
 * larger counts from the draws.
 * Returns: SAL_ERR_ARGUMENT when the run was stopped before its first draw; SAL_ERR_MEMORY.
 * Cost:    O(R).
 * Threads: any. */
SAL_API sal_status sal_run_marginals(const sal_run *run, double *marginals, sal_error *err);

/* Get the model whose states the draws are, before clamping: the one that sal_sample was given, or
 * of a denoising chain the model over x (sal_trajectory_model). *model is a reference, to be
 * released by sal_model_destroy.
 * Threads: alone with the model. */
SAL_API void sal_run_model(const sal_run *run, sal_model **model);

/* f of every draw [chains x draws]. The array lives as long as the run. */
SAL_API const double *sal_run_log_probs(const sal_run *run);

/* All draws as codes [chains x draws x V] of the whole space. A code has one byte (*bytes is 1) if
 * every variable has at most 256 states; else, and for counts without a cap, it is an int32 (*bytes
 * is 4). NULL without record.draws. The array lives as long as the run. */
SAL_API const void *sal_run_draws(const sal_run *run, int *bytes);

/* Get the best state that any chain or replica met after warm-up, as codes [V] of the whole space,
 * and its f; either may be NULL. Among states of equal f, the first chain's wins.
 * Returns: SAL_ERR_ARGUMENT when the run neither annealed nor had record.best, or was stopped
 *          before its first step after warm-up.
 * Cost:    O(V).
 * Threads: any. */
SAL_API sal_status sal_run_best(const sal_run *run, int32_t *codes, double *log_prob,
                                sal_error *err);

/* Get the best decoded state of a run, as codes [V] of the whole space, and its f; either may be
 * NULL. Where the model has a rule for decoding (sal_model_decode), a run that keeps the best state
 * decodes the states of all draws and the best state of each chain; the decoded state with the
 * largest statistic (sal_run_summary.statistic) wins, and the first chain's among equals.
 * Returns: SAL_ERR_ARGUMENT when the run neither annealed nor had record.best, was stopped before
 *          its first step after warm-up, or the model has no rule; SAL_ERR_MEMORY.
 * Cost:    f of one state.
 * Threads: any. */
SAL_API sal_status sal_run_decoded(const sal_run *run, int32_t *codes, double *log_prob,
                                   sal_error *err);

/* Decode a state: make it feasible, and good, by the rule of its model. independent-set and clique
 * have such rules: selected nodes are ranked by their conflicts for each unit of weight and kept in
 * this order unless they conflict with one that is kept; then nodes without conflicts are added.
 * The weight falls by at most the largest weight for each conflict, and a feasible state loses
 * nothing. Clamped variables stay, and so do conflicts among them. For any other model the state
 * is raised to one from which no change of a single variable raises f, or as far as a bounded
 * number of rounds leads (with fixed sums or labels, of exchanges of random pairs); a state with f
 * = -inf, or with counts without a cap, then stays as it is.
 * Params:  codes     [V], in and out. log_prob: f of the decoded state; NULL: not wanted.
 * Returns: SAL_ERR_ARGUMENT (NULL, or no codes of the model); SAL_ERR_MODEL (f is NaN or +inf);
 *          SAL_ERR_MEMORY. The outputs are then untouched.
 * Cost:    with a rule O(V + edges at selected or free nodes); else some hundred gradients, or all
 *          exact differences at most 200 times.
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_model_decode(sal_model *model, int32_t *codes, double *log_prob,
                                    sal_error *err);

/* Sample-wise majority vote: the state drawn most often over all chains (Wang et al. 2022, used in
 * sec. 7.2 of the Newton proposal's paper). Among equally frequent states the one with the largest
 * f wins, then the one drawn first, chain by chain.
 * Params:  codes [V] of the whole space. votes: the number of draws of that state; may be NULL.
 * Returns: SAL_ERR_ARGUMENT without record.draws or without a draw; SAL_ERR_MEMORY.
 * Cost:    O(chains draws V).
 * Threads: any. */
SAL_API sal_status sal_run_vote(const sal_run *run, int32_t *codes, int64_t *votes, sal_error *err);

/* Dimension-wise majority vote: every variable takes its most frequent code, or the smallest of
 * equally frequent codes. If `ones` > 0, in a space of two-level variables, code 1 goes to the
 * `ones` variables that had it most often (the first of equally frequent ones) and code 0 to all
 * others (the Newton proposal's paper, supplement 8, algorithm 2).
 * Params:  ones: number of variables to select, at most V; 0: no such constraint.
 *          codes [V] of the whole space.
 * Returns: SAL_ERR_ARGUMENT without a draw, for `ones` out of range, or with `ones` for variables
 *          of more than two levels; SAL_ERR_UNSUPPORTED with counts without a cap; SAL_ERR_MEMORY.
 * Cost:    O(R + V log V).
 * Threads: any. */
SAL_API sal_status sal_run_vote_by_dimension(const sal_run *run, int64_t ones, int32_t *codes,
                                             sal_error *err);

/* Get the step sizes, temperatures and adapted values of the sampler that the run used after
 * warm-up, for sal_run_options.tuning and sal_tuning_save. The caller destroys the tuning, which
 * outlives the run.
 * Returns: SAL_ERR_ARGUMENT when the run was stopped in its warm-up; SAL_ERR_MEMORY.
 * Cost:    O(adapted values): a few numbers, or as many as slots.
 * Threads: any. */
SAL_API sal_status sal_run_tuning(const sal_run *run, sal_tuning **tuning, sal_error *err);

/* Get numbers of a tuning by name: "step_size" and "temperatures" have one number per replica, the
 * coldest first. Values that the sampler itself adapts have the prefix "sampler.", as in the file
 * that sal_tuning_save writes ("sampler.theta" of lsb1 and lsb2).
 * Params:  values  [n], owned by the tuning and valid as long as it lives. NULL: not wanted.
 *          n       how many; NULL: not wanted.
 * Returns: SAL_ERR_NOT_FOUND, naming the values that exist; *values and *n are then untouched.
 * Cost:    O(1).
 * Threads: any. */
SAL_API sal_status sal_tuning_values(const sal_tuning *tuning, const char *name,
                                     const double **values, int64_t *n, sal_error *err);

/* Free a tuning; NULL is fine. */
SAL_API void sal_tuning_destroy(sal_tuning *tuning);

/* The state of a stopped or complete run, for sal_run_options.resume. Work that the run did after
 * this state (some hundred steps or some sweeps at most) is repeated with the same bits. The state
 * lives as long as the run, which must have kept its draws (record.draws). If the draws are in a
 * file, resume from that file instead (sal_run_state_open). */
SAL_API const sal_run_state *sal_run_last_state(const sal_run *run);

/* Get the options of the run that a state belongs to, with `resume` set to that state and without
 * callbacks. The state owns the texts and arrays.
 * Returns: SAL_ERR_DATA for a damaged state.
 * Cost:    O(chains V).
 * Threads: any. */
SAL_API sal_status sal_run_state_options(const sal_run_state *state, sal_run_options *options,
                                         sal_error *err);

/* Free a state made by sal_run_state_open; NULL is fine. */
SAL_API void sal_run_state_destroy(sal_run_state *state);

/* Get the last states of all chains, as codes [chains x V] of the whole space.
 * Returns: SAL_OK.
 * Cost:    O(chains V).
 * Threads: any. */
SAL_API sal_status sal_run_last(const sal_run *run, int32_t *codes, sal_error *err);

/* Get the numbers of chains, of draws made (fewer than asked for if stopped), and of variables of
 * the whole space. Each may be NULL. */
SAL_API void sal_run_size(const sal_run *run, int64_t *chains, int64_t *draws, int64_t *variables);

/* ---- the samplers */

/* Kinds of variables that a sampler moves. */
enum {
    SAL_MOVES_BINARY = 1 << SAL_BINARY,
    SAL_MOVES_SPIN = 1 << SAL_SPIN,
    SAL_MOVES_ORDINAL = 1 << SAL_ORDINAL,
    SAL_MOVES_CATEGORICAL = 1 << SAL_CATEGORICAL,
    SAL_MOVES_COUNT = 1 << SAL_COUNT, /* with a cap */
    SAL_MOVES_FINITE = SAL_MOVES_BINARY | SAL_MOVES_SPIN | SAL_MOVES_ORDINAL |
                       SAL_MOVES_CATEGORICAL | SAL_MOVES_COUNT,
    SAL_MOVES_UNBOUNDED = 1 << (SAL_COUNT + 1), /* counts without a cap */
    SAL_MOVES_FIXED = 1 << (SAL_COUNT + 2)      /* also within fixed sums and labels (space.h) */
};

/* A description of one sampler. */
typedef struct sal_sampler_info {
    const char *name;            /* as in sal_run_options */
    const char *doc;             /* what one step does, in one line */
    const char *source;          /* paper and algorithm */
    bool exact;                  /* whether the sampler leaves the target invariant */
    bool needs_gradient;         /* whether the sampler needs the model's gradient */
    bool has_step_size;          /* whether the sampler has a step size */
    unsigned kinds;              /* kinds of variables it moves: OR of SAL_MOVES_* */
    const sal_setting *settings; /* ends with a NULL name; NULL: none */
    const char *alias;           /* another name of the sampler, or NULL */
} sal_sampler_info;

/* Find the sampler of a specification ("gwg:radius=2"), and check whether it can sample a model.
 * Params:  specification  as in sal_run_options; a name or an alias.
 *          model          NULL: settings and step size are not checked either.
 *          step_size      0: none is given.
 *          info           filled also when the sampler cannot sample the model; NULL: not wanted.
 * Returns: SAL_ERR_ARGUMENT (no such sampler or setting, or a step size that it does not have or
 *          that is out of range); SAL_ERR_UNSUPPORTED (it cannot sample the model: says why, and
 *          names samplers that can); SAL_ERR_MEMORY.
 * Cost:    O(samplers + blocks of the space).
 * Threads: any. */
SAL_API sal_status sal_sampler_find(const char *specification, const sal_model *model,
                                    double step_size, sal_sampler_info *info, sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
