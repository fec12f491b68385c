/* SPDX-License-Identifier: MIT */
/* The program examples/applications/summary: sentences, words and stems, similarities, groups,
 * ROUGE, and f against its definition. */
#define TEST_FORKS 1
#include "test.h"

int summary_main(int argc, char **argv);
#define main summary_main
#include "../../examples/applications/summary/document.c"
#include "../../examples/applications/summary/summary.c"
#include "../../examples/applications/summary/texts.c"
#undef main

#include "temp_dir.h"

/* ---- sentences */

/* Texts, and their sentences with | between. */
static const struct {
    const char *text, *sentences;
} splits[] = {
    { "One. Two! Three? Four", "One.|Two!|Three?|Four" },
    { "  One.\n\tTwo.\r\n", "One.|Two." },
    { "It is 3.14 wide. It is .5 long.", "It is 3.14 wide.|It is .5 long." },
    { "Dr. Who met Mrs. Smith. They left.", "Dr. Who met Mrs. Smith.|They left." },
    { "J. R. R. Tolkien wrote it. I did not.", "J. R. R. Tolkien wrote it.|I did not." },
    { "So am I. So is she.", "So am I.|So is she." },
    { "Fruit, e.g. Apples, i.e. Food.", "Fruit, e.g. Apples, i.e. Food." },
    { "In the U.S. Congress they met.", "In the U.S. Congress they met." },
    { "She said no. He went.", "She said no.|He went." },
    { "See no. 5 and fig. 2. Then stop.", "See no. 5 and fig. 2.|Then stop." },
    { "Wait... what? Yes... No.", "Wait... what?|Yes...|No." },
    { "\"Really?\" she asked. \"Yes!\" He left.", "\"Really?\" she asked.|\"Yes!\"|He left." },
    { "He said (quietly.) Then left.", "He said (quietly.)|Then left." },
    { "\xe2\x80\x9cOh.\xe2\x80\x9d \xe2\x80\x9cNo.\xe2\x80\x9d", "\"Oh.\"|\"No.\"" },
    { "Title\n\nText goes\non here.\n\n\nEnd", "Title|Text goes\non here.|End" },
    { "Title\r\n \t\r\nText", "Title|Text" },
    { "Wait\xe2\x80\xa6 Now.", "Wait.|Now." },
    { "Voil\xc3\xa0\n\n\xc3\x89t\xc3\xa9. \xc3\x80 bient\xc3\xb4t.",
      "Voil\xc3\xa0|\xc3\x89t\xc3\xa9.|\xc3\x80 bient\xc3\xb4t." },
    { "www.site.org is it. v1.2.3 too.", "www.site.org is it. v1.2.3 too." },
    { "At 5.30 a.m. They rose.", "At 5.30 a.m. They rose." },
    { "She has a Ph.D. Thesis here.", "She has a Ph.D. Thesis here." },
    { "One.Two. Three.", "One.Two.|Three." },
    { "...", "..." },
    { "", "" },
    { " \n\n \t ", "" },
};
#define SPLITS ((int)(sizeof splits / sizeof *splits))

static void join(const char *text, char *out, size_t size)
{
    span sentences[20];
    char copy[500];
    size_t used = 0;
    snprintf(copy, sizeof copy, "%s", text);
    text_simplify(copy);
    int64_t n = text_sentences(copy, 20, sentences);
    for (int64_t k = 0; k < n; k++) {
        used += (size_t)snprintf(out + used, size - used, "%s%.*s", k ? "|" : "",
                                 (int)sentences[k].size, sentences[k].text);
    }
    out[used] = '\0';
}

START_TEST(sentences_end_where_readers_end_them)
{
    char found[400];
    join(splits[_i].text, found, sizeof found);
    ck_assert_str_eq(found, splits[_i].sentences);
}
END_TEST

/* Every byte but blanks is in one sentence, in order, also of texts cut anywhere. */
START_TEST(sentences_lose_nothing)
{
    char text[500] = "";
    for (int k = 0; k < SPLITS && strlen(text) < 400; k++) {
        strncat(text, splits[k].text, 40);
        strcat(text, " ");
    }
    while (*text) {
        span sentences[100];
        int64_t n = text_sentences(text, 100, sentences);
        const char *at = text;
        for (int64_t k = 0; k < n; at = sentences[k].text + sentences[k].size, k++) {
            ck_assert(sentences[k].size > 0 && at + strspn(at, blanks) == sentences[k].text);
        }
        ck_assert(at[strspn(at, blanks)] == '\0');
        text[strlen(text) - 1] = '\0';
    }
}
END_TEST

