/* Which sites of a protein touch? Grathwohl et al. 2021, section 7.2: a Potts model, f(x) = sum_i
 * h_i(x_i) + sum_{i<j} J_ij(x_i, x_j), is fitted to aligned sequences of a family, and pairs of
 * sites are ranked by their couplings. Fitted by persistent contrastive divergence with gwg and
 * with Gibbs, and by pseudo-likelihood; beside them the mean-field couplings of the alignment
 * (Morcos et al. 2011).
 *
 *     potts_contacts FILE.aln [DIR]         DIR/METHOD.csv: the lists (DIR: .)
 *         --as-run        the settings of the authors' program: README.md says which
 *         --group X       its group penalty [.01]
 *         --updates N     [300; as run 10,000]
 *         --steps K       sampler steps of an update [the sites; as run 20]
 *         --contacts FILE known contacts, "i j" a line, sites from 1: the share of them among the
 *                         strongest pairs (contacts.awk makes such a file of a structure)
 *     potts_contacts --make FILE.aln [SITES] draws of a known model, in which sites i and
 *                                            i + SITES / 2 are coupled; SITES: 16
 *
 * One thread; seconds are processor time. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <saltus/saltus.h>

#include "contact_lists.h"

enum { Q = 21, FEWEST_SITES = 10 };

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

typedef struct settings {
    const char *path, *directory, *contacts;
    bool as_run;
    double group;
    int64_t updates, steps; /* 0: those that suit */
} settings;

