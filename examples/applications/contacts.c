/* Which sites of a protein touch? Pairs of sites of a Potts model by the strength of their
 * coupling.
 *
 *     contacts MODEL [--params FILE.safetensors] [--top N] [--separation N] > pairs.csv
 *
 * MODEL is what 'saltus' takes as a model, with couplings J of the states of categorical variables:
 * "potts-alignment:file=family.fasta" (mean-field couplings, Morcos et al. 2011), or the directory
 * of a training of it. Printed are i,j,score,norm, the strongest pair first, sites counted from 1;
 * --top N of them at most, and only those with j - i of N or more. `norm` is the Frobenius norm of
 * J_ij(a, b) in the gauge in which rows and columns sum to 0, over letters that are no gap; `score`
 * is the norm less the product of its means over i's pairs and over j's, divided by the mean of all
 * (Dunn et al. 2008). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <saltus/saltus.h>

typedef struct pair {
    int64_t i, j;
    double score, norm;
} pair;

/* One block of sites with some states, and a parameter J over their one-hot. */
static const sal_block *find_sites(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    const sal_block *block = sal_space_block(space, 0);
    int64_t N = sal_space_width(space);
    sal_shape shape;
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        if (strcmp(name, "J") == 0 && shape.rank == 2 && shape.dim[0] == N && shape.dim[1] == N &&
            !sal_space_block(space, 1) && block->kind == SAL_CATEGORICAL && block->count > 1) {
            return block;
        }
    }
    return NULL;
}

/* The norm of the coupling of sites i and j. J counts as (J + J') / 2. */
static double coupling_norm(const sal_block *sites, const double *J, int64_t i, int64_t j)
{
    int64_t q = sites->states, N = sites->count * q;
    int64_t first = q == 21 || q == 5; /* letters of proteins or nucleotides: 0 is a gap */
    double *e = calloc((size_t)(q * (q + 2)), sizeof *e), all = 0, sum = 0;
    if (!e) {
        return NAN;
    }
    double *row = e + q * q, *column = row + q;
    for (int64_t a = 0; a < q; a++) {
        for (int64_t b = 0; b < q; b++) {
            int64_t k = i * q + a, l = j * q + b;
            e[a * q + b] = (J[k * N + l] + J[l * N + k]) / 2;
            row[a] += e[a * q + b] / (double)q;
            column[b] += e[a * q + b] / (double)q;
            all += e[a * q + b] / (double)(q * q);
        }
    }
    for (int64_t a = first; a < q; a++) {
        for (int64_t b = first; b < q; b++) {
            double value = e[a * q + b] - row[a] - column[b] + all;
            sum += value * value;
        }
    }
    free(e);
    return sqrt(sum);
}

static int by_score(const void *a, const void *b)
{
    const pair *p = a, *q = b;
    if (p->score != q->score) {
        return p->score > q->score ? -1 : 1;
    }
    return p->i != q->i ? (p->i > q->i) - (p->i < q->i) : (p->j > q->j) - (p->j < q->j);
}

/* All pairs, the strongest first. mean [sites], zeroed; returns how many. */
static int64_t rank(const sal_block *sites, const double *J, double *mean, pair *pairs)
{
    int64_t n = 0, L = sites->count;
    double all = 0;
    for (int64_t i = 0; i < L; i++) {
        for (int64_t j = i + 1; j < L; j++) {
            double norm = coupling_norm(sites, J, i, j);
            pairs[n++] = (pair){ .i = i, .j = j, .norm = norm };
            mean[i] += norm / (double)(L - 1);
            mean[j] += norm / (double)(L - 1);
        }
    }
    for (int64_t i = 0; i < L; i++) {
        all += mean[i] / (double)L;
    }
    for (int64_t p = 0; p < n; p++) {
        double product = mean[pairs[p].i] * mean[pairs[p].j];
        pairs[p].score = pairs[p].norm - (all > 0 ? product / all : 0);
    }
    qsort(pairs, (size_t)n, sizeof *pairs, by_score);
    return n;
}

static sal_status print_contacts(const sal_model *model, int64_t top, int64_t separation,
                                 sal_error *err)
{
    const sal_block *sites = find_sites(model);
    if (!sites) {
        snprintf(err->message, sizeof err->message,
                 "the model has no couplings of sites; expected a parameter J over the states of "
                 "categorical variables, as of potts-alignment");
        return SAL_ERR_DATA;
    }
    size_t L = (size_t)sites->count, N = L * (size_t)sites->states;
    double *J = malloc(N * N * sizeof *J), *mean = calloc(L, sizeof *mean);
    pair *pairs = malloc(L * (L - 1) / 2 * sizeof *pairs);
    sal_status status = J && mean && pairs ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_model_get_params(model, "J", J, err);
    if (status == SAL_OK) {
        int64_t n = rank(sites, J, mean, pairs);
        printf("i,j,score,norm\n");
        for (int64_t p = 0; p < n && top > 0; p++) {
            if (pairs[p].j - pairs[p].i >= separation) {
                printf("%lld,%lld,%.9g,%.9g\n", (long long)pairs[p].i + 1,
                       (long long)pairs[p].j + 1, pairs[p].score, pairs[p].norm);
                top--;
            }
        }
    }
    free(J);
    free(mean);
    free(pairs);
    return status;
}

int main(int argc, char **argv)
{
    const char *specification = NULL, *params = NULL;
    int64_t top = INT64_MAX, separation = 1;
    for (int a = 1; a < argc; a++) {
        bool value = a + 1 < argc;
        if (value && strcmp(argv[a], "--params") == 0) {
            params = argv[++a];
        } else if (value && strcmp(argv[a], "--top") == 0) {
            top = atoll(argv[++a]);
        } else if (value && strcmp(argv[a], "--separation") == 0) {
            separation = atoll(argv[++a]);
        } else if (argv[a][0] != '-' && !specification) {
            specification = argv[a];
        } else {
            top = 0;
        }
    }
    if (!specification || top < 1 || separation < 1) {
        fprintf(stderr, "usage: contacts MODEL [--params FILE.safetensors] [--top N] "
                        "[--separation N]\n");
        return 2;
    }
    sal_model *model = NULL;
    sal_error err = { 0 };
    sal_status status = sal_model_open(specification, 0, &model, &err);
    status = status || !params ? status : sal_model_load_params(model, params, &err);
    status = status ? status : print_contacts(model, top, separation, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "contacts: %s\n", *err.message ? err.message : sal_status_string(status));
    }
    sal_model_destroy(model);
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
