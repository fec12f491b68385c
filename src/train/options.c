/* Options of a training: defaults and ranges. */
#include <float.h>
#include <math.h>
#include <sys/stat.h>

#include "core/error.h"
#include "train/data.h"
#include "train/trainer.h"

static int64_t usual(int64_t value, int64_t otherwise)
{
    return value ? value : otherwise;
}

static double usual_real(double value, double otherwise)
{
    return value == 0 ? otherwise : value;
}

static void fill_in(sal_train_options *o)
{
    o->sampler = o->sampler ? o->sampler : "gwg";
    o->steps = usual(o->steps, 20);
    o->iterations = usual(o->iterations, 2000);
    o->batch = usual(o->batch, 50);
    o->buffer = usual(o->buffer, o->batch > 1000 ? o->batch : 1000);
    o->reservoir = usual(o->reservoir, 10 * o->batch);
    o->learning_rate = usual_real(o->learning_rate, 1e-3);
    o->momentum = usual_real(o->momentum, 0.9);
    o->beta2 = usual_real(o->beta2, 0.999);
    o->epsilon = usual_real(o->epsilon, 1e-8);
    o->largest_difference = usual_real(o->largest_difference, 1e4);
    o->report_every = usual(o->report_every, 100);
    o->checkpoint_every = usual(o->checkpoint_every, o->report_every);
    o->momentum = o->momentum < 0 ? 0 : o->momentum;
    o->beta2 = o->beta2 < 0 ? 0 : o->beta2;
}

/* What only persistent chains have. */
static sal_status check_objective(const sal_train_options *o, sal_error *err)
{
    const char *what = o->restart != 0        ? "restart"
                       : o->buffer != 0       ? "buffer"
                       : o->buffer_start != 0 ? "buffer_start"
                       : o->buffer_order != 0 ? "buffer_order"
                                              : NULL;
    if (o->objective != SAL_PTT && (o->reservoir != 0 || o->patience != 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: %s goes with trajectory tempering, objective ptt",
                         o->reservoir ? "reservoir" : "patience");
    }
    return o->objective == SAL_PCD || !what
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: %s goes with persistent chains, which only objective pcd has",
                           what);
}

typedef struct whole {
    const char *name;
    int64_t value, low, high;
} whole;

/* Which ends of a range are part of it. */
typedef enum ends { BOTH, LOWER, UPPER } ends;

typedef struct range {
    const char *name;
    double value, low, high;
    ends ends;
} range;

static sal_status check_wholes(const sal_train_options *o, sal_error *err)
{
    const whole wholes[] = {
        { "objective", o->objective, SAL_PCD, SAL_PTT },
        { "iterations", o->iterations, 1, INT64_MAX },
        { "batch", o->batch, 1, INT32_MAX },
        { "threads", o->threads, 0, 4096 },
        { "steps", o->steps, 1, INT32_MAX },
        { "buffer", o->buffer, 1, INT32_MAX },
        { "buffer_start", o->buffer_start, SAL_BUFFER_MEAN, SAL_BUFFER_DATA },
        { "buffer_order", o->buffer_order, SAL_BUFFER_RANDOM, SAL_BUFFER_PASSES },
        { "reservoir", o->reservoir, o->batch, INT32_MAX },
        { "patience", o->patience, 0, INT64_MAX },
        { "optimiser", o->optimiser, SAL_ADAM, SAL_SGD },
        { "centring", o->centring, SAL_CENTRING_AUTO, SAL_CENTRING_OFF },
        { "rate_schedule", o->rate_schedule, SAL_RATE_CONSTANT, SAL_RATE_EXPONENTIAL },
        { "rate_warmup", o->rate_warmup, 0, INT64_MAX },
        { "report_every", o->report_every, 1, INT64_MAX },
        { "checkpoint_every", o->checkpoint_every, 1, INT64_MAX },
    };
    for (size_t k = 0; k < sizeof wholes / sizeof *wholes; k++) {
        const whole *w = &wholes[k];
        if (w->value < w->low || w->value > w->high) {
            return w->high == INT64_MAX
                       ? sali_fail(err, SAL_ERR_ARGUMENT,
                                   "train: %s is %lld; expected at least %lld", w->name,
                                   (long long)w->value, (long long)w->low)
                       : sali_fail(err, SAL_ERR_ARGUMENT,
                                   "train: %s is %lld; expected %lld to %lld", w->name,
                                   (long long)w->value, (long long)w->low, (long long)w->high);
        }
    }
    return SAL_OK;
}

