/* SPDX-License-Identifier: MIT */
/* Models: an unnormalised log-probability f(s) over a space, given by a tape or by your own
 * function. f may be -inf (a forbidden state), but never NaN or +inf. */
#ifndef SALTUS_MODEL_H
#define SALTUS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <saltus/ad.h>
#include <saltus/options.h>
#include <saltus/space.h>
#include <saltus/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A model: an unnormalised log-probability f over a space, optionally with named parameters. */
typedef struct sal_model sal_model;

/* Make a model from the formula `f` of a tape. You can go on recording on the tape, or destroy it.
 * Returns: SAL_OK; the tape's first mistake; SAL_ERR_SHAPE when f is not a scalar; SAL_ERR_MEMORY.
 * Cost:    O(nodes + constants).
 * Threads: many threads may read a model; setting parameters needs it alone. */
SAL_API sal_status sal_model_from_tape(const sal_tape *tape, sal_expr f, sal_model **model,
                                       sal_error *err);

/* A model given by your own function. */
typedef struct sal_callback {
    /* The log-probability of one state x [N] (the embedding, double). If gradient [N] is not NULL,
     * f must fill it too. Called from several threads at once. */
    double (*f)(const double *x, double *gradient, void *data);
    void *data;        /* passed to f and batch; must outlive the model */
    bool has_gradient; /* whether gradients are given; if false, gradient is always NULL */
    /* In place of f, the same of several states at once: x [states x N], values [states] and
     * gradient [states x N] or NULL. */
    void (*batch)(int64_t states, const double *x, double *values, double *gradient, void *data);
} sal_callback;

/* Make a model from a callback over a copy of `space`. It always computes in double.
 * Returns: SAL_ERR_ARGUMENT (no function, or a space without variables); SAL_ERR_MEMORY.
 * Cost:    O(V + N).
 * Threads: any; evaluations of the model call `f` from several threads. */
SAL_API sal_status sal_model_from_callback(const sal_space *space, const sal_callback *callback,
                                           sal_model **model, sal_error *err);

/* Make a factor graph over variables 0 .. n_variables - 1 with states[v] states. f is the sum of
 * the factors' log-potentials, in the layout of sal_table. Successive variables of equal
 * cardinality form a categorical block. A table entry -inf forbids its states.
 * Returns: SAL_ERR_ARGUMENT (scopes or sizes do not fit); SAL_ERR_MEMORY.
 * Cost:    O(n_variables + entries of the tables).
 * Threads: any. */
SAL_API sal_status sal_model_from_factors(int64_t n_variables, const int32_t *states,
                                          int64_t n_factors, const int64_t *scope_begin,
                                          const int64_t *scope, const double *log_tables,
                                          sal_dtype dtype, sal_model **model, sal_error *err);

/* Fix some variables of a model: variables[k] to codes[k]. The clamped model's space has only the
 * free variables, in order. The clamped model keeps `model` alive and shares its parameters.
 * Returns: SAL_ERR_ARGUMENT (out of range, contradictory, nothing left free, clamped already);
 *          SAL_ERR_MEMORY.
 * Cost:    O(V + N); an evaluation costs as much as one of `model`.
 * Threads: any. */
SAL_API sal_status sal_model_clamp(sal_model *model, int64_t n, const int64_t *variables,
                                   const int32_t *codes, sal_model **clamped, sal_error *err);

/* Fix the sum of the values of a block of the model, as sal_space_fix_sum does of a space: the
 * model is then over the states with this sum only. f, parameters and the layout of states stay the
 * same. Fix sums before you clamp variables, sample or keep the model anywhere.
 * Params:  block: its name.
 * Returns: as sal_space_fix_sum; SAL_ERR_ARGUMENT also for a clamped model, and while runs, chains,
 *          clamped models or other calls use the model; SAL_ERR_UNSUPPORTED for a denoising chain;
 *          SAL_ERR_MEMORY. The model is then unchanged.
 * Cost:    O(V).
 * Threads: nobody may use the model at the same time. */
SAL_API sal_status sal_model_fix_sum(sal_model *model, const char *block, int64_t sum,
                                     sal_error *err);

/* Get the number of levels of a conditional energy f(x, t): the states of the level t, which is the
 * last block of the space and one categorical variable. 0: the formula has no such block, or the
 * model is no tape, or has clamped variables. The objective SAL_DENOISING trains such models on
 * data of x.
 * Threads: any. */
