/* ROUGE and average precision against values computed by hand. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "stats/average_precision.h"
#include "stats/rouge.h"

#define LENGTH(a) ((int64_t)(sizeof(a) / sizeof *(a)))

static sali_rouge rouge(int64_t n, int64_t n_c, const int32_t *c, int64_t n_r, const int32_t *r)
{
    sali_rouge out = { NAN, NAN, NAN };
    sal_error err;
    ck_ok(sali_rouge_n(n, n_c, c, n_r, r, &out, &err), &err);
    return out;
}

/* the cat sat on the mat / the cat lay on the mat now: bigrams the-cat, on-the, the-mat are in
 * both, of 5 and of 6. */
START_TEST(rouge_2_counts_common_bigrams)
{
    const int32_t c[] = { 1, 2, 3, 4, 1, 5 }, r[] = { 1, 2, 6, 4, 1, 5, 7 };
    sali_rouge s = rouge(2, LENGTH(c), c, LENGTH(r), r);
    ck_assert_double_eq_tol(s.recall, 3.0 / 6, 1e-15);
    ck_assert_double_eq_tol(s.precision, 3.0 / 5, 1e-15);
    ck_assert_double_eq_tol(s.f, 2 * 0.5 * 0.6 / 1.1, 1e-15);
}
END_TEST

/* a b a b a has a-b and b-a twice; a b a b has a-b twice and b-a once: 3 common, not 4. */
START_TEST(rouge_counts_repetitions_as_often_as_both_have_them)
{
    const int32_t c[] = { 0, 1, 0, 1, 0 }, r[] = { 0, 1, 0, 1 };
    sali_rouge s = rouge(2, 5, c, 4, r);
    ck_assert_double_eq(s.recall, 1);
    ck_assert_double_eq(s.precision, 0.75);
    s = rouge(1, 5, c, 4, r);
    ck_assert_double_eq(s.recall, 1);
    ck_assert_double_eq(s.precision, 0.8);
    s = rouge(4, 5, c, 4, r); /* abab of abab, baba */
    ck_assert_double_eq(s.recall, 1);
    ck_assert_double_eq(s.precision, 0.5);
}
END_TEST

START_TEST(rouge_of_short_or_strange_texts_is_0)
{
    const int32_t one[] = { 3 }, two[] = { 3, 4 }, other[] = { 4, 3 };
    const int64_t lengths[] = { 0, 1 };
    for (int k = 0; k < 2; k++) {
        sali_rouge s = rouge(2, lengths[k], one, 2, two), t = rouge(2, 2, two, lengths[k], one);
        ck_assert(s.recall == 0 && s.precision == 0 && s.f == 0);
        ck_assert(t.recall == 0 && t.precision == 0 && t.f == 0);
    }
    sali_rouge s = rouge(2, 2, two, 2, other);
    ck_assert(s.recall == 0 && s.precision == 0 && s.f == 0);
    s = rouge(2, 2, two, 2, two);
    ck_assert(s.recall == 1 && s.precision == 1 && s.f == 1);
}
END_TEST

static double precision_of(int64_t n, const double *score, const bool *relevant)
{
    double out = -1;
    sal_error err;
    ck_ok(sali_average_precision(n, score, relevant, &out, &err), &err);
    return out;
}

/* Relevant items at ranks 1, 3 and 6: (1/1 + 2/3 + 3/6) / 3. */
START_TEST(average_precision_is_that_of_the_textbook)
{
    const double score[] = { 0.2, 0.9, 0.4, 0.7, 0.1, 0.8 };
    const bool relevant[] = { false, true, false, true, true, false };
    ck_assert_double_eq_tol(precision_of(6, score, relevant), (1 + 2.0 / 3 + 0.5) / 3, 1e-15);
}
END_TEST

/* Items of one score are retrieved together, whatever their order: .5, then 2 of 4. */
START_TEST(average_precision_does_not_see_the_order_of_ties)
{
    const double score[] = { 0.5, 0, 0.5, 0 }, turned[] = { 0, 0.5, 0, 0.5 };
    const bool relevant[] = { true, true, false, false };
    const bool turned_too[] = { false, true, true, false };
    ck_assert_double_eq_tol(precision_of(4, score, relevant), 0.5, 1e-15);
    ck_assert_double_eq_tol(precision_of(4, turned, turned_too), 0.5, 1e-15);
    const double all_same[] = { 3, 3, 3, 3, 3 };
    const bool two[] = { false, true, false, true, false };
    ck_assert_double_eq_tol(precision_of(5, all_same, two), 0.4, 1e-15);
}
END_TEST

START_TEST(average_precision_at_its_ends)
{
    const double score[] = { 3, 2, 1, -INFINITY };
    ck_assert_double_eq(precision_of(4, score, (bool[]){ true, true, false, false }), 1);
    ck_assert_double_eq(precision_of(4, score, (bool[]){ false, false, false, true }), 0.25);
    ck_assert(isnan(precision_of(4, score, (bool[]){ false, false, false, false })));
    ck_assert(isnan(precision_of(0, score, (bool[]){ false })));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scores");
    TCase *all = tcase_create("all");
    tcase_add_test(all, rouge_2_counts_common_bigrams);
    tcase_add_test(all, rouge_counts_repetitions_as_often_as_both_have_them);
    tcase_add_test(all, rouge_of_short_or_strange_texts_is_0);
    tcase_add_test(all, average_precision_is_that_of_the_textbook);
    tcase_add_test(all, average_precision_does_not_see_the_order_of_ties);
    tcase_add_test(all, average_precision_at_its_ends);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
