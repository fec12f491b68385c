/* SPDX-License-Identifier: MIT */
/* saltus compare: samplers side by side on one model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare.h"
#include "cli/compare_timing.h"

/* Draws are kept for pairs and states up to this many bytes a sampler. */
#define MOST_DRAW_BYTES (INT64_C(1) << 30)
/* In equal time: the steps that are allowed, as a multiple of the steps that the trial predicts, so
 * that the clock ends the run. */
#define MARGIN 1.25

typedef struct options {
    sal_run_options run;
    sal_exact_options exact;
    cli_fixed fixed;
    const char *samplers, *dtype, *params, *sums, *marginals_exact, *time_text, *memory;
    int64_t couplings;
    double time;
    bool check_exact, json;
} options;

/* ---- the list of samplers */

typedef struct item_list {
    int64_t n;
    cli_sampler_item *items;
} item_list;

/* Append a sampler to the list. Returns the exit code. */
static int add_item(item_list *list, const cli_sampler_item *item)
{
    cli_sampler_item *items = realloc(list->items, (size_t)(list->n + 1) * sizeof *items);
    if (!items) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    list->items = items;
    items[list->n++] = *item;
    return CLI_OK;
}

/* List all samplers of the library, without settings. Returns the exit code. */
static int all_samplers(item_list *list)
{
    sal_sampler_info info;
    int code = CLI_OK;
    for (int64_t k = 0; code == CLI_OK && sal_sampler_list(k, &info); k++) {
        cli_sampler_item item = { 0 };
        snprintf(item.specification, sizeof item.specification, "%s", info.name);
        snprintf(item.name, sizeof item.name, "%s", info.name);
        code = add_item(list, &item);
    }
    return code;
}

/* List the samplers in the text of --samplers. Returns the exit code. */
static int listed_samplers(const char *text, item_list *list)
{
    cli_sampler_item item;
    int code = CLI_OK;
    do {
        code = cli_next_sampler(&text, &item);
        code = code ? code : add_item(list, &item);
    } while (code == CLI_OK && *text);
    return code;
}

/* ---- several ranks: all ranks make the same runs, as rank 0 decides */

static sal_status broadcast_bytes(void *data, int64_t bytes, sal_error *err)
{
    return sal_comm_broadcast(cli_comm(), data, bytes, err);
}

/* Summarise a run at rank 0; all ranks get its time and its rate, other ranks nothing else. */
static sal_status summarise_rate(const sal_run *run, sal_run_summary *s, sal_error *err)
{
    sal_status status = cli_is_first() ? sal_run_summarise(run, s, err) : SAL_OK;
    double known[] = { s->seconds, s->steps_per_second };
    status = status ? status : broadcast_bytes(known, sizeof known, err);
    s->seconds = known[0];
    s->steps_per_second = known[1];
    return status;
}

/* ---- one run */

typedef struct watch {
    cli_progress progress;
    double limit, start; /* seconds of sampling; when it began, 0: not yet */
    const sal_run_options *run;
} watch;

/* The progress callback of a run: shows progress, and stops the run when its time is over or after
 * Ctrl-C. Time counts from the end of warm-up. */
static int look(int64_t done, int64_t total, void *data)
{
    watch *w = data;
    double time = cli_clock();
    int64_t warmup = total - w->run->draws * w->run->thin;
    cli_progress_show(&w->progress, w->run->sampler, done, total);
    if (w->start == 0 && done >= warmup) {
        w->start = time;
    }
    return cli_interrupted() || (w->limit > 0 && w->start > 0 && time - w->start >= w->limit);
}

/* Set *rate to the steps per second of a sampler, by short runs of growing length. */
static sal_status find_rate(sal_model *model, const sal_run_options *given, double *rate,
                            sal_error *err)
{
    sal_run_options o = *given;
    sal_status status = SAL_OK;
    sal_run_summary s = { 0 };
    o.warmup = -1;
    o.draws = 1;
    o.record.draws = false;
    for (o.thin = 4; status == SAL_OK && s.seconds < COMPARE_TRIAL_SECONDS; o.thin *= 2) {
        sal_run *run = NULL;
        status = sal_sample(model, &o, &run, err);
        status = status ? status : summarise_rate(run, &s, err);
        sal_run_destroy(run);
    }
    *rate = s.steps_per_second;
    return status;
}

/* Set thin, and the number of draws, so that a chain makes about the wanted number of draws in
 * `steps` steps, and some more. */