SAL_API int64_t sal_model_levels(const sal_model *model);

/* Whether a model was opened from the directory of a training with SAL_DENOISING. Its f(x, t) is
 * the energy of level t, and no log-probability of x: sal_sample without the trajectory of the
 * training, sal_ais, sal_model_exact and sal_inpaint refuse it; sal_model_evaluate gives f(x, t).
 * Threads: any. */
SAL_API bool sal_model_is_conditional(const sal_model *model);

/* Release your reference to a model; NULL is fine. */
SAL_API void sal_model_destroy(sal_model *model);

/* The model's space, which lives as long as the model. */
SAL_API const sal_space *sal_model_space(const sal_model *model);

/* The type of the numbers that the model computes with. */
SAL_API sal_dtype sal_model_dtype(const sal_model *model);

/* The model's name in messages and summaries ("ising:side=10"); never NULL. */
SAL_API const char *sal_model_name(const sal_model *model);

/* Set the model's name; NULL: "".
 * Returns: SAL_ERR_MEMORY.
 * Cost:    O(length).
 * Threads: the model must not be in use elsewhere. */
SAL_API sal_status sal_model_set_name(sal_model *model, const char *name, sal_error *err);

/* Whether f is known to be multilinear: its gradient then gives exact finite differences. */
SAL_API bool sal_model_is_multilinear(const sal_model *model);

/* The name of a variable (`code` -1) or of one of its states, if the file that the model was made
 * from gives names; else NULL. It lives as long as the model. Variables of a clamped model keep
 * their names.
 * Threads: any. */
SAL_API const char *sal_model_label(const sal_model *model, int64_t variable, int32_t code);

/* What reading the file that the model was made from found besides the model: the size of an
 * alignment, what was dropped, how an ambiguous file was understood. NULL if there is nothing to
 * report. It lives as long as the model; a clamped model has the remark of the model that it
 * clamps.
 * Params:  warns  whether something was dropped or decided that may be meant otherwise; may be
 *                 NULL.
 * Threads: any. */
SAL_API const char *sal_model_remark(const sal_model *model, bool *warns);

/* ---- values of given states (one-shot; allocates) */

/* Evaluate f [states] and, where not NULL, gradient [states x N] and differences at given states.
 * The differences f(s with variable v at code k) - f(s) are exact, one row per state, the codes of
 * variable 0 first: [states x sum of the variables' states]. A count x without a cap has two
 * entries instead, for the codes x - 1 and x + 1; an entry beyond the border is -inf.
 * Params:  codes [states x V].
 * Returns: SAL_ERR_ARGUMENT (code out of range), SAL_ERR_UNSUPPORTED (no gradient), SAL_ERR_MODEL
 *          (NaN or +inf; names the state), SAL_ERR_MEMORY. Outputs of states before the named state
 *          may then be filled.
 * Cost:    f of the states, and a backward pass for the gradient. Differences cost nothing more
 *          where the gradient gives them; else a change, or an evaluation, for each entry ('saltus
 *          check' tells which). Memory of about 64 states.
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_model_evaluate(const sal_model *model, int64_t states, const int32_t *codes,
                                      double *f, double *gradient, double *differences,
                                      sal_error *err);

/* Evaluate f and gradient (or NULL) at any real x [states x N], also off the lattice.
 * Returns: SAL_ERR_UNSUPPORTED (no gradient), SAL_ERR_MODEL (NaN or +inf; names the row),
 *          SAL_ERR_MEMORY. Outputs of rows before the named row may then be filled.
 * Cost:    f of the rows, and a backward pass for the gradient.
 * Threads: any, while nobody sets the model's parameters. */
SAL_API sal_status sal_model_evaluate_at(const sal_model *model, int64_t states, const double *x,
                                         double *f, double *gradient, sal_error *err);

/* ---- what a model is made of, and whether its derivatives are right */

/* How a model finds exact differences: number of methods. */
#define SAL_DIFFERENCES_METHODS 3

/* The result of sal_model_check: the largest errors over some random states, relative to the
 * largest entry. NaN: nothing could be compared. */
