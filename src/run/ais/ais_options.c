/* SPDX-License-Identifier: MIT */
/* Annealed importance sampling: options, the schedule, and making what a path needs. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/option.h"
#include "core/threads/shard.h"
#include "models/base.h"
#include "models/structure.h"
#include "run/ais/ais.h"
#include "run/run.h"

/* The sigmoid's slope at the ends, and the last interval of a geometric schedule over the first. */
#define SIGMOID_END 4.0
#define GEOMETRIC_RATIO 100.0
/* Chains of a reverse path are numbered from here, so that it shares no random numbers with the
 * forward one of the same seed. */
#define FIRST_REVERSE UINT32_C(0x80000000)

double sali_ais_beta(sal_ais_schedule schedule, int64_t t, int64_t T)
{
    double share = (double)t / (double)T;
    if (t == 0 || t == T) {
        return share;
    }
    switch (schedule) {
    case SAL_AIS_SIGMOID: /* sigmoid(2 a) = (1 + tanh a) / 2 */
        return 0.5 + 0.5 * tanh(SIGMOID_END * (share - 0.5)) / tanh(SIGMOID_END / 2);
    case SAL_AIS_GEOMETRIC:
        return expm1(share * log(GEOMETRIC_RATIO)) / (GEOMETRIC_RATIO - 1);
    default:
        return share;
    }
}

#define AIS(member) SALI_FIELD(sal_ais_options, member)

static const char *const schedules[] = { "linear", "sigmoid", "geometric", NULL };

static const sali_option entries[] = {
    SALI_OPTION("chains", WHOLE, "N",
                "independent chains in each direction; in reverse at most one per starting state",
                AIS(chains), SALI_RANGE(1, INT32_MAX), SALI_USUAL(100)),
    SALI_OPTION("temperatures", WHOLE, "T", "temperature intervals from the base to the model",
                AIS(temperatures), SALI_RANGE(1, INT64_C(1) << 40), SALI_USUAL(1000)),
    SALI_OPTION("steps", WHOLE, "K", "sampler steps at each temperature", AIS(steps),
                SALI_RANGE(1, INT64_C(1) << 20), SALI_USUAL(1)),
    SALI_OPTION("schedule", WORD, "linear|sigmoid|geometric", "spacing of the temperatures",
                AIS(schedule), .words = schedules, .usual = "linear"),
    SALI_OPTION(
        "sampler", TEXT, "NAME",
        "name, see 'saltus list samplers'; settings as NAME:key=value,... or as their own options",
        AIS(sampler),
        .usual =
            "block-gibbs for layers and chains, and for a net on top of an RBM whose training used "
            "it; else gwg, or gibbs where gradients mislead"),
    SALI_OPTION("step-size", REAL, "X", "step size of samplers that have one", AIS(step_size),
                SALI_REAL_FROM(0), .range = SALI_ABOVE, .usual = "the sampler's default"),
    SALI_OPTION("seed", SEED, "N", "the same seed gives the same bits", AIS(seed), SALI_FROM(0),
                SALI_USUAL(0)),
    SALI_OPTION("threads", INT, "N", "number of threads; results do not depend on it", AIS(threads),
                .usual = "all", SALI_RANGE(0, 4096)),
};

static const sal_option_table table = { "ais: ", sizeof entries / sizeof *entries, entries };

const sal_option_table *sali_ais_option_table(void)
{
    return &table;
}

/* Name the sampler of options without one: exact draws of the pieces of `of`, the caller's model,
 * if the bridge to it has them too, as proposals at least. */
static sal_status name_sampler(const sal_model *of, const sal_model *bridge, const char **name,
                               sal_error *err)
{
    sal_status status = SAL_OK;
    if (!*name && sali_structure_is_whole(of)) {
        status = sali_sampler_usual(of, true, name, err);
        *name = status == SAL_OK && sali_sampler_serves(sali_sampler_find(*name), bridge) ? *name
                                                                                          : NULL;
    }
    return status || *name ? status : sali_sampler_usual(of, false, name, err);
}

/* Choose the sampler of the path, and create its shared state. Weights need independent chains
 * whose steps leave the distribution of each temperature invariant. `of` is the model that the
 * caller gave. */
