/* Facility location, summaries and retrieval against their formulas, written out over sets. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "models/zoo/builtin.h"
#include "models/zoo/retrieval.h"
#include "models/zoo/similarity.h"
#include "run_helpers.h"

/* ---- models and sets */

static uint64_t number_state = 1;

static double number(void)
{
    number_state = number_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(number_state >> 40) / (double)(1 << 24);
}

static sal_model *make(const char *specification, const sali_content *content, sal_dtype dtype)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(sali_builtin_make(specification, content, dtype, &model, &err), &err);
    return model;
}

static double value(sal_model *model, const int32_t *s)
{
    double f = NAN;
    sal_error err;
    ck_ok(sal_model_evaluate(model, 1, s, &f, NULL, NULL, &err), &err);
    return f;
}

/* A set with about this share of the n elements. */
static void random_set(int64_t n, double share, int32_t *s)
{
    for (int64_t i = 0; i < n; i++) {
        s[i] = number() < share;
    }
}

/* The differences of f are differences of f, by each strategy that applies. */
static void check_differences(sal_model *model, const int32_t *s, double tolerance)
{
    int64_t n = sal_space_variables(sal_model_space(model));
    double f = value(model, s), *x = malloc((size_t)n * sizeof *x);
    double *slots = malloc((size_t)n * sizeof *slots), found = NAN;
    int32_t *t = malloc((size_t)n * sizeof *t);
    memcpy(t, s, (size_t)n * sizeof *t);
    for (sali_strategy by = SALI_BY_GRADIENT; by < SALI_STRATEGIES && isfinite(f); by++) {
        sali_evaluator *e = NULL;
        sal_error err;
        if (!sali_strategy_applies(model, by)) {
            continue;
        }
        ck_ok(sali_evaluator_create_by(model, 1, SALI_WANT_DIFFERENCES, by, &e, &err), &err);
        sali_model_embed(model, 1, s, x);
        sali_differences(e, 1, s, x, &found, slots);
        ck_assert_double_eq_tol(found, f, tolerance);
        for (int64_t i = 0; i < n; i++) {
            double got = sali_load(sal_model_dtype(model), slots, i);
            t[i] = !s[i];
            double want = value(model, t) - f;
            t[i] = s[i];
            ck_assert_msg(got == want || fabs(got - want) <= tolerance,
                          "%s, variable %lld: %g, not %g", sali_strategy_name(by), (long long)i,
                          got, want);
        }
        sali_evaluator_destroy(e);
    }
    free(x);
    free(slots);
    free(t);
}

/* f(A + v) - f(A) >= f(B + v) - f(B) for A within B and v outside, and >= `least` where all four
 * are finite; the number of such cases. */
static int check_submodular(sal_model *model, double share, double least)
{
    int64_t n = sal_space_variables(sal_model_space(model));
    int32_t *A = malloc((size_t)n * sizeof *A), *B = malloc((size_t)n * sizeof *B);
    int cases = 0;
    for (int trial = 0; trial < 300; trial++) {
        random_set(n, share, B);
        int64_t v = (int64_t)(number() * (double)n);
        B[v] = 0;
        for (int64_t i = 0; i < n; i++) {
            A[i] = B[i] && number() < 0.5;
        }
        double a = value(model, A), b = value(model, B);
        A[v] = B[v] = 1;
        double rise_a = value(model, A) - a, rise_b = value(model, B) - b;
        if (isfinite(rise_a) && isfinite(rise_b)) {
            ck_assert_double_ge(rise_a, rise_b - 1e-9);
            ck_assert_double_ge(rise_b, least - 1e-9);
            cases++;
        }
    }
    free(A);
    free(B);
    return cases;
}

/* Runs of some samplers start and stay at finite f. */
static void check_starts(sal_model *model)
{
    static const char *const samplers[] = { "gibbs", "lb", "mana", "una", "gwg", "pas" };
    for (size_t k = 0; k < sizeof samplers / sizeof *samplers; k++) {
        sal_run_options options = {
            .sampler = samplers[k], .chains = 8, .warmup = 10, .draws = 10, .threads = 1
        };
        sal_run *run = run_it(model, &options);
        sal_run_summary s = summary_of(run);
        ck_assert(isfinite(s.log_prob_mean));
        sal_run_destroy(run);
    }
}

/* ---- facility location */