typedef struct sal_model_checks {
    int64_t states;           /* number of states looked at */
    int64_t slopes;           /* entries of gradients that were compared */
    int64_t skipped;          /* entries that could not be: infinite, with f finite on one side */
    int64_t kinks;            /* those where f has a kink */
    int64_t changes;          /* changes of one variable that are not forbidden */
    double gradient_error;    /* against central differences; at kinks against the slopes on both
                                 sides */
    double first_order_error; /* of first-order differences, against exact ones */
    const char *differences;  /* the method that finds exact differences */
    const char *against[SAL_DIFFERENCES_METHODS]; /* other methods that apply; ends with NULL */
    double against_error; /* of these other methods, against `differences`; 0 if there are none */
} sal_model_checks;

/* Compare the gradient and the differences of a model with differences of f at random states, in
 * double precision whatever the model's type. A random state with forbidden factors is repaired as
 * in sal_sample. Where f is finite on one side of a state only, as s^1.5 is at 0, differences are
 * taken on that side.
 * Params:  exact: the same model in double precision; NULL: it is made of `model`.
 * Returns: SAL_ERR_MODEL (no state with finite f was found; f is NaN or +inf; an entry of the
 *          gradient is NaN, or infinite where f is finite on both sides: the message has the
 *          coordinate and the state); SAL_ERR_UNSUPPORTED (the model has no gradient);
 *          SAL_ERR_MEMORY. *checks then has only `differences` and `against`, and zeros.
 * Cost:    O(N) evaluations of single states, and all differences by each method.
 * Threads: any, while nobody sets the models' parameters. */
SAL_API sal_status sal_model_check(const sal_model *model, const sal_model *exact, uint64_t seed,
                                   sal_model_checks *checks, sal_error *err);

/* ---- the multilinear extension */

/* The method that computes the multilinear extension. */
typedef enum sal_extension_method {
    SAL_EXTENSION_AUTO = 0,    /* the first method below that applies */
    SAL_EXTENSION_CLOSED,      /* for multilinear f: f itself between the states. Squares of
                                  two-level variables and the coverage of binary ones are taken in
                                  their multilinear form (SAL_PASS_CANONICAL) */
    SAL_EXTENSION_ENUMERATE,   /* the sum over all states */
    SAL_EXTENSION_MONTE_CARLO, /* the mean over sampled states */
} sal_extension_method;

/* Options of sal_model_extension. Fields left zero take their defaults. */
typedef struct sal_extension_options {
    sal_extension_method method; /* 0: SAL_EXTENSION_AUTO */
    int64_t limit;               /* the largest number of states to enumerate; 0: 2^20 */
    int64_t samples;             /* of Monte Carlo, >= 2; 0: 1000 */
    uint64_t seed;               /* of Monte Carlo */
} sal_extension_options;

/* The result of sal_model_extension. */
typedef struct sal_extension {
    double F;                    /* E f(s) */
    double standard_error;       /* of F; 0 for the exact methods */
    sal_extension_method method; /* the method used, never AUTO */
} sal_extension;

/* Compute the multilinear extension F(theta) = E f(s) and its gradient. The variables of s are
 * independent, and variable i is in state v with probability theta_iv. F equals f where theta is
 * one state.
 * Math:    dF / dtheta_iv = E[f(s) | s_i = v], theta's rows taken as free. As rows sum to one, only
 *          differences within a row of the gradient g matter: for a two-level variable with p =
 *          theta_i1, dF / dp = g_i1 - g_i0 (Newton paper, below eq. 11).
 *          A state of positive probability with f = -inf makes F -inf, and g_iv in the same way.
 *          (The closed form computes in the model's type: probabilities that round to zero are
 *          zero.)
 * Params:  options: NULL for the defaults. theta [R]: the probabilities of the states of variable
 *          0, then 1, ..; R is the sum of the variables' states, and the layout is that of the
 *          differences of sal_model_evaluate. Each probability is in [0, 1], and those of a
 *          variable sum to 1 within 1e-9 (the sum is then scaled to 1). gradient [R] and
 *          gradient_error [R] (standard errors; zeros for the exact methods) may be NULL. No
 *          aliasing.
 *          Monte Carlo averages f(s) and, by exact differences, f(s with s_i = v) over the same
 *          draws s. All estimates then share the variation of f(s), so differences within a row of
 *          the gradient are more precise than the standard errors of its entries; for a linear f
 *          they are exact. A draw with f = -inf proves that F is -inf, with standard error 0.
 *          Forbidden states too rare to be drawn are missed.
 * Returns: SAL_ERR_ARGUMENT (theta, naming the variable; options); SAL_ERR_UNSUPPORTED when the
 *          method asked for does not apply (closed: f is not known to be multilinear; enumerate:
 *          more states than the limit; any: a count without a cap); SAL_ERR_MODEL (f is NaN or
 *          +inf, showing the state); SAL_ERR_MEMORY. The outputs are then untouched.
 * Cost:    closed: one gradient, and O(n m log n) to sort the columns of a coverage.
 *          Enumerate: f at all states. Monte Carlo: f, and for a gradient all differences, at
 *          `samples` states. Memory O(R), and of 64 states.
 * Threads: any; runs in the calling thread.
 * Source:  Xiang et al. 2023 eq. 11, supplement 3.2; Sahin et al. 2020 (products of simplices). */