static sal_status check_reals(const sal_train_options *o, sal_error *err)
{
    const double most = 1e300;
    const range ranges[] = {
        { "step_size", o->step_size, 0, most, BOTH },
        { "restart", o->restart, 0, 1, BOTH },
        { "learning_rate", o->learning_rate, 0, DBL_MAX, UPPER },
        { "rate_cooldown", o->rate_cooldown, 0, 1, BOTH },
        { "momentum", o->momentum, 0, 1, LOWER },
        { "beta2", o->beta2, 0, 1, LOWER },
        { "epsilon", o->epsilon, 0, most, UPPER },
        { "weight_decay", o->weight_decay, 0, most, BOTH },
        { "clip_norm", o->clip_norm, 0, most, BOTH },
        { "averaging", o->averaging, 0, 1, LOWER },
        { "l1", o->l1, 0, most, BOTH },
        { "group_penalty", o->group_penalty, 0, most, BOTH },
        { "magnitude_penalty", o->magnitude_penalty, 0, most, BOTH },
        { "largest_difference", o->largest_difference, 0, INFINITY, UPPER },
    };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const range *r = &ranges[k];
        bool low = r->ends == UPPER ? r->value > r->low : r->value >= r->low;
        bool high = r->ends == LOWER ? r->value < r->high : r->value <= r->high;
        if (!(low && high)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "train: %s is %g; expected a number %s %g %s %g", r->name, r->value,
                             r->ends == UPPER ? "above" : "from", r->low,
                             r->ends == LOWER ? "to below" : "to", r->high);
        }
    }
    return SAL_OK;
}

static sal_status check_sizes(const sal_train_options *o, const sal_data *data, sal_error *err)
{
    if (data->rows < o->batch || (o->objective == SAL_PCD && o->buffer < o->batch)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: a batch of %lld needs as many chains and data rows; there are "
                         "%lld chains and %lld rows to train on: take a smaller batch",
                         (long long)o->batch, (long long)o->buffer, (long long)data->rows);
    }
    if (o->objective == SAL_PTT && (o->batch < 2 || o->reservoir % o->batch != 0)) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "train: a reservoir of %lld; expected a multiple of the batch, %lld, which "
            "is 2 or more",
            (long long)o->reservoir, (long long)o->batch);
    }
    if (o->patience > 0 && (!o->test || o->test->rows == 0)) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "train: patience needs held-out rows");
    }
    if (o->objective == SAL_PSEUDO_LIKELIHOOD && o->magnitude_penalty > 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: magnitude_penalty goes with samples, not with pseudo-likelihood");
    }
    return SAL_OK;
}

/* Checkpoints are written long after the start: what can be known of their place is known now. */
static sal_status check_checkpoint(const sal_train_options *o, sal_error *err)
{
    struct stat info;
    if (!o->checkpoint) {
        return o->resume ? sali_fail(err, SAL_ERR_ARGUMENT,
                                     "train: resume needs the directory checkpoint")
                         : SAL_OK;
    }
    if (stat(o->checkpoint, &info) != 0) {
        return sali_fail(err, SAL_ERR_IO, "train: checkpoint %s: %m", o->checkpoint);
    }
    return S_ISDIR(info.st_mode)
               ? SAL_OK
               : sali_fail(err, SAL_ERR_IO, "train: checkpoint %s: expected a directory",
                           o->checkpoint);
}

sal_status sali_train_resolve(sal_train_options *options, const sal_model *model,
                              const sal_data *data, sal_error *err)
{
    sal_status status = check_objective(options, err);
    options->steps = options->steps == -1 ? model->space->n_variables : options->steps;
    fill_in(options);
    status = status ? status : check_wholes(options, err);
    status = status ? status : check_reals(options, err);
    status = status ? status : check_sizes(options, data, err);
    status = status ? status : check_checkpoint(options, err);
    status = status ? status : sali_data_check("train", data, model->space, err);
    if (status == SAL_OK && options->objective == SAL_PCD &&
        options->buffer_start == SAL_BUFFER_UNIFORM && model->space->unbounded) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: chains of counts without a cap cannot start uniform");
    }
    return status;
}