/* Sequences, which weigh 1 / number of those that agree with them at 80% of the sites. */
static sal_status read_alignment(const char *path, sal_data *data, sal_error *err)
{
    double effective = 0;
    const sal_data_options o = { .kind = SAL_DATA_ALIGNMENT, .identity = 0.8 };
    sal_status status = sal_data_read(path, &o, data, err);
    if (status == SAL_OK && data->variables < FEWEST_SITES) {
        snprintf(err->message, sizeof err->message, "%s: %lld sites; expected %d or more", path,
                 (long long)data->variables, FEWEST_SITES);
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

/* Frobenius norm of J_ij(a, b); unless it is asked for `as_run`, of letters only, in the gauge in
 * which rows and columns sum to 0. */
static double coupling_norm(bool as_run, int64_t N, const double *J, int64_t i, int64_t j)
{
    double row[Q] = { 0 }, column[Q] = { 0 }, all = 0, sum = 0;
    const double *block = J + i * Q * N + j * Q;
    for (int a = 0; a < Q && !as_run; a++) {
        for (int b = 0; b < Q; b++) {
            row[a] += block[a * N + b] / Q;
            column[b] += block[a * N + b] / Q;
            all += block[a * N + b] / (Q * Q);
        }
    }
    for (int a = !as_run; a < Q; a++) { /* 0 is a gap */
        for (int b = !as_run; b < Q; b++) {
            double c = block[a * N + b] - row[a] - column[b] + all;
            sum += c * c;
        }
    }
    return sqrt(sum);
}

/* Pairs by falling score: as run, all pairs by the norm; else those with j - i >= 5, by the norm
 * less the product of its means over i and over j by the mean over all (Dunn et al. 2008). Their
 * number; `mean` [sites] is room. */
static int64_t rank(bool as_run, int64_t sites, const double *J, double *mean, contact *list)
{
    const int64_t N = sites * Q;
    double all = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < sites && !as_run; i++) {
        mean[i] = 0;
        for (int64_t j = 0; j < sites; j++) {
            mean[i] += i == j ? 0 : coupling_norm(as_run, N, J, i, j) / (double)(sites - 1);
        }
        all += mean[i] / (double)sites;
    }
    for (int64_t i = 0; i < sites; i++) {
        for (int64_t j = i + (as_run ? 1 : 5); j < sites; j++) {
            double score = coupling_norm(as_run, N, J, i, j);
            list[n++] = (contact){ i, j, as_run ? score : score - mean[i] * mean[j] / all };
        }
    }
    contact_lists_sort(n, list);
    return n;
}

/* ---- fitting */

static sal_train_options options_of(const settings *s, const method *m, int64_t sites)
{
    sal_train_options o = {
        .objective = m->sampler ? SAL_PCD : SAL_PSEUDO_LIKELIHOOD,
        .sampler = m->sampler,
        .steps = sites,
        .iterations = 300,
        .batch = 100,
        .buffer.chains = m->sampler ? 1000 : 0,
        .learning_rate = 3e-3,
        .couplings = { .l1 = 1e-3, .zero_diagonal = true },
        .threads = 1,
    };
    if (s->as_run) {
        o.steps = 20;
        o.iterations = 10000;
        o.batch = 256;
        o.buffer.chains = m->sampler ? 10000 : 0;
        o.buffer.start = m->sampler ? SAL_BUFFER_UNIFORM : 0;
        o.learning_rate = 0.01;
        o.optimiser.weight_decay = 1e-4;
        o.couplings.l1 = 0;
        o.couplings.group = s->group;
    }
    o.steps = s->steps > 0 ? s->steps : o.steps;
    o.iterations = s->updates > 0 ? s->updates : o.iterations;
    return o;
}

/* Starts from independent sites; as run, from a uniform distribution. */
static sal_status start(const settings *s, const char *specification, const sal_data *data,
                        sal_model *model, sal_error *err)
{
    double *h = calloc((size_t)(data->variables * Q), sizeof *h);
    sal_status status = h ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_model_train_start(model, specification, data, 0, err);
    status = status || !s->as_run ? status : sal_model_set_params(model, "h", h, err);
    free(h);
    return status;
}

static sal_status fit(const settings *s, int k, const sal_data *data, contact_lists *l,
                      sal_error *err)
{
    char specification[4200];
    const method *m = &methods[k];
    const int64_t sites = data->variables, N = sites * Q;
    const sal_train_options o = options_of(s, m, sites);
    double *J = NULL, *mean = malloc((size_t)sites * sizeof *mean);
    sal_model *model = NULL;
    l->lists[k] = malloc((size_t)(sites * sites) * sizeof **l->lists);
    snprintf(specification, sizeof specification, "potts-alignment:file=%s%s", s->path,
             m->fitted ? ",couplings=zero" : "");
    clock_t from = clock();
    sal_status status = mean && l->lists[k] ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_model_open(specification, 0, &model, err);
    if (status == SAL_OK && m->fitted) {
        status = start(s, specification, data, model, err);
        status = status ? status : sal_train(model, data, &o, err);
    }
    J = status ? NULL : malloc((size_t)(N * N) * sizeof *J);
    status = status || J ? status : SAL_ERR_MEMORY;
    status = status ? status : sal_model_get_params(model, "J", J, err);
    if (status == SAL_OK) {
        l->pairs = rank(s->as_run, sites, J, mean, l->lists[k]);
        printf("%-18s%9.1f\n", m->name, (double)(clock() - from) / CLOCKS_PER_SEC);
        fflush(stdout);
    }
    sal_model_destroy(model);
    free(J);
    free(mean);
    return status;
}

/* ---- all of it */

static sal_status fit_all(const settings *s, const sal_data *data, contact_lists *l, sal_error *err)
{
    sal_status status = s->contacts ? contact_lists_read(l, s->contacts, err) : SAL_OK;
    if (status == SAL_OK) {
        mkdir(s->directory, 0777); /* or it is there; writing to it tells */
        printf("%-18s%9s\n", "fitted by", "seconds");
    }
    for (int k = 0; k < METHODS && status == SAL_OK; k++) {
        status = fit(s, k, data, l, err);
        if (status == SAL_OK && !contact_lists_write(l, k, s->directory)) {
            snprintf(err->message, sizeof err->message, "cannot write in %s", s->directory);
            status = SAL_ERR_IO;
        }
    }
    return status;
}

static sal_status compare(const settings *s, sal_error *err)
{
    sal_data data = { 0 };
    const char *names[METHODS];
    contact *lists[METHODS] = { 0 };
    sal_status status = read_alignment(s->path, &data, err);
    contact_lists l = { .sites = data.variables, .n = METHODS, .names = names, .lists = lists };
    for (int k = 0; k < METHODS; k++) {
        names[k] = methods[k].name;
    }
    status = status ? status : fit_all(s, &data, &l, err);
    if (status == SAL_OK) {
        contact_lists_print_shared(&l);
    }
    if (status == SAL_OK && l.touch) {
        contact_lists_print_known(&l);
    }
    for (int k = 0; k < METHODS; k++) {
        free(lists[k]);
    }
    free(l.touch);
    sal_data_destroy(&data);
    return status;
}

/* ---- a known model */

/* The letter that J_i,i+sites/2(a, b) = 3 favours beside `a`, another one for each `a`: the factor
 * has no divisor in common with 21. */
static int partner(int64_t i, int a)
{
    static const int factors[] = { 1, 2, 10, 4, 5, 10, 10, 8 };
    return (int)((a * factors[i % 8] + 2 * i) % Q);
}

/* Exact draws: the first of two coupled sites is uniform, and the second is its partner with
 * probability e^3 / (e^3 + 20), else one of the other 20 letters. */
static sal_status make_alignment(const char *path, int64_t sites, sal_error *err)
{
    enum { SEQUENCES = 2000 };
    const double favoured = exp(3) / (exp(3) + Q - 1);
    FILE *file = sites >= 2 && sites % 2 == 0 ? fopen(path, "w") : NULL;
    char *row = calloc((size_t)sites + 2, 1);
    unsigned short state[3] = { 1, 2, 3 };
    for (int k = 0; file && row && k < SEQUENCES; k++) {
        for (int64_t i = 0; i < sites / 2; i++) {
            int a = (int)(erand48(state) * Q), b = partner(i, a);
            int other = (int)(erand48(state) * (Q - 1));
            row[i] = alphabet[a];
            row[i + sites / 2] = alphabet[erand48(state) < favoured ? b : other + (other >= b)];
        }
        row[sites] = '\n';
        fputs(row, file);
    }
    free(row);
    if (!file || fclose(file) != 0) {
        snprintf(err->message, sizeof err->message,
                 "cannot write %s of %lld sites; expected an even number", path, (long long)sites);
        return SAL_ERR_IO;
    }
    return SAL_OK;
}

static int usage(void)
{
    fprintf(stderr, "usage: potts_contacts FILE.aln [DIR] [--as-run] [--group X] [--updates N]\n"
                    "                      [--steps K] [--contacts FILE]\n"
                    "       potts_contacts --make FILE.aln [SITES]\n");
    return 2;
}

/* The value of the option, in its place; false: another word. */
static bool take_option(int argc, char **argv, int *k, settings *s)
{
    const char *value = *k + 1 < argc ? argv[*k + 1] : NULL;
    if (strcmp(argv[*k], "--as-run") == 0) {
        s->as_run = true;
        return true;
    }
    bool known = value != NULL;
    if (known && strcmp(argv[*k], "--group") == 0) {
        s->group = atof(value);
    } else if (known && strcmp(argv[*k], "--updates") == 0) {
        s->updates = atoi(value);
    } else if (known && strcmp(argv[*k], "--steps") == 0) {
        s->steps = atoi(value);
    } else if (known && strcmp(argv[*k], "--contacts") == 0) {
        s->contacts = value;
    } else {
        return false;
    }
    ++*k;
    return true;
}

int main(int argc, char **argv)
{
    settings s = { .path = argc > 1 ? argv[1] : NULL, .directory = ".", .group = 0.01 };
    sal_error err = { 0 };
    bool make = argc > 2 && strcmp(argv[1], "--make") == 0;
    if (argc < 2 || (!make && argv[1][0] == '-')) {
        return usage();
    }
    for (int k = 2; k < argc && !make; k++) {
        if (!take_option(argc, argv, &k, &s)) {
            if (argv[k][0] == '-') {
                return usage();
            }
            s.directory = argv[k];
        }
    }
    sal_status status =
        make ? make_alignment(argv[2], argc > 3 ? atoi(argv[3]) : 16, &err) : compare(&s, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", err.message[0] ? err.message : sal_status_string(status));
    }
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