SAL_API sal_status sal_model_extension(const sal_model *model, const sal_extension_options *options,
                                       const double *theta, sal_extension *extension,
                                       double *gradient, double *gradient_error, sal_error *err);

/* ---- exact answers, for models that are small or of small induced width */

/* The default for the largest number of states to enumerate. */
#define SAL_ENUMERATION_LIMIT (INT64_C(1) << 20)

/* Options of sal_model_exact. Fields left zero take their defaults. */
typedef struct sal_exact_options {
    const char *oracle; /* "forward-backward" (chains), "closed form" (independent variables and
                           their mixtures), "enumeration", "elimination", "enumeration of hidden
                           units" (RBMs); NULL: the cheapest oracle that can serve the model, but
                           one that knows E f if there is one */
    int64_t limit;      /* the most states to enumerate, of the model or of hidden units; 0: 2^20 */
    int64_t memory;     /* the largest size, in bytes, of elimination's tables; 0: 2^30 */
    int threads;        /* 0: OMP_NUM_THREADS, or all processors; the results do not depend on it */
} sal_exact_options;

/* The result of sal_model_exact. */
typedef struct sal_exact {
    double log_z;         /* natural log of the sum of exp f over all states */
    double log_prob_mean; /* E f; the entropy of p is log_z - E f. NaN: a mixture or an RBM
                             too large to enumerate, where E f has no closed form */
    const char *oracle;   /* the oracle that answered */
    int32_t width;        /* elimination: the induced width of its order; else -1 */
    double memory;        /* elimination: the bytes of its tables; else 0 */
    sal_dtype dtype;      /* of the model */
    double rounding;      /* enumeration and elimination: by how much rounding to this type may have
                             changed f, of the mean size of f without its additive constants; else 0 */
} sal_exact;

/* Whether rounding may have changed exact answers by much, in logarithms of ratios of
 * probabilities.
 * Params:  text [room]: then the warning, cut to the room, which SAL_ERROR_SIZE is enough for;
 *          untouched if room is 0.
 * Threads: any. */
SAL_API bool sal_exact_warning(const sal_exact *exact, char *text, size_t room);

/* Compute the normalising constant of a model and expectations under p(s) = exp(f(s)) / Z.
 * Params:  options: NULL for the defaults. R is the sum of the variables' states, variable 0 first,
 *          and N the width of the embedding x. Each output may be NULL; no aliasing.
 *          marginals [R]: the probabilities of the states of all variables;
 *          pairs [R x R]: p(s_i = k, s_j = l), symmetric, with the marginals on the diagonal
 *          blocks;
 *          covariance [N x N]: of the embedding.
 * Returns: SAL_ERR_ARGUMENT (options; an oracle that does not exist, naming those that do);
 *          SAL_ERR_UNSUPPORTED when no oracle can serve the model, with the reason of each, or
 *          pairs and covariances would take elimination more than 2^28 table entries; SAL_ERR_MODEL
 *          (f is NaN or +inf at a state, shown by enumeration; or -inf at all states);
 *          SAL_ERR_MEMORY. The outputs are then untouched.
 *          Elimination needs a formula that is a sum of terms of few variables (factor graphs,
 *          lattices, quadratic forms, functions of elements), variables with finitely many states,
 *          and an order of small induced width; the message names the missing condition, and how
 *          much memory a wide model would take.
 * Cost:    forward-backward of T slices of K variables of c codes: O(T K c^(K+1)) time, memory
 *          O(T c^K), which may be 2^24; pairs up to 2^30 terms: T K c times the time.
 *          Closed form of k components: O(k R), with pairs O(k R^2).
 *          Enumeration: f of all states, and for pairs or covariance O(V^2) per state; memory
 *          O(64 R), with pairs O(R^2) to O(64 R^2), independent of the number of states.
 *          Enumeration of H hidden units: O(2^H (R + H)), with pairs O(2^H R^2), which may be 2^38;
 *          memory 8 bytes for each of the 2^H states, and O(R H + 64 R).
 *          Elimination: two passes over tables with one axis for each variable of a clique, in
 *          double precision; pairs and covariance as often again as variables that are connected by
 *          terms have states, at most R times.
 * Threads: any; works on `threads` threads.
 * Source:  elimination: Dechter 1999; orders: Kjaerulff 1990, Gogate & Dechter 2004. */
