/* SPDX-License-Identifier: MIT */
/* Spaces, embeddings, shards. */
#include "test.h"

#include "core/threads/shard.h"
#include "core/space.h"
#include "core/text.h"

static sal_space *mixed(void)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    const double levels[] = { -1.5, 0, 4 };
    ck_ok(sal_space_add(space, &(sal_block){ .name = "b", .kind = SAL_BINARY, .count = 2 }, &err),
          &err);
    ck_ok(sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_SPIN, .count = 1 }, &err),
          &err);
    ck_ok(sal_space_add(
              space,
              &(sal_block){
                  .name = "o", .kind = SAL_ORDINAL, .count = 2, .states = 3, .levels = levels },
              &err),
          &err);
    ck_ok(sal_space_add(
              space, &(sal_block){ .name = "c", .kind = SAL_CATEGORICAL, .count = 2, .states = 4 },
              &err),
          &err);
    return space;
}

START_TEST(sizes_and_slots_add_up)
{
    sal_space *space = mixed();
    ck_assert_int_eq(sal_space_variables(space), 7);
    ck_assert_int_eq(sal_space_width(space), 2 + 1 + 2 + 8);
    ck_assert_int_eq(space->n_blocks, 4);
    ck_assert_int_eq(space->slots, 2 + 1 + 6 + 8);
    ck_assert_int_eq(sal_space_states(space, 0), 2);
    ck_assert_int_eq(sal_space_states(space, 4), 3);
    ck_assert_int_eq(sal_space_states(space, 6), 4);
    ck_assert_int_eq(sal_space_states(space, 7), 0);
    ck_assert_int_eq(sal_space_states(space, -1), 0);
    ck_assert_ptr_null(sal_space_block(space, 4));
    for (int64_t v = 0; v < 7; v++) {
        ck_assert_int_eq(sali_space_owner(space, space->variables[v].offset), v);
        ck_assert_int_eq(
            sali_space_owner(space, space->variables[v].offset + space->variables[v].width - 1), v);
    }
    sal_space_destroy(space);
}
END_TEST

START_TEST(embedding_follows_the_levels)
{
    sal_space *space = mixed();
    sal_error err = { 0 };
    const int32_t codes[] = { 0, 1, 0, 2, 0, 3, 0, 1, 0, 1, 1, 2, 0, 1 };
    const double want[] = { 0, 1, -1, 4, -1.5, 0, 0, 0, 1, 1, 0, 0, 0,
                            1, 0, 1,  0, 4,    1, 0, 0, 0, 0, 1, 0, 0 };
    double x[26];
    float x32[26];
    ck_ok(sal_space_embed(space, 2, codes, x, &err), &err);
    sali_embed_f32(space, 2, codes, x32);
    for (int i = 0; i < 26; i++) {
        ck_assert_double_eq(x[i], want[i]);
        ck_assert_double_eq((double)x32[i], want[i]);
    }
    /* one variable at a time gives the same */
    double one[13] = { 0 };
    for (int64_t v = 0; v < 7; v++) {
        sali_embed_one_f64(space, v, codes[v], one);
    }
    ck_assert_mem_eq(one, x, sizeof one);
    const int32_t bad[] = { 0, 1, 0, 3, 0, 3, 0 };
    ck_fails(sal_space_embed(space, 1, bad, x, &err), SAL_ERR_ARGUMENT, &err, "variable 3");
    sal_space_destroy(space);
}
END_TEST

START_TEST(subsets_drop_variables_and_empty_blocks)
{
    sal_space *space = mixed();
    const int32_t codes[] = { 0, -1, 1, -1, -1, 0, -1 };
    sal_space *subset = NULL;
    sal_error err;
    ck_ok(sali_space_subset(space, codes, &subset, &err), &err);
    ck_assert_int_eq(sal_space_variables(subset), 4);
    ck_assert_int_eq(subset->n_blocks, 3);
    ck_assert_str_eq(sal_space_block(subset, 1)->name, "o");
    ck_assert_int_eq(sal_space_width(subset), 1 + 2 + 4);
    sal_space_destroy(subset);
    sal_space_destroy(space);
}
END_TEST

START_TEST(bad_blocks_are_refused_and_leave_the_space_alone)
{
    sal_space *space = mixed();
    sal_error err = { 0 };
    const double falling[] = { 0, 2, 1 };
    const struct {
        sal_block block;
        const char *text;
    } cases[] = {
        { { .name = "b", .kind = SAL_BINARY, .count = 1 }, "taken" },
        { { .name = "", .kind = SAL_BINARY, .count = 1 }, "name" },
        { { .name = "a b", .kind = SAL_BINARY, .count = 1 }, "name" },
        { { .kind = SAL_BINARY, .count = 1 }, "name" },
        { { .name = "x", .kind = SAL_BINARY, .count = 0 }, "variables" },
        { { .name = "x", .kind = SAL_BINARY, .count = -5 }, "variables" },
        { { .name = "x", .kind = SAL_BINARY, .count = INT64_MAX }, "variables" },
        { { .name = "x", .kind = SAL_BINARY, .count = 1, .states = 3 }, "states" },
        { { .name = "x", .kind = SAL_CATEGORICAL, .count = 1, .states = 0 }, "states" },
        { { .name = "x", .kind = SAL_ORDINAL, .count = 1, .states = 1 }, "states" },
        { { .name = "x", .kind = SAL_ORDINAL, .count = 1, .states = 3, .levels = falling },
          "increase" },
        { { .name = "x", .kind = SAL_SPIN, .count = 1, .levels = falling }, "ordinal" },
        { { .name = "x", .kind = (sal_kind)17, .count = 1 }, "kind" },
        { { .name = "x", .kind = SAL_SPIN, .count = 1, .letters = "AB" }, "2 letters; only" },
        { { .name = "x", .kind = SAL_CATEGORICAL, .count = 1, .states = 3, .letters = "AB" },
          "block 'x': 2 letters; only categorical variables have letters, one for each label" },
        { { .name = "x", .kind = SAL_CATEGORICAL, .count = 1, .states = 3, .letters = "ABA" },
          "block 'x': the alphabet ABA has the letter 'A' twice" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sal_space_add(space, &cases[k].block, &err), SAL_ERR_ARGUMENT, &err,
                 cases[k].text);
    }
    ck_assert_int_eq(sal_space_variables(space), 7);
    sal_space_destroy(space);
    sal_space_destroy(NULL);
}
END_TEST

