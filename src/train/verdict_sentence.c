/* A verdict in one sentence. */
#include <math.h>
#include <stdio.h>

#include <saltus/evaluate.h>
#include "stats/mmd.h"

/* Of correlations that are almost 1 more digits tell something. */
static void format_correlation(double value, char out[16])
{
    snprintf(out, 16, value >= 0.995 && value < 1 ? "%.3f" : "%.2f", value);
}

static void unlike(const sal_verdict *v, char *text, size_t room)
{
    static const char head[] = "The model's own samples are NOT like the data: ",
                      mix[] = "let the chains mix in training (--sampler block-gibbs or ncg, "
                              "more --steps, a lower --learning-rate)",
                      ladder[] = "train longer, or with a larger --batch, which the reservoir of "
                                 "states grows with";
    const char *advice = isnan(v->bennett.value) ? mix : ladder;
    const sal_verdict_figure *f = &v->figures[v->worst];
    char fresh[16], train[16];
    if (v->worst == SAL_VERDICT_MMD) {
        char mmd[SALI_MMD_TEXT], reached[SALI_MMD_TEXT];
        sali_mmd_text(f->fresh.value, mmd);
        sali_mmd_text(f->train.value, reached);
        snprintf(text, room, "%stheir MMD is %s, that of as many training rows %s; %s.", head, mmd,
                 reached, advice);
        return;
    }
    format_correlation(isnan(f->fresh.value) ? 0 : f->fresh.value, fresh);
    format_correlation(f->train.value, train);
    snprintf(text, room, "%stheir %s correlate %s with the data's, those of training rows %s; %s.",
             head, v->worst == SAL_VERDICT_MEANS ? "means" : "covariances", fresh, train, advice);
}

void sal_verdict_sentence(const sal_verdict *v, char *text, size_t room)
{
    static const char more[] = "draw longer chains (evaluate with a larger --fresh)";
    const double gap = v->forward.value - v->reverse.value;
    switch (v->reason) {
    case SAL_VERDICT_WITHIN_MARGINS:
        snprintf(text, room, "The model's own samples are like the data.");
        break;
    case SAL_VERDICT_BEYOND_MARGIN:
        unlike(v, text, room);
        break;
    case SAL_VERDICT_CHAINS_DISAGREE:
        snprintf(text, room, "Cannot tell: the fresh chains disagree (R-hat of f %.2f); %s.",
                 v->rhat, more);
        break;
    case SAL_VERDICT_NO_ROUND_TRIPS:
        snprintf(text, room,
                 "Cannot tell: the fresh chains made %.1f round trips each between the coldest and "
                 "the hottest temperature; %s.",
                 v->round_trips, more);
        break;
    case SAL_VERDICT_IMPRECISE:
        snprintf(text, room,
                 "Cannot tell: the figures are too imprecise; draw more samples (evaluate with a "
                 "larger --fresh), or hold out more rows.");
        break;
    case SAL_VERDICT_WRONG_WAY:
        snprintf(text, room,
                 "Cannot tell: log Z forward is %.1f above reverse, so where the reverse paths "
                 "start are no draws of the model; evaluate with more --temperatures.",
                 gap);
        break;
    case SAL_VERDICT_LOG_Z_APART:
        snprintf(text, room,
                 "Cannot tell: log Z forward is %.1f below reverse; evaluate with more "
                 "--temperatures.",
                 -gap);
        break;
    }
}