SAL_API sal_status sal_model_exact(const sal_model *model, const sal_exact_options *options,
                                   sal_exact *exact, double *marginals, double *pairs,
                                   double *covariance, sal_error *err);

/* Draw independent states from p(s) = exp(f(s)) / Z. Of a clamped model they are draws given the
 * clamped variables, however improbable their values are. Draw number d depends on model, oracle,
 * seed and d only: more draws begin with the same ones.
 * Params:  options: NULL for the defaults. "forward-backward" makes no draws; chains are drawn by
 *          elimination, whose tables for draws count for `memory`.
 *          n: the number of draws, at least 1.
 *          codes [n x V]: the draws, one after the other.
 *          exact: gets the same figures as from sal_model_exact, except that E f of a mixture or an
 *          RBM may be NaN where enumeration would find it. NULL: not wanted.
 * Returns: as sal_model_exact; also SAL_ERR_ARGUMENT for n < 1. The outputs are then untouched.
 * Cost:    once, that of the oracle's answer without pairs; enumeration keeps 8 bytes a state.
 *          Then for each draw of elimination O(the sum over V of a variable's states and its
 *          neighbours when it is eliminated); of the closed form O(R); of enumeration
 *          O(V + log of the number of states); of enumeration of H hidden units O(R H).
 *          Probabilities are exact to about 2^-52.
 * Threads: any; works on `threads` threads.
 * Source:  Dawid 1992; Dechter 1999 (draws backwards through the buckets). */
SAL_API sal_status sal_model_exact_draws(const sal_model *model, const sal_exact_options *options,
                                         int64_t n, uint64_t seed, int32_t *codes, sal_exact *exact,
                                         sal_error *err);

/* ---- parameters */

/* Total size of all parameters: the length of the flat vector. */
SAL_API int64_t sal_model_parameters_size(const sal_model *model);

/* Name and shape of parameter `index`, counted from 0; NULL past the last, and for a model that is
 * no tape. `shape` may be NULL. The flat vector holds the numbers of all
 * parameters in this order. */
SAL_API const char *sal_model_parameter(const sal_model *model, int64_t index, sal_shape *shape);

/* Set one parameter [its size], or all of them (name NULL: the flat vector).
 * Returns: SAL_ERR_NOT_FOUND with the names that exist; SAL_ERR_ARGUMENT while the model is being
 *          sampled (sal_sample, sal_chains_step, sal_ais and so on, also from their callbacks);
 *          SAL_ERR_MEMORY. No parameter has then changed.
 * Cost:    O(all parameters), and what depends on them alone is computed again.
 * Threads: nobody may evaluate the model, or set its parameters, at the same time. */
SAL_API sal_status sal_model_set_params(sal_model *model, const char *name, const double *values,
                                        sal_error *err);

/* Read one parameter [its size], or all of them (name NULL: the flat vector).
 * Returns: SAL_ERR_NOT_FOUND with the names that exist; SAL_ERR_MEMORY.
 * Cost:    O(all parameters).
 * Threads: any, while the model is not trained. */
SAL_API sal_status sal_model_get_params(const sal_model *model, const char *name, double *values,
                                        sal_error *err);

#ifdef __cplusplus
}
#endif
#endif
