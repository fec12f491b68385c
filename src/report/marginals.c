/* SPDX-License-Identifier: MIT */
/* Marginals of a run, next to exact ones where these are available. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/memory.h"
#include "io/networks/marginals.h"
#include "models/clamp.h"
#include "models/model.h"
#include "report/report.h"

#define MOST_STATES 1000    /* of a variable; larger codes do not come from a small set of states */
#define MOST_ROWS (1 << 20) /* states of all variables */
#define NAMED 24            /* variables whose names fit on an axis */
#define ERROR_BARS 600      /* entries with a standard error each */
#define MEMORY ((int64_t)1 << 28) /* of elimination */

/* Probabilities of the states of all variables, variable 0 first. */
typedef struct marginals {
    sali_memory memory; /* of the arrays */
    int64_t V, R;
    int32_t *states;    /* [V] */
    double *estimate;   /* [R] */
    double *low, *high; /* [R] two standard errors away; NULL: too many, or unknown */
    double *exact;      /* [R], or NULL */
    bool two;           /* every variable has two states */
    bool spins;         /* all variables are spins, -1 and +1 */
    char source[600];   /* where the exact ones come from, or why there are none */
} marginals;

/* ---- estimates */

/* Set each variable's number of states to one more than its largest code. False if a draw is not a
 * code of a small set. */
static bool find_states(const sali_run_record *run, marginals *m)
{
    const sal_array *draws = &run->draws;
    for (int64_t i = 0; i < draws->count; i++) {
        double code = draws->values[i];
        if (!(code >= 0 && code < MOST_STATES && code == floor(code))) {
            return false;
        }
        int32_t *states = &m->states[i % run->V];
        *states = (int32_t)code >= *states ? (int32_t)code + 1 : *states;
    }
    return true;
}

/* Replace the numbers of states by those of the model's space; false if the model does not fit the
 * draws. */
static bool take_states(const sal_space *space, marginals *m)
{
    bool fits = sal_space_variables(space) == m->V;
    for (int64_t v = 0; fits && v < m->V; v++) {
        int64_t states = sal_space_states(space, v);
        fits = states >= m->states[v] && states <= MOST_STATES;
    }
    for (int64_t v = 0; fits && v < m->V; v++) {
        m->states[v] = (int32_t)sal_space_states(space, v);
    }
    return fits;
}

/* Whether all variables are spins, by the model (NULL: there is none) or the file. */
static bool are_spins(const sali_run_record *run, const sal_model *model)
{
    const sal_space *space = model ? sal_model_space(model) : NULL;
    bool spins = space || run->spins;
    const sal_block *block;
    for (int64_t b = 0; space && (block = sal_space_block(space, b)); b++) {
        spins = spins && block->kind == SAL_SPIN;
    }
    return spins;
}

/* Set the estimates: the share of the draws in each state. Every variable gets at least two
 * states. */
static sal_status count_draws(const sali_run_record *run, marginals *m, sal_error *err)
{
    int64_t *begin = SALI_TAKE(&m->memory, int64_t, m->V);
    m->two = true;
    for (int64_t v = 0; begin && v < m->V; v++) {
        begin[v] = m->R;
        m->states[v] = m->states[v] < 2 ? 2 : m->states[v];
        m->R += m->states[v];
        m->two = m->two && m->states[v] == 2;
    }
    m->estimate = SALI_TAKE(&m->memory, double, m->R);
    double each = 1 / ((double)run->chains * (double)run->n_draws);
    for (int64_t i = 0; begin && m->estimate && i < run->draws.count; i++) {
        m->estimate[begin[i % m->V] + (int64_t)run->draws.values[i]] += each;
    }
    return sali_memory_status(&m->memory, err);
}

/* Set `low` and `high`, two standard errors around each estimate, unless there are too many entries
 * or a chain did not move. */