/* Linear cost: what would take hours if a look ahead were repeated. */
START_TEST(long_runs_are_read_once)
{
    static const char *const units[] = { "(",  "\n",  "\"",   ". ",  ".(",
                                         "a.", "\n ", " .\"", "I. ", "a" };
    size_t size = TEST_SANITIZED ? 400000 : 4000000;
    char *text = malloc(size + 1);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        for (size_t i = 0; i < size; i++) {
            text[i] = units[k][i % strlen(units[k])];
        }
        text[size] = '\0';
        ck_assert_int_ge(text_sentences(text, 0, NULL), 0);
    }
    free(text);
}
END_TEST

/* ---- words */

START_TEST(stems_are_cut_by_the_rules)
{
    static const struct {
        const char *word, *stem;
    } cases[] = {
        { "cities", "city" },
        { "stops", "stop" },
        { "stopped", "stop" },
        { "stopping", "stop" },
        { "hoped", "hop" },
        { "hopes", "hop" },
        { "glass", "glass" },
        { "bus", "bus" },
        { "virus", "virus" },
        { "thing", "thing" },
        { "sing", "sing" },
        { "string", "string" },
        { "red", "red" },
        { "falling", "fall" },
        { "passed", "pass" },
        { "shoes", "sho" },
        { "quickly", "quick" },
        { "houses", "hous" },
        { "house", "hous" },
        { "running", "run" },
        { "the", "the" },
        { "s", "s" },
        { "", "" },
        { "abc1s", "abc1s" },
        { "trees", "tre" },
        { "edited", "edit" },
        { "ing", "ing" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char word[TEXT_WORD];
        strcpy(word, cases[k].word);
        text_stem(word);
        ck_assert_str_eq(word, cases[k].stem);
    }
}
END_TEST

/* The stems of a text, with blanks between and * behind stop words. */
static void list_stems(const char *text, char *out)
{
    token words[40];
    char copy[200];
    snprintf(copy, sizeof copy, "%s", text);
    text_simplify(copy);
    int64_t n = text_words((span){ copy, (int64_t)strlen(copy) }, words);
    *out = '\0';
    for (int64_t k = 0; k < n; k++) {
        sprintf(out + strlen(out), "%s%s%s", k ? " " : "", words[k].stem, words[k].stop ? "*" : "");
    }
}

/* Punctuation, also typographic, parts words; letters beyond ASCII do not. */
START_TEST(words_are_runs_of_letters_with_their_stems)
{
    char found[400];
    list_stems("The BIRDS-and flying 2x! are tree's", found);
    ck_assert_str_eq(found, "the* bird and* fly 2x are* tre s*");
    list_stems("a\xe2\x80\x94Rye\xc2\xa0oats \xe2\x80\x9cWheat\xe2\x80\x9d caf\xc3\xa9s ?!", found);
    ck_assert_str_eq(found, "a* rye oat wheat caf\xc3\xa9s");
    list_stems("Don\xe2\x80\x99t \xe2\x80\xa6", found);
    ck_assert_str_eq(found, "don t*");
}
END_TEST

START_TEST(endless_words_are_cut)
{
    char text[1000];
    token words[2];
    memset(text, 'x', sizeof text);
    ck_assert_int_eq(text_words((span){ text, sizeof text }, words), 1);
    ck_assert_uint_eq(strlen(words[0].stem), TEXT_WORD - 1);
}
END_TEST

/* ---- ROUGE */

#define LENGTH(a) ((int64_t)(sizeof(a) / sizeof *(a)))

/* Texts of words by number. */
static rouge score(int64_t n, int64_t n_c, const int32_t *c, int64_t n_r, const int32_t *r)
{
    token text[16], other[16];
    for (int64_t k = 0; k < n_c; k++) {
        snprintf(text[k].stem, TEXT_WORD, "w%d", c[k]);
    }
    for (int64_t k = 0; k < n_r; k++) {
        snprintf(other[k].stem, TEXT_WORD, "w%d", r[k]);
    }
    return text_rouge(n, n_c, text, n_r, other);
}

/* the cat sat on the mat / the cat lay on the mat now: bigrams the-cat, on-the, the-mat are in
 * both, of 5 and of 6. */
START_TEST(rouge_2_counts_common_bigrams)
{
    const int32_t c[] = { 1, 2, 3, 4, 1, 5 }, r[] = { 1, 2, 6, 4, 1, 5, 7 };
    rouge s = score(2, LENGTH(c), c, LENGTH(r), r);
    ck_assert_double_eq_tol(s.recall, 3.0 / 6, 1e-15);
    ck_assert_double_eq_tol(s.precision, 3.0 / 5, 1e-15);
    ck_assert_double_eq_tol(s.f, 2 * 0.5 * 0.6 / 1.1, 1e-15);
}
END_TEST

/* a b a b a has a-b and b-a twice; a b a b has a-b twice and b-a once: 3 common, not 4. */
START_TEST(rouge_counts_repetitions_as_often_as_both_have_them)
{
    const int32_t c[] = { 0, 1, 0, 1, 0 }, r[] = { 0, 1, 0, 1 };
    rouge s = score(2, 5, c, 4, r);
    ck_assert_double_eq(s.recall, 1);
    ck_assert_double_eq(s.precision, 0.75);
    s = score(1, 5, c, 4, r);
    ck_assert_double_eq(s.recall, 1);
    ck_assert_double_eq(s.precision, 0.8);
    s = score(4, 5, c, 4, r); /* abab of abab, baba */
    ck_assert_double_eq(s.recall, 1);
    ck_assert_double_eq(s.precision, 0.5);
}
END_TEST

START_TEST(rouge_of_short_or_strange_texts_is_0)
{
    const int32_t one[] = { 3 }, two[] = { 3, 4 }, other[] = { 4, 3 };
    const int64_t lengths[] = { 0, 1 };
    for (int k = 0; k < 2; k++) {
        rouge s = score(2, lengths[k], one, 2, two), t = score(2, 2, two, lengths[k], one);
        ck_assert(s.recall == 0 && s.precision == 0 && s.f == 0);
        ck_assert(t.recall == 0 && t.precision == 0 && t.f == 0);
    }
    rouge s = score(2, 2, two, 2, other);
    ck_assert(s.recall == 0 && s.precision == 0 && s.f == 0);
    s = score(2, 2, two, 2, two);
    ck_assert(s.recall == 1 && s.precision == 1 && s.f == 1);
}
END_TEST

/* ---- similarities and groups */

/* The document of a text. */
static document parse(const char *text)
{
    document d = { 0 };
    temp_write("text.txt", text, strlen(text));
    read_document(temp_path("text.txt"), 1e9, &d);
    return d;
}

START_TEST(cosines_equal_their_definition)
{
    document d = parse("Bird bird tree the the.\n\nTree stone and.\n\nThe is.\n\n"
                       "Bird stone tree tree.");
    /* bird, stone, tree */
    const double tf[4][3] = { { 2, 0, 1 }, { 0, 1, 1 }, { 0, 0, 0 }, { 1, 1, 2 } };
    const double idf[3] = { log(1 + 4.0 / 2), log(1 + 4.0 / 2), log(1 + 4.0 / 3) };
    ck_assert_int_eq(d.n, 4);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            double ij = 0, ii = 0, jj = 0;
            for (int w = 0; w < 3; w++) {
                ij += tf[i][w] * tf[j][w] * idf[w] * idf[w];
                ii += tf[i][w] * tf[i][w] * idf[w] * idf[w];
                jj += tf[j][w] * tf[j][w] * idf[w] * idf[w];
            }
            double want = ii > 0 && jj > 0 ? ij / sqrt(ii * jj) : 0;
            ck_assert_double_eq_tol(d.W[4 * i + j], want, 1e-14);
        }
    }
    free_document(&d);
}
END_TEST

