/* Image retrieval: the pictures that best answer a query, which is one of them.
 *
 *     retrieval FILE [OPTION VALUE]..      pictures with classes: libsvm, or USPS as zip.train
 *
 * Of the query's similarities q_i and those among pictures w_ij (Gaussian in the distance of the
 * grey values), a set S of pictures has
 *
 *     f(S) = beta (sum_{i in S} q_i + coverage sum_j q_j max_{i in S} w_ij),
 *
 * their relevance, and how well they represent what is relevant; f = -inf for more than --most, or,
 * with --penalty c, less by c for each picture above it.
 * Chains choose sets, and pictures are ranked by how often they are chosen. Printed are, for each
 * query, the mean f of the draws and the average precision of that ranking, pictures of the query's
 * class being right, and the means over queries (after Xiang et al. 2023, sec. 7.3; Yang et al.
 * 2014).
 *
 * Options: --first 0 (the first query's row), --queries 10, --most 10, --coverage 0.5, --bandwidth
 * 0.3 (over the root of the mean squared distance), --beta 3, --penalty 0 (none: a hard limit),
 * --sampler pas, --step-size (the library's), --chains 8, --warmup 500, --draws 1000, --seed 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <saltus/saltus.h>

enum { MOST_ROWS = 2000 };

typedef struct options {
    double first, queries, most, coverage, bandwidth, beta, penalty, step_size, chains, warmup,
        draws, seed;
    const char *sampler;
} options;

/* w_ij = exp(-|x_i - x_j|^2 / (2 h^2)), W [rows x rows]; h^2 = bandwidth^2 times the mean of the
 * squared distances. Whether there are such distances. */
static bool compare_pictures(const sal_data *data, double bandwidth, double *W)
{
    int64_t n = data->rows, V = data->variables;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        W[i * n + i] = 0;
        for (int64_t j = 0; j < i; j++) {
            double square = 0;
            for (int64_t k = 0; k < V; k++) {
                square += pow(data->intensity[i * V + k] - data->intensity[j * V + k], 2);
            }
            W[i * n + j] = W[j * n + i] = square;
            sum += square;
        }
    }
    double h2 = bandwidth * bandwidth * sum / (0.5 * (double)n * (double)(n - 1));
    for (int64_t k = 0; k < n * n; k++) {
        W[k] = exp(-W[k] / (2 * h2));
    }
    return h2 > 0;
}

/* Variable v is this row: the query is none. */
static int64_t row_of(int64_t v, int64_t query)
{
    return v < query ? v : v + 1;
}

/* f over V = rows - 1 pictures. q [V], C [V x V] are room. */
static sal_status make_model(int64_t V, int64_t query, const double *W, const options *o, double *q,
                             double *C, sal_model **model, sal_error *err)
{
    const double *near = W + query * (V + 1);
    double largest = 0;
    for (int64_t v = 0; v < V; v++) {
        largest = fmax(largest, near[row_of(v, query)]);
    }
    for (int64_t v = 0; v < V; v++) {
        q[v] = largest > 0 ? near[row_of(v, query)] / largest : 0;
    }
    for (int64_t k = 0; k < V * V; k++) {
        C[k] = q[k % V] * W[row_of(k / V, query) * (V + 1) + row_of(k % V, query)];
    }
    const sal_block pictures = { .name = "picture", .kind = SAL_BINARY, .count = V };
    sal_space *space = sal_space_create();
    sal_status status = sal_space_add(space, &pictures, err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    if (status == SAL_OK) {
        sal_expr s = sal_state(t);
        sal_expr relevance = sal_dot(sal_constant(t, q, SAL_SHAPE(V)), s);
        sal_expr covered = sal_max_coverage(s, sal_constant(t, C, SAL_SHAPE(V, V)));
        sal_expr f = sal_add(relevance, sal_scale(covered, o->coverage));
        sal_expr above = sal_relu(sal_sub(sal_sum(s), sal_scalar(t, o->most)));
        sal_expr limit =
            o->penalty > 0 ? sal_scale(above, -o->penalty) : sal_at_most(sal_sum(s), o->most);
        f = sal_add(sal_scale(f, o->beta), limit);
        status = sal_model_from_tape(t, f, model, err);
    }
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return status;
}

/* The mean, over right pictures, of the share of right ones among those of the same score or a
 * higher one. NaN where none is right. */
static double average_precision(int64_t n, const double *score, const bool *right)
{
    double sum = 0;
    int64_t all = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t above = 0, right_above = 0;
        for (int64_t j = 0; j < n && right[i]; j++) {
            above += score[j] >= score[i];
            right_above += score[j] >= score[i] && right[j];
        }
        all += right[i];
        sum += right[i] ? (double)right_above / (double)above : 0;
    }
    return sum / (double)all;
}

/* Room for the answers to all queries. */
typedef struct answers {
    double *W, *q, *C, *marginals;
    int32_t *none; /* [chains x V] where chains start: nothing chosen */
    bool *right;
} answers;

