/* SPDX-License-Identifier: MIT */
/* Log Z by annealed importance sampling in both directions, and log-likelihoods, as JSON. */
#include <math.h>

#include <saltus/flat.h>
#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "flat/json.h"
#include "flat/options.h"
#include "train/data.h"
#include "train/trajectory_file.h"

/* A likelihood as an object. */
static json_t *likelihood_object(const sal_likelihood *likelihood)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("mean_f", REAL, sal_likelihood, mean_f),
        SALI_FLAT_FIELD("log_likelihood", REAL, sal_likelihood, mean),
        SALI_FLAT_FIELD("data_error", REAL, sal_likelihood, data_error),
        SALI_FLAT_FIELD("log_likelihood_error", REAL, sal_likelihood, standard_error),
        { 0 },
    };
    return sali_flat_record(likelihood, fields);
}

sal_status sal_flat_likelihood(const sal_model *model, const sal_data *data, double log_z,
                               double log_z_error, char **json, sal_error *err)
{
    sal_likelihood likelihood;
    sal_status status = sal_log_likelihood(model, data, log_z, log_z_error, &likelihood, err);
    return status ? status : sali_flat_give(likelihood_object(&likelihood), json, err);
}

sal_status sal_flat_base_likelihood(const sal_model *model, const double *log_base,
                                    const sal_data *data, char **json, sal_error *err)
{
    sal_likelihood likelihood;
    if (!model) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "expected a model; found NULL");
    }
    sal_status status =
        sal_base_log_prob(sal_model_space(model), log_base, data, NULL, &likelihood, err);
    return status ? status : sali_flat_give(likelihood_object(&likelihood), json, err);
}

/* ---- both directions */

/* Annealing in one direction. */
typedef struct direction {
    int64_t chains;
    double *log_weights; /* [chains] */
    sal_ais_estimate ais;
} direction;

typedef struct evaluation {
    sal_model *model;
    sal_ais_options options; /* resolved; `chains` of the forward direction */
    const sal_data *test;    /* NULL: none */
    const sal_data *from;    /* where reverse paths start; NULL: there are none */
    bool drawn;              /* `from` are draws of the model, not the test rows */
    direction ways[2];       /* forward, reverse */
    bool ended;              /* the caller's progress asked to stop */
} evaluation;

/* Call the caller's progress, and note that it asks to stop, also after the last step. */
static int show_progress(int64_t done, int64_t total, void *data)
{
    evaluation *e = data;
    e->ended = e->options.progress(done, total, e->options.progress_data) != 0 || e->ended;
    return e->ended;
}

/* Starting states of `chains` reverse paths, [chains x V]: evenly spaced rows, none twice. NULL: no
 * memory. */
static int32_t *reverse_starts(const sal_data *from, int64_t chains)
{
    const int64_t V = from->variables;
    int32_t *codes = SALI_NEW_ARRAY(int32_t, chains * V);
    for (int64_t k = 0; codes && k < chains * V; k++) {
        const double c = (double)(k / V);
        codes[k] = from->codes[(int64_t)(c / (double)chains * (double)from->rows) * V + k % V];
    }
    return codes;
}

/* An error for sums of errors: NaN, of a single chain, counts as 0. */
static double known(double error)
{
    return isnan(error) ? 0 : error;
}

/* Add the log-likelihood of the test rows, if there are any, to an object. */
static sal_status add_likelihood(const evaluation *e, double log_z, double error, json_t *object,
                                 sal_error *err)
{
    sal_likelihood l;
    sal_status status =
        e->test ? sal_log_likelihood(e->model, e->test, log_z, known(error), &l, err) : SAL_OK;
    if (status == SAL_OK && e->test) {
        json_object_update_new(object, likelihood_object(&l));
    }
    return status;
}

/* Anneal in one direction. *object receives what was found; it stays NULL if the caller's progress
 * stopped the annealing. */
static sal_status anneal(evaluation *e, bool reverse, json_t **object, sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("sampler", TEXT, direction, ais.sampler),
        SALI_FLAT_FIELD("chains", WHOLE, direction, chains),
        SALI_FLAT_FIELD("log_z", REAL, direction, ais.log_z),
        SALI_FLAT_FIELD("log_z_error", REAL, direction, ais.standard_error),
        SALI_FLAT_FIELD("log_z_jackknife", REAL, direction, ais.jackknife),
        SALI_FLAT_FIELD("effective_chains", REAL, direction, ais.ess),
        SALI_FLAT_FIELD("dead", WHOLE, direction, ais.dead),
        SALI_FLAT_FIELD("acceptance_rate", REAL, direction, ais.acceptance_rate),
        { 0 },
    };
    direction *d = &e->ways[reverse];
    sal_ais_options o = e->options;
    o.chains = d->chains = reverse && e->from->rows < o.chains ? e->from->rows : o.chains;
    int32_t *starts = reverse ? reverse_starts(e->from, d->chains) : NULL;
    d->log_weights = SALI_NEW_ARRAY(double, d->chains);
    o.reverse_from = starts;
    o.progress = o.progress ? show_progress : NULL;
    o.progress_data = e;
    sal_status status = d->log_weights && (starts || !reverse) ? SAL_OK : sali_fail_memory(err);
    status = sal_comm_agree(o.comm, status, err);
    status = status ? status : sal_ais(e->model, &o, &d->ais, d->log_weights, err);
    sali_free(starts);
    status = status ? status : sal_comm_broadcast(o.comm, &e->ended, sizeof e->ended, err);
    if (status != SAL_OK || d->ais.stopped) {
        return status;
    }
    *object = sali_flat_record(d, fields);
    return add_likelihood(e, d->ais.log_z, d->ais.standard_error, *object, err);
}