static void fill_time(sal_run_options *o, double steps)
{
    double draws = (double)o->draws, thin = floor(steps / draws);
    o->thin = thin < 1 ? 1 : thin > 1e12 ? (int64_t)1e12 : (int64_t)thin;
    draws = ceil(fmin(draws, steps / (double)o->thin) * MARGIN);
    o->draws = draws < 1 ? 1 : (int64_t)draws;
}

/* Whether a run keeps its draws: pairs, states or the trace of errors need them, and they are not
 * too many. */
static bool keeps_draws(const options *o, const sal_run_options *run, const sal_model *model,
                        const compare_reference *reference)
{
    double bytes = (double)run->chains * (double)run->draws *
                   (double)sal_space_variables(sal_model_space(model)) * 4;
    bool traced = o->json && reference->marginals;
    return (reference->pairs || o->check_exact || traced) && bytes <= (double)MOST_DRAW_BYTES;
}

/* Run one sampler, for equal steps or equal time. */
static sal_status run_sampler(sal_model *model, const options *o,
                              const compare_reference *reference, const cli_sampler_item *item,
                              sal_run **run, sal_error *err)
{
    sal_run_options r = o->run;
    sal_status status = SAL_OK;
    double rate = 0;
    r.sampler = item->specification;
    r.step_size = item->step_size;
    if (o->time > 0) {
        status = find_rate(model, &r, &rate, err);
        fill_time(&r, rate * o->time);
    }
    watch w = { .progress = cli_progress_begin(),
                .limit = o->time,
                .start = r.warmup < 0 ? cli_clock() : 0,
                .run = &r };
    r.callbacks.progress = look;
    r.callbacks.progress_data = &w;
    r.record.draws = cli_first_says(keeps_draws(o, &r, model, reference));
    status = status ? status : sal_sample(model, &r, run, err);
    cli_progress_end(&w.progress);
    return status;
}

/* Set the rates of a row whose run was too short to measure them: repeat the run with more steps
 * between draws, until the two fastest runs agree. The fastest run counts. */
static sal_status time_again(sal_model *model, const options *o, const cli_sampler_item *item,
                             compare_row *row, sal_error *err)
{
    sal_run_summary *s = &row->summary;
    sal_run_options r = o->run;
    sal_status status = SAL_OK;
    compare_timing timing = { 0 };
    r.sampler = item->specification;
    r.step_size = item->step_size;
    r.thin = compare_timing_thin(s->thin, s->seconds);
    while (status == SAL_OK && compare_timing_wants(&timing)) {
        sal_run *run = NULL;
        sal_run_summary again = { 0 };
        status = sal_sample(model, &r, &run, err);
        status = status ? status : summarise_rate(run, &again, err);
        compare_timing_add(&timing, again.steps_per_second);
        sal_run_destroy(run);
    }
    row->unsteady = !compare_timing_agrees(&timing);
    s->steps_per_second = timing.fastest;
    s->ess_per_second = s->ess_per_step * (double)s->chains * timing.fastest;
    return status;
}

/* Set the figures of a row from its run, at rank 0: the summary, and errors as far as there are
 * exact answers and draws. */
static sal_status measure_row(const sal_run *run, const sal_model *model, const options *o,
                              const compare_reference *reference, compare_row *row, sal_error *err)
{
    int bytes;
    sal_status status = sal_run_summarise(run, &row->summary, err);
    if (status == SAL_OK && reference->marginals && row->summary.draws > 0) {
        status =
            sal_run_measure_errors(run, reference->marginals, reference->pairs, &row->errors, err);
    }
    if (status == SAL_OK && o->json && reference->marginals && row->summary.draws > 0 &&
        sal_run_draws(run, &bytes)) {
        status = compare_trace_errors(run, model, reference->marginals, &row->trace, err);
    }
    if (status == SAL_OK && o->check_exact && row->summary.draws > 0 &&
        sal_run_draws(run, &bytes)) {
        status =
            sal_run_total_variation(run, o->exact.limit, o->exact.threads, &row->variation, err);
        status = status == SAL_ERR_UNSUPPORTED ? SAL_OK : status;
    }
    return status;
}

/* The progress callback of coupled pairs: Ctrl-C ends them. */
static int stop_pairs(int64_t done, int64_t total, void *data)
{
    (void)done;
    (void)total;
    (void)data;
    return cli_interrupted();
}

/* Set the meeting times of a row at rank 0, if pairs are asked for and the sampler can be coupled.
 */