static double facility_value(int n, int m, const double *C, double lambda, const int32_t *s)
{
    double f = 0;
    for (int j = 0; j < m; j++) {
        double best = 0;
        for (int i = 0; i < n; i++) {
            best = s[i] && C[i * m + j] > best ? C[i * m + j] : best;
        }
        f += best;
    }
    for (int i = 0; i < n; i++) {
        f -= s[i] ? lambda : 0;
    }
    return f;
}

#define N 8
#define M 11

/* Values with many zeros and ties. */
static sali_content facility_content(double *C)
{
    for (int k = 0; k < N * M; k++) {
        double u = number();
        C[k] = u < 0.2 ? 0 : u < 0.5 ? 1.5 : 4 * u;
    }
    return (sali_content){ .kind = SALI_CONTENT_ARRAY,
                           .array = { .ndim = 2, .shape = { N, M }, .count = N * M, .values = C } };
}

START_TEST(facility_location_equals_its_definition)
{
    double C[N * M];
    int32_t s[N];
    sali_content content = facility_content(C);
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        double tolerance = dtype == SAL_F32 ? 1e-4 : 1e-12;
        sal_model *model = make("facility-location:lambda=3.5", &content, dtype);
        ck_assert(sali_strategy_best(model) == SALI_BY_CHANGES);
        for (int set = 0; set < 1 << N; set++) {
            for (int i = 0; i < N; i++) {
                s[i] = set >> i & 1;
            }
            ck_assert_double_eq_tol(value(model, s), facility_value(N, M, C, 3.5, s), tolerance);
            check_differences(model, s, tolerance);
        }
        sal_model_destroy(model);
    }
}
END_TEST

START_TEST(facility_location_without_a_file_has_the_papers_sizes)
{
    sal_model *model = make("facility-location", NULL, 0), *other;
    int32_t none[15] = { 0 }, one[15] = { 0 };
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 15);
    ck_assert_double_eq(value(model, none), 0);
    for (int i = 0; i < 15; i++) { /* the 64 customers' values for one facility are sums of |N| */
        memset(one, 0, sizeof one);
        one[i] = 1;
        ck_assert_double_ge(value(model, one), -10 + 1);
        ck_assert_double_le(value(model, one), -10 + 64 * 4);
    }
    ck_assert_int_gt(check_submodular(model, 0.5, -10), 200);
    other = make("facility-location:seed=1", NULL, 0);
    ck_assert(value(other, one) != value(model, one));
    sal_model_destroy(other);
    other = make("facility-location:lambda=0", NULL, 0);
    ck_assert_int_gt(check_submodular(other, 0.5, 0), 200);
    sal_model_destroy(other);
    check_starts(model);
    sal_model_destroy(model);
}
END_TEST

/* Two of them chosen by hand: one customer each, and nobody served is worth 0. */
START_TEST(facility_location_of_a_small_file)
{
    double C[] = { 2, 0, 1, 3 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = { .ndim = 2, .shape = { 2, 2 }, .count = 4, .values = C } };
    sal_model *model = make("facility-location:lambda=1", &content, 0);
    ck_assert_double_eq(value(model, (int32_t[]){ 0, 0 }), 0);
    ck_assert_double_eq(value(model, (int32_t[]){ 1, 0 }), 1);
    ck_assert_double_eq(value(model, (int32_t[]){ 0, 1 }), 3);
    ck_assert_double_eq(value(model, (int32_t[]){ 1, 1 }), 3);
    sal_model_destroy(model);
}
END_TEST