static void cluster(int64_t n, double *W, int64_t k, int64_t *group)
{
    document d = { .n = n, .W = W, .group = group };
    memset(group, 0, (size_t)n * sizeof *group);
    document_group(&d, k);
}

/* Points on a circle in three bunches: the bunches are found, whichever their order. */
START_TEST(clusters_of_bunches_are_the_bunches)
{
    enum { N = 12 };
    double W[N * N], angle[N];
    int64_t group[N];
    for (int i = 0; i < N; i++) {
        angle[i] = 0.5 * ((i * 5) % 3) + 0.01 * i;
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            W[i * N + j] = cos(angle[i] - angle[j]);
        }
    }
    cluster(N, W, 3, group);
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            ck_assert_int_eq(group[i] == group[j], i % 3 == j % 3);
        }
    }
}
END_TEST

/* Lloyd's iteration has ended: each point is nearest to the mean of its own group. */
START_TEST(clusters_are_a_fixed_point_of_lloyds_iteration)
{
    enum { N = 30, D = 3 };
    double x[N][D], W[N * N];
    int64_t group[N];
    uint64_t bits = 7;
    for (int i = 0; i < N; i++) {
        double norm = 0;
        for (int d = 0; d < D; d++) {
            bits = bits * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            x[i][d] = (double)(bits >> 40) / (double)(1 << 24);
            norm += x[i][d] * x[i][d];
        }
        for (int d = 0; d < D; d++) {
            x[i][d] /= sqrt(norm);
        }
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            W[i * N + j] = x[i][0] * x[j][0] + x[i][1] * x[j][1] + x[i][2] * x[j][2];
        }
    }
    for (int k = 1; k <= 8; k++) {
        double mean[8][D] = { { 0 } };
        int size[8] = { 0 };
        cluster(N, W, k, group);
        for (int i = 0; i < N; i++) {
            ck_assert(group[i] >= 0 && group[i] < k);
            size[group[i]]++;
            for (int d = 0; d < D; d++) {
                mean[group[i]][d] += x[i][d];
            }
        }
        for (int i = 0; i < N; i++) {
            double distance[8];
            for (int c = 0; c < k; c++) {
                distance[c] = size[c] ? 0 : INFINITY;
                for (int d = 0; d < D && size[c]; d++) {
                    distance[c] += pow(x[i][d] - mean[c][d] / size[c], 2);
                }
            }
            for (int c = 0; c < k; c++) {
                ck_assert_double_le(distance[group[i]], distance[c] + 1e-12);
            }
        }
    }
}
END_TEST

