/* SPDX-License-Identifier: MIT */
/* Arrays that are freed together. */
#include "test.h"

#include <string.h>

#include "alloc_fail.h"
#include "core/memory.h"

/* More arrays than the first list of them holds. */
enum { ARRAYS = 40 };

static sal_status take_all(sali_memory *memory)
{
    double given[3] = { 1, 2, 3 }, *copy = sali_memory_copy(memory, given, 3, sizeof *given);
    char *text = sali_memory_text(memory, "abc");
    ck_assert(!copy || (copy[0] == 1 && copy[2] == 3));
    ck_assert(!text || strcmp(text, "abc") == 0);
    for (int64_t k = 0; k < ARRAYS; k++) {
        int32_t *array = SALI_TAKE(memory, int32_t, k);
        for (int64_t i = 0; array && i < k; i++) {
            ck_assert_int_eq(array[i], 0);
            array[i] = -1;
        }
    }
    sal_status status = sali_memory_status(memory, NULL);
    if (status != SAL_OK) {
        sali_memory_free(memory);
    }
    return status;
}

START_TEST(what_is_refused_is_told_and_the_rest_freed)
{
    sali_memory memory = { 0 };
    ck_alloc_sweep(take_all(&memory), sali_memory_free(&memory));
    ck_assert_int_eq(memory.n, 0);
}
END_TEST

START_TEST(sizes_that_overflow_are_refused)
{
    sali_memory memory = { 0 };
    ck_assert_ptr_null(SALI_TAKE(&memory, double, INT64_MAX));
    ck_assert_ptr_null(sali_memory_text(&memory, NULL));
    ck_assert_int_eq(sali_memory_status(&memory, NULL), SAL_ERR_MEMORY);
    sali_memory_free(&memory);
    ck_assert_int_eq(sali_memory_status(&memory, NULL), SAL_OK);
}
END_TEST

/* Also where a freed array has left other numbers, below and above the size of a huge page. */
START_TEST(arrays_begin_as_zeros)
{
    static const int64_t sizes[] = { 1000, (1 << 21) - 64, 1 << 21, 3000001, 9 << 20 };
    for (int k = 0; k < 25; k++) {
        int64_t bytes = sizes[k % 5], sum = 0;
        unsigned char *array = sali_alloc(bytes, 1);
        ck_assert_ptr_nonnull(array);
        for (int64_t i = 0; i < bytes; i++) {
            sum += array[i];
        }
        ck_assert_int_eq(sum, 0);
        memset(array, 255, (size_t)bytes);
        sali_free(array);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("memory");
    TCase *tcase = tcase_create("memory");
    tcase_add_test(tcase, what_is_refused_is_told_and_the_rest_freed);
    tcase_add_test(tcase, sizes_that_overflow_are_refused);
    tcase_add_test(tcase, arrays_begin_as_zeros);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
