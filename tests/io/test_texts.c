/* Plain texts: the reader, sentences, words and stems, similarities and clusters. */
#include "test.h"

#include <math.h>

#include "core/alloc.h"
#include "core/utf8.h"
#include "io/file.h"
#include "io/format.h"
#include "models/zoo/similarity.h"

/* ---- UTF-8 */

START_TEST(every_code_point_comes_back)
{
    char bytes[5];
    for (int32_t code = 0; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code <= 0xdfff) {
            continue;
        }
        int size = sali_utf8_put(code, bytes);
        const char *at = bytes;
        ck_assert_int_eq(sali_utf8_next(&at, bytes + size), code);
        ck_assert_ptr_eq(at, bytes + size);
        if (size > 1) { /* cut short */
            at = bytes;
            ck_assert_int_eq(sali_utf8_next(&at, bytes + size - 1), -1);
            ck_assert_ptr_eq(at, bytes + 1);
        }
    }
}
END_TEST

static const char *const bad_utf8[] = {
    "\x80",
    "\xbf",
    "\xc0\x80",
    "\xc1\xbf",
    "\xe0\x9f\xbf",
    "\xff",
    "\xed\xa0\x80",
    "\xed\xbf\xbf",
    "\xf0\x8f\xbf\xbf",
    "\xf4\x90\x80\x80",
    "\xc3\x28",
    "\xe2\x82",
    "\xf8\x88\x80\x80",
    "\xfe",
    "\xe2\x28\xa1",
};
#define BAD ((int)(sizeof bad_utf8 / sizeof *bad_utf8))

START_TEST(bad_sequences_are_refused_byte_by_byte)
{
    const char *bytes = bad_utf8[_i], *at = bytes;
    ck_assert_int_eq(sali_utf8_next(&at, bytes + strlen(bytes)), -1);
    ck_assert_ptr_eq(at, bytes + 1);
    sali_content content = { 0 };
    sal_error err;
    char text[32];
    int size = snprintf(text, sizeof text, "one\ntwo %s", bytes);
    ck_fails(sali_format_text.parse("doc", text, size, &content, &err), SAL_ERR_DATA, &err,
             "doc:2: the byte 0x");
    ck_assert_ptr_nonnull(strstr(err.message, "is not UTF-8; expected plain text in UTF-8"));
    ck_assert_int_eq(content.kind, SALI_CONTENT_NONE);
}
END_TEST

/* ---- the reader */

START_TEST(reader_keeps_the_bytes)
{
    sali_content content = { 0 };
    sal_error err;
    ck_ok(sali_format_text.parse("doc",
                                 "\xef\xbb\xbf"
                                 "A caf\xc3\xa9.",
                                 11, &content, &err),
          &err);
    ck_assert_int_eq(content.kind, SALI_CONTENT_TEXT);
    ck_assert_int_eq(content.text.size, 8);
    ck_assert_str_eq(content.text.data, "A caf\xc3\xa9.");
    sali_content_free(&content);
}
END_TEST

START_TEST(reader_refuses_what_is_no_text)
{
    sali_content content = { 0 };
    sal_error err;
    ck_fails(sali_format_text.parse("doc", "", 0, &content, &err), SAL_ERR_DATA, &err,
             "doc: 0 bytes of text");
    ck_fails(sali_format_text.parse("doc", "\xef\xbb\xbf", 3, &content, &err), SAL_ERR_DATA, &err,
             "doc: 0 bytes of text");
    ck_fails(sali_format_text.parse("doc", "a\n\nb\0c", 6, &content, &err), SAL_ERR_DATA, &err,
             "doc:3: the byte 0x00 is no text");
    ck_assert_int_eq(content.kind, SALI_CONTENT_NONE);
}
END_TEST