START_TEST(equal_points_are_one_cluster)
{
    double W[25];
    int64_t group[5];
    for (int k = 0; k < 25; k++) {
        W[k] = 0;
    }
    for (int k = 1; k <= 5; k++) {
        cluster(5, W, k, group);
        for (int i = 0; i < 5; i++) {
            ck_assert(group[i] >= 0 && group[i] < k);
        }
    }
}
END_TEST

/* ---- f */

static uint64_t number_state = 1;

static double number(void)
{
    number_state = number_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(number_state >> 40) / (double)(1 << 24);
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

/* Sentences of words that are their own stems, none a stop word, so that a test can part them by
 * blanks and capitals. */
static const char story[] =
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
    int64_t group[SENTENCES];
} reference;

static void count_words(reference *r)
{
    int i = -1;
    for (const char *at = story; *at;) {
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
    cluster(SENTENCES, r->W, clusters, r->group);
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

static sal_model *model_of(document *d, const options *o)
{
    sal_model *model = NULL;
    sal_error err;
    ck_ok(make_model(d, o, &model, &err), &err);
    return model;
}

static const options usual = {
    .words = 100, .diversity = 4, .saturation = 5, .clusters = 0.2, .beta = 1
};

START_TEST(f_equals_its_definition)
{
    static const struct {
        options o;
        int clusters;
    } cases[] = {
        { { .words = 100, .diversity = 4, .saturation = 5, .clusters = 0.2, .beta = 1 }, 3 },
        { { .words = 17, .diversity = 4, .saturation = 5, .clusters = 0.2, .beta = 1 }, 3 },
        { { .words = 20, .diversity = 0, .saturation = 2, .clusters = 0, .beta = 3 }, 1 },
        { { .words = 25, .diversity = 7, .saturation = 100, .clusters = 1, .beta = 1 }, SENTENCES },
    };
    document d = parse(story);
    int32_t s[SENTENCES];
    reference r;
    int forbidden = 0;
    ck_assert_int_eq(d.n, SENTENCES);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const options *o = &cases[k].o;
        make_reference(&r, cases[k].clusters);
        sal_model *model = model_of(&d, o);
        for (int set = 0; set < 1 << SENTENCES; set += 1 + set % 7) {
            for (int i = 0; i < SENTENCES; i++) {
                s[i] = set >> i & 1;
            }
            double f = value(model, s);
            double want = summary_value(&r, s, o->words, o->diversity, o->saturation, o->beta);
            ck_assert_msg(f == want || fabs(f - want) <= 1e-11, "%g, not %g", f, want);
            forbidden += f == -INFINITY;
        }
        sal_model_destroy(model);
    }
    ck_assert_int_gt(forbidden, 100);
    free_document(&d);
}
END_TEST

START_TEST(f_is_monotone_and_submodular)
{
    document d = parse(story);
    options o = usual;
    o.words = 25;
    sal_model *model = model_of(&d, &o);
    ck_assert_int_gt(check_submodular(model, 0.3, 0), 100);
    sal_model_destroy(model);
    free_document(&d);
}
END_TEST

/* The gradient is finite everywhere within the limit, also where a group has no sentence. */
START_TEST(gradients_are_finite)
{
    document d = parse(story);
    options o = usual;
    o.words = 40;
    sal_model *model = model_of(&d, &o);
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
    free_document(&d);
}
END_TEST

/* The best summary that annealing finds is the best there is. */
START_TEST(annealing_finds_the_best_summary)
{
    document d = parse(story);
    options o = usual;
    o.words = 15;
    sal_model *model = model_of(&d, &o);
    static const char *const samplers[] = { "gibbs", "mana:limits=kept", "mana:most=2", "lb" };
    double best = -INFINITY, found = NAN;
    int32_t s[SENTENCES];
    const int32_t none[4 * SENTENCES] = { 0 };
    sal_error err;
    for (int set = 0; set < 1 << SENTENCES; set++) {
        for (int i = 0; i < SENTENCES; i++) {
            s[i] = set >> i & 1;
        }
        best = fmax(best, value(model, s));
    }
    for (int k = 0; k < 4; k++) {
        const sal_run_options how = {
            .sampler = samplers[k], .draws = 100, .annealing.on = true, .init = none
        };
        sal_run *run = NULL;
        ck_ok(sal_sample(model, &how, &run, &err), &err);
        ck_ok(sal_run_best(run, s, &found, &err), &err);
        ck_assert_msg(fabs(found - best) < 1e-9, "%s: %g, the best is %g", samplers[k], found,
                      best);
        sal_run_destroy(run);
    }
    sal_model_destroy(model);
    free_document(&d);
}
END_TEST

/* ---- texts that are refused: the program ends with 1 */

static const char *const refused[] = { " \n\n ", "The. And it is not. Of the.", "*** --- !!!" };

START_TEST(texts_without_something_to_say_are_refused)
{
    (void)parse(refused[_i]);
}
END_TEST

START_TEST(too_many_sentences_are_refused)
{
    static char many[3 * 1001 + 1];
    for (int k = 0; k < 1001; k++) {
        memcpy(many + 3 * k, "X!\n", 4);
    }
    (void)parse(many);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("summary");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(all, sentences_end_where_readers_end_them, 0, SPLITS);
    tcase_add_test(all, sentences_lose_nothing);
    tcase_add_test(all, long_runs_are_read_once);
    tcase_add_test(all, stems_are_cut_by_the_rules);
    tcase_add_test(all, words_are_runs_of_letters_with_their_stems);
    tcase_add_test(all, endless_words_are_cut);
    tcase_add_test(all, rouge_2_counts_common_bigrams);
    tcase_add_test(all, rouge_counts_repetitions_as_often_as_both_have_them);
    tcase_add_test(all, rouge_of_short_or_strange_texts_is_0);
    tcase_add_test(all, cosines_equal_their_definition);
    tcase_add_test(all, clusters_of_bunches_are_the_bunches);
    tcase_add_test(all, clusters_are_a_fixed_point_of_lloyds_iteration);
    tcase_add_test(all, equal_points_are_one_cluster);
    tcase_add_test(all, f_equals_its_definition);
    tcase_add_test(all, f_is_monotone_and_submodular);
    tcase_add_test(all, gradients_are_finite);
    tcase_add_test(all, annealing_finds_the_best_summary);
    tcase_add_loop_exit_test(all, texts_without_something_to_say_are_refused, 1, 0, 3);
    tcase_add_exit_test(all, too_many_sentences_are_refused, 1);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