START_TEST(facility_location_refuses_bad_files)
{
    double C[] = { 2, 0, 1, -3 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = { .ndim = 2, .shape = { 2, 2 }, .count = 4, .values = C } };
    sal_model *model = NULL;
    sal_error err;
    const double bad[] = { -3, NAN, INFINITY };
    for (int k = 0; k < 3; k++) {
        C[3] = bad[k];
        ck_fails(sali_builtin_make("facility-location", &content, 0, &model, &err), SAL_ERR_DATA,
                 &err, "the value of facility 1 to customer 1 is");
    }
    content.array.ndim = 1;
    content.array.shape[0] = 4;
    ck_fails(sali_builtin_make("facility-location", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "an array of 1 dimensions; expected 2");
    ck_fails(sali_builtin_make("facility-location:facilities=1000000,customers=1000000", NULL, 0,
                               &model, &err),
             SAL_ERR_ARGUMENT, &err, "pairs at most");
}
END_TEST

/* ---- summaries */

/* Sentences of words that are their own stems, none a stop word, so that a test can part them by
 * blanks and capitals. */
static const char document[] =
    "Bako limu tor. Limu tor zan bako limu.  Vun.\nKel bako vun dar zan? Dar dar!\n\n"
    "Tor vun kel limu bako zan dar mip. Mip hun. Hun mip kel zan zan. Fol gam tor "
    "hun mip fol.\n\nGam fol. Gam bako. Limu fol gam vun tor hun";
#define SENTENCES 12
#define VOCABULARY 12
static const char *const vocabulary[VOCABULARY] = { "bako", "limu", "tor", "zan", "vun", "kel",
                                                    "dar",  "mip",  "hun", "fol", "gam", "?" };

typedef struct reference {
    int tf[SENTENCES][VOCABULARY], length[SENTENCES];
    double W[SENTENCES * SENTENCES];
    int32_t group[SENTENCES];
} reference;

static void count_words(reference *r)
{
    int i = -1;
    for (const char *at = document; *at;) {
        size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        i += size > 0 && *at >= 'A' && *at <= 'Z';
        for (int w = 0; size > 0 && w < VOCABULARY; w++) {
            bool same = strlen(vocabulary[w]) == size && (*at | 32) == vocabulary[w][0] &&
                        strncmp(at + 1, vocabulary[w] + 1, size - 1) == 0;
            r->tf[i][w] += same;
            r->length[i] += same;
        }
        at += size > 0 ? size : 1;
    }
    ck_assert_int_eq(i, SENTENCES - 1);
}

static void make_reference(reference *r, int clusters)
{
    double x[SENTENCES][VOCABULARY];
    sal_error err;
    memset(r, 0, sizeof *r);
    count_words(r);
    for (int i = 0; i < SENTENCES; i++) {
        double norm = 0;
        for (int w = 0; w < VOCABULARY; w++) {
            int df = 0;
            for (int j = 0; j < SENTENCES; j++) {
                df += r->tf[j][w] > 0;
            }
            x[i][w] = df ? r->tf[i][w] * log(1 + (double)SENTENCES / df) : 0;
            norm += x[i][w] * x[i][w];
        }
        for (int w = 0; w < VOCABULARY; w++) {
            x[i][w] /= sqrt(norm);
        }
    }
    for (int i = 0; i < SENTENCES; i++) {
        for (int j = 0; j < SENTENCES; j++) {
            for (int w = 0; w < VOCABULARY; w++) {
                r->W[i * SENTENCES + j] += x[i][w] * x[j][w];
            }
        }
    }
    ck_ok(sali_cluster(SENTENCES, r->W, clusters, r->group, &err), &err); /* see test_texts */
}

static double summary_value(const reference *r, const int32_t *s, double words, double diversity,
                            double saturation, double beta)
{
    double L = 0, R = 0, length = 0;
    for (int i = 0; i < SENTENCES; i++) {
        double covered = 0, all = 0;
        for (int j = 0; j < SENTENCES; j++) {
            covered += s[j] ? r->W[i * SENTENCES + j] : 0;
            all += r->W[i * SENTENCES + j];
        }
        L += fmin(covered, fmin(1, saturation / SENTENCES) * all);
        length += s[i] ? r->length[i] : 0;
    }
    for (int k = 0; k < SENTENCES; k++) {
        double reward = 0;
        for (int j = 0; j < SENTENCES; j++) {
            for (int i = 0; s[j] && r->group[j] == k && i < SENTENCES; i++) {
                reward += r->W[i * SENTENCES + j] / SENTENCES;
            }
        }
        R += sqrt(reward);
    }
    return length > words ? -INFINITY : beta * (L + diversity * R);
}

static sali_content text_content(const char *text)
{
    return (sali_content){ .kind = SALI_CONTENT_TEXT,
                           .text = { .data = (char *)text, .size = (int64_t)strlen(text) } };
}

START_TEST(summary_equals_its_definition)
{
    static const struct {
        const char *specification;
        double words, diversity, saturation, beta;
        int clusters;
    } cases[] = {
        { "summary", 100, 4, 5, 1, 3 },
        { "summary:words=17", 17, 4, 5, 1, 3 },
        { "summary:words=20,diversity=0,saturation=2,beta=3,clusters=0", 20, 0, 2, 3, 1 },
        { "summary:words=25,diversity=7,saturation=100,clusters=1", 25, 7, 100, 1, SENTENCES },
    };
    sali_content content = text_content(document);
    int32_t s[SENTENCES];
    reference r;
    int forbidden = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        make_reference(&r, cases[k].clusters);
        for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
            sal_model *model = make(cases[k].specification, &content, dtype);
            double tolerance = dtype == SAL_F32 ? 2e-4 : 1e-11;
            for (int set = 0; set < 1 << SENTENCES; set += 1 + set % 7) {
                for (int i = 0; i < SENTENCES; i++) {
                    s[i] = set >> i & 1;
                }
                double f = value(model, s);
                double want = summary_value(&r, s, cases[k].words, cases[k].diversity,
                                            cases[k].saturation, cases[k].beta);
                ck_assert_msg(f == want || fabs(f - want) <= tolerance, "%g, not %g", f, want);
                forbidden += f == -INFINITY;
                if (set % 16 == 0) {
                    check_differences(model, s, tolerance);
                }
            }
            sal_model_destroy(model);
        }
    }
    ck_assert_int_gt(forbidden, 100);
}
END_TEST

