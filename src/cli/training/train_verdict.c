/* The end of a training: what the model's own samples are like. */
#include <stdio.h>
#include <unistd.h>

#include "cli/training/fresh.h"
#include "cli/json.h"
#include "cli/training/training.h"

#define LEAST_INTERVALS 300

static bool in_directory(const cli_training *s, const char *name, char path[4096])
{
    return snprintf(path, 4096, "%s/%s", s->o->out, name) < 4096;
}

void cli_train_forget(const cli_training *s)
{
    static const char *const names[] = {
        "samples.png",        "verdict.json",    "checkpoint.json",
        "ladder/ladder.json", "ema.safetensors", "persistent.png"
    };
    const int n = s->progress.from == 0 ? 6 : 2;
    char path[4096];
    for (int k = 0; k < n; k++) {
        if (in_directory(s, names[k], path)) {
            unlink(path);
        }
    }
}

/* The parameters that other commands will use: the averages, if there are any. */
static sal_status take_parameters(cli_training *s, sal_error *err)
{
    char path[4096];
    if (in_directory(s, "ema.safetensors", path) && access(path, R_OK) == 0) {
        return sal_model_load_params(s->model, path, err);
    }
    return in_directory(s, "model.safetensors", path) ? sal_model_load_params(s->model, path, err)
                                                      : SAL_OK;
}

static sal_status write_sheet(cli_training *s, const cli_fresh *fresh, sal_error *err)
{
    char path[4096];
    return in_directory(s, "samples.png", path) ? cli_sheet(path, fresh->chains * fresh->draws,
                                                            fresh->codes, &s->train, &s->sheet, err)
                                                : SAL_OK;
}

static sal_status judge(cli_training *s, const cli_fresh *fresh, sal_error *err)
{
    sal_data persistent = { 0 };
    const bool chains = s->o->train.objective != SAL_PSEUDO_LIKELIHOOD;
    sal_status status =
        chains ? cli_persistent_chains(s->o->out, s->train.variables, &persistent, err) : SAL_OK;
    const sal_verdict_inputs inputs = { .train = &s->train,
                                        .test = &s->test,
                                        .chains = fresh->chains,
                                        .draws = fresh->draws,
                                        .fresh = fresh->codes,
                                        .persistent_rows = persistent.rows,
                                        .persistent = persistent.codes,
                                        .rhat = fresh->rhat,
                                        .round_trips = fresh->round_trips,
                                        .bennett =
                                            isnan(fresh->log_z.value) ? NULL : &fresh->log_z };
    status = status ? status : sal_verdict_judge(s->model, &inputs, &s->verdict, err);
    s->judged = status == SAL_OK;
    sal_data_destroy(&persistent);
    return status;
}

int cli_train_verdict(cli_training *s)
{
    /* At first no longer than the training itself: as many intervals as updates, but enough for
     * round trips. */
    const int64_t iterations = s->o->train.iterations;
    const cli_fresh_options options = { .draws = s->o->fresh,
                                        .longest = iterations > LEAST_INTERVALS ? iterations
                                                                                : LEAST_INTERVALS,
                                        .seed = s->o->train.seed,
                                        .threads = s->o->train.threads };
    cli_fresh fresh = { 0 };
    char path[4096];
    sal_error err = { 0 };
    if (s->o->fresh == 0 || !in_directory(s, "verdict.json", path) ||
        (s->iteration == 0 && access(path, F_OK) == 0)) {
        return CLI_OK;
    }
    sal_status status = take_parameters(s, &err);
    status =
        status ? status : cli_fresh_draws(s->model, s->o->out, &s->train, &options, &fresh, &err);
    if (status == SAL_OK && fresh.codes) {
        status = write_sheet(s, &fresh, &err);
        status = status ? status : judge(s, &fresh, &err);
    }
    cli_fresh_free(&fresh);
    if (status == SAL_ERR_UNSUPPORTED || status == SAL_ERR_MODEL || status == SAL_ERR_ARGUMENT) {
        fprintf(stderr, "saltus: no verdict: %s\n", err.message);
        return CLI_OK;
    }
    if (status != SAL_OK) {
        return cli_fail(status, &err);
    }
    return s->judged ? cli_json_save(cli_verdict_json(&s->verdict), CLI_DIGITS, path) : CLI_OK;
}
