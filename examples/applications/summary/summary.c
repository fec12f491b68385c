/* Extractive summaries: which sentences of a document to keep, at most so many words of them.
 *
 *     summary DOCUMENT [REFERENCE] [OPTION VALUE]..     plain texts in UTF-8
 *     summary --score TEXT REFERENCE                    no sampling: ROUGE of a given text
 *
 * A set S of sentences has (Lin & Bilmes 2011)
 *
 *     f(S) = beta (sum_i min(sum_{j in S} w_ij, a / n sum_j w_ij)
 *                  + diversity sum_k sqrt(sum_{j in S, in group k} mean_i w_ij)),
 *
 * how far S covers every sentence, saturating, and a reward for sentences of different groups; w
 * are cosines of the sentences' words (tf-idf), groups are made by k-means. f = -inf above the
 * limit of words; or, with --penalty c, f is less by c for each word above it, so that chains can
 * pass through longer summaries, and may end in one. Printed are the sentences of the largest f
 * that annealing found (or, with --vote 1, of the set that chains drew most often: Xiang et al.
 * 2023, sec. 7.2), figures of the run, and ROUGE-1 and -2: how many of the reference's words and
 * pairs of words the summary has.
 *
 * Options: --words 100, --diversity 4, --saturation 5 (a), --clusters 0.2 (groups per sentence),
 * --beta 1, --penalty 0 (none: a hard limit), --sampler gibbs, --chains 4, --warmup, --draws and
 * --step-size (the library's), --seed 0, --vote 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <saltus/saltus.h>

#include "document.h"
#include "texts.h"

enum { MOST_SENTENCES = 1000, MOST_BYTES = 1 << 20 };

static char *read_text(const char *path)
{
    char *text = room(MOST_BYTES + 1, 1);
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, MOST_BYTES + 1, file) : 0;
    if (!file || ferror(file) || size > MOST_BYTES || strlen(text) != size) {
        stop_with("cannot read a text; expected plain text of 1 MiB at most");
    }
    fclose(file);
    text_simplify(text);
    return text;
}

/* ---- the model */

typedef struct options {
    double words, diversity, saturation, clusters, beta, penalty, vote, chains, warmup, draws,
        step_size, seed;
    const char *sampler;
} options;

/* sum_i min(sum_{j in S} w_ij, a / n sum_j w_ij) */
static sal_expr coverage(const document *d, double saturation, sal_tape *tape)
{
    int64_t n = d->n;
    double *most = room(n, sizeof *most);
    for (int64_t k = 0; k < n * n; k++) {
        most[k / n] += d->W[k];
    }
    for (int64_t i = 0; i < n; i++) {
        most[i] *= saturation / (double)n;
    }
    sal_expr W = sal_constant(tape, d->W, SAL_SHAPE(n, n));
    sal_expr covered = sal_matvec(W, sal_state(tape));
    sal_expr sum = sal_sum(sal_minimum(covered, sal_constant(tape, most, SAL_SHAPE(n))));
    free(most);
    return sum;
}

/* sum_k sqrt(sum_{j in S, in group k} mean_i w_ij). The derivative of sqrt at 0 is infinite; here
 * it is 0 where nothing of a group is kept. */
static sal_expr diversity(const document *d, int64_t groups, sal_tape *tape)
{
    int64_t n = d->n;
    double *reward = room(groups * n, sizeof *reward);
    for (int64_t k = 0; k < n * n; k++) {
        reward[d->group[k % n] * n + k % n] += d->W[k] / (double)n;
    }
    sal_expr R = sal_constant(tape, reward, SAL_SHAPE(groups, n));
    sal_expr sums = sal_relu(sal_matvec(R, sal_state(tape)));
    free(reward);
    return sal_sum(sal_where(sums, sal_sqrt(sums), sal_scalar(tape, 0)));
}

/* What f has for the limit of words: 0 within it; -inf above it, or a penalty for each word. */
static sal_expr limit_words(const document *d, const options *o, sal_tape *tape)
{
    sal_expr words = sal_dot(sal_constant(tape, d->words, SAL_SHAPE(d->n)), sal_state(tape));
    if (o->penalty > 0) {
        sal_expr above = sal_relu(sal_sub(words, sal_scalar(tape, o->words)));
        return sal_scale(above, -o->penalty);
    }
    return sal_at_most(words, o->words);
}

