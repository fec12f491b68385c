/* SPDX-License-Identifier: MIT */
/* Training and evaluation from options as text, with reports as JSON. */
#include <math.h>

#include <saltus/flat.h>
#include <saltus/io.h>
#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "flat/json.h"
#include "flat/options.h"

sal_status sal_flat_trainer_create(sal_model *model, const sal_data *data,
                                   sal_flat_options *options, const char *directory,
                                   sal_trainer **out, sal_error *err)
{
    sal_status status = sali_flat_fit(options, SAL_OPTIONS_TRAIN, model, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_train_options o = options ? options->of.train : (sal_train_options){ 0 };
    o.checkpoint.directory = directory;
    sal_trainer *made = NULL;
    status = sal_trainer_create(model, data, &o, &made, err);
    status = status || !directory ? status : sal_trainer_load(made, directory, err);
    return SALI_GIVE(status, made, out, sal_trainer_destroy);
}

sal_status sal_flat_report(const sal_train_report *report, char **json, sal_error *err)
{
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("iteration", WHOLE, sal_train_report, iteration),
        SALI_FLAT_FIELD("iterations", WHOLE, sal_train_report, iterations),
        SALI_FLAT_FIELD("seconds", REAL, sal_train_report, seconds),
        SALI_FLAT_FIELD("log_prob_data", REAL, sal_train_report, log_prob_data),
        SALI_FLAT_FIELD("log_prob_samples", REAL, sal_train_report, log_prob_samples),
        SALI_FLAT_FIELD("acceptance_rate", REAL, sal_train_report, acceptance_rate),
        SALI_FLAT_FIELD("mean_jump", REAL, sal_train_report, mean_jump),
        SALI_FLAT_FIELD("step_size", REAL, sal_train_report, step_size),
        SALI_FLAT_FIELD("gradient_norm", REAL, sal_train_report, gradient_norm),
        SALI_FLAT_FIELD("sampling_seconds", REAL, sal_train_report, sampling_seconds),
        SALI_FLAT_FIELD("gradient_seconds", REAL, sal_train_report, gradient_seconds),
        SALI_FLAT_FIELD("learning_rate", REAL, sal_train_report, learning_rate),
        SALI_FLAT_FIELD("resumed_with", TEXT, sal_train_report, resumed_with),
        SALI_FLAT_FIELD("levels", WHOLE, sal_train_report, levels),
        SALI_FLAT_FIELD("swap_rate", REAL, sal_train_report, swap_rate),
        SALI_FLAT_FIELD("log_z", REAL, sal_train_report, log_z),
        SALI_FLAT_FIELD("log_z_error", REAL, sal_train_report, log_z_error),
        SALI_FLAT_FIELD("log_likelihood", REAL, sal_train_report, log_likelihood),
        SALI_FLAT_FIELD("pearson", REAL, sal_train_report, pearson),
        SALI_FLAT_FIELD("pearson_limit", REAL, sal_train_report, pearson_limit),
        SALI_FLAT_FIELD("disturbed", WHOLE, sal_train_report, disturbed),
        SALI_FLAT_FIELD("density", REAL, sal_train_report, density),
        SALI_FLAT_FIELD("reached", TRUTH, sal_train_report, reached),
        SALI_FLAT_FIELD("best", TRUTH, sal_train_report, best),
        { 0 },
    };
    return sali_flat_give(sali_flat_record(report, fields), json, err);
}

sal_status sal_flat_trainer_report(const sal_trainer *trainer, char **json, sal_error *err)
{
    sal_train_report report;
    sal_trainer_report(trainer, &report);
    return sal_flat_report(&report, json, err);
}

sal_status sal_flat_trainer_save(sal_trainer *trainer, sal_model *model, const char *directory,
                                 sal_error *err)
{
    sal_train_report report;
    sal_trainer_report(trainer, &report);
    report.best = true;
    sal_status status = sal_train_save(&report, model, directory, err);
    return status ? status : sal_trainer_save(trainer, directory, err);
}

const int32_t *sal_flat_trainer_samples(const sal_trainer *trainer, int64_t *n)
{
    sal_train_report report;
    sal_trainer_report(trainer, &report);
    *n = report.samples ? report.buffer : 0;
    return report.samples;
}

const double *sal_flat_trainer_averages(const sal_trainer *trainer)
{
    sal_train_report report;
    sal_trainer_report(trainer, &report);
    return report.averages;
}

