/* SPDX-License-Identifier: MIT */
/* The caller's own samplers whose chains keep a direction: proved on states and directions, used,
 * stopped and resumed. */
#include "own_samplers.h"
#include "run_helpers.h"

/* ---- samplers */

/* The walk that goes on: a variable at random, one code up in direction 1 and down in direction 0;
 * it stays where there is none. */
static int32_t states_at(const sal_origin *s, int64_t v)
{
    return (int32_t)(s->entry[v + 1] - s->entry[v]);
}

static int32_t beside(const sal_origin *s, int64_t v)
{
    int32_t code = s->codes[v] + (s->direction == 1 ? 1 : -1);
    return code >= 0 && code < states_at(s, v) ? code : s->codes[v];
}

static void walk_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    int64_t v = sal_random_below(random, s->variables);
    to[v] = beside(s, v);
}

/* Number of the variables of which a draw gives `to`. */
static int64_t walk_ways(const sal_origin *s, const int32_t *to)
{
    int64_t ways = 0;
    for (int64_t v = 0; v < s->variables; v++) {
        bool same = to[v] == beside(s, v);
        for (int64_t other = 0; other < s->variables; other++) {
            same &= other == v || to[other] == s->codes[other];
        }
        ways += same;
    }
    return ways;
}

static double walk_log_q(const sal_origin *s, const int32_t *to)
{
    return log((double)walk_ways(s, to) / (double)s->variables);
}

static const sal_sampler_descriptor walk = {
    .name = "walk", .directions = 2, .draw = walk_draw, .log_q = walk_log_q
};

/* The same with directions that are drawn anew. */
static const sal_sampler_descriptor restless = { .name = "restless",
                                                 .directions = 2,
                                                 .draw = walk_draw,
                                                 .log_q = walk_log_q,
                                                 .refresh_direction = 0.3 };

/* One variable by half the differences: up in direction 0, down in direction 1, any in 2. */
static void ways_weights(const sal_origin *s, double *row)
{
    ck_assert_int_eq(s->direction, -1);
    own_weights(s, row);
}

static int64_t ways_of(const sal_origin *s, double *weights)
{
    for (int64_t v = 0; v < s->variables; v++) {
        for (int64_t k = s->entry[v]; k < s->entry[v + 1]; k++) {
            bool up = k - s->entry[v] > s->codes[v];
            bool open = s->direction == 2 || up == (s->direction == 0);
            weights[k] = open ? s->row[k] : -INFINITY;
        }
    }
    return s->entry[s->variables];
}

static void ways_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    double weights[64];
    sal_origin open = *s;
    ways_of(s, weights);
    open.row = weights;
    own_draw(&open, random, to);
}

static double ways_log_q(const sal_origin *s, const int32_t *to)
{
    double weights[64];
    sal_origin open = *s;
    ways_of(s, weights);
    open.row = weights;
    return own_log_q(&open, to);
}

static const int32_t ups_are_downs[] = { 1, 0, 2 }, nothing_turns[] = { 0, 1, 2 };

#define WAYS                                                                                       \
    .needs_differences = true, .directions = 3, .row_size = own_row_size, .prepare = ways_weights, \
    .draw = ways_draw
static const sal_sampler_descriptor ways = {
    .name = "ways", WAYS, .reverse = ups_are_downs, .log_q = ways_log_q
};

/* Right, but ups and downs are never accepted: their ways back have another direction. */
static const sal_sampler_descriptor unturned = {
    .name = "unturned", WAYS, .reverse = nothing_turns, .log_q = ways_log_q
};

/* Draws the other way in a third of the draws. */
static void erring_draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    sal_origin other = *s;
    other.direction = sal_random_uniform(random) < 1.0 / 3 ? 1 - s->direction : s->direction;
    walk_draw(&other, random, to);
}

/* Tells its own as well: a step there is as probable as the step back. */
static double erring_log_q(const sal_origin *s, const int32_t *to)
{
    sal_origin other = *s;
    other.direction = 1 - s->direction;
    double there = (double)walk_ways(s, to), back = (double)walk_ways(&other, to);
    return log((2 * there + back) / 3 / (double)s->variables);
}

/* As if it drew both ways alike. */
static double even_log_q(const sal_origin *s, const int32_t *to)
{
    sal_origin other = *s;
    other.direction = 1 - s->direction;
    double there = (double)walk_ways(s, to), back = (double)walk_ways(&other, to);
    return log((there + back) / 2 / (double)s->variables);
}

static const sal_sampler_descriptor both_ways = {
    .name = "both-ways", .directions = 2, .draw = erring_draw, .log_q = erring_log_q
};
static const sal_sampler_descriptor erring = {
    .name = "erring", .directions = 2, .draw = erring_draw, .log_q = even_log_q
};