static sal_status measure_meeting(sal_model *model, const options *o, const cli_sampler_item *item,
                                  compare_row *row, sal_error *err)
{
    const sal_run_options r = { .sampler = item->specification,
                                .step_size = item->step_size,
                                .warmup = o->run.warmup,
                                .seed = o->run.seed,
                                .threads = o->run.threads,
                                .callbacks.progress = stop_pairs };
    const sal_meeting_options m = { .pairs = o->couplings };
    if (o->couplings == 0 || cli_interrupted()) {
        return SAL_OK;
    }
    const sal_status status = sal_meeting_times(model, &r, &m, NULL, &row->meeting, err);
    return status == SAL_ERR_UNSUPPORTED || cli_interrupted() ? SAL_OK : status;
}

/* Run a sampler and set its row; on failure the row has the reason. */
static void fill_row(sal_model *model, const options *o, const compare_reference *reference,
                     const cli_sampler_item *item, compare_row *row)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    *row = (compare_row){ .errors = { NAN, NAN, NAN, NAN, NAN },
                          .variation = { NAN, NAN, NAN },
                          .meeting = { .median = NAN, .steps_25 = NAN, .steps_01 = NAN } };
    snprintf(row->sampler, sizeof row->sampler, "%s", item->name);
    sal_sampler_info info = { 0 };
    sal_sampler_find(item->specification, NULL, 0, &info, NULL);
    row->exact = info.exact;
    sal_status status = run_sampler(model, o, reference, item, &run, &err);
    if (status == SAL_OK && cli_is_first()) {
        status = measure_row(run, model, o, reference, row, &err);
        status = status ? status : measure_meeting(model, o, item, row, &err);
    }
    double known[] = { (double)row->summary.thin, row->summary.seconds };
    const bool again =
        cli_first_says(status == SAL_OK && row->summary.draws > 0 && !cli_interrupted() &&
                       row->summary.seconds < COMPARE_TRIAL_SECONDS);
    if (again && broadcast_bytes(known, sizeof known, &err) == SAL_OK) {
        row->summary.thin = (int64_t)known[0];
        row->summary.seconds = known[1];
        status = time_again(model, o, item, row, &err);
    }
    if (status != SAL_OK) {
        snprintf(row->reason, sizeof row->reason, "%s",
                 err.message[0] ? err.message : sal_status_string(status));
    }
    sal_run_destroy(run);
}

/* ---- all of them */

/* CLI_USAGE for a sampler that does not exist or does not have a setting: the user's mistake,
 * reported before anything runs. A sampler that cannot serve the model gets a row that says so. */
static int check_items(const sal_model *model, const item_list *list)
{
    for (int64_t k = 0; k < list->n; k++) {
        const cli_sampler_item *item = &list->items[k];
        sal_error err = { 0 };
        sal_status status =
            sal_sampler_find(item->specification, model, item->step_size, NULL, &err);
        if (status != SAL_OK && status != SAL_ERR_UNSUPPORTED) {
            return cli_fail(status, &err);
        }
    }
    return CLI_OK;
}

/* Whether a sampler has no draw because the user stopped it. */
static bool is_lost(const compare_row *row)
{
    return cli_interrupted() && !row->reason[0] && row->summary.draws == 0;
}

/* Print on stderr which samplers a signal cut short or left out. */
static void say_stopped(const compare_report *r, const item_list *list)
{
    const compare_row *last = r->n > 0 ? &r->rows[r->n - 1] : NULL;
    const bool within = last && !last->reason[0] && last->summary.stopped;
    if (!cli_interrupted() || (!within && r->n == list->n)) {
        return;
    }
    fprintf(stderr, "saltus: stopped");
    if (within) {
        fprintf(stderr, "; %s has %lld draws a chain only", last->sampler,
                (long long)last->summary.draws);
    }
    for (int64_t k = r->n; k < list->n; k++) {
        fprintf(stderr, "%s%s", k == r->n ? "; not run: " : ", ", list->items[k].name);
    }
    fputc('\n', stderr);
}

