/* SPDX-License-Identifier: MIT */
/* The pseudo-likelihood, which needs no samples. Besag 1975. */
#include "train/pseudo_likelihood.h"

#include "core/error.h"
#include "train/trainer.h"

static int64_t chains(const sal_train_options *options)
{
    (void)options;
    return 0;
}

/* SAL_ERR_ARGUMENT if options need samples. */
static sal_status check(const sal_train_options *options, const sal_model *model, sal_error *err)
{
    (void)model;
    if (options->magnitude_penalty > 0) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "train: magnitude_penalty goes with samples, not with pseudo-likelihood");
    }
    return options->preconditioner
               ? sali_fail(err, SAL_ERR_ARGUMENT,
                           "train: a preconditioner goes with samples, not with pseudo-likelihood")
               : SAL_OK;
}

static sal_status create(sal_trainer *t, sal_error *err)
{
    sali_pseudo_likelihood *own = NULL;
    sal_status status = sali_pseudo_likelihood_create(t->model, false, t->n_shards, t->ranks.first,
                                                      t->ranks.end, t->shards[0].n, &own, err);
    t->own = own;
    return status;
}

static void destroy(sal_trainer *t)
{
    sali_pseudo_likelihood_destroy(t->own);
}

static void gradient_begin(sal_trainer *t)
{
    sali_pseudo_likelihood_refresh(t->own);
}

static double gradient_shard(sal_trainer *t, int64_t k)
{
    const sali_train_shard *shard = &t->shards[k];
    sali_pseudo_likelihood_zero(t->own, k);
    return sali_pseudo_likelihood_add(t->own, k, shard->n, shard->codes,
                                      1 / (double)t->options.batch);
}

static sali_workspace *const *gathered(const sal_trainer *t)
{
    return sali_pseudo_likelihood_workspaces(t->own);
}

const sali_objective sali_objective_pseudo_likelihood = {
    .chains = chains,
    .check = check,
    .create = create,
    .destroy = destroy,
    .gradient_begin = gradient_begin,
    .gradient_shard = gradient_shard,
    .gathered = gathered,
};