static sal_status answer(const sal_data *data, int64_t query, const options *o, const answers *a,
                         double *f, double *precision, sal_error *err)
{
    int64_t V = data->rows - 1;
    const sal_run_options run_options = { .sampler = o->sampler,
                                          .chains = (int64_t)o->chains,
                                          .warmup = (int64_t)o->warmup,
                                          .draws = (int64_t)o->draws,
                                          .step_size = o->step_size,
                                          .seed = (uint64_t)o->seed,
                                          .init = a->none };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_summary figures;
    sal_status status = make_model(V, query, a->W, o, a->q, a->C, &model, err);
    status = status ? status : sal_sample(model, &run_options, &run, err);
    status = status ? status : sal_run_summarise(run, &figures, err);
    status = status ? status : sal_run_marginals(run, a->marginals, err);
    if (status == SAL_OK) {
        for (int64_t v = 0; v < V; v++) {
            a->q[v] = a->marginals[2 * v + 1];
            a->right[v] = data->labels[row_of(v, query)] == data->labels[query];
        }
        *precision = average_precision(V, a->q, a->right);
        *f = figures.log_prob_mean;
    }
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

static sal_status answer_all(const sal_data *data, const options *o, const answers *a,
                             sal_error *err)
{
    sal_status status = SAL_OK;
    double f, precision, sum_f = 0, sum = 0;
    for (int64_t k = 0; status == SAL_OK && k < (int64_t)o->queries; k++) {
        int64_t query = (int64_t)o->first + k;
        status = answer(data, query, o, a, &f, &precision, err);
        if (status == SAL_OK) {
            printf("query %-10lld mean f %.4f, average precision %.4f\n", (long long)query, f,
                   precision);
            sum_f += f;
            sum += precision;
        }
    }
    if (status == SAL_OK) {
        printf("means            mean f %.4f, average precision %.4f\n", sum_f / o->queries,
               sum / o->queries);
    }
    return status;
}

static sal_status retrieve(const sal_data *data, const options *o, sal_error *err)
{
    size_t n = (size_t)data->rows, V = n - 1;
    answers a = { .W = malloc(n * n * sizeof *a.W),
                  .q = malloc(n * sizeof *a.q),
                  .C = malloc(n * n * sizeof *a.C),
                  .marginals = malloc(2 * n * sizeof *a.marginals),
                  .none = calloc((size_t)o->chains * V, sizeof *a.none),
                  .right = malloc(n * sizeof *a.right) };
    sal_status status = SAL_ERR_MEMORY;
    if (a.W && a.q && a.C && a.marginals && a.none && a.right) {
        if (compare_pictures(data, o->bandwidth, a.W)) {
            status = answer_all(data, o, &a, err);
        } else {
            snprintf(err->message, sizeof err->message, "all pictures are the same");
            status = SAL_ERR_DATA;
        }
    }
    free(a.W);
    free(a.q);
    free(a.C);
    free(a.marginals);
    free(a.none);
    free(a.right);
    return status;
}

static sal_status read_pictures(const char *path, const options *o, sal_data *data, sal_error *err)
{
    const sal_data_options grey = { .kind = SAL_DATA_PICTURES, .keep_intensity = true };
    sal_status status = sal_data_read(path, &grey, data, err);
    if (status == SAL_OK && (!data->labels || data->rows < 2 || data->rows > MOST_ROWS ||
                             o->first + o->queries > (double)data->rows)) {
        snprintf(err->message, sizeof err->message,
                 "%s: %lld pictures%s; expected 2 to %d with classes, as in libsvm files, the "
                 "queries among them",
                 path, (long long)data->rows, data->labels ? "" : " without classes", MOST_ROWS);
        return SAL_ERR_DATA;
    }
    return status;
}

int main(int argc, char **argv)
{
    options o = { .queries = 10,
                  .most = 10,
                  .coverage = 0.5,
                  .bandwidth = 0.3,
                  .beta = 3,
                  .sampler = "pas",
                  .chains = 8,
                  .warmup = 500,
                  .draws = 1000 };
    const struct {
        const char *name;
        double *value;
    } table[] = { { "--first", &o.first },         { "--queries", &o.queries },
                  { "--most", &o.most },           { "--coverage", &o.coverage },
                  { "--bandwidth", &o.bandwidth }, { "--beta", &o.beta },
                  { "--penalty", &o.penalty },     { "--step-size", &o.step_size },
                  { "--chains", &o.chains },       { "--warmup", &o.warmup },
                  { "--draws", &o.draws },         { "--seed", &o.seed } };
    const char *path = NULL;
    bool usage = false;
    for (int a = 1; a < argc; a++) {
        size_t k = 0;
        while (k < sizeof table / sizeof *table && strcmp(argv[a], table[k].name) != 0) {
            k++;
        }
        if (k < sizeof table / sizeof *table && a + 1 < argc) {
            *table[k].value = atof(argv[++a]);
        } else if (strcmp(argv[a], "--sampler") == 0 && a + 1 < argc) {
            o.sampler = argv[++a];
        } else if (argv[a][0] != '-' && !path) {
            path = argv[a];
        } else {
            usage = true;
        }
    }
    if (usage || !path || o.first < 0 || o.queries < 1 || o.chains < 1 || !(o.bandwidth > 0) ||
        !(o.penalty >= 0)) {
        fprintf(stderr, "usage: retrieval FILE [OPTION VALUE]..\n");
        return 2;
    }
    sal_data data = { 0 };
    sal_error err = { 0 };
    sal_status status = read_pictures(path, &o, &data, &err);
    status = status ? status : retrieve(&data, &o, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "retrieval: %s\n", *err.message ? err.message : sal_status_string(status));
    }
    sal_data_destroy(&data);
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