/* Run all samplers of the list, until a signal, and print the results. Returns the exit code. */
static int compare_samplers(sal_model *model, const options *o, const item_list *list,
                            const compare_reference *reference)
{
    compare_report report = { .model = sal_model_name(model),
                              .variables = sal_space_variables(sal_model_space(model)),
                              .reference = reference,
                              .options = &o->run,
                              .time = o->time,
                              .check_exact = o->check_exact };
    compare_row *rows = calloc((size_t)list->n, sizeof *rows);
    if (!rows) {
        return cli_fail(SAL_ERR_MEMORY, &(sal_error){ 0 });
    }
    cli_catch_interrupt();
    for (; report.n < list->n && cli_first_says(!cli_interrupted()); report.n++) {
        fill_row(model, o, reference, &list->items[report.n], &rows[report.n]);
    }
    report.n -= report.n > 0 && is_lost(&rows[report.n - 1]);
    report.rows = rows;
    say_stopped(&report, list);
    int code = o->json ? compare_print_json(&report) : compare_print_table(&report);
    bool any = false;
    for (int64_t k = 0; k < report.n; k++) {
        any = any || !rows[k].reason[0];
    }
    if (code == CLI_OK && !any && cli_interrupted()) {
        code = CLI_FAULT;
    } else if (code == CLI_OK && !any) {
        code = cli_usage("compare: no sampler could be run");
    }
    free(rows);
    return code;
}

static int check_options(options *o)
{
    if (o->couplings < 0 || o->couplings > INT32_MAX) {
        return cli_usage("--couplings %lld: expected 1 or more pairs", (long long)o->couplings);
    }
    o->exact.threads = o->run.threads;
    int code = cli_bytes("memory", o->memory, &o->exact.memory);
    return code || !o->time_text ? code : cli_seconds("time", o->time_text, &o->time);
}

static int run_compare(const cli_command *command, int argc, char **argv)
{
    options o = { .run = { .chains = 16, .draws = 1000, .thin = 1 } };
    cli_library run = { sal_option_table_of(SAL_OPTIONS_RUN), &o.run };
    const cli_option table[] = {
        { "samplers", CLI_TEXT, &o.samplers, "A,B:key=value,...",
          "samplers, with settings and step-size=X [all that apply]" },
        { "time", CLI_TEXT, &o.time_text, "10s",
          "sampling time for each sampler; sets thin [equal steps]" },
        { "chains", CLI_LIBRARY, &run, "N", "independent chains [16]" },
        { "warmup", CLI_LIBRARY, &run, "N",
          "steps before the first draw [1000 or 10 sweeps, whichever is more]" },
        { "draws", CLI_LIBRARY, &run, "N", "draws kept from each chain [1000]" },
        { "thin", CLI_LIBRARY, &run, "N", "steps between two draws [1]" },
        { "seed", CLI_SEED, &o.run.seed, "N",
          "the same seed gives the same figures, for equal steps [0]" },
        { "threads", CLI_LIBRARY, &run, "N",
          "number of threads; figures do not depend on it [all]" },
        CLI_FIXED_OPTIONS(o.fixed),
        CLI_FIX_SUM_OPTION(o.sums),
        { "params", CLI_TEXT, &o.params, "FILE", "read parameters from .safetensors" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "limit", CLI_INT, &o.exact.limit, "N", "largest number of states to enumerate [2^20]" },
        { "memory", CLI_TEXT, &o.memory, "SIZE",
          "largest size of elimination's tables, as 512M, 4G [1G]" },
        { "marginals-exact", CLI_TEXT, &o.marginals_exact, "FILE",
          "true marginals, as exact --marginals writes [MODEL.mar.json, MODEL.uai.MAR]" },
        { "check-exact", CLI_FLAG, &o.check_exact, NULL,
          "print the total variation distance to enumeration" },
        { "couplings", CLI_INT, &o.couplings, "N",
          "print after how many steps N pairs of coupled chains meet, and bring chains near the "
          "model" },
        { "json", CLI_FLAG, &o.json, NULL, "print one JSON object" },
        { 0 },
    };
    const char *specification = NULL;
    sal_model *model = NULL;
    cli_clamps clamps = { 0 };
    item_list list = { 0 };
    compare_reference reference = { .log_z = NAN };
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    code = code ? code : check_options(&o);
    code = code ? code : cli_open_fixed(specification, o.dtype, o.params, o.sums, &model);
    code = code ? code : cli_clamps_read(&o.fixed, model, &clamps);
    code = code ? code : cli_clamps_apply(&clamps, &model);
    if (code == CLI_OK) {
        code = o.samplers ? listed_samplers(o.samplers, &list) : all_samplers(&list);
    }
    code = code ? code : check_items(model, &list);
    if (code == CLI_OK && cli_is_first()) {
        code =
            compare_find_reference(model, specification, o.marginals_exact, &o.exact, &reference);
    }
    code = cli_agree(code);
    o.run.comm = cli_comm();
    code = code ? code : compare_samplers(model, &o, &list, &reference);
    compare_free_reference(&reference);
    free(list.items);
    cli_clamps_free(&clamps);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_compare = { "compare", "MODEL", "run samplers side by side", run_compare };