static sal_status choose_sampler(sali_ais *ais, const sal_model *of, sal_error *err)
{
    sal_ais_options *o = &ais->options;
    const sal_model *model = ais->bridge.model;
    sal_status status = name_sampler(of, model, &o->sampler, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_sampler_choose_from(o->own_samplers, o->sampler, model, o->step_size,
                                      &ais->sampler, &ais->settings, err);
    const sali_sampler *known =
        status == SAL_ERR_UNSUPPORTED ? sali_sampler_find(o->sampler) : NULL;
    if (known && sali_sampler_serves(known, of)) { /* it serves a structure that the bridge lacks */
        return sali_fail(err, status,
                         "ais: sampler '%s' can sample %s, but not the distributions between it "
                         "and independent variables, which lack its structure; try 'gibbs'",
                         o->sampler, of->name);
    }
    if (status != SAL_OK) {
        return status;
    }
    /* f changes at every temperature: preparations that cost N gradients pay off only if many more
     * steps use them */
    ais->settings.training = (double)o->chains * (double)o->steps < 4 * (double)model->space->width;
    status = sali_run_check_independent(ais->sampler, "ais: ", "importance weights", err);
    return status ? status
                  : sali_sampler_share(ais->sampler, model, &ais->settings, &ais->shared, err);
}

/* Make the chains and the sampler of shard k, one of this rank's. */
static sal_status create_shard(sali_ais *ais, int64_t k, sal_error *err)
{
    sali_ais_shard *shard = &ais->shards[k];
    const sal_model *model = ais->bridge.model;
    shard->first = ais->chain_begin[k];
    shard->n = ais->chain_begin[k + 1] - shard->first;
    shard->f = SALI_NEW_ARRAY(double, shard->n);
    shard->uniform = SALI_NEW_ARRAY(double, model->space->n_variables);
    if (!shard->f || !shard->uniform) {
        return sali_fail_memory(err);
    }
    sal_status status = sali_chains_create(model, shard->n, sali_sampler_wants(ais->sampler),
                                           ais->options.seed, &shard->chains, err);
    status = status ? status
                    : sali_sampler_open(ais->sampler, &ais->settings, ais->shared, shard->chains,
                                        &shard->self, err);
    uint32_t first = ais->options.reverse_from ? FIRST_REVERSE : 0;
    for (int64_t c = 0; status == SAL_OK && c < shard->n; c++) {
        shard->chains->id[c] = first + (uint32_t)(shard->first + c);
    }
    return status;
}

sal_status sali_ais_prepare(sali_ais *ais, sal_model *model, const sal_ais_options *options,
                            sal_error *err)
{
    ais->options = options ? *options : (sal_ais_options){ 0 };
    sal_status status = sal_option_resolve(&table, &ais->options, err);
    status = status ? status
                    : sali_base_create(model->space, ais->options.log_base, &ais->log_base, err);
    status = status ? status : sali_bridge_create(model, ais->log_base, &ais->bridge, err);
    status = status ? status : choose_sampler(ais, model, err);
    if (status != SAL_OK) {
        return status;
    }
    const int64_t chains = ais->options.chains, n = ais->n_shards = sali_shard_count(chains);
    ais->shards = SALI_NEW_ARRAY(sali_ais_shard, n);
    ais->log_weight = SALI_NEW_ARRAY(double, chains);
    ais->chain_begin = SALI_TAKE(&ais->memory, int64_t, n + 1);
    status = sali_ranks_create(&ais->ranks, ais->options.comm, n, &ais->memory, err);
    status = status || (ais->shards && ais->log_weight) ? status : sali_fail_memory(err);
    for (int64_t k = 0; status == SAL_OK && k <= n; k++) {
        ais->chain_begin[k] = sali_shard_first(chains, n, k);
    }
    for (int64_t k = ais->ranks.first; status == SAL_OK && k < ais->ranks.end; k++) {
        status = create_shard(ais, k, err);
    }
    return status;
}

void sali_ais_free(sali_ais *ais)
{
    for (int64_t k = 0; ais->shards && k < ais->n_shards; k++) {
        sali_ais_shard *shard = &ais->shards[k];
        sali_sampler_close(ais->sampler, shard->self);
        sali_chains_destroy(shard->chains);
        sali_free(shard->f);
        sali_free(shard->uniform);
    }
    sali_sampler_unshare(ais->sampler, ais->shared);
    sali_bridge_free(&ais->bridge);
    sali_memory_free(&ais->memory);
    sali_free(ais->shards);
    sali_free(ais->log_weight);
    sali_free(ais->log_base);
}
