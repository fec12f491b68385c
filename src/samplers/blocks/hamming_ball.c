/* SPDX-License-Identifier: MIT */
/* The Hamming ball sampler: within a block of variables, u is uniform in the ball of radius R
 * around the present state, then the new state is drawn from the target restricted to the ball
 * around u. Titsias & Yau 2017. (All balls of one radius have the same size, so u is as probable
 * from either state, and every draw is accepted. The ball around the present state itself would not
 * leave the target invariant.) */
#include "core/error.h"
#include "models/structure.h"
#include "samplers/blocks/block_conditional.h"
#include "samplers/followed_gradient.h"

enum { BLOCK, RADIUS, BLOCKS, SCAN };
enum { CONSECUTIVE, OF_MODEL, RANDOM };

static const char *const partitions[] = { "consecutive", "model", "random", NULL };
static const char *const scans[] = { "systematic", "shuffled", NULL };

static const sal_setting known_settings[] = {
    { "block", 10, 1, INT32_MAX, true, "variables of a block", NULL },
    { "radius", 1, 1, INT32_MAX, true, "of the ball, in variables that differ", NULL },
    { "blocks", CONSECUTIVE, 0, RANDOM, true,
      "of consecutive variables, those that the model gives, or made anew in every sweep",
      partitions },
    { "scan", 0, 0, 1, true, "blocks in turn, or in a new order in every sweep", scans },
    { 0 },
};

static const char *const variants[] = { "",
                                        "block=2",
                                        "block=3,radius=2",
                                        "radius=2",
                                        "blocks=model",
                                        "blocks=random,block=2",
                                        "blocks=random,block=3,radius=2",
                                        "scan=shuffled,block=2",
                                        NULL };

static const char *ball_obstacle(const sal_model *model, const double *values, const void *data)
{
    (void)data;
    bool known = model->structure && model->structure->groups;
    return values[BLOCKS] == OF_MODEL && !known
               ? "the model gives no blocks; leave blocks=consecutive"
               : NULL;
}

/* Creates a shard's state, with blocks by the settings. */
static sal_status ball_create(const sali_chains *chains, const sali_sampler_settings *settings,
                              void *shared, void **self, sal_error *err)
{
    sali_blocks blocks;
    const sali_shared *common = shared;
    sali_block_conditional *made = NULL;
    const int64_t size = (int64_t)settings->values[BLOCK];
    sal_status status = settings->values[BLOCKS] == OF_MODEL
                            ? sali_blocks_of_model(chains->model, &blocks, err)
                        : settings->values[BLOCKS] == RANDOM
                            ? sali_blocks_random(chains->space, size, &blocks, err)
                            : sali_blocks_consecutive(chains->space, size, &blocks, err);
    if (status == SAL_OK) {
        sali_blocks_shuffle(&blocks, settings->values[SCAN] > 0);
        status = sali_block_conditional_create(chains, blocks, (int64_t)settings->values[RADIUS],
                                               common ? common->couplings : NULL, &made, err);
    }
    *self = made;
    return status;
}

/* ---- the centre, as an auxiliary variable */

static int64_t centre_size(const void *self, const sali_chains *chains)
{
    int64_t n;
    sali_block_conditional_sites(self, chains, &n);
    return n;
}

static int32_t centre_bound(const void *self, const sali_chains *chains, int64_t k)
{
    int64_t n;
    const int64_t *sites = sali_block_conditional_sites(self, chains, &n);
    return chains->space->variables[sites[k]].states;
}

static const sali_auxiliary centre = {
    .size = centre_size,
    .bound = centre_bound,
    .log_q = sali_block_conditional_log_q,
};

const sali_sampler sali_sampler_hamming_ball = {
    .name = "hamming-ball",
    .doc = "Hamming ball: a block's states within radius of a random centre, by their probability",
    .source = "Titsias & Yau 2017; Grathwohl et al. 2021, sec. 6",
    .settings = known_settings,
    .obstacle = ball_obstacle,
    .engine =
        &(const sal_sampler_engine){
            .rejection_free = true,
            .variants = variants,
            .create = ball_create,
            .share = sali_followed_gradient_share,
            .unshare = sali_object_free,
            .destroy = sali_object_free,
            .refresh = sali_block_conditional_refresh,
            .follows = sali_block_conditional_follows,
            .step = sali_block_conditional_step,
            .auxiliary = &centre,
            .pieces = sali_block_conditional_pieces,
        },
};
