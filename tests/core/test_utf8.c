/* SPDX-License-Identifier: MIT */
/* Code points as bytes of UTF-8, and back. */
#include "test.h"

#include "core/utf8.h"

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
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("utf8");
    TCase *all = tcase_create("all");
    tcase_add_test(all, every_code_point_comes_back);
    tcase_add_loop_test(all, bad_sequences_are_refused_byte_by_byte, 0, BAD);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
