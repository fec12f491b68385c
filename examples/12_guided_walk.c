/* Lesson 12, second part: a sampler that remembers where it was going.
 *
 * The model is a smooth hill over a grid of 60 x 60. Both samplers move to the right or left, or up
 * or down, by 1 to 5 levels. `walk` chooses the sense anew at every step, and so wanders about.
 * `guided` keeps it as the chain's direction (1: up and right, 0: down and left), until a proposal
 * is rejected: then the chain turns round (Gustafson 1998). Its steps have no detailed balance. */
#include <math.h>
#include <saltus/saltus.h>

enum { LONGEST = 5 };

/* A move of variable v that leaves the grid stays where it is. */
static int32_t moved(const sal_origin *s, int64_t v, int64_t by)
{
    int64_t states = s->entry[v + 1] - s->entry[v], code = s->codes[v] + by;
    return (int32_t)(code >= 0 && code < states ? code : s->codes[v]);
}

static void draw_in(const sal_origin *s, sal_random *random, int sense, int32_t *to)
{
    int64_t v = sal_random_below(random, 2);
    to[v] = moved(s, v, sense * (1 + sal_random_below(random, LONGEST)));
}

/* The probability that draw_in gives `to`: count the moves that do. */
static double probability(const sal_origin *s, int sense, const int32_t *to)
{
    int ways = 0;
    for (int64_t v = 0; v < 2; v++) {
        for (int by = 1; by <= LONGEST && to[1 - v] == s->codes[1 - v]; by++) {
            ways += to[v] == moved(s, v, sense * by);
        }
    }
    return ways / (2.0 * LONGEST);
}

static void walk_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    draw_in(s, random, sal_random_uniform(random) < 0.5 ? 1 : -1, to);
}

static double walk_log_q(const sal_origin *s, const int32_t *to)
{
    return log(0.5 * (probability(s, 1, to) + probability(s, -1, to)));
}

static int sense_of(const sal_origin *s)
{
    return s->direction == 1 ? 1 : -1;
}

static void guided_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    draw_in(s, random, sense_of(s), to);
}

/* For the way back the library asks with the reverse direction. */
static double guided_log_q(const sal_origin *s, const int32_t *to)
{
    return log(probability(s, sense_of(s), to));
}

static const sal_sampler_descriptor walk = {
    .name = "walk", .kinds = SAL_MOVES_ORDINAL, .draw = walk_draw, .log_q = walk_log_q
};
static const sal_sampler_descriptor guided = { .name = "guided",
                                               .kinds = SAL_MOVES_ORDINAL,
                                               .directions = 2,
                                               .draw = guided_draw,
                                               .log_q = guided_log_q };
static const sal_sampler_descriptor *const own[] = { &walk, &guided, NULL };

/* f(s) = -8 |s|^2, levels from -1 to 1. */
static sal_status make_model(int32_t levels, sal_model **model, sal_error *err)
{
    double level[60];
    for (int32_t k = 0; k < levels; k++) {
        level[k] = 2.0 * k / (levels - 1) - 1;
    }
    sal_space *space = sal_space_create();
    sal_space_add(
        space,
        &(sal_block){
            .name = "s", .kind = SAL_ORDINAL, .count = 2, .states = levels, .levels = level },
        err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    sal_status status = sal_model_from_tape(tape, sal_scale(sal_dot(s, s), -8), model, err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

/* The exact transition matrix on 8 x 8 levels, and each direction. */
static sal_status prove(const char *sampler, const sal_model *model, sal_error *err)
{
    sal_balance b;
    sal_run_options o = { .sampler = sampler, .own_samplers = own };
    sal_status status = sal_sampler_balance(model, &o, &b, NULL, err);
    if (status == SAL_OK) {
        printf("%-6s: %d x %d states  pi P = pi %-3s  draw fits log_q %-3s  unreached %d\n",
               sampler, (int)b.states, (int)b.directions, b.invariance < 1e-12 ? "yes" : "NO",
               b.normalisation < 1e-12 && b.frequency < 5 ? "yes" : "NO", (int)b.unreached);
    }
    return status;
}

static sal_status race(const char *sampler, sal_model *model, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_options o = { .sampler = sampler, .own_samplers = own, .chains = 8, .warmup = 2000 };
    o.draws = 20000;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        printf("%-6s: accepted %.3f  jump %.4f  ESS of 1000 steps %.1f\n", sampler,
               s.acceptance_rate, s.mean_jump, 1000 * s.ess_per_step);
    }
    sal_run_destroy(run);
    return status;
}

int main(void)
{
    sal_model *small = NULL, *large = NULL;
    sal_error err = { 0 };
    sal_status status = make_model(8, &small, &err);
    status = status ? status : make_model(60, &large, &err);
    status = status ? status : prove("walk", small, &err);
    status = status ? status : prove("guided", small, &err);
    status = status ? status : race("walk", large, &err);
    status = status ? status : race("guided", large, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    sal_model_destroy(small);
    sal_model_destroy(large);
    return status != SAL_OK;
}