/* q of the other direction: the sum is 1, and nothing else fits. */
static double turned_log_q(const sal_origin *s, const int32_t *to)
{
    sal_origin other = *s;
    other.direction = 1 - s->direction;
    return fmax(walk_log_q(&other, to), -20);
}

static const sal_sampler_descriptor turned = {
    .name = "turned", .directions = 2, .draw = walk_draw, .log_q = turned_log_q
};

static const sal_sampler_descriptor *const all[] = { &walk,   &ways,   &unturned, &both_ways,
                                                     &erring, &turned, &restless, NULL };

static sal_run_options of(const char *sampler)
{
    return (sal_run_options){ .sampler = sampler, .own_samplers = all };
}

static sal_balance balance_of(const sal_model *model, const char *sampler, int64_t draws,
                              double temperature)
{
    sal_balance b;
    sal_error err;
    sal_run_options o = of(sampler);
    o.draws = draws;
    o.tempering.replicas = 1;
    o.tempering.temperatures = &temperature;
    ck_ok(sal_sampler_balance(model, &o, &b, NULL, &err), &err);
    return b;
}

/* ---- proofs */

START_TEST(right_ones_are_proved)
{
    static const char *const right[] = { "walk", "ways", "both-ways", "restless" };
    for (int s = 0; s < N_TINY_SPACES; s++) {
        sal_space *space = tiny_space_make(&tiny_spaces[s]);
        for (int m = 0; m < N_TINY_MODELS && strcmp(tiny_spaces[s].name, "mixed") != 0; m++) {
            sal_model *model = tiny_models[m].make(space, SAL_F64);
            for (size_t k = 0; model && k < sizeof right / sizeof *right; k++) {
                sal_balance b = balance_of(model, right[k], 60, k % 2 ? 1.7 : 1);
                ck_assert_int_eq(b.directions, strcmp(right[k], "ways") == 0 ? 3 : 2);
                ck_assert_int_eq(b.states, states_count(space));
                bool turns = strcmp(right[k], "restless") != 0; /* by rejection only */
                ck_assert_msg(b.invariance < 1e-12 && (b.reversibility < 1e-12 || !turns) &&
                                  b.normalisation < 1e-12 && b.frequency < 4.5,
                              "%s, %s over %s: %g %g %g %g", right[k], tiny_models[m].name,
                              tiny_spaces[s].name, b.invariance, b.reversibility, b.normalisation,
                              b.frequency);
                /* walks by one code may not get past forbidden states */
                ck_assert(b.unreached == 0 || strcmp(tiny_models[m].name, "tables") == 0);
            }
            sal_model_destroy(model);
        }
        sal_space_destroy(space);
    }
}
END_TEST

START_TEST(wrong_ones_are_found)
{
    sal_model *model = tiny_formula_over("grid", SAL_F64);
    sal_balance b = balance_of(model, "erring", 1000, 1);
    ck_assert_msg(b.invariance < 1e-12 && b.normalisation < 1e-12 && b.frequency > 5, "%g",
                  b.frequency);
    b = balance_of(model, "unturned", 200, 1);
    ck_assert_msg(b.invariance < 1e-12 && b.frequency < 4.5, "%g", b.frequency);
    ck_assert_int_eq(b.unreached, b.states - 1); /* in direction 0 it never moves */
    sal_run_options o = of("turned");
    sal_error err;
    int32_t worst[4] = { -1, -1, -1, -1 };
    ck_ok(sal_sampler_balance(model, &o, &b, worst, &err), &err);
    ck_assert_msg(b.frequency > 5 && b.invariance > 1e-9, "%g", b.frequency);
    for (int v = 0; v < 4; v++) {
        ck_assert(worst[v] >= 0 && worst[v] < 4);
    }
    sal_model_destroy(model);
}
END_TEST

/* States times directions must be few enough. */
START_TEST(too_many_states_are_refused)
{
    sal_model *model = NULL;
    sal_balance b;
    sal_error err;
    ck_ok(sal_model_open("ising-dense:dim=12,scale=0.2", SAL_F64, &model, &err), &err);
    sal_run_options o = of("walk");
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_UNSUPPORTED, &err,
             "8192 states, counted with each direction; a sampler's matrix is made for up to 4096");
    sal_model_destroy(model);
}
END_TEST

/* What is wrong with a model is said of its states, not of states with directions. */
START_TEST(states_are_counted_without_directions)
{
    sal_model *model = NULL;
    sal_balance b;
    const double least = -INFINITY;
    sal_error err;
    char text[80];
    sal_space *space = tiny_space_make(tiny_space_named("binary"));
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr positive = sal_sum(sal_exp(sal_state(tape)));
    sal_expr f = sal_mul(positive, sal_constant(tape, &least, SAL_SHAPE(1)));
    ck_ok(sal_model_from_tape(tape, sal_sum(f), &model, &err), &err);
    snprintf(text, sizeof text, "f is -inf at all of its %d states", (int)states_count(space));
    sal_run_options o = of("walk");
    ck_fails(sal_sampler_balance(model, &o, &b, NULL, &err), SAL_ERR_MODEL, &err, text);
    sal_model_destroy(model);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
}
END_TEST

