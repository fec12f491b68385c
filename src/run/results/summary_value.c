/* SPDX-License-Identifier: MIT */
/* The figures of a run by name. */
#include <stddef.h>
#include <string.h>

#include <saltus/program.h>
#include <saltus/sample.h>
#include "core/error.h"
#include "core/option.h"

/* A field of sal_run_summary that is a number. */
typedef struct number_field {
    const char *name;
    sal_option_kind kind;
    size_t offset;
} number_field;

/* The type of a field, and its entry in the list. */
#define KIND(field)                                   \
    _Generic(((sal_run_summary *)NULL)->field, double \
             : SAL_OPTION_REAL, int64_t               \
             : SAL_OPTION_WHOLE, uint64_t             \
             : SAL_OPTION_SEED, int                   \
             : SAL_OPTION_INT, bool                   \
             : SAL_OPTION_FLAG)
#define FIELD(field)                                          \
    {                                                         \
#field, KIND(field), offsetof(sal_run_summary, field) \
    }

/* All numbers and truth values of the struct, in its order. */
static const number_field fields[] = {
    FIELD(variables),
    FIELD(chains),
    FIELD(warmup),
    FIELD(draws),
    FIELD(thin),
    FIELD(seed),
    FIELD(threads),
    FIELD(stopped),
    FIELD(reached),
    FIELD(step_size),
    FIELD(step_size_bound),
    FIELD(step_size_target),
    FIELD(acceptance_rate),
    FIELD(mean_jump),
    FIELD(unmoved),
    FIELD(isolated),
    FIELD(ess_min),
    FIELD(ess_median),
    FIELD(ess_max),
    FIELD(ess_per_second),
    FIELD(ess_total),
    FIELD(ess_per_step),
    FIELD(autocorrelation_time),
    FIELD(rhat_max),
    FIELD(rhat_variable),
    FIELD(rhat_code),
    FIELD(disagreeing),
    FIELD(unchanged),
    FIELD(stuck_chance),
    FIELD(unreached),
    FIELD(log_prob_mean),
    FIELD(rounding),
    FIELD(seconds),
    FIELD(warmup_seconds),
    FIELD(steps_per_second),
    FIELD(replicas),
    FIELD(swap_rate_min),
    FIELD(round_trips),
    FIELD(barrier),
    FIELD(levels),
    FIELD(level_rate_min),
    FIELD(arrivals),
    FIELD(annealed),
    FIELD(anneal_from),
    FIELD(anneal_to),
    FIELD(coolings),
    FIELD(cooling),
    FIELD(reheats),
    FIELD(reheat_to),
    FIELD(search_seconds),
    FIELD(best_log_prob),
    FIELD(decoded_log_prob),
    FIELD(exact_is_short),
    FIELD(statistic_mean),
    FIELD(statistic_deviation),
    FIELD(statistic_best),
    FIELD(statistic_decoded),
};

#define N_FIELDS (sizeof fields / sizeof *fields)

/* SAL_ERR_NOT_FOUND, with the name that is nearest to `name`. */
static sal_status refuse(const char *name, sal_error *err)
{
    sal_nearest nearest = sal_nearest_begin(name);
    for (size_t k = 0; k < N_FIELDS; k++) {
        sal_nearest_offer(&nearest, fields[k].name);
    }
    return sali_fail(err, SAL_ERR_NOT_FOUND, "a summary has no figure '%s'; %s", name,
                     sal_nearest_hint(&nearest, "expected a field of sal_run_summary that is a "
                                                "number, such as 'rhat_max'"));
}

sal_status sal_run_summary_value(const sal_run *run, const char *name, double *value,
                                 sal_error *err)
{
    sal_run_summary summary;
    if (!run || !name || !value) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_run_summary_value: the run, the name or the value is NULL");
    }
    for (size_t k = 0; k < N_FIELDS; k++) {
        if (strcmp(fields[k].name, name) == 0) {
            sal_status status = sal_run_summarise(run, &summary, err);
            *value = status == SAL_OK
                         ? sali_field_number(fields[k].kind, (char *)&summary + fields[k].offset)
                         : *value;
            return status;
        }
    }
    return refuse(name, err);
}
