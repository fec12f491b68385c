/* SPDX-License-Identifier: MIT */
#include "samplers/local/path_length.h"

#include <math.h>

#include "core/error.h"
#include "samplers/local/single_site_sampler.h"

#define START 5
#define GAIN 3
#define MOST_GIVEN (1 << 20)

const char *const sali_path_words[] = { "adapt", NULL };

const sal_setting sali_path_settings[] = {
    [SALI_PATH_LENGTH] = { "length", SALI_PATH_ADAPTED, SALI_PATH_ADAPTED, MOST_GIVEN, true,
                           "moves of a path; adapt: to acceptance 0.574", sali_path_words },
    [SALI_PATH_BALANCE] = SALI_BALANCE_SETTING,
    [SALI_PATH_RADIUS] = SALI_RADIUS_SETTING,
    { 0 },
};

void sali_path_length_begin(sali_path_length *path, const sal_model *model, const char *name,
                            double given, double start, double most)
{
    int64_t variables = 0;
    for (int64_t v = 0; v < model->space->n_variables; v++) {
        variables += model->space->variables[v].states != 1;
    }
    path->name = name;
    path->most = fmin(fmax((double)variables, 1), most);
    path->adapted = given == SALI_PATH_ADAPTED;
    path->running = fmin(start, path->most);
    path->length = path->adapted ? path->running : given;
}

sal_status sali_path_share(const sal_model *model, const sali_sampler_settings *settings,
                           void **shared, sal_error *err)
{
    sali_path_shared *s = SALI_OBJECT(sali_path_shared);
    if (!s) {
        return sali_fail_memory(err);
    }
    sali_path_length_begin(&s->path, model, "length", settings->values[SALI_PATH_LENGTH], START,
                           MOST_GIVEN);
    sali_shared_list(&s->common, &s->path, &sali_path_adaptive);
    sal_status status = sali_followed_gradient_couplings(&s->common, model, settings, err);
    return sali_object_finish(s, status, shared, err);
}

/* Adapt the length to the acceptance of the window; *changed if shards must take over a new length.
 */
static sal_status adapt(void *piece, const sali_warmup *warmup, bool *changed, sal_error *err)
{
    sali_path_length *path = piece;
    const double before = path->length;
    (void)err;
    if (path->adapted) {
        path->running += GAIN * (sali_warmup_acceptance(warmup) - SALI_TARGET_ACCEPTANCE);
        path->running = fmin(fmax(path->running, 1), path->most);
        path->length = round(path->running);
    }
    *changed |= path->copied && path->length != before;
    return SAL_OK;
}

static int64_t capped_length(const sali_path_length *path, int64_t most)
{
    const int64_t length = (int64_t)path->length;
    return length < most ? length : most;
}

/* The least number of moves of a usual path (all but one in 32), for the largest number L. */
static int64_t usual_least(int64_t most, int64_t L)
{
    return most == SALI_PATH_REVISITS && L > 1 ? L - 1 : (L + 1) / 2;
}

int64_t sali_path_length_draw(const sali_path_length *path, int64_t most, double u)
{
    const int64_t L = capped_length(path, most);
    const bool any = u < SALI_PATH_ANY;
    const int64_t first = any ? 1 : usual_least(most, L), count = L - first + 1;
    const double v = any ? u / SALI_PATH_ANY : (u - SALI_PATH_ANY) / (1 - SALI_PATH_ANY);
    const int64_t moves = first + (int64_t)(v * (double)count);
    return moves < L ? moves : L;
}

double sali_path_length_log_q(const sali_path_length *path, int64_t most, int64_t moves)
{
    const int64_t L = capped_length(path, most), least = usual_least(most, L);
    const double usual = moves >= least ? (1 - SALI_PATH_ANY) / (double)(L - least + 1) : 0;
    return moves <= L ? log(usual + SALI_PATH_ANY / (double)L) : -INFINITY;
}

/* The length, for a tuning; if it is adapted also for resuming, with its value before rounding. */
static int64_t state(void *piece, sali_state_item *items)
{
    sali_path_length *path = piece;
    unsigned kept = SALI_STATE_TUNED | (path->adapted ? SALI_STATE_KEPT : 0);
    double most = path->adapted ? path->most : path->length;
    sali_state_item length = sali_state_f64(path->name, 1, &path->length);
    length.whole = true;
    items[0] = sali_state_for(kept, sali_state_within(length, 1, most));
    items[1] = sali_state_within(sali_state_f64("running", 1, &path->running), 1, path->most);
    return path->adapted ? 2 : 1;
}

const sali_adaptive sali_path_adaptive = { .adapt = adapt, .state = state };