START_TEST(files_are_read_and_written)
{
    const char *path = "test_texts.txt";
    sali_content content = { 0 }, again = { 0 };
    const sali_format *found = NULL;
    sal_error err;
    ck_ok(sal_file_write(path, "One. Two.", 9, &err), &err);
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, &found, &err), &err);
    ck_assert_str_eq(found->name, "text");
    ck_assert_str_eq(found->model, "summary");
    ck_ok(sali_content_write(path, NULL, &content, &err), &err);
    ck_ok(sali_content_read(path, NULL, SALI_CONTENT_TEXT, &again, &found, &err), &err);
    ck_assert_str_eq(again.text.data, "One. Two.");
    sali_content_free(&content);
    sali_content_free(&again);
    remove(path);
}
END_TEST

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
    { "\xe2\x80\x9cOh.\xe2\x80\x9d \xe2\x80\x9cNo.\xe2\x80\x9d",
      "\xe2\x80\x9cOh.\xe2\x80\x9d|\xe2\x80\x9cNo.\xe2\x80\x9d" },
    { "Title\n\nText goes\non here.\n\n\nEnd", "Title|Text goes\non here.|End" },
    { "Title\r\n \t\r\nText", "Title|Text" },
    { "Wait\xe2\x80\xa6 Now.", "Wait\xe2\x80\xa6|Now." },
    { "\xe4\xb8\x80\xe3\x80\x82\xe4\xba\x8c\xe3\x80\x82",
      "\xe4\xb8\x80\xe3\x80\x82|\xe4\xba\x8c\xe3\x80\x82" },
    { "Voil\xc3\xa0\n\n\xc3\x89t\xc3\xa9. \xc3\x80 bient\xc3\xb4t.",
      "Voil\xc3\xa0|\xc3\x89t\xc3\xa9.|\xc3\x80 bient\xc3\xb4t." },
    { "www.site.org is it. v1.2.3 too.", "www.site.org is it. v1.2.3 too." },
    { "At 5.30 a.m. They rose.", "At 5.30 a.m. They rose." },
    { "She has a Ph.D. Thesis here.", "She has a Ph.D. Thesis here." },
    { "One.Two. Three.", "One.Two.|Three." },
    { "...", "..." },
    { "\x11\x16", "" },
    { "A \x11. \x7f B", "A \x11.|B" },
    { "", "" },
    { " \n\n \t ", "" },
};
#define SPLITS ((int)(sizeof splits / sizeof *splits))

static void join(const char *text, int64_t size, char *out, size_t room)
{
    sali_span *spans = NULL;
    int64_t n = -1;
    sal_error err;
    ck_ok(sali_sentences(text, size, &spans, &n, &err), &err);
    size_t used = 0;
    for (int64_t k = 0; k < n; k++) {
        ck_assert(spans[k].size > 0 && used + (size_t)spans[k].size + 2 < room);
        used += (size_t)snprintf(out + used, room - used, "%s%.*s", k ? "|" : "",
                                 (int)spans[k].size, spans[k].text);
    }
    out[used] = '\0';
    sali_free(spans);
}

START_TEST(sentences_end_where_readers_end_them)
{
    char found[400];
    join(splits[_i].text, (int64_t)strlen(splits[_i].text), found, sizeof found);
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
    for (int64_t size = 0; size <= (int64_t)strlen(text); size++) {
        sali_span *spans = NULL;
        int64_t n = 0;
        sal_error err;
        ck_ok(sali_sentences(text, size, &spans, &n, &err), &err);
        const char *at = text;
        for (int64_t k = 0; k < n; k++) {
            for (; at < spans[k].text; at++) {
                ck_assert((unsigned char)*at <= ' ');
            }
            ck_assert_ptr_eq(at, spans[k].text);
            at += spans[k].size;
        }
        for (; at < text + size; at++) {
            ck_assert((unsigned char)*at <= ' ');
        }
        sali_free(spans);
    }
}
END_TEST