START_TEST(summary_is_monotone_and_submodular)
{
    sali_content content = text_content(document);
    sal_model *model = make("summary:words=25", &content, 0);
    ck_assert_int_gt(check_submodular(model, 0.3, 0), 100);
    sal_model_destroy(model);
}
END_TEST

/* The gradient is finite everywhere within the limit, also where a cluster has no sentence. */
START_TEST(summary_gradients_are_finite)
{
    sali_content content = text_content(document);
    sal_model *model = make("summary:words=40", &content, 0);
    for (int trial = 0; trial < 50; trial++) {
        int32_t s[SENTENCES];
        double f, gradient[SENTENCES];
        sal_error err;
        random_set(SENTENCES, trial % 5 * 0.1, s);
        ck_ok(sal_model_evaluate(model, 1, s, &f, gradient, NULL, &err), &err);
        for (int i = 0; i < SENTENCES; i++) {
            ck_assert(isfinite(gradient[i]));
        }
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(summary_knows_its_sentences)
{
    sali_content content = text_content(document);
    sal_model *model = make("summary", &content, 0);
    ck_assert_str_eq(sali_model_label(model, 0), "Bako limu tor.");
    ck_assert_str_eq(sali_model_label(model, 3), "Kel bako vun dar zan?");
    ck_assert_str_eq(sali_model_label(model, SENTENCES - 1), "Limu fol gam vun tor hun");
    sal_model_destroy(model);
}
END_TEST

/* Uniformly random sets of 80 sentences are far above 30 words; chains start within all the same,
 * also where sentences are fixed. */
START_TEST(chains_start_within_the_limit)
{
    static char text[20000];
    size_t used = 0;
    for (int i = 0; i < 80; i++) {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "Bako%c vun%c limu tor dar%c mip.\n",
                             'a' + i % 26, 'a' + i % 7, 'a' + i % 11);
    }
    sali_content content = text_content(text);
    sal_model *model = make("summary:words=30", &content, 0);
    check_starts(model);
    sal_model *clamped = NULL;
    sal_error err;
    ck_ok(sal_model_clamp(model, 2, (int64_t[]){ 5, 17 }, (int32_t[]){ 1, 1 }, &clamped, &err),
          &err);
    check_starts(clamped);
    sal_model_destroy(clamped);
    ck_ok(sal_model_clamp(model, 6, (int64_t[]){ 0, 1, 2, 3, 4, 5 },
                          (int32_t[]){ 1, 1, 1, 1, 1, 1 }, &clamped, &err),
          &err);
    sal_run *run = NULL;
    sal_run_options options = { .sampler = "gibbs", .chains = 2, .warmup = 1, .draws = 1 };
    ck_fails(sal_sample(clamped, &options, &run, &err), SAL_ERR_MODEL, &err,
             "no state with finite f");
    sal_model_destroy(clamped);
    sal_model_destroy(model);
}
END_TEST

/* The best summary that annealing finds is the best there is. */
START_TEST(annealing_finds_the_best_summary)
{
    sali_content content = text_content(document);
    sal_model *model = make("summary:words=15", &content, 0);
    static const char *const samplers[] = { "gibbs", "mana", "lb" };
    double best = -INFINITY, found = NAN;
    int32_t s[SENTENCES];
    sal_error err;
    for (int set = 0; set < 1 << SENTENCES; set++) {
        for (int i = 0; i < SENTENCES; i++) {
            s[i] = set >> i & 1;
        }
        best = fmax(best, value(model, s));
    }
    for (int k = 0; k < 3; k++) {
        sal_run_options options = { .sampler = samplers[k], .draws = 100, .anneal = true };
        sal_run *run = run_it(model, &options);
        ck_ok(sal_run_best(run, s, &found, &err), &err);
        ck_assert_double_eq_tol(found, best, 1e-9);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
}
END_TEST

START_TEST(summary_refuses_what_it_cannot_use)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { " \n\n ", "a text of 0 sentences; expected 1 to 1000" },
        { "The. And it is not. Of the.", "no sentence has words other than stop words" },
        { "... --- !!! 5", "" }, /* a number is a word */
        { "*** --- !!!", "no sentence has words" },
        { "Bako limu tor zan vun kel dar mip hun fol gam.",
          "every sentence has more than 10 words" },
    };
    sal_model *model = NULL;
    sal_error err;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        sali_content content = text_content(cases[k].text);
        if (cases[k].message[0]) {
            ck_fails(sali_builtin_make("summary:words=10", &content, 0, &model, &err), SAL_ERR_DATA,
                     &err, cases[k].message);
        } else {
            sal_model_destroy(make("summary:words=10", &content, 0));
        }
    }
    char *many = malloc(3 * 1001 + 1);
    for (int k = 0; k < 1001; k++) {
        memcpy(many + 3 * k, "X!\n", 4);
    }
    sali_content content = text_content(many);
    ck_fails(sali_builtin_make("summary", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "a text of 1001 sentences; expected 1 to 1000");
    free(many);
    ck_fails(sal_model_builtin("summary", 0, &model, &err), SAL_ERR_ARGUMENT, &err,
             "summary is made of a text: summary:file=PATH");
}
END_TEST

