/* SPDX-License-Identifier: MIT */
/* Figures by way of bridge.h: compiled for this machine and to WebAssembly, it prints the same. The
 * random streams are integers and agree to the last bit; numbers agree to rounding, since the C
 * libraries and BLAS differ, and so do states, unless rounding decides about a step. */
#include "bridge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 6, V = SIDE * SIDE, CHAINS = 4, STEPS = 200 };

static void must(int good, const char *what)
{
    if (!good) {
        printf("%s: %s\n", what, play_error());
        exit(1);
    }
}

/* States as one number. */
static unsigned mix(int n, const int32_t *codes)
{
    unsigned hash = 0;
    for (int k = 0; k < n; k++) {
        hash = (hash * 31 + (unsigned)codes[k]) % 1000003;
    }
    return hash;
}

static void walk(const char *specification, const char *sampler, double step_size)
{
    double means[2];
    sal_model *model = play_model(specification);
    must(model != NULL, specification);
    play_walk *w = play_walk_open(model, sampler, step_size, CHAINS, 7, NULL, NULL);
    must(w != NULL, sampler);
    must(play_walk_step(w, STEPS) == 0, sampler);
    play_walk_means(w, means);
    printf("%-16s %-24s states %u f %.9g acceptance %.9g jump %.9g\n", sampler, specification,
           mix(CHAINS * play_variables(model), play_walk_codes(w)), play_walk_f(w)[0], means[0],
           means[1]);
    play_walk_close(w);
    play_model_close(model);
}

/* Of pavg, whose eigenvectors are not the same where eigenvalues are equal, the mean of f. */
static void average(const char *specification)
{
    double sum = 0;
    sal_model *model = play_model(specification);
    play_walk *w = play_walk_open(model, "pavg", 0.5, CHAINS, 7, NULL, NULL);
    must(w != NULL, "pavg");
    for (int k = 0; k < 4000; k++) {
        must(play_walk_step(w, 3) == 0, "pavg");
        sum += play_walk_f(w)[k % CHAINS];
    }
    printf("pavg, mean f %.4g\n", sum / 4000);
    play_walk_close(w);
    play_model_close(model);
}

/* Passes down a chain of small nets, whose parameters are made up; white variables of the last. */
static void passes(const char *specification)
{
    static const double keep[] = { 1, 0.8, 0.3, 0 }, sizes[] = { 0.5, 0.7, 1 };
    static const int32_t steps[] = { 6, 4, 2 };
    double values[2000], logits[64];
    int level = 0, white = 0;
    sal_model *model = play_model(specification);
    must(model != NULL, specification);
    const int size = (int)sal_model_parameters_size(model), pixels = play_variables(model) - 1;
    must(size <= 2000 && pixels <= 64, "a smaller net");
    for (int k = 0; k < size; k++) {
        values[k] = 0.4 * sin(0.9 * k);
    }
    for (int v = 0; v < pixels; v++) {
        logits[v] = cos(0.5 * v) - 0.5;
    }
    must(play_set(model, NULL, values) == 0, specification);
    play_pass *p =
        play_pass_open(model, "dlmcf:balance=barker", keep, logits, steps, sizes, CHAINS, 7);
    must(p != NULL, specification);
    for (int k = 0; k < 50 * 3; k++) {
        if (level == 0 && k > 0) {
            play_pass_begin(p);
        }
        level = play_pass_level(p);
        must(level >= 0, "a level");
    }
    for (int k = 0; k < CHAINS * pixels; k++) {
        white += play_pass_codes(p)[k];
    }
    printf("passes %s: states %u white %.9g\n", specification,
           mix(CHAINS * pixels, play_pass_codes(p)), (double)white / CHAINS);
    play_pass_close(p);
    play_model_close(model);
}

static void formula(const char *text, int kind)
{
    int place;
    int32_t codes[V];
    double f, gradient[V], differences[2 * V], sums[2] = { 0 };
    sal_model *model = play_formula(text, kind, SIDE, SIDE, 0, 0, 0, &place);
    must(model != NULL, text);
    for (int v = 0; v < V; v++) {
        codes[v] = v * v % 7 % 2;
    }
    must(play_f(model, 1, codes, &f) == 0, text);
    must(play_derivatives(model, codes, gradient, differences) == 0, text);
    for (int v = 0; v < V; v++) {
        sums[0] += (v + 1) * gradient[v];
        sums[1] += (v + 1) * differences[2 * v + 1 - codes[v]];
    }
    printf("f %.9g gradient %.9g differences %.9g: %s\n", f, sums[0], sums[1], text);
    play_model_close(model);
}

int main(void)
{
    static const char *const samplers[] = { "mh-uniform", "gibbs", "lb",         "gwg",
                                            "pas",        "pafs",  "block-gibbs" };
    static const char *const stepping[] = { "ncg", "dlmc", "avg", "mana", "dula" };
    for (int k = 0; k < 7; k++) {
        walk("ising:side=6,theta=0.2", samplers[k], 0);
    }
    for (int k = 0; k < 5; k++) {
        walk("ising:side=6,theta=0.2", stepping[k], 0.5);
    }
    average("ising:side=6,theta=0.2");
    walk("potts:side=5,states=3", "gwg", 0);
    walk("ordinal-poly4:dim=3", "ncg", 0.1);
    walk("rbm:hidden=5,visible=12", "block-gibbs", 0);
    passes("strided-conv:height=8,width=8,channels=2,levels=3,base=1,units=0");
    formula("0.4 sum(i~j: x[i] x[j]) + 0.02 sum(i: x[i])", PLAY_SPINS);
    formula("tanh(sum(i: x[i])^2 / 9) - exp(-x[0]) softplus(x[1] + x[2] x[3])", PLAY_BINARY);
    formula("sum(i~j: max(x[i], 0.5 x[j]) - abs(x[i] - x[j])^3 sigmoid(sum(i: x[i]) / 8))",
            PLAY_SPINS);

    double trace[400], step = 0;
    for (int k = 0; k < 400; k++) {
        trace[k] = sin(0.3 * k) + 0.2 * cos(2.1 * k);
    }
    printf("ess %.9g rhat %.9g\n", play_ess(400, trace), play_rhat(4, 100, trace));
    sal_model *model = play_model("ising:side=6,theta=0.2");
    step = play_tune(model, "ncg", CHAINS, 200, 1);
    printf("step size %.6g, of gwg %g\n", step, play_tune(model, "gwg", CHAINS, 50, 1));
    play_model_close(model);
    return 0;
}