static sal_status make_model(document *d, const options *o, sal_model **model, sal_error *err)
{
    int64_t groups = (int64_t)fmax(1, ceil(o->clusters * (double)d->n));
    const sal_block keep = { .name = "keep", .kind = SAL_BINARY, .count = d->n };
    sal_space *space = sal_space_create();
    sal_status status = sal_space_add(space, &keep, err);
    sal_tape *tape = sal_tape_create(space, SAL_F64);
    if (status == SAL_OK) {
        document_group(d, groups);
        sal_expr L = coverage(d, o->saturation, tape), R = diversity(d, groups, tape);
        sal_expr f = sal_scale(sal_add(L, sal_scale(R, o->diversity)), o->beta);
        status = sal_model_from_tape(tape, sal_add(f, limit_words(d, o, tape)), model, err);
    }
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return status;
}

static void read_document(const char *path, double limit, document *d)
{
    d->text = read_text(path);
    d->sentences = room(MOST_SENTENCES, sizeof *d->sentences);
    d->n = text_sentences(d->text, MOST_SENTENCES, d->sentences);
    if (d->n < 1 || d->n > MOST_SENTENCES) {
        stop_with("expected a text of 1 to 1000 sentences");
    }
    d->words = room(d->n, sizeof *d->words);
    d->W = room(d->n * d->n, sizeof *d->W);
    d->group = room(d->n, sizeof *d->group);
    document_compare(d);
    double least = INFINITY;
    for (int64_t i = 0; i < d->n; i++) {
        least = d->W[i * d->n + i] > 0 ? fmin(least, d->words[i]) : least;
    }
    if (!(least <= limit)) {
        stop_with(least < INFINITY ? "every sentence is longer than --words"
                                   : "no sentence has words other than stop words such as 'the'");
    }
}

static void free_document(document *d)
{
    free(d->text);
    free(d->sentences);
    free(d->words);
    free(d->W);
    free(d->group);
}

/* ---- what comes out */

static void print_rouge(span summary, const char *reference_path)
{
    char *text = read_text(reference_path);
    span reference = { text, (int64_t)strlen(text) };
    token *a = room(summary.size, sizeof *a), *b = room(reference.size, sizeof *b);
    int64_t n = text_words(summary, a), m = text_words(reference, b);
    for (int64_t k = 1; k <= 2; k++) {
        rouge r = text_rouge(k, n, a, m, b);
        printf("ROUGE-%lld          recall %.4f, precision %.4f, F %.4f\n", (long long)k, r.recall,
               r.precision, r.f);
    }
    free(a);
    free(b);
    free(text);
}

/* The sentences kept, one a line; returns them as a text. */
static span print_summary(const document *d, const int32_t *keep, double limit)
{
    span summary = { room((int64_t)strlen(d->text) + d->n, 1), 0 };
    char *to = (char *)summary.text;
    int64_t kept = 0;
    double words = 0;
    for (int64_t i = 0; i < d->n; i++) {
        const char *at = d->sentences[i].text, *end = at + d->sentences[i].size;
        while (keep[i] && at < end) { /* blanks within are one */
            bool blank = strchr(" \t\r\n\v\f", *at);
            *to++ = blank ? ' ' : *at;
            at += blank ? (int64_t)strspn(at, " \t\r\n\v\f") : 1;
        }
        if (keep[i]) {
            *to++ = '\n';
            words += d->words[i];
            kept++;
        }
    }
    summary.size = to - summary.text;
    printf("%s\n%lld of %lld sentences, %.0f words of at most %.0f\n", summary.text,
           (long long)kept, (long long)d->n, words, limit);
    return summary;
}

/* Where chains start: each with what fits of the sentences from another one on. start [chains x n],
 * zeroed. */
static void choose_starts(const document *d, int64_t chains, double limit, int32_t *start)
{
    for (int64_t c = 0; c < chains; c++) {
        double words = 0;
        for (int64_t k = 0; k < d->n; k++) {
            int64_t i = (c * d->n / chains + k) % d->n;
            start[c * d->n + i] = words + d->words[i] <= limit;
            words += start[c * d->n + i] ? d->words[i] : 0;
        }
    }
}