static sal_status find_errors(const sali_run_record *run, marginals *m, sal_error *err)
{
    int64_t n = run->chains * run->n_draws;
    if (m->R > ERROR_BARS || run->draws.unmoved > 0) {
        return SAL_OK;
    }
    double *series = SALI_TAKE(&m->memory, double, n);
    m->low = SALI_TAKE(&m->memory, double, m->R);
    m->high = SALI_TAKE(&m->memory, double, m->R);
    sal_status status = sali_memory_status(&m->memory, err);
    for (int64_t v = 0, r = 0; status == SAL_OK && v < m->V; v++) {
        for (int32_t k = 0; status == SAL_OK && k < m->states[v]; k++, r++) {
            sal_diagnostics d = { 0 };
            for (int64_t i = 0; i < n; i++) {
                series[i] = run->draws.values[i * m->V + v] == k;
            }
            status = sal_stats_diagnose(run->chains, run->n_draws, series, &d, err);
            m->low[r] = m->estimate[r] - 2 * d.mcse_mean;
            m->high[r] = m->estimate[r] + 2 * d.mcse_mean;
        }
    }
    return status;
}

/* ---- exact ones */

/* The model named by the options or else by the file. NULL, with the reason in m->source, if there
 * is none or it cannot be opened; if the options named it, *status is the error as well. */
static sal_model *open_model(const sali_run_record *run, const sal_report_options *o, marginals *m,
                             sal_status *status, sal_error *err)
{
    sal_error why = { 0 };
    sal_model *model = NULL;
    const char *name = o->model ? o->model : run->model;
    if (!name) {
        snprintf(m->source, sizeof m->source, "the file names no model; give --model");
        return NULL;
    }
    sal_status opened = sal_model_open(name, 0, &model, &why);
    if (opened == SAL_OK && take_states(sal_model_space(model), m)) {
        return model;
    }
    sal_model_destroy(model);
    if (opened == SAL_OK) {
        sali_fail(&why, SAL_ERR_DATA, "%.200s: the model has not the variables of these draws",
                  name);
    }
    if (o->model) {
        *status = sali_fail(err, why.status, "%s", why.message);
    }
    snprintf(m->source, sizeof m->source, "the model cannot be opened: %.400s", why.message);
    return NULL;
}

/* Read the exact marginals from a file. Without a model, the draws give the variables and their
 * numbers of states. */
static sal_status read_exact(const char *path, const sal_model *model, marginals *m, sal_error *err)
{
    sal_space *space = model ? NULL : sal_space_create();
    double log_z;
    int64_t evidence;
    sal_status status = model || space ? SAL_OK : sali_fail_memory(err);
    for (int64_t v = 0; !model && status == SAL_OK && v < m->V;) {
        char name[32];
        snprintf(name, sizeof name, "v%lld", (long long)v);
        sal_block block = { .name = name, .kind = SAL_CATEGORICAL, .states = m->states[v] };
        while (v < m->V && m->states[v] == block.states) {
            block.count++;
            v++;
        }
        status = sal_space_add(space, &block, err);
    }
    if (status == SAL_OK) {
        status = sali_marginals_read(path, model ? sal_model_space(model) : space, m->exact, &log_z,
                                     &evidence, err);
        snprintf(m->source, sizeof m->source, "%.500s", path);
    }
    sal_space_destroy(space);
    return status;
}

/* Compute the exact marginals of the model, with the run's clamped variables fixed; *exact reports
 * which exact method answered. */
static sal_status run_oracle(const sali_run_record *run, sal_model *model, marginals *m,
                             sal_exact *exact, sal_error *err)
{
    const sal_exact_options options = { .memory = MEMORY };
    sal_model *given = NULL;
    if (!run->clamped) {
        return sal_model_exact(model, &options, exact, m->exact, NULL, NULL, err);
    }
    if (run->n_clamped == 0) {
        return sali_fail(err, SAL_ERR_DATA,
                         "the file does not tell which variables were fixed; give --exact with a "
                         "file of marginals");
    }
    double *free_ones = SALI_TAKE(&m->memory, double, m->R);
    sal_status status = sali_memory_status(&m->memory, err);
    status = status ? status
                    : sal_model_clamp(model, run->n_clamped, run->clamp_variables, run->clamp_codes,
                                      &given, err);
    status = status ? status : sal_model_exact(given, &options, exact, free_ones, NULL, NULL, err);
    if (status == SAL_OK && sali_clamp_marginals(given, free_ones, m->exact) != SAL_OK) {
        status = sali_fail_memory(err);
    }
    sal_model_destroy(given);
    return status;
}