/* Combine both directions, or explain what is wrong with them. Forward estimates of log Z tend to
 * be too low and reverse ones too high: if forward is above reverse by more than their errors, a
 * warning is added. Else, if reverse paths started at samples, *both receives the estimate of both
 * directions together; it stays NULL where the two do not overlap. */
static sal_status combine(const evaluation *e, json_t *warnings, json_t **both, sal_error *err)
{
    const direction *f = &e->ways[0], *r = &e->ways[1];
    const double gap = f->ais.log_z - r->ais.log_z;
    double log_z, error = hypot(known(f->ais.standard_error), known(r->ais.standard_error));
    if (error > 0 && gap > SAL_VERDICT_APART_NATS && gap > SAL_VERDICT_APART_ERRORS * error) {
        json_array_append_new(
            warnings,
            json_sprintf("log Z forward is %.1f above reverse, %.0f standard errors the wrong way "
                         "round: the %s that the reverse paths start from are no draws of this "
                         "model. Forward is nearer the truth. For a reverse one, give draws of the "
                         "model itself: saltus sample MODEL --tempering 16 --out draws.npy, then "
                         "--samples draws.npy.",
                         gap, gap / error,
                         e->drawn              ? "samples"
                         : e->test->height > 0 ? "held-out pictures"
                                               : "held-out rows"));
        return SAL_OK;
    }
    sal_status status = e->from == e->test ? SAL_OK
                                           : sal_ais_bennett(f->chains, f->log_weights, r->chains,
                                                             r->log_weights, &log_z, &error, err);
    if (status != SAL_OK || e->from == e->test || isinf(error)) {
        return status;
    }
    *both = json_object();
    sali_flat_number(*both, "log_z", log_z);
    sali_flat_number(*both, "log_z_error", error);
    return add_likelihood(e, log_z, error, *both, err);
}

/* Name the sampler of options without one by the ladder in `directory`. Rank 0 decides, as its
 * files may not be those of the others. */
static sal_status name_sampler(evaluation *e, const char *directory, sal_error *err)
{
    bool layers = false;
    if (e->options.sampler || !directory || !e->model) {
        return SAL_OK;
    }
    sal_status status = sali_ladder_of_layers(directory, e->model, &layers, err);
    status = sal_comm_agree(e->options.comm, status, err);
    status = status ? status : sal_comm_broadcast(e->options.comm, &layers, sizeof layers, err);
    e->options.sampler = layers ? "block-gibbs" : NULL;
    return status;
}

sal_status sal_evaluate_json(sal_model *model, const sal_ais_options *options,
                             const char *directory, const sal_data *test, const sal_data *samples,
                             void (*report)(const char *direction, void *data), void *data,
                             char **json, sal_error *err)
{
    evaluation e = {
        .model = model, .test = test, .from = samples ? samples : test, .drawn = samples != NULL
    };
    json_t *ways[2] = { NULL }, *both = NULL, *warnings = json_array();
    e.options = options ? *options : e.options;
    sal_status status = sal_option_resolve(sal_option_table_of(SAL_OPTIONS_AIS), &e.options, err);
    if (status == SAL_OK && model && e.from) {
        status = sali_data_check("evaluate", e.from, sal_model_space(model), err);
    }
    status = status ? status : name_sampler(&e, directory, err);
    for (int k = 0; status == SAL_OK && !e.ended && k < (e.from ? 2 : 1); k++) {
        char *text = NULL;
        status = anneal(&e, k, &ways[k], err);
        if (status == SAL_OK && ways[k] && report) {
            status = sali_flat_give(json_incref(ways[k]), &text, err);
        }
        if (text) {
            report(text, data);
        }
        sal_free(text);
    }
    status = status || !ways[1] ? status : combine(&e, warnings, &both, err);
    json_t *object = json_pack("{s:o?, s:o?, s:o?, s:o}", "forward", ways[0], "reverse", ways[1],
                               "both_ways", both, "warnings", warnings);
    sali_free(e.ways[0].log_weights);
    sali_free(e.ways[1].log_weights);
    if (status != SAL_OK) {
        json_decref(object);
        return status;
    }
    return sali_flat_give(object, json, err);
}

sal_status sal_flat_evaluate(sal_model *model, sal_flat_options *options, const char *directory,
                             const sal_data *test, const sal_data *samples,
                             void (*report)(const char *direction, void *data), void *data,
                             char **json, sal_error *err)
{
    sal_status status = sali_flat_fit(options, SAL_OPTIONS_AIS, model, err);
    return status ? status
                  : sal_evaluate_json(model, options ? &options->of.ais : NULL, directory, test,
                                      samples, report, data, json, err);
}
