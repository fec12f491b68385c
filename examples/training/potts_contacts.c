/* Which sites of a protein touch? Grathwohl et al. 2021, section 7.2: a Potts model, f(x) = sum_i
 * h_i(x_i) + sum_{i<j} J_ij(x_i, x_j), is fitted to aligned sequences of a family, and pairs of
 * sites are ranked by their couplings. Fitted by persistent contrastive divergence with gwg and
 * with Gibbs, and by pseudo-likelihood; beside them the mean-field couplings of the alignment
 * (Morcos et al. 2011).
 *
 *     potts_contacts FILE.aln [DIR] [--updates N]   DIR/METHOD.csv: the lists (DIR: .)
 *     potts_contacts --make FILE.aln                an alignment of a known model, in which sites
 *                                                   i and i + 8 of 16 are coupled
 *
 * One thread; seconds are processor time. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <saltus/saltus.h>

enum { Q = 21, MOST_SITES = 500 };

static const char alphabet[] = "-ACDEFGHIKLMNPQRSTVWY";

typedef struct method {
    const char *name, *sampler; /* NULL: no samples */
    bool fitted;
} method;

static const method methods[] = {
    { "mean-field", NULL, false },
    { "pcd-gwg", "gwg", true },
    { "pcd-gibbs", "gibbs", true },
    { "pseudo-likelihood", NULL, true },
};
enum { METHODS = sizeof methods / sizeof *methods };

typedef struct contact {
    int64_t i, j;
    double score;
} contact;

/* Sequences, which weigh 1 / number of those that agree with them at 80% of the sites. */
static sal_status read_alignment(const char *path, sal_data *data, sal_error *err)
{
    double effective = 0;
    const sal_data_options o = { .kind = SAL_DATA_ALIGNMENT, .identity = 0.8 };
    sal_status status = sal_data_read(path, &o, data, err);
    if (status == SAL_OK && (data->variables < 10 || data->variables > MOST_SITES)) {
        snprintf(err->message, sizeof err->message, "%s: %lld sites; expected 10 to %d", path,
                 (long long)data->variables, MOST_SITES);
        return SAL_ERR_DATA;
    }
    for (int64_t r = 0; status == SAL_OK && r < data->rows; r++) {
        effective += data->weight[r];
    }
    if (status == SAL_OK) {
        printf("%lld sequences of %lld sites, effectively %.0f\n", (long long)data->rows,
               (long long)data->variables, effective);
    }
    return status;
}

/* ---- couplings */

/* Frobenius norm of J_ij(a, b), letters only, in the gauge in which rows and columns sum to 0. */
static double coupling_norm(int64_t N, const double *J, int64_t i, int64_t j)
{
    double row[Q] = { 0 }, column[Q] = { 0 }, all = 0, sum = 0;
    const double *block = J + i * Q * N + j * Q;
    for (int a = 0; a < Q; a++) {
        for (int b = 0; b < Q; b++) {
            row[a] += block[a * N + b] / Q;
            column[b] += block[a * N + b] / Q;
            all += block[a * N + b] / (Q * Q);
        }
    }
    for (int a = 1; a < Q; a++) { /* 0 is a gap */
        for (int b = 1; b < Q; b++) {
            double c = block[a * N + b] - row[a] - column[b] + all;
            sum += c * c;
        }
    }
    return sqrt(sum);
}

static int by_score(const void *a, const void *b)
{
    double x = ((const contact *)a)->score, y = ((const contact *)b)->score;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Pairs with j - i >= 5 by falling score: the norm, less the product of its means over i and over j
 * by the mean over all (Dunn et al. 2008). Their number. */
static int64_t rank(int64_t sites, const double *J, contact *list)
{
    double mean[MOST_SITES] = { 0 }, all = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = 0; j < sites; j++) {
            mean[i] += i == j ? 0 : coupling_norm(sites * Q, J, i, j) / (double)(sites - 1);
        }
        all += mean[i] / (double)sites;
    }
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = i + 5; j < sites; j++) {
            double score = coupling_norm(sites * Q, J, i, j) - mean[i] * mean[j] / all;
            list[n++] = (contact){ i, j, score };
        }
    }
    qsort(list, (size_t)n, sizeof *list, by_score);
    return n;
}

/* ---- fitting */

static sal_status fit(const char *path, const sal_data *data, const method *m, int64_t updates,
                      contact *list, int64_t *pairs, sal_error *err)
{
    char specification[4200];
    const int64_t sites = data->variables, N = sites * Q;
    double *J = malloc((size_t)(N * N) * sizeof *J);
    sal_model *model = NULL;
    const sal_train_options o = {
        .objective = m->sampler ? SAL_PCD : SAL_PSEUDO_LIKELIHOOD,
        .sampler = m->sampler,
        .steps = sites,
        .iterations = updates,
        .batch = 100,
        .buffer.chains = m->sampler ? 1000 : 0,
        .learning_rate = 3e-3,
        .couplings = { .l1 = 1e-3, .zero_diagonal = true },
        .threads = 1,
    };
    snprintf(specification, sizeof specification, "potts-alignment:file=%s", path);
    clock_t start = clock();
    sal_status status = J ? sal_model_open(specification, 0, &model, err) : SAL_ERR_MEMORY;
    if (status == SAL_OK && m->fitted) { /* from independent sites */
        status = sal_model_train_start(model, specification, data, 0, err);
        status = status ? status : sal_train(model, data, &o, err);
    }
    status = status ? status : sal_model_get_params(model, "J", J, err);
    if (status == SAL_OK) {
        *pairs = rank(sites, J, list);
        printf("%-18s%9.1f\n", m->name, (double)(clock() - start) / CLOCKS_PER_SEC);
        fflush(stdout);
    }
    sal_model_destroy(model);
    free(J);
    return status;
}

