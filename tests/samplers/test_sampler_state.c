/* SPDX-License-Identifier: MIT */
/* Samplers in training: a model's parameters change between steps, and a training that was stopped
 * goes on with the same bits. */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "models/tape_model.h"
#include "small_training.h"

/* ---- models with parameters, all 0 at first */

static sal_model *finish(sal_tape *tape, sal_expr f)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sal_model_from_tape(tape, f, &model, &err), &err);
    sal_tape_destroy(tape);
    return model;
}

static sal_tape *tape_over(const char *name, sal_dtype dtype, int64_t *N)
{
    sal_space *space = tiny_space_make(tiny_space_named(name));
    sal_tape *tape = sal_tape_create(space, dtype);
    *N = sal_space_width(space);
    sal_space_destroy(space);
    return tape;
}

/* s'Js + b's. */
static sal_model *quadratic(const char *space, sal_dtype dtype)
{
    int64_t N;
    sal_tape *tape = tape_over(space, dtype, &N);
    sal_expr s = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(N, N));
    return finish(tape, sal_add(sal_quad(s, J), sal_dot(sal_param(tape, "b", SAL_SHAPE(N)), s)));
}

/* The same with an edge for each pair of neighbours: multilinear. */
static sal_model *edges(const char *space, sal_dtype dtype)
{
    int64_t N, pairs[2 * TINY_MOST_REALS];
    sal_tape *tape = tape_over(space, dtype, &N);
    for (int64_t i = 0; i + 1 < N; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = i + 1;
    }
    sal_expr s = sal_state(tape), J = sal_param(tape, "J", SAL_SHAPE(N - 1));
    return finish(tape, sal_add(sal_edges(s, J, N - 1, pairs),
                                sal_dot(sal_param(tape, "b", SAL_SHAPE(N)), s)));
}

/* sum tanh h + log sum exp h, h = W s + c. */
static sal_model *net(const char *space, sal_dtype dtype)
{
    int64_t N;
    sal_tape *tape = tape_over(space, dtype, &N);
    sal_expr W = sal_param(tape, "W", SAL_SHAPE(TINY_HIDDEN, N));
    sal_expr h =
        sal_add(sal_matvec(W, sal_state(tape)), sal_param(tape, "c", SAL_SHAPE(TINY_HIDDEN)));
    return finish(tape, sal_add(sal_sum(sal_tanh(h)), sal_logsumexp(h)));
}

static const struct {
    const char *name, *space;
    sal_model *(*make)(const char *space, sal_dtype dtype);
} models[] = {
    { "quadratic spins", "spin", quadratic },  { "quadratic labels", "label", quadratic },
    { "quadratic levels", "grid", quadratic }, { "edges of bits", "binary", edges },
    { "edges of pairs", "pair", edges },       { "net of bits", "binary", net },
    { "net of all kinds", "mixed", net },      { "net of counts", "count", net },
    { "net of labels", "label", net },
};
enum { N_MODELS = sizeof models / sizeof *models };

/* Ready-made ones, with structures of their own. */
static const char *const builtins[] = {
    "rbm:visible=4,hidden=3,scale=0.9",
    "ising:side=2,theta=0.3,bias=0.2",
    "crf:tokens=2,labels=3,features=2,scale=0.7,seed=2",
    "mixture:dim=3,states=2,components=2,seed=3",
};
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

/* Other parameters, the `k`-th. */
static void change_parameters(const sal_model *model, uint64_t k)
{
    sali_tape_model *tape = sali_model_tape((sal_model *)model);
    double values[256], noise[256];
    int64_t n = tape->program->parameters_size;
    ck_assert_int_le(n, 256);
    ck_assert_int_gt(n, 0);
    tiny_normals(500 + k, n, 0.6, noise);
    sali_params_get(tape->params, values);
    for (int64_t i = 0; i < n; i++) {
        values[i] = 0.8 * values[i] + noise[i];
    }
    sali_params_set(tape->params, values);
}

/* ---- two trainings alike */

static void same_bits(size_t bytes, const void *a, const void *b, const char *what,
                      const char *where, int64_t window)
{
    ck_assert_msg(memcmp(a, b, bytes) == 0, "%s: window %d: %s", where, (int)window, what);
}