/* A giant line is one sentence, and its cost keeps it out. */
START_TEST(summary_takes_a_giant_line)
{
    int64_t size = 3000000;
    char *text = malloc((size_t)size + 20);
    for (int64_t k = 0; k < size; k++) {
        text[k] = k % 7 == 6 ? ' ' : "abcdefghijklmnopqrstuvw"[k * k % 23];
    }
    strcpy(text + size, ".\n\nBako limu tor.");
    sali_content content = text_content(text);
    sal_model *model = make("summary", &content, 0);
    ck_assert_int_eq(sal_space_variables(sal_model_space(model)), 2);
    ck_assert(value(model, (int32_t[]){ 1, 0 }) == -INFINITY);
    ck_assert_double_gt(value(model, (int32_t[]){ 0, 1 }), 0);
    sal_model_destroy(model);
    free(text);
}
END_TEST

/* ---- retrieval */

#define IMAGES 20

static double retrieval_value(const sali_array *a, int query, double most, double coverage,
                              double bandwidth, double beta, const int32_t *s)
{
    int64_t n = a->shape[0], width = a->shape[1];
    double w[IMAGES][IMAGES], mean = 0, top = 0, chosen = 0, f = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            w[i][j] = 0;
            for (int64_t k = 0; k < width; k++) {
                w[i][j] += pow(a->values[i * width + k] - a->values[j * width + k], 2);
            }
            mean += w[i][j] / (double)(n * (n - 1));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            w[i][j] = exp(-w[i][j] / (2 * bandwidth * bandwidth * mean));
            top = i == query && j != query ? fmax(top, w[i][j]) : top;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        chosen += s[i];
        f += s[i] ? w[query][i] / top : 0;
    }
    for (int64_t j = 0; j < n; j++) {
        double best = 0;
        for (int64_t i = 0; i < n; i++) {
            best = s[i] ? fmax(best, w[i][j]) : best;
        }
        f += j == query ? 0 : coverage * best * w[query][j] / top;
    }
    return chosen > most ? -INFINITY : beta * f;
}

START_TEST(retrieval_equals_its_definition)
{
    sali_array images;
    sal_error err;
    ck_ok(sali_retrieval_images(IMAGES, 4, 5, 0.7, 3, &images, &err), &err);
    for (int i = 0; i < IMAGES; i++) {
        ck_assert_int_eq(images.labels[i], i % 4);
    }
    for (sal_dtype dtype = SAL_F32; dtype <= SAL_F64; dtype++) {
        sal_model *model =
            make("retrieval:query=6,most=5,coverage=0.8,bandwidth=0.4,beta=2,rows=20,"
                 "classes=4,features=5,spread=0.7,seed=3",
                 NULL, dtype);
        ck_assert_int_eq(sal_space_variables(sal_model_space(model)), IMAGES - 1);
        ck_assert(sali_strategy_best(model) == SALI_BY_CHANGES);
        for (int trial = 0; trial < 300; trial++) {
            int32_t s[IMAGES], v[IMAGES - 1];
            double tolerance = dtype == SAL_F32 ? 1e-4 : 1e-11;
            random_set(IMAGES, 0.25, s);
            s[6] = 0;
            for (int k = 0; k < IMAGES - 1; k++) {
                v[k] = s[sali_retrieval_row(k, 6)];
            }
            double f = value(model, v), want = retrieval_value(&images, 6, 5, 0.8, 0.4, 2, s);
            ck_assert_msg(f == want || fabs(f - want) <= tolerance, "%g, not %g", f, want);
            check_differences(model, v, tolerance);
        }
        sal_model_destroy(model);
    }
    sali_array_free(&images);
}
END_TEST

