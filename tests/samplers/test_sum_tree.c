/* SPDX-License-Identifier: MIT */
/* Sum trees against plain sums, and draws from them. */
#include "test.h"

#include <math.h>
#include <stdbool.h>

#include "core/rng.h"
#include "samplers/sum_tree.h"

static int64_t pick_one(const sali_sum_tree *tree, const double *nodes, double u)
{
    int64_t picked;
    sali_sum_tree_pick_each(tree, 1, nodes, &u, &picked);
    return picked;
}

static const int64_t sizes[] = { 1, 2, 15, 16, 17, 255, 256, 257, 4096, 5000, 70000 };
#define N_SIZES ((int)(sizeof sizes / sizeof *sizes))

/* n weights of very unlike sizes, some 0. */
static double *random_tree(const sali_sum_tree *tree, uint64_t k)
{
    double *nodes = malloc((size_t)tree->size * sizeof *nodes);
    sali_stream stream = { .seed = 5, .step = k, .purpose = SALI_RNG_TEST };
    sali_rng_normal(&stream, tree->n, nodes);
    for (int64_t i = 0; i < tree->n; i++) {
        nodes[i] = i % 7 == 3 ? 0 : exp(4 * nodes[i]);
    }
    sali_sum_tree_build(tree, nodes);
    return nodes;
}

START_TEST(totals_are_sums)
{
    for (int s = 0; s < N_SIZES; s++) {
        sali_sum_tree tree = sali_sum_tree_shape(sizes[s]);
        double *nodes = random_tree(&tree, 1), sum = 0;
        for (int64_t i = 0; i < tree.n; i++) {
            sum += nodes[i];
        }
        ck_assert_double_eq_tol(sali_sum_tree_total(&tree, nodes), sum, 1e-12 * sum);
        ck_assert_int_le(tree.size, tree.n + tree.n / 7 + 16 * SALI_SUM_TREE_DEPTH);
        free(nodes);
    }
}
END_TEST

/* A tree whose weights were set is in bits one that was built with them. */
START_TEST(setting_weights_is_building_anew)
{
    for (int s = 0; s < N_SIZES; s++) {
        sali_sum_tree tree = sali_sum_tree_shape(sizes[s]);
        double *a = random_tree(&tree, 1), *b = random_tree(&tree, 2), weight[5];
        size_t bytes = (size_t)tree.size * sizeof *a;
        sali_stream stream = { .seed = 6, .purpose = SALI_RNG_TEST };
        for (uint32_t round = 0; round < 300; round++) {
            int32_t leaf[5];
            int64_t k = tree.n < 5 ? tree.n : 5;
            uint32_t first = sali_rng_below(&stream, round, (uint32_t)(tree.n - k + 1));
            for (int32_t j = 0; j < k; j++) {
                leaf[j] = (int32_t)first + (j + 2) % (int32_t)k;
                weight[j] = b[leaf[j]];
            }
            for (int64_t j = 0; j < k; j++) {
                a[leaf[j]] = -1; /* must not be read */
            }
            sali_sum_tree_set(&tree, a, k, leaf, weight);
            double *fresh = malloc(bytes);
            memcpy(fresh, a, (size_t)tree.n * sizeof *a);
            sali_sum_tree_build(&tree, fresh);
            ck_assert(memcmp(a, fresh, bytes) == 0);
            free(fresh);
            if (tree.n > 5000 && round == 30) {
                break;
            }
        }
        free(a);
        free(b);
    }
}
END_TEST

/* The weight in which u times the total lies, up to rounding of the sums. */
/* Trees of one shape that are descended together give what each gives by itself; one is empty. */
START_TEST(picks_of_many_trees_are_those_of_each)
{
    sali_sum_tree tree = sali_sum_tree_shape(300);
    double *nodes = calloc((size_t)(SALI_SUM_TREE_PICKS * tree.size), sizeof *nodes);
    double u[SALI_SUM_TREE_PICKS];
    int64_t picked[SALI_SUM_TREE_PICKS], distinct = 0;
    for (uint64_t c = 0; c < SALI_SUM_TREE_PICKS; c++) {
        double *one = random_tree(&tree, c);
        u[c] = ((double)c + 0.5) / SALI_SUM_TREE_PICKS;
        if (c != 2) {
            memcpy(nodes + c * (size_t)tree.size, one, (size_t)tree.size * sizeof *nodes);
        }
        free(one);
    }
    sali_sum_tree_pick_each(&tree, SALI_SUM_TREE_PICKS, nodes, u, picked);
    for (int64_t c = 0; c < SALI_SUM_TREE_PICKS; c++) {
        ck_assert_int_eq(picked[c], pick_one(&tree, nodes + c * tree.size, u[c]));
        distinct += c == 0 || picked[c] != picked[c - 1];
    }
    ck_assert_int_eq(picked[2], -1);
    ck_assert_int_ge(distinct, 4);
    free(nodes);
}
END_TEST

START_TEST(picks_are_where_u_falls)
{
    for (int s = 0; s < N_SIZES; s++) {
        sali_sum_tree tree = sali_sum_tree_shape(sizes[s]);
        double *nodes = random_tree(&tree, 3), total = sali_sum_tree_total(&tree, nodes);
        double *before = calloc((size_t)tree.n + 1, sizeof *before);
        sali_stream stream = { .seed = 7, .purpose = SALI_RNG_TEST };
        for (int64_t i = 0; i < tree.n; i++) {
            before[i + 1] = before[i] + nodes[i];
        }
        for (uint32_t k = 0; k < 2000; k++) {
            double u = k == 0 ? 0x1p-53 : k == 1 ? 1 - 0x1p-53 : sali_rng_uniform_at(&stream, k);
            int64_t i = pick_one(&tree, nodes, u);
            ck_assert(i >= 0 && i < tree.n && nodes[i] > 0);
            ck_assert(before[i] <= u * total + 1e-12 * total);
            ck_assert(before[i + 1] >= u * total - 1e-12 * total);
        }
        free(before);
        free(nodes);
    }
}
END_TEST

START_TEST(nothing_is_picked_from_zeros)
{
    for (int s = 0; s < N_SIZES; s++) {
        sali_sum_tree tree = sali_sum_tree_shape(sizes[s]);
        double *nodes = calloc((size_t)tree.size, sizeof *nodes), one = 1e-300;
        int32_t leaf = (int32_t)(tree.n / 2);
        sali_sum_tree_build(&tree, nodes);
        ck_assert_int_eq(pick_one(&tree, nodes, 0.5), -1);
        sali_sum_tree_set(&tree, nodes, 1, &leaf, &one);
        for (int k = 1; k < 10; k++) {
            ck_assert_int_eq(pick_one(&tree, nodes, k / 10.0), tree.n / 2);
        }
        free(nodes);
    }
}
END_TEST

static Suite *sum_tree_suite(void)
{
    Suite *suite = suite_create("sum_tree");
    TCase *tcase = tcase_create("sum_tree");
    tcase_add_test(tcase, totals_are_sums);
    tcase_add_test(tcase, setting_weights_is_building_anew);
    tcase_add_test(tcase, picks_of_many_trees_are_those_of_each);
    tcase_add_test(tcase, picks_are_where_u_falls);
    tcase_add_test(tcase, nothing_is_picked_from_zeros);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return test_main(sum_tree_suite());
}