/* Linear cost: what would take hours if a look ahead were repeated. */
START_TEST(long_runs_are_read_once)
{
    static const char *const units[] = { "(",  "\n",  "\"",   ". ",  ".(",
                                         "a.", "\n ", " .\"", "I. ", "a" };
    int64_t size = TEST_SANITIZED ? 400000 : 4000000, n = 0;
    char *text = malloc((size_t)size);
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        size_t unit = strlen(units[k]);
        for (int64_t i = 0; i < size; i++) {
            text[i] = units[k][(size_t)i % unit];
        }
        sali_span *spans = NULL;
        sal_error err;
        ck_ok(sali_sentences(text, size, &spans, &n, &err), &err);
        sali_free(spans);
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
        char word[SALI_WORD_SIZE];
        strcpy(word, cases[k].word);
        sali_stem(word);
        ck_assert_str_eq(word, cases[k].stem);
    }
}
END_TEST

static void number(int64_t n, const char *const *text, sali_words *words)
{
    sali_span spans[8];
    sal_error err;
    for (int64_t k = 0; k < n; k++) {
        spans[k] = (sali_span){ text[k], (int64_t)strlen(text[k]) };
    }
    ck_ok(sali_words_create(n, spans, words, &err), &err);
}

START_TEST(words_are_numbered_by_stem)
{
    sali_words words = { 0 };
    /* and, are, bird, bird, cafe', cafe', the; flying: "fly" has three letters and a vowel, y */
    number(3,
           (const char *const[]){ "The BIRDS-and caf\xc3\x89s", "", "bird, Caf\xc3\xa9s are 2x!" },
           &words);
    const int64_t begin[] = { 0, 4, 4, 8 };
    const int32_t stem[] = { 5, 3, 1, 4, 3, 4, 2, 0 }; /* 2x and are bird café.. the */
    const bool stop[] = { true, false, true, false, false, false, true, false };
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(words.begin[k], begin[k]);
    }
    for (int k = 0; k < 8; k++) {
        ck_assert_int_eq(words.stem[k], stem[k]);
        ck_assert_int_eq(words.stop[k], stop[k]);
    }
    ck_assert_int_eq(words.vocabulary, 6);
    sali_words_free(&words);
}
END_TEST

START_TEST(case_is_one_in_four_alphabets)
{
    sali_words words = { 0 };
    number(2,
           (const char *const[]){ "ABC \xc3\x9c"
                                  "BER \xce\xa9\xce\x91 \xd0\x96\xd0\x81",
                                  "abc \xc3\xbc"
                                  "ber \xcf\x89\xce\xb1 \xd0\xb6\xd1\x91" },
           &words);
    ck_assert_int_eq(words.begin[2], 8);
    ck_assert_int_eq(words.vocabulary, 4);
    for (int k = 0; k < 4; k++) {
        ck_assert_int_eq(words.stem[k], words.stem[4 + k]);
    }
    sali_words_free(&words);
}
END_TEST

/* Punctuation, also of other scripts, parts words; bytes that are not UTF-8 do too. */
START_TEST(words_are_runs_of_letters)
{
    sali_words words = { 0 };
    number(3,
           (const char *const[]){ "a\xe2\x80\x94"
                                  "b\xc2\xa0"
                                  "c\xe3\x80\x81"
                                  "d'e\xe2\x80\x99"
                                  "f",
                                  "\xe2\x80\xa6 \xc2\xbf ?! \xc3\x97",
                                  "g\xff"
                                  "h\xc3" },
           &words);
    ck_assert_int_eq(words.begin[1], 6);
    ck_assert_int_eq(words.begin[2], 6);
    ck_assert_int_eq(words.begin[3], 8);
    sali_words_free(&words);
}
END_TEST

