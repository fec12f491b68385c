/* SPDX-License-Identifier: MIT */
/* Ending a run when its draws are good enough.
 *
 * The run looks at a geometric series of numbers of draws: 100 of each chain, 200, 400 and so on.
 * Looking after every draw would stop it where chance makes figures look well (Glynn & Whitt 1992
 * on sequential stopping); looks at doubled numbers of draws are few, and half of all draws come
 * between the last two. */
#include <math.h>

#include <saltus/stats.h>
#include "core/error.h"
#include "core/specification.h"
#include "run/parts/mixing.h"
#include "run/parts/movement.h"
#include "run/parts/record.h"
#include "run/sync.h"

/* Aims by their names in the option; 0: none. */
enum { ESS, RHAT };
static const sal_setting aims[] = {
    { .name = "ess", .high = 1e15, .doc = "the least sum of the ESS of all chains" },
    { .name = "rhat", .high = 1e3, .doc = "the largest R-hat of f and of the variables" },
    { 0 },
};

typedef struct until {
    sal_run *run;
    double aim[SAL_SETTINGS];
    bool reached;
} until;

static bool is_wanted(const sal_run *run)
{
    return run->options.until != NULL;
}

/* Keep and parse the text of the option, SAL_ERR_ARGUMENT. */
static sal_status create(void *self, sal_error *err)
{
    until *u = self;
    sal_run *run = u->run;
    if (run->options.annealing.on) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "until: a search by annealing has no ESS and no R-hat to aim at");
    }
    run->options.until = sali_memory_text(&run->memory, run->options.until);
    sal_status status = sali_memory_status(&run->memory, err);
    status = status ? status : sali_specification_until(run->options.until, aims, u->aim, err);
    if (status == SAL_OK && (u->aim[ESS] == 0 && u->aim[RHAT] == 0)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "until %s: expected ess=N, rhat=X or both",
                           run->options.until);
    }
    if (status == SAL_OK && u->aim[RHAT] != 0 && !(u->aim[RHAT] > 1)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "until: rhat is %g; expected more than 1, such as 1.01", u->aim[RHAT]);
    }
    return status;
}

/* The number of draws, `made` + 1 or more, at which the run looks next. */
static int64_t next_look(const sal_run *run, int64_t made)
{
    int64_t look = SALI_FIRST_LOOK;
    while (look <= made) {
        look *= 2;
    }
    return look < run->options.draws ? look : run->options.draws;
}

static int64_t longest(const void *self, const sali_window *w)
{
    const until *u = self;
    const sal_run *run = u->run;
    return w->warmup ? SALI_NEVER : next_look(run, run->draws_made) * run->options.thin - w->done;
}

/* Set u->reached: whether the draws so far are good enough. At rank 0. The ESS of chains that
 * disagree does not count. */
static sal_status judge_draws(until *u, sal_error *err)
{
    const sal_run *run = u->run;
    sal_run_summary s = { 0 };
    for (int64_t c = 0; c < run->options.chains; c++) {
        s.unmoved += !(sali_run_moved(run)[c] > 0);
    }
    s.chains = run->options.chains;
    sal_status status = sali_mixing_summarise(run, &s, err);
    const bool agree = !(s.rhat_max > SAL_RHAT_LIMIT);
    u->reached = (u->aim[ESS] == 0 || (s.ess_total >= u->aim[ESS] && agree)) &&
                 (u->aim[RHAT] == 0 || s.rhat_max <= u->aim[RHAT]);
    return status;
}

/* Judge the draws if a look is due. Collective. */
static sal_status window(void *self, const sali_window *w, bool *refresh, sal_error *err)
{
    until *u = self;
    sal_run *run = u->run;
    const int64_t before = w->done / run->options.thin;
    (void)refresh;
    if (w->warmup || run->draws_made < next_look(run, before)) {
        return SAL_OK;
    }
    sal_status status = sali_record_collect(sali_run_record(run), err);
    status = sali_sync_status(run, status || run->rank > 0 ? status : judge_draws(u, err), err);
    status = status ? status : sali_sync_value(run, &u->reached, sizeof u->reached, err);
    run->enough |= u->reached;
    return status;
}

static sal_status summarise(const void *self, sal_run_summary *s, sal_error *err)
{
    const until *u = self;
    (void)err;
    s->until = u->run->options.until;
    s->reached = u->reached;
    return SAL_OK;
}

const sali_run_part sali_part_until = {
    .name = "until",
    .wanted = is_wanted,
    .size = sizeof(until),
    .create = create,
    .longest = longest,
    .window = window,
    .summarise = summarise,
};