/* ---- what comes out */

static bool write_list(const char *directory, const char *name, int64_t pairs, const contact *list)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s.csv", directory, name);
    FILE *file = fopen(path, "w");
    if (!file) {
        return false;
    }
    fprintf(file, "i,j,score\n");
    for (int64_t k = 0; k < pairs; k++) { /* sites count from 1 */
        fprintf(file, "%lld,%lld,%.6g\n", (long long)list[k].i + 1, (long long)list[k].j + 1,
                list[k].score);
    }
    return fclose(file) == 0;
}

static int64_t shared(int64_t top, const contact *a, const contact *b)
{
    int64_t count = 0;
    for (int64_t k = 0; k < top; k++) {
        for (int64_t l = 0; l < top; l++) {
            count += a[k].i == b[l].i && a[k].j == b[l].j;
        }
    }
    return count;
}

static void print_overlap(int64_t top, contact *const *lists)
{
    printf("\nshared among the first %-6lld", (long long)top);
    for (int b = 0; b < METHODS; b++) {
        printf("%19s", methods[b].name);
    }
    printf("\n");
    for (int a = 0; a < METHODS; a++) {
        printf("%-29s", methods[a].name);
        for (int b = 0; b < METHODS; b++) {
            printf("%19.2f", (double)shared(top, lists[a], lists[b]) / (double)top);
        }
        printf("\n");
    }
}

static sal_status compare(const char *path, const char *directory, int64_t updates, sal_error *err)
{
    sal_data data = { 0 };
    contact *lists[METHODS] = { 0 };
    int64_t pairs = 0;
    sal_status status = read_alignment(path, &data, err);
    if (status != SAL_OK) {
        sal_data_destroy(&data);
        return status;
    }
    mkdir(directory, 0777); /* or it is there; writing to it tells */
    printf("%-18s%9s\n", "fitted by", "seconds");
    for (int k = 0; k < METHODS && status == SAL_OK; k++) {
        lists[k] = malloc((size_t)(data.variables * data.variables) * sizeof **lists);
        status = !lists[k] ? SAL_ERR_MEMORY
                           : fit(path, &data, &methods[k], updates, lists[k], &pairs, err);
        if (status == SAL_OK && !write_list(directory, methods[k].name, pairs, lists[k])) {
            snprintf(err->message, sizeof err->message, "cannot write in %s", directory);
            status = SAL_ERR_IO;
        }
    }
    for (int half = 1; half <= 2 && status == SAL_OK; half++) {
        int64_t top = data.variables / half;
        print_overlap(top < pairs ? top : pairs, lists);
    }
    for (int k = 0; k < METHODS; k++) {
        free(lists[k]);
    }
    sal_data_destroy(&data);
    return status;
}

/* ---- a known model */

enum { SITES = 16, KNOWN = SITES * Q };

/* J_i,i+8(a, b) = 3 where b is a's partner, chosen anew for each pair of sites. */
static sal_status make_known(sal_model **model, sal_error *err)
{
    static double J[KNOWN * KNOWN];
    for (int i = 0; i < SITES / 2; i++) {
        for (int a = 0; a < Q; a++) {
            int b = (a * (i + 1 == 3 || i + 1 == 6 || i + 1 == 7 ? 10 : i + 1) + 2 * i) % Q;
            J[(i * Q + a) * KNOWN + (i + SITES / 2) * Q + b] += 3;
            J[((i + SITES / 2) * Q + b) * KNOWN + i * Q + a] += 3;
        }
    }
    sal_space *space = sal_space_create();
    const sal_block sites = {
        .name = "site", .kind = SAL_CATEGORICAL, .count = SITES, .states = Q
    };
    sal_space_add(space, &sites, err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr known = sal_constant(t, J, SAL_SHAPE(KNOWN, KNOWN));
    sal_status status =
        sal_model_from_tape(t, sal_scale(sal_quad(sal_state(t), known), 0.5), model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return status;
}

static sal_status make_alignment(const char *path, sal_error *err)
{
    enum { SEQUENCES = 2000 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    const sal_run_options o = { .sampler = "gibbs",
                                .chains = SEQUENCES,
                                .warmup = 100 * SITES,
                                .draws = 1,
                                .record.draws = true };
    sal_status status = make_known(&model, err);
    status = status ? status : sal_sample(model, &o, &run, err);
    FILE *file = status ? NULL : fopen(path, "w");
    int bytes;
    const uint8_t *codes = status ? NULL : sal_run_draws(run, &bytes);
    for (int k = 0; file && k < SEQUENCES * SITES; k++) {
        fputc(alphabet[codes[k]], file);
        fputs(k % SITES == SITES - 1 ? "\n" : "", file);
    }
    if (status == SAL_OK && (!file || fclose(file) != 0)) {
        snprintf(err->message, sizeof err->message, "cannot write %s", path);
        status = SAL_ERR_IO;
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    const char *directory = ".";
    int64_t updates = 300;
    sal_error err = { 0 };
    if (argc < 2) {
        fprintf(stderr, "usage: potts_contacts FILE.aln [DIR] [--updates N]\n"
                        "       potts_contacts --make FILE.aln\n");
        return 2;
    }
    bool make = strcmp(argv[1], "--make") == 0 && argc > 2;
    for (int k = 2; k < argc; k++) {
        if (strcmp(argv[k], "--updates") == 0 && k + 1 < argc) {
            updates = atoi(argv[++k]);
        } else {
            directory = argv[k];
        }
    }
    sal_status status =
        make ? make_alignment(argv[2], &err) : compare(argv[1], directory, updates, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message);
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
