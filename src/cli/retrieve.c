/* saltus retrieve: for each of several queries, rank the images by how often chains choose them,
 * and the mean average precision of these rankings (Xiang et al. 2023, sec. 7.3). */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "models/zoo/retrieval.h"
#include "stats/average_precision.h"

typedef struct options {
    const char *specification;
    int64_t first, count;
    sal_run_options run;
    bool json;
} options;

/* The model of one query. */
static sal_status open_query(const char *specification, int64_t query, sal_model **model,
                             sal_error *err)
{
    char text[4096];
    int size = cli_is_saved(specification) /* which has no queries, as is said below */
                   ? snprintf(text, sizeof text, "%s", specification)
                   : snprintf(text, sizeof text, "%s%cquery=%lld", specification,
                              strchr(specification, ':') ? ',' : ':', (long long)query);
    if (size < 0 || size >= (int)sizeof text) {
        snprintf(err->message, sizeof err->message, "retrieve: the model's text is too long");
        return SAL_ERR_ARGUMENT;
    }
    sal_status status = sal_model_open(text, 0, model, err);
    if (status == SAL_OK && !sali_retrieval_relevant(*model)) {
        snprintf(err->message, sizeof err->message,
                 "%.400s: there are no labels to say which images are right; expected a model "
                 "'retrieval', of a file with labels or of none",
                 specification);
        sal_model_destroy(*model);
        *model = NULL;
        status = SAL_ERR_ARGUMENT;
    }
    return status;
}

/* Average precision of the share of draws that choose an image. */
static sal_status rank_by_draws(const sal_model *model, const sal_run *run, double *precision,
                                sal_error *err)
{
    int64_t V = sal_space_variables(sal_model_space(model));
    const int32_t *relevant = sali_retrieval_relevant(model);
    double *marginals = malloc((size_t)(2 * V) * sizeof *marginals);
    double *score = malloc((size_t)V * sizeof *score);
    bool *right = malloc((size_t)V * sizeof *right);
    sal_status status = marginals && score && right ? SAL_OK : SAL_ERR_MEMORY;
    status = status ? status : sal_run_marginals(run, marginals, err);
    for (int64_t v = 0; status == SAL_OK && v < V; v++) {
        score[v] = marginals[2 * v + 1];
        right[v] = relevant[v] != 0;
    }
    status = status ? status : sali_average_precision(V, score, right, precision, err);
    free(marginals);
    free(score);
    free(right);
    return status;
}

static sal_status answer_query(const options *o, int64_t query, double *precision, sal_error *err)
{
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_status status = open_query(o->specification, query, &model, err);
    status = status ? status : sal_sample(model, &o->run, &run, err);
    status = status ? status : rank_by_draws(model, run, precision, err);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

static int print(const options *o, const double *precision)
{
    double sum = 0;
    json_t *rows = json_array();
    for (int64_t k = 0; k < o->count; k++) {
        sum += precision[k];
        json_array_append_new(rows, json_pack("{s:I, s:f}", "query", (json_int_t)(o->first + k),
                                              "average_precision", precision[k]));
        if (!o->json) {
            printf("query %-10lld average precision %.4f\n", (long long)(o->first + k),
                   precision[k]);
        }
    }
    if (o->json) {
        return cli_json_print(json_pack(
            "{s:o, s:s, s:f, s:o}", "model", cli_json_text(o->specification), "sampler",
            o->run.sampler, "mean_average_precision", sum / (double)o->count, "queries", rows));
    }
    json_decref(rows);
    printf("mean average precision %.4f (%lld queries, %s)\n", sum / (double)o->count,
           (long long)o->count, o->run.sampler);
    return CLI_OK;
}

static int answer_queries(const options *o)
{
    sal_error err = { 0 };
    double *precision = malloc((size_t)o->count * sizeof *precision);
    sal_status status = precision ? SAL_OK : SAL_ERR_MEMORY;
    for (int64_t k = 0; status == SAL_OK && k < o->count; k++) {
        status = answer_query(o, o->first + k, &precision[k], &err);
    }
    int code = status == SAL_OK ? print(o, precision) : cli_fail(status, &err);
    free(precision);
    return code;
}

static int run_retrieve(const cli_command *command, int argc, char **argv)
{
    options o = { .count = 10,
                  .run = { .sampler = "pas", .chains = 8, .warmup = 500, .draws = 1000 } };
    const cli_option table[] = {
        { "first", CLI_INT, &o.first, "N", "the first query's row [0]" },
        { "queries", CLI_INT, &o.count, "N", "how many, one row after another [10]" },
        { "sampler", CLI_TEXT, &o.run.sampler, "NAME", "see 'saltus list samplers' [pas]" },
        { "chains", CLI_INT, &o.run.chains, "N", "[8]" },
        { "warmup", CLI_INT, &o.run.warmup, "N", "steps before the first draw [500]" },
        { "draws", CLI_INT, &o.run.draws, "N", "of each chain [1000]" },
        { "thin", CLI_INT, &o.run.thin, "N", "steps a draw [1]" },
        { "seed", CLI_SEED, &o.run.seed, "N", "same seed, same results [0]" },
        { "threads", CLI_THREADS, &o.run.threads, "N", "results do not depend on it [all]" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    int code = cli_parse(command, argc, argv, table, 1, &o.specification);
    if (code == CLI_OK && (o.first < 0 || o.count < 1 || o.count > 1000000)) {
        code = cli_usage("retrieve: --first must be 0 or more, --queries 1 to 1000000");
    }
    return code ? code : answer_queries(&o);
}

const cli_command cli_retrieve = { "retrieve", "MODEL",
                                   "mean average precision of `retrieval` over queries",
                                   run_retrieve };