START_TEST(letters_are_kept_and_change_nothing)
{
    char letters[] = "-ACGU";
    sal_error err = { 0 };
    sal_space *space = sal_space_create(), *plain = sal_space_create(), *part = NULL;
    sal_block block = { .name = "x", .kind = SAL_CATEGORICAL, .count = 2, .states = 5 };
    ck_ok(sal_space_add(plain, &block, &err), &err);
    block.letters = letters;
    ck_ok(sal_space_add(space, &block, &err), &err);
    letters[1] = 'X';
    ck_assert_str_eq(sal_space_block(space, 0)->letters, "-ACGU");
    ck_ok(sali_space_subset(space, (const int32_t[]){ 3, -1 }, &part, &err), &err);
    ck_assert_str_eq(sal_space_block(part, 0)->letters, "-ACGU");
    ck_assert_int_eq(sal_space_block(part, 0)->count, 1);
    ck_assert(sali_space_equal(space, plain));
    sal_space_destroy(part);
    sal_space_destroy(space);
    sal_space_destroy(plain);
}
END_TEST

START_TEST(letters_of_an_alphabet_are_checked)
{
    static const struct {
        const char *letters, *text;
    } cases[] = {
        { "", "fewer than two letters" },
        { "-", "fewer than two letters" },
        { "ABCA", "the alphabet ABCA has the letter 'A' twice" },
        { "--A", "the letter '-' twice" },
        { "A-B", "the gap '-' at place 2; expected it first, or no gap" },
        { "A\tB", "letter 2 of the alphabet is the byte 9" },
        { "A B", "letter 2 of the alphabet is the byte 32" },
        { "A\x7f", "letter 2 of the alphabet is the byte 127" },
        { "A\xc3\xa4", "letter 2 of the alphabet is the byte 195" },
        { "AB>", "'>' cannot be a letter" },
        { "A,B", "',' cannot be a letter" },
        { "AB.", "'.' cannot be a letter" },
        { "~AB", "'~' cannot be a letter" },
    };
    sal_error err = { 0 };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ck_fails(sali_letters_check(cases[k].letters, &err), SAL_ERR_ARGUMENT, &err, cases[k].text);
    }
    ck_ok(sali_letters_check("-ABab01*@", &err), &err);
    ck_ok(sali_letters_check("01", &err), &err);
}
END_TEST

START_TEST(shards_cover_all_chains_evenly)
{
    for (int64_t chains = 1; chains < 500; chains++) {
        int64_t shards = sali_shard_count(chains), least = chains, most = 0;
        ck_assert_int_eq(sali_shard_first(chains, shards, 0), 0);
        ck_assert_int_eq(sali_shard_first(chains, shards, shards), chains);
        for (int64_t k = 0; k < shards; k++) {
            int64_t size =
                sali_shard_first(chains, shards, k + 1) - sali_shard_first(chains, shards, k);
            least = size < least ? size : least;
            most = size > most ? size : most;
        }
        ck_assert_int_ge(least, 1);
        ck_assert_int_le(most - least, 1);
        ck_assert_int_le(most, SALI_SHARD_TARGET);
        ck_assert(chains == 1 || shards % 2 == 0);
    }
}
END_TEST

/* A clone does not follow what is added to the space; clones of clones are one, until the last of
 * its owners has gone. */
START_TEST(clones_are_settled)
{
    sal_space *space = sal_space_create();
    sal_block block = { .name = "a", .kind = SAL_SPIN, .count = 3 };
    sal_error err;
    ck_ok(sal_space_add(space, &block, &err), &err);
    sal_space *copy = sali_space_clone(space), *other = sali_space_clone(space);
    block.name = "b";
    ck_ok(sal_space_add(space, &block, &err), &err);
    ck_assert_int_eq(space->n_variables, 6);
    ck_assert_int_eq(copy->n_variables, 3);
    ck_assert(copy != other);
    sal_space *again = sali_space_clone(copy), *third = sali_space_clone(again);
    ck_assert(again == copy && third == copy);
    sal_space_destroy(space);
    sal_space_destroy(copy);
    sal_space_destroy(other);
    sal_space_destroy(again);
    ck_assert_int_eq(third->variables[2].offset, 2);
    ck_assert_str_eq(third->blocks[0].name, "a");
    sal_space_destroy(third);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("space");
    TCase *tcase = tcase_create("space");
    tcase_add_test(tcase, sizes_and_slots_add_up);
    tcase_add_test(tcase, embedding_follows_the_levels);
    tcase_add_test(tcase, subsets_drop_variables_and_empty_blocks);
    tcase_add_test(tcase, bad_blocks_are_refused_and_leave_the_space_alone);
    tcase_add_test(tcase, letters_are_kept_and_change_nothing);
    tcase_add_test(tcase, letters_of_an_alphabet_are_checked);
    tcase_add_test(tcase, shards_cover_all_chains_evenly);
    tcase_add_test(tcase, clones_are_settled);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