/* The probability of a proposal is that of a chain whose direction was just drawn. */
START_TEST(log_q_is_a_mean_over_directions)
{
    sal_model *model = tiny_formula_over("grid", SAL_F64);
    const int32_t from[] = { 1, 3 }, to[] = { 2, 3, 0, 3, 1, 2, 1, 3, 3, 3 };
    const double want[] = { 0.25, 0.25, 0.25, 0.25, 0 };
    double log_q[5];
    sal_run_options o = of("walk");
    sal_error err;
    ck_ok(sal_sampler_log_q(model, &o, from, 5, to, log_q, &err), &err);
    for (int k = 0; k < 5; k++) {
        ck_assert_double_eq_tol(exp(log_q[k]), want[k], 1e-15);
    }
    enum { DRAWS = 4000 };
    int32_t *drawn = malloc(2 * DRAWS * sizeof *drawn);
    double counts[4] = { 0 }, expected[4];
    ck_ok(sal_sampler_draw_proposals(model, &o, from, DRAWS, drawn, &err), &err);
    for (int64_t k = 0; k < DRAWS; k++) {
        for (int j = 0; j < 4; j++) {
            counts[j] += memcmp(drawn + 2 * k, to + 2 * j, 2 * sizeof *to) == 0;
        }
    }
    for (int j = 0; j < 4; j++) {
        expected[j] = 0.25 * DRAWS;
    }
    ck_assert(chi_square_p(4, counts, expected) > 1e-4);
    free(drawn);
    sal_model_destroy(model);
}
END_TEST

/* ---- runs */

