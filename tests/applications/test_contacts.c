/* SPDX-License-Identifier: MIT */
/* The program examples/applications/contacts: norms, corrected scores and their order. */
#include "test.h"

int contacts_main(int argc, char **argv);
#define main contacts_main
#include "../../examples/applications/contacts.c"
#undef main

/* J_ij(a, b) of an unsymmetric matrix counts as half of both triangles. */
static double pair_norm(int sites, int q, int first, const double *J, int i, int j)
{
    int N = sites * q;
    double e[8][8], sum = 0;
    for (int a = 0; a < q; a++) {
        for (int b = 0; b < q; b++) {
            e[a][b] = 0.5 * (J[(i * q + a) * N + j * q + b] + J[(j * q + b) * N + i * q + a]);
        }
    }
    for (int a = first; a < q; a++) {
        for (int b = first; b < q; b++) {
            double value = e[a][b];
            for (int c = 0; c < q; c++) {
                value -= (e[a][c] + e[c][b]) / q;
                for (int d = 0; d < q; d++) {
                    value += e[c][d] / (q * q);
                }
            }
            sum += value * value;
        }
    }
    return sqrt(sum);
}

START_TEST(contacts_are_ranked_by_corrected_norms)
{
    enum { SITES = 7, MOST = SITES * 5, PAIRS = SITES * (SITES - 1) / 2 };
    double J[MOST * MOST], all = 0, mean[SITES] = { 0 }, means[SITES] = { 0 };
    int q = 4 + _i, first = _i; /* five states are a gap and nucleotides */
    const sal_block sites = { .kind = SAL_CATEGORICAL, .count = SITES, .states = q };
    pair contacts[PAIRS];
    uint32_t seed = 5;
    for (int k = 0; k < MOST * MOST; k++) {
        seed = seed * 1664525u + 1013904223u;
        J[k] = (double)(seed >> 8) / (1 << 24) - 0.5;
    }
    ck_assert_int_eq(rank(&sites, J, means, contacts), PAIRS);
    for (int i = 0; i < SITES; i++) {
        for (int j = 0; j < SITES; j++) {
            double norm = j == i ? 0 : pair_norm(SITES, q, first, J, i, j);
            mean[i] += norm / (SITES - 1);
            all += norm / (SITES * (SITES - 1));
        }
    }
    bool seen[SITES][SITES] = { { false } };
    for (int p = 0; p < PAIRS; p++) {
        int i = (int)contacts[p].i, j = (int)contacts[p].j;
        double norm = pair_norm(SITES, q, first, J, i, j);
        ck_assert(i < j && !seen[i][j]);
        seen[i][j] = true;
        ck_assert_double_eq_tol(contacts[p].norm, norm, 1e-12);
        ck_assert_double_eq_tol(contacts[p].score, norm - mean[i] * mean[j] / all, 1e-12);
        ck_assert(p == 0 || contacts[p].score <= contacts[p - 1].score);
    }
    memset(J, 0, sizeof J);
    memset(means, 0, sizeof means);
    rank(&sites, J, means, contacts);
    ck_assert(contacts[0].score == 0 && contacts[0].i == 0 && contacts[0].j == 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("contacts");
    TCase *all = tcase_create("all");
    tcase_add_loop_test(all, contacts_are_ranked_by_corrected_norms, 0, 2);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
