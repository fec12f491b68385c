#include <math.h>

#include "samplers/run.h"

#define TARGET_ACCEPTANCE 0.574

void sali_adapt_begin(sali_adaptation *a, const sal_space *space, double step_size)
{
    double unit = sali_default_step_size(space, 1);
    *a = (sali_adaptation){
        .log_step = log(step_size),
        .low = log(1e-3 * unit),
        .high = log(1e3 * unit),
    };
}

double sali_adapt_next(sali_adaptation *a, double acceptance)
{
    double gain = 4 / pow((double)++a->windows, 0.6);
    a->log_step += gain * (acceptance - TARGET_ACCEPTANCE);
    a->log_step = fmin(fmax(a->log_step, a->low), a->high);
    return exp(a->log_step);
}

double sali_warmup_acceptance(const sali_warmup *warmup)
{
    double sum = 0, steps = 0;
    for (int64_t k = 0; k < warmup->n_shards; k++) {
        const sali_chains *chains = warmup->chains[k];
        for (int64_t c = 0; c < chains->n; c++) {
            sum += chains->acceptance_sum[c];
        }
        steps += (double)(warmup->window * chains->n);
    }
    return sum / steps;
}