/* Compute the exact marginals. If no exact method can, m->exact becomes NULL and m->source the
 * reason; only SAL_ERR_MEMORY is returned. */
static sal_status compute_exact(const sali_run_record *run, sal_model *model, marginals *m,
                                sal_error *err)
{
    sal_exact exact;
    sal_error why = { 0 };
    sal_status status = run_oracle(run, model, m, &exact, &why);
    if (status == SAL_ERR_MEMORY) {
        return sali_fail_memory(err);
    }
    if (status == SAL_OK) {
        snprintf(m->source, sizeof m->source, "%s%s", exact.oracle,
                 run->clamped ? ", given the variables that were fixed" : "");
        return SAL_OK;
    }
    /* After the ';', the message lists what each exact method lacks. */
    int size = status == SAL_ERR_UNSUPPORTED ? (int)strcspn(why.message, ";") : 550;
    snprintf(m->source, sizeof m->source, "%.*s", size < 550 ? size : 550, why.message);
    m->exact = NULL;
    return SAL_OK;
}

/* Set m->exact from the file of the options or by computation; it stays NULL without a file and a
 * model. */
static sal_status find_exact(const sali_run_record *run, const sal_report_options *o,
                             sal_model *model, marginals *m, sal_error *err)
{
    if (!model && !o->exact) {
        return SAL_OK;
    }
    m->exact = SALI_TAKE(&m->memory, double, m->R);
    if (!m->exact) {
        return sali_fail_memory(err);
    }
    return o->exact ? read_exact(o->exact, model, m, err) : compute_exact(run, model, m, err);
}

/* ---- figures */

/* A figure for variables with two states: the probability of code 1 (+1 for spins) by variable. */
static void put_by_variable(sali_page *page, const sali_run_record *run, marginals *m)
{
    char names[NAMED][80];
    const char *list[NAMED];
    double *p = SALI_TAKE(&m->memory, double, 4 * m->V);
    sal_panel panel = { .title = "Marginals",
                        .x = { .label = "variable" },
                        .y = { .label = m->spins ? "p(+1)" : "p(code 1)" } };
    bool few = m->V <= NAMED;
    for (int64_t v = 0; few && v < m->V; v++) {
        list[v] = sali_report_name(run, v, names[v]);
    }
    if (few) {
        panel.x.categories = list;
        panel.x.n_categories = m->V;
    }
    sal_figure *figure = p ? sali_report_figure(&panel) : NULL;
    const double *const from[4] = { m->estimate, m->low, m->high, m->exact };
    double *to[4] = { NULL };
    for (int k = 0; figure && k < 4; k++) {
        to[k] = from[k] ? p + k * m->V : NULL;
        for (int64_t v = 0; to[k] && v < m->V; v++) {
            to[k][v] = from[k][2 * v + 1];
        }
    }
    sal_series points = { .name = "draws", .mark = SAL_MARK_POINTS, .n = m->V, .y = to[0] };
    points.low = to[1];
    points.high = to[2];
    sal_figure_series(figure, &points);
    if (to[3]) {
        points = (sal_series){ .name = "exact", .mark = SAL_MARK_POINTS, .n = m->V, .style = 7 };
        points.y = to[3];
        sal_figure_series(figure, &points);
    }
    sali_page_figure(page, figure, "Probabilities of %s%s%s.", m->spins ? "+1" : "code 1",
                     m->low ? ", with two standard errors" : "",
                     m->exact ? ", and the exact ones" : "");
}