/* ---- the verdict */

/* Set object[key] and object["key_error"] to a value and its standard error. */
static void add_value(json_t *object, const char *key, sal_verdict_value value)
{
    char error[64];
    snprintf(error, sizeof error, "%s_error", key);
    sali_flat_number(object, key, value.value);
    sali_flat_number(object, error, value.standard_error);
}

/* A figure of the verdict as an object; `with_test`: with its value for the test data. */
static json_t *figure_object(const sal_verdict_figure *f, bool with_test)
{
    json_t *object = json_object();
    add_value(object, "fresh", f->fresh);
    add_value(object, "persistent", f->persistent);
    add_value(object, "train", f->train);
    if (with_test) {
        add_value(object, "test", f->test);
    }
    add_value(object, "shortfall", f->shortfall);
    sali_flat_number(object, "margin", f->margin);
    json_object_set_new(object, "judged", json_boolean(f->judged));
    json_object_set_new(object, "differs", json_boolean(f->differs));
    return object;
}

sal_status sal_verdict_json(const sal_verdict *v, char **json, sal_error *err)
{
    static const char *const answers[] = { "unknown", "like", "unlike", "close" };
    static const char *const figures[SAL_VERDICT_KINDS] = { "log_prob", "means_correlation",
                                                            "covariances_correlation", "mmd",
                                                            "neighbours" };
    static const sali_flat_field fields[] = {
        SALI_FLAT_FIELD("chains", WHOLE, sal_verdict, chains),
        SALI_FLAT_FIELD("draws", WHOLE, sal_verdict, draws),
        SALI_FLAT_FIELD("persistent_rows", WHOLE, sal_verdict, persistent_rows),
        SALI_FLAT_FIELD("train_rows", WHOLE, sal_verdict, train_rows),
        SALI_FLAT_FIELD("test_rows", WHOLE, sal_verdict, test_rows),
        { 0 },
    };
    char text[1024];
    sal_verdict_sentence(v, text, sizeof text);
    json_t *log_z = json_object();
    add_value(log_z, "forward", v->forward);
    add_value(log_z, "reverse", v->reverse);
    add_value(log_z, "bennett", v->bennett);
    json_t *object =
        json_pack("{s:s, s:o}", "verdict", answers[v->answer], "sentence", sali_json_text(text));
    json_object_update_new(object, sali_flat_record(v, fields));
    json_object_set_new(object, "log_z", log_z);
    sali_flat_number(object, "rhat", v->rhat);
    sali_flat_number(object, "round_trips", v->round_trips);
    for (int k = 0; k < SAL_VERDICT_KINDS; k++) {
        json_object_set_new(object, figures[k], figure_object(&v->figures[k], k == SAL_VERDICT_F));
    }
    json_object_set_new(object, "steps", figure_object(&v->steps, false));
    return sali_flat_give(object, json, err);
}

sal_status sal_flat_verdict(sal_model *model, const sal_data *train, const sal_data *test,
                            const char *directory, int64_t draws, uint64_t seed, int threads,
                            const double *log_z,
                            int (*progress)(int64_t done, int64_t total, void *data), void *data,
                            uint8_t **samples, char **json, sal_error *err)
{
    sal_verdict verdict;
    const sal_verdict_value forward = { log_z ? log_z[0] : NAN, log_z ? log_z[1] : NAN };
    const sal_verdict_value reverse = { log_z ? log_z[2] : NAN, log_z ? log_z[3] : NAN };
    const sal_verdict_inputs inputs = { .train = train,
                                        .test = test,
                                        .forward = isnan(forward.value) ? NULL : &forward,
                                        .reverse = isnan(reverse.value) ? NULL : &reverse,
                                        .sampling = { .directory = directory,
                                                      .draws = draws,
                                                      .seed = seed,
                                                      .threads = threads,
                                                      .progress = progress,
                                                      .progress_data = data } };
    uint8_t *drawn = NULL;
    sal_status status = sal_verdict_judge(model, &inputs, &verdict, samples ? &drawn : NULL, err);
    status = status            ? status
             : verdict.stopped ? sali_flat_give(json_null(), json, err)
                               : sal_verdict_json(&verdict, json, err);
    if (status != SAL_OK) {
        sal_free(drawn);
    } else if (samples) {
        *samples = drawn;
    }
    return status;
}
