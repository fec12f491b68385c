/* SPDX-License-Identifier: MIT */
/* Objects that own arrays, and lists of named arrays that are checked when they are filled. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "alloc_fail.h"
#include "core/object.h"
#include "core/state.h"

/* ---- objects */

typedef struct pair {
    double *a;
    int32_t *b;
} pair;

static sal_status make_pair(void **out, sal_error *err)
{
    pair *p = SALI_OBJECT(pair);
    if (p) {
        p->a = SALI_OBJECT_ARRAY(p, double, 100);
        p->b = SALI_OBJECT_ARRAY(p, int32_t, 0);
    }
    return sali_object_give(p, out, err);
}

START_TEST(objects_own_their_arrays)
{
    void *out = NULL;
    sal_error err;
    ck_ok(make_pair(&out, &err), &err);
    const pair *p = out;
    ck_assert(p->a && p->b && p->a[99] == 0);
    ck_assert_uint_eq((uintptr_t)p % SALI_ALIGN, 0);
    sali_object_free(out);
    sali_object_free(NULL);
    ck_alloc_sweep(make_pair(&out, &err), sali_object_free(out));
}
END_TEST

START_TEST(an_array_that_is_too_large_fails_its_object)
{
    void *out = NULL;
    sal_error err;
    pair *p = SALI_OBJECT(pair);
    ck_assert(!sali_object_failed(p));
    ck_assert_ptr_null(SALI_OBJECT_ARRAY(p, double, -1));
    ck_assert_ptr_null(SALI_OBJECT_ARRAY(p, double, INT64_MAX));
    ck_assert_ptr_nonnull(SALI_OBJECT_ARRAY(p, double, 1));
    ck_assert(sali_object_failed(p));
    ck_assert_int_eq(sali_object_give(p, &out, &err), SAL_ERR_MEMORY);
    ck_assert_ptr_null(out);
}
END_TEST

/* ---- ranges */

static double real = 0.5;
static int64_t whole = 3;
static uint8_t byte = 1;

static sal_status check(sali_state_item item, sal_error *err)
{
    return sali_state_check(&item, err);
}

START_TEST(numbers_outside_of_their_range_are_named)
{
    sal_error err;
    sali_state_item item = sali_state_f64("x", 1, &real);
    ck_ok(check(item, &err), &err);
    ck_ok(check(sali_state_within(item, 0.5, 0.5), &err), &err);
    ck_fails(check(sali_state_within(item, 1, 2), &err), SAL_ERR_DATA, &err,
             "x: number 1 is 0.5; expected 1 to 2");
    item.whole = true;
    ck_fails(check(sali_state_within(item, 0, 2), &err), SAL_ERR_DATA, &err,
             "expected a whole number from 0 to 2");
    ck_fails(check(sali_state_within(sali_state_i64("n", 1, &whole), 4, 9), &err), SAL_ERR_DATA,
             &err, "n: number 1 is 3; expected 4 to 9");
    ck_fails(check(sali_state_within(sali_state_u8("b", 1, &byte), 0, 0), &err), SAL_ERR_DATA, &err,
             "b: number 1 is 1");
    whole = INT64_MAX;
    ck_fails(check(sali_state_counts("n", 1, &whole), &err), SAL_ERR_DATA, &err, "n: number 1");
    real = NAN;
    ck_fails(check(sali_state_reals("x", 1, &real), &err), SAL_ERR_DATA, &err, "x: number 1");
    ck_ok(check(sali_state_f64("x", 1, &real), &err), &err);
}
END_TEST

START_TEST(codes_that_a_space_has_not_are_named)
{
    sal_space *space = sal_space_create();
    const sal_block block = { .name = "c", .kind = SAL_CATEGORICAL, .count = 1, .states = 3 };
    int32_t codes[] = { 1, 2, 0, 3 };
    sal_error err;
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 1 }, &err),
          &err);
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_ok(check(sali_state_codes("codes", space, 1, codes), &err), &err);
    ck_fails(check(sali_state_codes("codes", space, 2, codes), &err), SAL_ERR_DATA, &err,
             "codes: 3 is no code of variable 1");
    sal_space_destroy(space);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("state");
    TCase *tcase = tcase_create("state");
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, objects_own_their_arrays);
    tcase_add_test(tcase, an_array_that_is_too_large_fails_its_object);
    tcase_add_test(tcase, numbers_outside_of_their_range_are_named);
    tcase_add_test(tcase, codes_that_a_space_has_not_are_named);
    return test_main(suite);
}
