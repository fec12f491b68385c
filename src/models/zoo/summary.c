/* Extractive summaries: which sentences of a document to keep. Lin & Bilmes 2011: L, how much of
 * every sentence the kept ones cover, saturating; R, a reward for keeping sentences of different
 * kinds. Both are nondecreasing and submodular. */
#include <math.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/budget.h"
#include "models/zoo/builtin.h"
#include "models/zoo/similarity.h"
#include "models/statistic.h"

enum { WORDS, DIVERSITY, SATURATION, CLUSTERS, BETA };

/* A document, taken apart. */
typedef struct document {
    int64_t n; /* sentences */
    sali_span *sentences;
    sali_words words;
    double *W;    /* [n x n] similarities */
    double *cost; /* [n] words */
    int32_t *group;
} document;

static void document_free(document *d)
{
    sali_free(d->sentences);
    sali_words_free(&d->words);
    sali_free(d->W);
    sali_free(d->cost);
    sali_free(d->group);
}

#define MOST_BYTES ((int64_t)1 << 22)
#define MOST_SENTENCES 1000

/* ---- reading the document */

static sal_status split(const sali_text *text, document *d, sal_error *err)
{
    if (text->size > MOST_BYTES) {
        return sali_fail(err, SAL_ERR_DATA, "summary: a text of %lld bytes; expected %lld at most",
                         (long long)text->size, (long long)MOST_BYTES);
    }
    sal_status status = sali_sentences(text->data, text->size, &d->sentences, &d->n, err);
    if (status == SAL_OK && (d->n < 1 || d->n > MOST_SENTENCES)) {
        status = sali_fail(err, SAL_ERR_DATA, "summary: a text of %lld sentences; expected 1 to %d",
                           (long long)d->n, MOST_SENTENCES);
    }
    return status ? status : sali_words_create(d->n, d->sentences, &d->words, err);
}

/* A summary must have something to choose. */
static sal_status check_document(const document *d, double limit, sal_error *err)
{
    int64_t telling = 0, fitting = 0;
    for (int64_t i = 0; i < d->n; i++) {
        telling += d->W[i * d->n + i] > 0;
        fitting += d->W[i * d->n + i] > 0 && d->cost[i] <= limit;
    }
    if (telling == 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "summary: no sentence has words other than stop words such as 'the'");
    }
    if (fitting == 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "summary: every sentence has more than %.0f words; raise words=", limit);
    }
    return SAL_OK;
}

static sal_status read_document(const sali_text *text, const double *values, document *d,
                                sal_error *err)
{
    sal_status status = split(text, d, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t n = d->n, groups = (int64_t)ceil(values[CLUSTERS] * (double)n);
    d->W = SALI_NEW_ARRAY(double, n *n);
    d->cost = SALI_NEW_ARRAY(double, n);
    d->group = SALI_NEW_ARRAY(int32_t, n);
    if (!d->W || !d->cost || !d->group) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < n; i++) {
        d->cost[i] = (double)(d->words.begin[i + 1] - d->words.begin[i]);
    }
    status = sali_cosines(n, &d->words, d->W, err);
    status = status ? status : check_document(d, values[WORDS], err);
    groups = groups < 1 ? 1 : groups;
    return status ? status : sali_cluster(n, d->W, groups, d->group, err);
}

/* ---- the statistic */

static double words_of(const sal_model *model, const int32_t *codes)
{
    const double *cost = model->statistic_data;
    double sum = 0;
    for (int64_t i = 0; i < model->space->n_variables; i++) {
        sum += codes[i] ? cost[i] : 0;
    }
    return sum;
}

static const sali_statistic words_statistic = { "words", words_of, sali_free };

/* ---- the formula */

/* sum_i min(sum_{j in S} w_ij, alpha sum_j w_ij), alpha = saturation / n. */
static sal_expr coverage(sal_tape *tape, const document *d, double saturation, double *cap)
{
    int64_t n = d->n;
    for (int64_t i = 0; i < n; i++) {
        cap[i] = 0;
        for (int64_t j = 0; j < n; j++) {
            cap[i] += d->W[i * n + j];
        }
        cap[i] *= saturation / (double)n;
    }
    sal_expr covered = sal_matvec(sal_constant(tape, d->W, SAL_SHAPE(n, n)), sal_state(tape));
    return sal_sum(sal_minimum(covered, sal_constant(tape, cap, SAL_SHAPE(n))));
}