static void check_same_shards(const training *a, const training *b, const char *where)
{
    int64_t V = a->model->space->n_variables, N = a->model->space->width;
    for (int k = 0; k < SHARDS; k++) {
        const sali_chains *one = a->chains[k], *two = b->chains[k];
        size_t doubles = (size_t)one->n * sizeof(double);
        same_bits((size_t)(one->n * V) * sizeof(int32_t), one->codes, two->codes, "codes", where,
                  a->windows);
        same_bits((size_t)(one->n * N) * one->element, one->x, two->x, "x", where, a->windows);
        same_bits(doubles, one->f, two->f, "f", where, a->windows);
        same_bits(doubles, one->step, two->step, "steps", where, a->windows);
        same_bits(doubles, one->step_size, two->step_size, "step sizes", where, a->windows);
        same_bits(doubles, one->acceptance_sum, two->acceptance_sum, "acceptance", where,
                  a->windows);
        same_bits(doubles, one->accepted_sum, two->accepted_sum, "accepted", where, a->windows);
        same_bits(doubles, one->jump_sum, two->jump_sum, "jumps", where, a->windows);
        ck_assert_msg(one->bad_chain < 0 && two->bad_chain < 0, "%s: f is no number", where);
    }
}

static void check_same_state(training *a, training *b, const char *where)
{
    sali_state_item tuned[2][SALI_MOST_STATE];
    struct sal_run_state one = keep_sampler(a), two = keep_sampler(b);
    ck_assert_int_eq(one.n, two.n);
    for (int64_t i = 0; i < one.n; i++) {
        const sali_state_item *item = &one.items[i];
        ck_assert_int_eq(item->count, two.items[i].count);
        same_bits((size_t)item->count * sali_state_bytes(item->type), item->data, two.items[i].data,
                  item->name, where, a->windows);
    }
    int64_t n = sali_sampler_items(a->sampler, a->shared, NULL, SALI_STATE_TUNED, tuned[0]);
    ck_assert_int_eq(n,
                     sali_sampler_items(a->sampler, b->shared, NULL, SALI_STATE_TUNED, tuned[1]));
    for (int64_t i = 0; i < n; i++) {
        same_bits((size_t)tuned[0][i].count * sizeof(double), tuned[0][i].data, tuned[1][i].data,
                  tuned[0][i].name, where, a->windows);
    }
    sali_run_state_clear(&one);
    sali_run_state_clear(&two);
}

/* One window of both. */
static void go_on_alike(training *a, training *b, int64_t steps, const char *where)
{
    training_move(a, steps);
    training_move(b, steps);
    check_same_shards(a, b, where);
    training_learn(a, steps);
    training_learn(b, steps);
    check_same_state(a, b, where);
}

/* ---- parameters change, and trainings resume */

static bool is_pavg(const sali_sampler *sampler)
{
    return sampler == sali_sampler_find("pavg");
}

/* Steps of a window: few enough for scans to learn in some windows only. */
static int64_t steps_of(const sali_sampler *sampler)
{
    return is_pavg(sampler) ? 35 : 3;
}

/* Windows: all phases of PAVG, which others have none of. */
static int64_t windows_of(const sali_sampler *sampler)
{
    return is_pavg(sampler) && !TEST_SANITIZED ? 38 : 8;
}

/* In these windows another training takes over for a while, made anew with the state: of PAVG
 * before it collects (from window 3 on), meanwhile, at its end (window 32) and after it. */
static bool resumes_at(int64_t window)
{
    return (window > 0 && window < 8) || window == 20 || (window >= 29 && window < 36);
}

/* Some windows of a training and of one that resumes it, on other parameters in each. */
static void check_resumed(training *a, const contract_case *k)
{
    change_parameters(k->model, (uint64_t)a->windows);
    training b = training_resume(a, &k->settings);
    for (int i = 0; i < 3; i++) {
        go_on_alike(a, &b, steps_of(k->sampler), k->where);
        change_parameters(k->model, 1 + (uint64_t)a->windows);
    }
    training_close(&b);
}