START_TEST(many_chains_have_the_exact_distribution)
{
    static const char *const samplers[] = { "walk", "ways", "both-ways", "restless" };
    sal_model *model = tiny_formula_over("factors", SAL_F64);
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options o = of(samplers[k]);
        o.chains = TEST_CHAINS(2000);
        o.warmup = 150;
        o.draws = 1;
        sal_run *run = run_it(model, &o);
        double p = last_states_p(model, run);
        ck_assert_msg(p > 1e-4, "%s: p = %g", samplers[k], p);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

/* A flat f of one ordinal variable. */
static sal_model *flat_line(int64_t states)
{
    sal_space *space = sal_space_create();
    sal_model *model = NULL;
    sal_error err;
    sal_block block = { .name = "s", .kind = SAL_ORDINAL, .count = 1, .states = states };
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    ck_ok(sal_model_from_tape(tape, sal_scale(sal_sum(sal_state(tape)), 0), &model, &err), &err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

/* A flat f, on which the walk is never rejected but at a border: it goes from end to end. */
START_TEST(chains_go_on_in_their_direction)
{
    sal_model *model = flat_line(10);
    sal_run_options o = of("walk");
    int32_t start[64] = { 0 };
    int up = 0;
    for (int c = 0; c < 64; c++) {
        start[c] = 5;
    }
    o.chains = 64;
    o.init = start;
    o.warmup = -1;
    o.draws = 40;
    o.record.draws = true;
    sal_run *run = run_it(model, &o);
    int bytes;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    ck_assert_int_eq(bytes, 1);
    for (int c = 0; c < 64; c++) {
        int way = draws[c * 40] == 6 ? 1 : -1, at = 5;
        up += way == 1;
        for (int t = 0; t < 40; t++) {
            bool border = at + way < 0 || at + way > 9;
            at = border ? at : at + way;
            way = border ? -way : way; /* a step spent on turning */
            ck_assert_int_eq(draws[c * 40 + t], at);
        }
    }
    ck_assert_msg(up > 15 && up < 49, "%d of 64 chains began upwards", up);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static int stop_at_300(int64_t done, int64_t total, void *data)
{
    (void)total;
    (void)data;
    return done >= 300;
}

/* In one go with two threads; and stopped and resumed, tempered or not. */
START_TEST(the_same_bits_after_a_stop)
{
    sal_model *model = tiny_formula_over("mixed", SAL_F64);
    sal_run_options o = of(_i % 2 ? "ways" : "walk");
    o.tempering.replicas = _i < 2 ? 0 : 2;
    o.chains = 40;
    o.warmup = 100;
    o.draws = 900;
    o.record.draws = true;
    o.threads = 1;
    sal_run_options stopped = o, rest;
    stopped.callbacks.progress = stop_at_300;
    sal_run *whole = run_it(model, &o), *part = run_it(model, &stopped);
    sal_error err;
    ck_ok(sal_run_state_options(sal_run_last_state(part), &rest, &err), &err);
    rest.own_samplers = all;
    rest.record.draws = true;
    rest.threads = 2;
    sal_run *gone_on = run_it(model, &rest);
    int bytes;
    const void *a = sal_run_draws(whole, &bytes), *b = sal_run_draws(gone_on, &bytes);
    ck_assert(summary_of(part).stopped);
    ck_assert_mem_eq(a, b, (size_t)(40 * 900 * model->space->n_variables * bytes));
    sal_run_destroy(whole);
    sal_run_destroy(part);
    sal_run_destroy(gone_on);
    sal_model_destroy(model);
}
END_TEST

/* ---- descriptors */

START_TEST(bad_directions_are_refused)
{
    static const int32_t far[] = { 0, 2 }, around[] = { 1, 2, 0 };
    const struct {
        int directions;
        const int32_t *reverse;
        const char *text;
    } cases[] = {
        { -1, NULL, "sampler 'x': directions is -1; expected 0 (none) to 64" },
        { 65, NULL, "sampler 'x': directions is 65; expected 0 (none) to 64" },
        { 2, far, "sampler 'x': reverse[1] is 2; expected a direction whose reverse is 1 again" },
        { 3, around, "sampler 'x': reverse[0] is 1; expected a direction whose reverse is 0" },
    };
    sal_model *model = tiny_formula_over("grid", SAL_F64);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const sal_sampler_descriptor x = { .name = "x",
                                           .directions = cases[k].directions,
                                           .reverse = cases[k].reverse,
                                           .draw = walk_draw,
                                           .log_q = walk_log_q };
        const sal_sampler_descriptor *const own[] = { &x, NULL };
        sal_run_options o = { .sampler = "x", .own_samplers = own };
        run_refused(model, &o, SAL_ERR_ARGUMENT, cases[k].text);
    }
    sal_sampler_descriptor x = walk;
    const sal_sampler_descriptor *const own[] = { &x, NULL };
    sal_run_options o = { .sampler = "x", .own_samplers = own };
    x.name = "x";
    x.refresh_direction = 1.5;
    run_refused(model, &o, SAL_ERR_ARGUMENT,
                "'x': refresh_direction is 1.5; expected a probability");
    x.refresh_direction = 0;
    x.unadjusted = true;
    run_refused(model, &o, SAL_ERR_ARGUMENT,
                "'x': it is unadjusted and has directions, which only a rejection turns");
    sal_model_destroy(model);
}
END_TEST

/* Chains that turn by a draw do so with the probability given: of steps within the borders of a
 * flat f, those against the step before are half the refreshed ones. */
START_TEST(directions_are_drawn_anew)
{
    sal_model *model = flat_line(200);
    sal_run_options o = of("restless");
    o.chains = 64;
    o.warmup = -1;
    o.draws = 1000;
    o.record.draws = true;
    sal_run *run = run_it(model, &o);
    int bytes;
    const uint8_t *draws = sal_run_draws(run, &bytes);
    ck_assert_int_eq(bytes, 1);
    double counts[2] = { 0 };
    for (int k = 0; k < 64 * 1000; k++) {
        if (k % 1000 >= 2) {
            int before = draws[k - 1] - draws[k - 2], now = draws[k] - draws[k - 1];
            counts[0] += before * now == -1;
            counts[1] += before * now == 1;
        }
    }
    const double total = counts[0] + counts[1], expected[] = { 0.15 * total, 0.85 * total };
    ck_assert(total > 30000);
    ck_assert(chi_square_p(2, counts, expected) > 1e-4);
    sal_run_destroy(run);
    sal_model_destroy(model);
}
END_TEST

static Suite *directions_suite(void)
{
    Suite *suite = suite_create("directions");
    TCase *tc = tcase_create("directions");
    tcase_set_timeout(tc, 240);
    suite_add_tcase(suite, tc);
    tcase_add_test(tc, right_ones_are_proved);
    tcase_add_test(tc, wrong_ones_are_found);
    tcase_add_test(tc, too_many_states_are_refused);
    tcase_add_test(tc, states_are_counted_without_directions);
    tcase_add_test(tc, log_q_is_a_mean_over_directions);
    tcase_add_test(tc, many_chains_have_the_exact_distribution);
    tcase_add_test(tc, chains_go_on_in_their_direction);
    tcase_add_loop_test(tc, the_same_bits_after_a_stop, 0, 4);
    tcase_add_test(tc, bad_directions_are_refused);
    tcase_add_test(tc, directions_are_drawn_anew);
    return suite;
}

int main(void)
{
    return test_main(directions_suite());
}