/* sum_k sqrt(sum_{j in S, in group k} r_j), r_j = mean_i w_ij. The derivative of sqrt at 0 is
 * infinite; here it is 0 where nothing of a group is kept. */
static sal_expr diversity(sal_tape *tape, const document *d, double *rewards)
{
    int64_t n = d->n, groups = 0;
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++) {
            rewards[d->group[j] * n + j] += d->W[i * n + j] / (double)n;
        }
        groups = d->group[j] >= groups ? d->group[j] + 1 : groups;
    }
    sal_expr R = sal_constant(tape, rewards, SAL_SHAPE(groups, n));
    sal_expr sums = sal_relu(sal_matvec(R, sal_state(tape)));
    return sal_sum(sal_where(sums, sal_sqrt(sums), sal_scalar(tape, 0)));
}

static sal_status record(const document *d, const double *values, sal_dtype dtype, sal_model **out,
                         sal_error *err)
{
    int64_t n = d->n;
    sal_tape *tape = sali_builtin_tape("keep", SAL_BINARY, n, 0, dtype);
    double *cap = SALI_NEW_ARRAY(double, n), *rewards = SALI_NEW_ARRAY(double, n *n);
    sal_status status = SAL_OK;
    if (tape && cap && rewards) {
        sal_expr L = coverage(tape, d, values[SATURATION], cap);
        sal_expr R = diversity(tape, d, rewards);
        sal_expr f = sal_mul(sal_param(tape, "beta", SAL_SCALAR),
                             sal_add(L, sal_mul(sal_param(tape, "diversity", SAL_SCALAR), R)));
        status = sali_budget_finish(tape, f, d->cost, values[WORDS], "summary", out, err);
    } else {
        sal_tape_destroy(tape);
        status = sali_fail_memory(err);
    }
    sali_free(cap);
    sali_free(rewards);
    status = status ? status : sal_model_set_params(*out, "beta", &values[BETA], err);
    return status ? status : sal_model_set_params(*out, "diversity", &values[DIVERSITY], err);
}

static sal_status make_from(const double *values, const sali_content *content, sal_dtype dtype,
                            sal_model **out, sal_error *err)
{
    document d = { 0 };
    sal_status status = read_document(&content->text, values, &d, err);
    status = status ? status : record(&d, values, dtype, out, err);
    for (int64_t i = 0; status == SAL_OK && i < d.n; i++) {
        status = sali_model_set_label(*out, i, d.sentences[i].text, d.sentences[i].size, err);
    }
    if (status == SAL_OK) {
        sali_model_set_statistic(*out, &words_statistic, d.cost);
        d.cost = NULL;
    }
    document_free(&d);
    return status;
}

const sali_builtin sali_builtin_summary = {
    .name = "summary",
    .doc = "beta (sum_i min(sum_{j in S} w_ij, a/n sum_j w_ij) + diversity sum_k sqrt(sum_{j in S, "
           "cluster k} r_j)), S sentences of at most `words` words, w cosines, r their means",
    .source = "Lin & Bilmes 2011; Xiang et al. 2023 sec. 7.2",
    .dtype = SAL_F64,
    .parameters = { [WORDS] = { "words", 100, 1, 1e6, true, "most words of a summary", NULL },
                    [DIVERSITY] = { "diversity", 4, 0, 1e6, false, "weight of diversity", NULL },
                    [SATURATION] = { "saturation", 5, 0, 1e6, false,
                                     "a: a/n of a sentence's similarities cover it", NULL },
                    [CLUSTERS] = { "clusters", 0.2, 0, 1, false, "per sentence", NULL },
                    [BETA] = { "beta", 1, 0, 1e6, false, "inverse temperature", NULL } },
    .content = SALI_CONTENT_TEXT,
    .make_from = make_from,
};