START_TEST(retrieval_is_the_same_from_a_file)
{
    sali_content content = { .kind = SALI_CONTENT_ARRAY };
    int32_t s[59];
    sal_error err;
    ck_ok(sali_retrieval_images(60, 6, 8, 0.5, 0, &content.array, &err), &err);
    content.array.ndim = 3; /* pictures of 2 x 4 */
    content.array.shape[1] = 2;
    content.array.shape[2] = 4;
    sal_model *seed = make("retrieval:query=3", NULL, 0);
    sal_model *file = make("retrieval:query=3", &content, 0);
    sal_model *few = make("retrieval:query=3,rows=30", &content, 0);
    for (int trial = 0; trial < 20; trial++) {
        random_set(59, 0.1, s);
        ck_assert_double_eq(value(seed, s), value(file, s));
    }
    ck_assert_int_eq(sal_space_variables(sal_model_space(few)), 29);
    ck_assert_str_eq(sali_model_label(file, 2), "row 2");
    ck_assert_str_eq(sali_model_label(file, 3), "row 4");
    ck_assert_int_gt(check_submodular(file, 0.1, 0), 100);
    check_starts(file);
    sal_model_destroy(seed);
    sal_model_destroy(file);
    sal_model_destroy(few);
    sali_content_free(&content);
}
END_TEST

START_TEST(retrieval_refuses_bad_files_and_queries)
{
    double x[8] = { 1, 2, 1, 2, 1, 2, 1, 2 };
    sali_content content = { .kind = SALI_CONTENT_ARRAY,
                             .array = { .ndim = 2, .shape = { 4, 2 }, .count = 8, .values = x } };
    sal_model *model = NULL;
    sal_error err;
    ck_fails(sali_builtin_make("retrieval", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "expected finite features that are not all the same");
    const double bad[] = { NAN, INFINITY, 1e200 };
    for (int k = 0; k < 3; k++) {
        x[5] = bad[k];
        ck_fails(sali_builtin_make("retrieval", &content, 0, &model, &err), SAL_ERR_DATA, &err,
                 "expected finite features");
    }
    x[5] = 7;
    ck_fails(sali_builtin_make("retrieval:query=4", &content, 0, &model, &err), SAL_ERR_ARGUMENT,
             &err, "query=4 is none of the 4 images; expected 0 to 3");
    ck_fails(sali_builtin_make("retrieval:rows=5", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "5 of 4 rows");
    ck_fails(sali_builtin_make("retrieval:rows=1", NULL, 0, &model, &err), SAL_ERR_DATA, &err,
             "not all the same");
    content.array.ndim = 1;
    content.array.shape[0] = 8;
    ck_fails(sali_builtin_make("retrieval", &content, 0, &model, &err), SAL_ERR_DATA, &err,
             "an array of 1 dimensions");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("submodular");
    TCase *all = tcase_create("all");
    tcase_add_test(all, facility_location_equals_its_definition);
    tcase_add_test(all, facility_location_without_a_file_has_the_papers_sizes);
    tcase_add_test(all, facility_location_of_a_small_file);
    tcase_add_test(all, facility_location_refuses_bad_files);
    tcase_add_test(all, summary_equals_its_definition);
    tcase_add_test(all, summary_is_monotone_and_submodular);
    tcase_add_test(all, summary_gradients_are_finite);
    tcase_add_test(all, summary_knows_its_sentences);
    tcase_add_test(all, chains_start_within_the_limit);
    tcase_add_test(all, annealing_finds_the_best_summary);
    tcase_add_test(all, summary_refuses_what_it_cannot_use);
    tcase_add_test(all, summary_takes_a_giant_line);
    tcase_add_test(all, retrieval_equals_its_definition);
    tcase_add_test(all, retrieval_is_the_same_from_a_file);
    tcase_add_test(all, retrieval_refuses_bad_files_and_queries);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
