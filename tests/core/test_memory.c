/* SPDX-License-Identifier: MIT */
/* Arrays that are freed together. */
#include "test.h"

#include <string.h>

#include "alloc_fail.h"
#include "core/memory.h"
#include "core/object.h"

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

/* ---- objects */

/* A text that grows by a letter at the end of each thing. */
typedef struct ending {
    char *ends, letter;
} ending;

static void end(void *thing)
{
    const ending *e = thing;
    e->ends[strlen(e->ends)] = e->letter;
}

/* An object that owns two things, of which the second one is an array of its own. */
static sal_status own_two(ending *first, void **out)
{
    void *object = sali_object(8);
    sal_status status = object ? sali_object_own(object, first, end, NULL) : SAL_OK;
    ending *second =
        status == SAL_OK && object ? sali_object_array(object, 1, sizeof *second) : NULL;
    if (second) {
        *second = (ending){ first->ends, 'b' };
        status = sali_object_own(object, second, end, NULL);
    }
    return sali_object_finish(object, status, out, NULL);
}

START_TEST(things_end_with_their_object_the_last_one_first)
{
    char ends[64] = "";
    ending first = { ends, 'a' };
    void *object = NULL;
    ck_alloc_sweep((memset(ends, 0, sizeof ends), own_two(&first, &object)),
                   sali_object_free(object));
    ck_assert_str_eq(ends, "ba");
    sali_object_free(NULL);
}
END_TEST

START_TEST(an_object_ends_where_its_making_fails)
{
    char ends[64] = "";
    ending first = { ends, 'a' };
    void *object = sali_object(8), *out = &first;
    ck_assert_int_eq(sali_object_own(object, NULL, end, NULL), SAL_OK);
    ck_assert_int_eq(sali_object_own(object, &first, end, NULL), SAL_OK);
    ck_assert_int_eq(sali_object_finish(object, SAL_ERR_DATA, &out, NULL), SAL_ERR_DATA);
    ck_assert_ptr_eq(out, &first);
    ck_assert_str_eq(ends, "a");
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
    tcase_add_test(tcase, things_end_with_their_object_the_last_one_first);
    tcase_add_test(tcase, an_object_ends_where_its_making_fails);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