static void check_aging(const contract_case *k)
{
    training a = training_open(k->sampler, k->model, &k->settings);
    for (int64_t w = 0; w < windows_of(k->sampler); w = a.windows) {
        if (resumes_at(w)) {
            check_resumed(&a, k);
        } else {
            training_move(&a, steps_of(k->sampler));
            training_learn(&a, steps_of(k->sampler));
        }
    }
    training_close(&a);
}

/* The sampler as it is, with the settings of training, and PAVG with a given matrix. */
static void check_all_settings(const contract_case *k)
{
    double M[TINY_MOST_REALS * TINY_MOST_REALS];
    contract_case other = *k;
    check_aging(k);
    if (k->sampler == sali_sampler_find("gwg")) {
        other.settings.training = true;
        check_aging(&other);
    }
    if (is_pavg(k->sampler) && k->settings.values[0] == 0) {
        int64_t N = k->model->space->width;
        tiny_normals(9, N * N, 0.3, M);
        other.settings.preconditioner = M;
        check_aging(&other);
    }
}

static void for_every_model(sal_dtype dtype)
{
    for (int m = 0; m < N_MODELS; m++) {
        sal_model *model = models[m].make(models[m].space, dtype);
        for_every_sampler(model, model, models[m].name, check_all_settings);
        sal_model_destroy(model);
    }
    for (int m = 0; m < N_BUILTINS; m++) {
        sal_model *model = NULL;
        sal_error err;
        ck_ok(sal_model_open(builtins[m], dtype, &model, &err), &err);
        for_every_sampler(model, model, builtins[m], check_all_settings);
        sal_model_destroy(model);
    }
}

START_TEST(samplers_follow_parameters_and_resume_with_the_same_bits_f64)
{
    for_every_model(SAL_F64);
}
END_TEST

START_TEST(samplers_follow_parameters_and_resume_with_the_same_bits_f32)
{
    for_every_model(SAL_F32);
}
END_TEST

START_TEST(what_adapts_has_a_state)
{
    const sali_sampler *s;
    for (int64_t i = 0; (s = sali_sampler_at(i)) != NULL; i++) {
        ck_assert_msg(!sali_engine(s)->adapt || sali_engine(s)->state, "%s: state", s->name);
        ck_assert_msg(!sali_engine(s)->changed || sali_engine(s)->state, "%s: changed", s->name);
    }
}
END_TEST

/* What shards keep beyond the codes is gone then, all of it. */
static void check_forgets(const contract_case *k)
{
    sali_state_item items[SALI_MOST_STATE];
    training t = training_open(k->sampler, k->model, &k->settings);
    training_move(&t, 3);
    sali_sampler_forget(k->sampler, t.selves[0]);
    int64_t n = sali_sampler_items(k->sampler, NULL, t.selves[0], SALI_STATE_KEPT, items);
    for (int64_t i = 0; i < n; i++) {
        int64_t bytes = items[i].count * (int64_t)sali_state_bytes(items[i].type);
        for (int64_t b = 0; b < bytes; b++) {
            ck_assert_msg(((const char *)items[i].data)[b] == 0, "%s: %s", k->where, items[i].name);
        }
    }
    ck_assert_msg(n == 0 || strncmp(k->sampler->name, "r-", 2) == 0 ||
                      strcmp(k->sampler->name, "d-svgd") == 0 ||
                      sali_sampler_value(k->sampler, &k->settings, "momentum") > 0,
                  "%s", k->where);
    training_close(&t);
}

START_TEST(samplers_forget)
{
    sal_model *model = edges("binary", SAL_F64);
    for_every_sampler(model, model, "edges of bits", check_forgets);
    sal_model_destroy(model);
}
END_TEST

static Suite *state_suite(void)
{
    Suite *suite = suite_create("sampler_state");
    TCase *tcase = tcase_create("state");
    tcase_set_timeout(tcase, 240);
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, what_adapts_has_a_state);
    tcase_add_test(tcase, samplers_forget);
    tcase_add_test(tcase, samplers_follow_parameters_and_resume_with_the_same_bits_f64);
    tcase_add_test(tcase, samplers_follow_parameters_and_resume_with_the_same_bits_f32);
    return suite;
}

int main(void)
{
    return test_main(state_suite());
}
