/* Lesson 12: write your own sampler as a descriptor, prove it right, and run it.
 *
 * The model chooses about half of n items: f(s) = b's - 4 (sum_i s_i - n/2)^2. A sampler that flips
 * one item at a time has to leave the right number before it can come back. Ours flips one item,
 * or swaps a chosen one for another, each in half of its steps. */
#include <math.h>
#include <saltus/saltus.h>

/* What is worth keeping of a state s: half the exact change of f by flipping item i, once of all
 * items, then of those with s_i = 0 only, and of those with s_i = 1 (-inf: not one of them). */
static int64_t row_size(const sal_space *space, const double *values, const void *data)
{
    (void)values, (void)data;
    return 3 * sal_space_variables(space);
}

static void prepare(const sal_origin *s, double *row)
{
    for (int64_t i = 0, n = s->variables; i < n; i++) {
        row[i] = 0.5 * sal_origin_difference(s, i, 1 - s->codes[i]);
        row[n + i] = s->codes[i] == 0 ? row[i] : -INFINITY;
        row[2 * n + i] = s->codes[i] == 1 ? row[i] : -INFINITY;
    }
}

static void draw(const sal_origin *s, sal_random *random, int32_t *to)
{
    int64_t n = s->variables;
    if (sal_random_uniform(random) < 0.5) {
        to[sal_random_softmax(random, n, s->row)] ^= 1; /* f is finite, so there is always one */
        return;
    }
    int64_t in = sal_random_softmax(random, n, s->row + n);
    int64_t out = sal_random_softmax(random, n, s->row + 2 * n);
    if (in >= 0 && out >= 0) { /* else all are chosen, or none: stay */
        to[in] = 1;
        to[out] = 0;
    }
}

/* The log-probability that draw gives `to`: the library asks for it there and back. */
static double log_q(const sal_origin *s, const int32_t *to)
{
    int64_t n = s->variables, in = -1, out = -1, moved = 0;
    for (int64_t i = 0; i < n; i++) {
        moved += to[i] != s->codes[i];
        in = to[i] > s->codes[i] ? i : in;
        out = to[i] < s->codes[i] ? i : out;
    }
    double zeros = sal_log_sum_exp(n, s->row + n), ones = sal_log_sum_exp(n, s->row + 2 * n);
    if (moved == 0) {
        return zeros == -INFINITY || ones == -INFINITY ? log(0.5) : -INFINITY;
    }
    if (moved == 1) {
        return log(0.5) + s->row[in < 0 ? out : in] - sal_log_sum_exp(n, s->row);
    }
    bool swap = moved == 2 && in >= 0 && out >= 0;
    return swap ? log(0.5) + s->row[in] - zeros + s->row[out] - ones : -INFINITY;
}

/* The usual mistake: as if the way back were as probable as the way there. */
static double careless(const sal_origin *s, const int32_t *to)
{
    return log_q(s, to) > -INFINITY ? -log((double)s->variables) : -INFINITY;
}

#define COMMON .needs_differences = true, .row_size = row_size, .prepare = prepare, .draw = draw
static const sal_sampler_descriptor swap = {
    .name = "swap", .kinds = SAL_MOVES_BINARY, COMMON, .log_q = log_q
};
static const sal_sampler_descriptor wrong = {
    .name = "wrong", .kinds = SAL_MOVES_BINARY, COMMON, .log_q = careless
};
static const sal_sampler_descriptor *const own[] = { &swap, &wrong, NULL };

static sal_status make_model(int64_t n, sal_model **model, sal_error *err)
{
    double b[64];
    for (int64_t i = 0; i < n; i++) {
        b[i] = sin(3.0 * (double)i);
    }
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = n }, err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    sal_expr s = sal_state(tape);
    double half = 0.5 * (double)n;
    sal_expr excess = sal_sub(sal_sum(s), sal_constant(tape, &half, SAL_SCALAR));
    sal_expr f =
        sal_sub(sal_dot(sal_constant(tape, b, SAL_SHAPE(n)), s), sal_scale(sal_square(excess), 4));
    sal_status status = sal_model_from_tape(tape, f, model, err);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

/* The exact transition matrix on 8 items: 256 states. */
static sal_status prove(const char *sampler, const sal_model *model, sal_error *err)
{
    sal_balance b;
    sal_run_options o = { .sampler = sampler, .own_samplers = own };
    sal_status status = sal_sampler_balance(model, &o, &b, NULL, err);
    if (status == SAL_OK) {
        printf("%-5s: pi P = pi %-3s  log_q sums to 1 %-3s  draw fits log_q %-3s  unreached %d\n",
               sampler, b.invariance < 1e-12 ? "yes" : "NO", b.normalisation < 1e-12 ? "yes" : "NO",
               b.frequency < 5 ? "yes" : "NO", (int)b.unreached);
    }
    return status;
}

/* Beside the library's Gibbs with gradients, on 64 items. */
static sal_status race(const char *sampler, sal_model *model, sal_error *err)
{
    sal_run *run = NULL;
    sal_run_summary s;
    sal_run_options o = { .sampler = sampler, .own_samplers = own, .chains = 8, .warmup = 2000 };
    o.draws = 20000;
    sal_status status = sal_sample(model, &o, &run, err);
    status = status ? status : sal_run_summarise(run, &s, err);
    if (status == SAL_OK) {
        printf("%-5s: accepted %.3f  jump %.3f  ESS of 1000 steps %.1f\n", sampler,
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
    status = status ? status : make_model(64, &large, &err);
    status = status ? status : prove("swap", small, &err);
    status = status ? status : prove("wrong", small, &err);
    status = status ? status : race("gwg", large, &err);
    status = status ? status : race("swap", large, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    sal_model_destroy(small);
    sal_model_destroy(large);
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
