/* Options of a training: defaults and ranges. */
#include <math.h>

#include "core/error.h"
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
    o->learning_rate = usual_real(o->learning_rate, 1e-3);
    o->momentum = usual_real(o->momentum, 0.9);
    o->beta2 = usual_real(o->beta2, 0.999);
    o->epsilon = usual_real(o->epsilon, 1e-8);
    o->largest_difference = usual_real(o->largest_difference, 1e4);
    o->report_every = usual(o->report_every, 100);
    o->checkpoint_every = usual(o->checkpoint_every, o->report_every);
    if (o->momentum < 0 && o->optimiser == SAL_SGD) {
        o->momentum = 0;
    }
}

typedef struct whole {
    const char *name;
    int64_t value, low, high;
} whole;

typedef struct range {
    const char *name;
    double value, low, high; /* low <= value < high */
} range;

static sal_status check_wholes(const sal_train_options *o, sal_error *err)
{
    const whole wholes[] = {
        { "objective", o->objective, SAL_PCD, SAL_PSEUDO_LIKELIHOOD },
        { "iterations", o->iterations, 1, INT64_MAX },
        { "batch", o->batch, 1, INT32_MAX },
        { "threads", o->threads, 0, 4096 },
        { "steps", o->steps, 1, INT32_MAX },
        { "buffer", o->buffer, 1, INT32_MAX },
        { "buffer_start", o->buffer_start, SAL_BUFFER_MEAN, SAL_BUFFER_DATA },
        { "optimiser", o->optimiser, SAL_ADAM, SAL_SGD },
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
    const double most = 1e300, least = 5e-324;
    const range ranges[] = {
        { "step_size", o->step_size, 0, most },
        { "restart", o->restart, 0, 1 + 1e-15 },
        { "learning_rate", o->learning_rate, least, INFINITY },
        { "momentum", o->momentum, 0, 1 },
        { "beta2", o->beta2, 0, 1 },
        { "epsilon", o->epsilon, 0, most },
        { "weight_decay", o->weight_decay, 0, most },
        { "averaging", o->averaging, 0, 1 },
        { "l1", o->l1, 0, most },
        { "magnitude_penalty", o->magnitude_penalty, 0, most },
        { "largest_difference", o->largest_difference, least, INFINITY },
    };
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        const range *r = &ranges[k];
        bool open = r->low == least;
        if (!(r->value >= r->low && (r->value < r->high || (open && r->value == r->high)))) {
            return open ? sali_fail(err, SAL_ERR_ARGUMENT, "train: %s is %g; expected above 0",
                                    r->name, r->value)
                        : sali_fail(err, SAL_ERR_ARGUMENT,
                                    "train: %s is %g; expected a number from %g to %s%g", r->name,
                                    r->value, r->low, r->high == 1 ? "below " : "", r->high);
        }
    }
    return SAL_OK;
}

static sal_status check_sizes(const sal_train_options *o, const sal_data *data, sal_error *err)
{
    bool samples = o->objective != SAL_PSEUDO_LIKELIHOOD;
    if (data->rows < o->batch || (samples && o->objective == SAL_PCD && o->buffer < o->batch)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: a batch of %lld needs as many chains and data rows; there are "
                         "%lld and %lld",
                         (long long)o->batch, (long long)o->buffer, (long long)data->rows);
    }
    if (o->objective == SAL_PSEUDO_LIKELIHOOD && o->magnitude_penalty > 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: magnitude_penalty goes with samples, not with pseudo-likelihood");
    }
    return o->resume && !o->checkpoint
               ? sali_fail(err, SAL_ERR_ARGUMENT, "train: resume needs the directory checkpoint")
               : SAL_OK;
}

static sal_status check_data(const sal_data *data, const sal_model *model, sal_error *err)
{
    const sal_space *space = model->space;
    if (data->variables != space->n_variables || !data->codes) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: the data have %lld variables and %s has %lld",
                         (long long)data->variables, model->name, (long long)space->n_variables);
    }
    for (int64_t r = 0; r < data->rows; r++) {
        for (int64_t v = 0; v < space->n_variables; v++) {
            int code = data->codes[r * space->n_variables + v];
            if (!sali_has_code(&space->variables[v], code)) {
                return sali_fail(err, SAL_ERR_ARGUMENT,
                                 "train: data row %lld, variable %lld: code %d; expected 0 to %d",
                                 (long long)r, (long long)v, code,
                                 sali_last_code(&space->variables[v]));
            }
        }
    }
    return SAL_OK;
}

sal_status sali_train_resolve(sal_train_options *options, const sal_model *model,
                              const sal_data *data, sal_error *err)
{
    fill_in(options);
    sal_status status = check_wholes(options, err);
    status = status ? status : check_reals(options, err);
    status = status ? status : check_sizes(options, data, err);
    status = status ? status : check_data(data, model, err);
    if (status == SAL_OK && options->buffer_start == SAL_BUFFER_UNIFORM &&
        model->space->unbounded) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: chains of counts without a cap cannot start uniform");
    }
    return status;
}