START_TEST(endless_words_are_cut)
{
    char text[2][1000];
    for (int k = 0; k < 2; k++) {
        memset(text[k], 'x', sizeof text[k] - 1);
        text[k][sizeof text[k] - 1] = '\0';
    }
    text[1][998] = 'y';
    text[0][30] = 'z';
    sali_words words = { 0 };
    number(2, (const char *const[]){ text[0], text[1] }, &words);
    ck_assert_int_eq(words.begin[2], 2);
    ck_assert_int_eq(words.vocabulary, 2);
    sali_words_free(&words);
    text[0][30] = 'x';
    number(2, (const char *const[]){ text[0], text[1] }, &words);
    ck_assert_int_eq(words.vocabulary, 1);
    sali_words_free(&words);
}
END_TEST

/* ---- similarities */

START_TEST(cosines_equal_their_definition)
{
    sali_words words = { 0 };
    number(4,
           (const char *const[]){ "bird bird tree the the", "tree stone and", "the is",
                                  "bird stone tree tree" },
           &words);
    /* bird, stone, tree */
    const double tf[4][3] = { { 2, 0, 1 }, { 0, 1, 1 }, { 0, 0, 0 }, { 1, 1, 2 } };
    const double idf[3] = { log(1 + 4.0 / 2), log(1 + 4.0 / 2), log(1 + 4.0 / 3) };
    double W[16];
    sal_error err;
    ck_ok(sali_cosines(4, &words, W, &err), &err);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            double ij = 0, ii = 0, jj = 0;
            for (int w = 0; w < 3; w++) {
                ij += tf[i][w] * tf[j][w] * idf[w] * idf[w];
                ii += tf[i][w] * tf[i][w] * idf[w] * idf[w];
                jj += tf[j][w] * tf[j][w] * idf[w] * idf[w];
            }
            double want = ii > 0 && jj > 0 ? ij / sqrt(ii * jj) : 0;
            ck_assert_double_eq_tol(W[4 * i + j], want, 1e-14);
        }
    }
    sali_words_free(&words);
}
END_TEST

/* Points on a circle in three bunches: the bunches are found, whichever their order. */
START_TEST(clusters_of_bunches_are_the_bunches)
{
    enum { N = 12 };
    double W[N * N], angle[N];
    int32_t group[N];
    sal_error err;
    for (int i = 0; i < N; i++) {
        angle[i] = 0.5 * ((i * 5) % 3) + 0.01 * i;
    }
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            W[i * N + j] = cos(angle[i] - angle[j]);
        }
    }
    ck_ok(sali_cluster(N, W, 3, group, &err), &err);
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
    int32_t group[N];
    sal_error err;
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
        ck_ok(sali_cluster(N, W, k, group, &err), &err);
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
    int32_t group[5];
    sal_error err;
    for (int k = 0; k < 25; k++) {
        W[k] = 0;
    }
    for (int k = 1; k <= 5; k++) {
        ck_ok(sali_cluster(5, W, k, group, &err), &err);
        for (int i = 0; i < 5; i++) {
            ck_assert(group[i] >= 0 && group[i] < k);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("texts");
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_code_point_comes_back);
    tcase_add_loop_test(all, bad_sequences_are_refused_byte_by_byte, 0, BAD);
    tcase_add_test(all, reader_keeps_the_bytes);
    tcase_add_test(all, reader_refuses_what_is_no_text);
    tcase_add_test(all, files_are_read_and_written);
    tcase_add_loop_test(all, sentences_end_where_readers_end_them, 0, SPLITS);
    tcase_add_test(all, sentences_lose_nothing);
    tcase_add_test(all, long_runs_are_read_once);
    tcase_add_test(all, stems_are_cut_by_the_rules);
    tcase_add_test(all, words_are_numbered_by_stem);
    tcase_add_test(all, case_is_one_in_four_alphabets);
    tcase_add_test(all, words_are_runs_of_letters);
    tcase_add_test(all, endless_words_are_cut);
    tcase_add_test(all, cosines_equal_their_definition);
    tcase_add_test(all, clusters_of_bunches_are_the_bunches);
    tcase_add_test(all, clusters_are_a_fixed_point_of_lloyds_iteration);
    tcase_add_test(all, equal_points_are_one_cluster);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