static sal_status summarise(document *d, const options *o, const char *reference, sal_error *err)
{
    sal_run_options run_options = { .sampler = o->sampler,
                                    .chains = (int64_t)o->chains,
                                    .warmup = (int64_t)o->warmup,
                                    .draws = (int64_t)o->draws,
                                    .step_size = o->step_size,
                                    .seed = (uint64_t)o->seed,
                                    .annealing.on = o->vote == 0,
                                    .record.draws = o->vote != 0 };
    sal_model *model = NULL;
    sal_run *run = NULL;
    sal_run_summary figures;
    int32_t *keep = room(d->n, sizeof *keep);
    int32_t *start = room(run_options.chains * d->n, sizeof *start);
    double f = NAN;
    choose_starts(d, run_options.chains, o->words, start);
    run_options.init = start;
    sal_status status = make_model(d, o, &model, err);
    status = status ? status : sal_sample(model, &run_options, &run, err);
    status = status ? status : sal_run_summarise(run, &figures, err);
    if (status == SAL_OK) {
        status =
            o->vote != 0 ? sal_run_vote(run, keep, NULL, err) : sal_run_best(run, keep, &f, err);
    }
    status = status ? status : sal_model_evaluate(model, 1, keep, &f, NULL, NULL, err);
    if (status == SAL_OK) {
        span summary = print_summary(d, keep, o->words);
        printf("f                %.6f\n", f);
        if (o->vote != 0) {
            printf("draws            mean f %.6f, ESS %.1f\n", figures.log_prob_mean,
                   figures.ess_median);
        }
        if (reference) {
            print_rouge(summary, reference);
        }
        free((char *)summary.text);
    }
    free(keep);
    free(start);
    sal_run_destroy(run);
    sal_model_destroy(model);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .words = 100,
                  .diversity = 4,
                  .saturation = 5,
                  .clusters = 0.2,
                  .beta = 1,
                  .chains = 4,
                  .sampler = "gibbs" };
    const struct {
        const char *name;
        double *value;
    } table[] = { { "--words", &o.words },
                  { "--diversity", &o.diversity },
                  { "--saturation", &o.saturation },
                  { "--clusters", &o.clusters },
                  { "--beta", &o.beta },
                  { "--penalty", &o.penalty },
                  { "--chains", &o.chains },
                  { "--warmup", &o.warmup },
                  { "--draws", &o.draws },
                  { "--step-size", &o.step_size },
                  { "--seed", &o.seed },
                  { "--vote", &o.vote } };
    const char *paths[2] = { NULL, NULL };
    int n = 0, score = argc > 1 && strcmp(argv[1], "--score") == 0;
    for (int a = 1 + score; a < argc; a++) {
        size_t k = 0;
        while (k < sizeof table / sizeof *table && strcmp(argv[a], table[k].name) != 0) {
            k++;
        }
        if (k < sizeof table / sizeof *table && a + 1 < argc) {
            *table[k].value = atof(argv[++a]);
        } else if (strcmp(argv[a], "--sampler") == 0 && a + 1 < argc) {
            o.sampler = argv[++a];
        } else if (argv[a][0] != '-' && n < 2) {
            paths[n++] = argv[a];
        } else {
            n = 0;
            break;
        }
    }
    if (n < 1 + score ||
        !(o.words >= 1 && o.clusters >= 0 && o.clusters <= 1 && o.chains >= 1 && o.penalty >= 0)) {
        fprintf(stderr, "usage: summary DOCUMENT [REFERENCE] [OPTION VALUE]..\n"
                        "       summary --score TEXT REFERENCE\n");
        return 2;
    }
    if (score) {
        char *text = read_text(paths[0]);
        print_rouge((span){ text, (int64_t)strlen(text) }, paths[1]);
        free(text);
        return 0;
    }
    document d = { 0 };
    sal_error err = { 0 };
    read_document(paths[0], o.words, &d);
    sal_status status = summarise(&d, &o, paths[1], &err);
    if (status != SAL_OK) {
        fprintf(stderr, "summary: %s\n", err.message);
    }
    free_document(&d);
    return status != SAL_OK;
}

/* SPDX-License-Identifier: MIT */