/* A heat map for variables with more states: a row for each variable, a column for each state. */
static void put_heatmap(sali_page *page, marginals *m)
{
    char names[NAMED][16];
    const char *list[NAMED];
    int32_t most = 0;
    for (int64_t v = 0; v < m->V; v++) {
        most = m->states[v] > most ? m->states[v] : most;
    }
    double *values = SALI_TAKE(&m->memory, double, m->V *most);
    sal_panel panel = { .title = "Marginals",
                        .x = { .label = "code" },
                        .y = { .label = "variable" } };
    for (int32_t k = 0; most <= NAMED && k < most; k++) {
        snprintf(names[k], sizeof names[k], "%d", k);
        list[k] = names[k];
        panel.x.categories = list;
        panel.x.n_categories = most;
    }
    for (int64_t v = 0, r = 0; values && v < m->V; v++) {
        for (int32_t k = 0; k < most; k++) {
            values[v * most + k] = k < m->states[v] ? m->estimate[r++] : NAN;
        }
    }
    panel.heatmap =
        &(sal_heatmap){ .rows = m->V, .columns = most, .values = values, .label = "probability" };
    sal_figure *figure = values ? sali_report_figure(&panel) : NULL;
    sali_page_figure(page, figure, "Probabilities of the states of each variable.");
}

/* A figure of the estimates against the exact marginals, with the mean and largest difference. */
static void put_against_exact(sali_page *page, const marginals *m)
{
    double sum = 0, worst = 0;
    sal_panel panel = { .title = "Marginals against exact ones",
                        .x = { .label = "exact probability" },
                        .y = { .label = "share of the draws" } };
    sal_figure *figure = sali_report_figure(&panel);
    for (int64_t r = 0; r < m->R; r++) {
        double error = fabs(m->estimate[r] - m->exact[r]);
        sum += error / (double)m->R;
        worst = fmax(worst, error);
    }
    double diagonal[2] = { 0, 1 };
    sal_figure_series(
        figure, &(sal_series){ .name = "equal", .n = 2, .x = diagonal, .y = diagonal, .style = 7 });
    sal_figure_series(figure, &(sal_series){ .mark = SAL_MARK_POINTS,
                                             .n = m->R,
                                             .x = m->exact,
                                             .y = m->estimate,
                                             .low = m->low,
                                             .high = m->high,
                                             .style = 1 });
    char mean[SALI_PAGE_NUMBER], most[SALI_PAGE_NUMBER];
    sali_page_format(sum, 3, mean);
    sali_page_format(worst, 3, most);
    sali_page_figure(page, figure,
                     "All states of all variables%s. Mean difference %s, largest %s. Exact "
                     "marginals: %s.",
                     m->low ? ", with two standard errors" : "", mean, most, m->source);
}

/* ---- all of it */

/* The part "Marginals" of the section: which figures depends on the states, and on whether there
 * are exact marginals. */
static void put_section(sali_page *page, const sali_run_record *run, marginals *m)
{
    sali_put_raw(&page->w, "<h3>Marginals</h3>");
    if (!m->exact) {
        sali_page_paragraph(page, "Without exact ones: %s.", m->source);
    }
    sali_put_raw(&page->w, SALI_FIGURES);
    if (m->two) {
        put_by_variable(page, run, m);
    } else {
        put_heatmap(page, m);
    }
    if (m->exact) {
        put_against_exact(page, m);
    }
    sali_put_raw(&page->w, "</div>");
}

sal_status sali_report_marginals(sali_page *page, const sali_run_record *run,
                                 const sal_report_options *o, sal_error *err)
{
    marginals m = { .V = run->V };
    m.states = SALI_TAKE(&m.memory, int32_t, run->V);
    sal_status status = sali_memory_status(&m.memory, err);
    sal_model *model = NULL;
    bool codes = m.states && find_states(run, &m);
    if (codes) {
        model = open_model(run, o, &m, &status, err);
        m.spins = are_spins(run, model);
        status = status ? status : count_draws(run, &m, err);
        status = status ? status : find_errors(run, &m, err);
    } else if (status == SAL_OK && o->exact) {
        status = sali_fail(err, SAL_ERR_DATA,
                           "%s: the draws are no codes of few states, which "
                           "marginals could be compared with",
                           o->exact);
    }
    if (codes && status == SAL_OK && m.R <= MOST_ROWS) {
        status = find_exact(run, o, model, &m, err);
        if (status == SAL_OK) {
            put_section(page, run, &m);
        }
    }
    sal_model_destroy(model);
    sali_memory_free(&m.memory);
    return status;
}
