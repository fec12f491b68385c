/* Lesson 2. Your own energy, in twenty lines: a map, to be coloured with three colours.
 *
 *     cc 02_own_energy.c $(pkg-config --cflags --libs saltus) && ./a.out
 *
 * f(s) is the unnormalised log-probability: p(s) = exp f(s) / Z, high where the energy is low. Here
 * f = -penalty x (number of borders between states of one colour). You write f once, as a formula;
 * values, gradients, differences and chains follow from it. (The model is Potts's; the thesis of
 * van den Hoek 2022, section 2.2.3.) */
#include <math.h>
#include <saltus/saltus.h>

enum { STATES = 7, COLOURS = 3, BORDERS = 9 };
enum { ALL = COLOURS * COLOURS * COLOURS * COLOURS * COLOURS * COLOURS * COLOURS };
static const char *const state[STATES] = { "Western Australia", "Northern Territory",
                                           "South Australia",   "Queensland",
                                           "New South Wales",   "Victoria",
                                           "Tasmania" };
static const char *const colour[COLOURS] = { "ochre", "emerald", "ocean" };
static const int border[BORDERS][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 }, { 1, 3 }, { 2, 3 },
                                        { 2, 4 }, { 2, 5 }, { 3, 4 }, { 4, 5 } };

/* Here is all of it: a space, a tape, a formula. x[i][c] is 1 if state i has colour c, else 0, and
 * A the matrix of neighbours, so sum_ic x_ic (A x)_ic counts each such border twice. */
static sal_model *map_model(double penalty, sal_error *err)
{
    double neighbours[STATES * STATES] = { 0 };
    for (int b = 0; b < BORDERS; b++) {
        neighbours[border[b][0] * STATES + border[b][1]] = 1;
        neighbours[border[b][1] * STATES + border[b][0]] = 1;
    }
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    sal_space_add(
        space,
        &(sal_block){
            .name = "colour", .kind = SAL_CATEGORICAL, .count = STATES, .states = COLOURS },
        err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr x = sal_state_block(t, "colour");
    sal_expr A = sal_constant(t, neighbours, SAL_SHAPE(STATES, STATES));
    sal_expr clashes = sal_scale(sal_sum(sal_mul(x, sal_matmul(A, x))), 0.5);
    sal_model_from_tape(t, sal_scale(clashes, -penalty), &model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return model;
}

/* The same with a slip: x A for A x, three by seven times seven by seven. Nothing happens at that
 * line. The tape remembers the first mistake, with the operation, its shapes and the line of your
 * source, and tells when the model is made. */
static void show_a_mistake(void)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ "colour", SAL_CATEGORICAL, STATES, .states = COLOURS },
                  &err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr x = sal_state_block(t, "colour");
    sal_expr A = sal_constant(t, (double[STATES * STATES]){ 0 }, SAL_SHAPE(STATES, STATES));
    sal_expr f = sal_sum(sal_mul(x, sal_matmul(x, A)));
    sal_model_from_tape(t, f, &model, &err);
    printf("A slip: %s\n", err.message);
    sal_tape_destroy(t);
    sal_space_destroy(space);
}

/* How many different colourings without a clash were drawn, and how often: f is 0 there. */
static void count_colourings(const sal_run *run)
{
    int64_t chains, draws, variables, proper = 0, different = 0;
    char seen[ALL] = { 0 };
    sal_run_size(run, &chains, &draws, &variables);
    const uint8_t *codes = sal_run_draws(run, &(int){ 0 });
    const double *f = sal_run_log_probs(run);
    for (int64_t d = 0; d < chains * draws; d++) {
        int number = 0;
        for (int64_t i = 0; i < variables; i++) {
            number = number * COLOURS + codes[d * variables + i];
        }
        if (f[d] > -0.5) {
            proper++;
            different += !seen[number];
            seen[number] = 1;
        }
    }
    printf("without clash    %.3f of the draws, %d different colourings\n",
           (double)proper / (double)(chains * draws), (int)different);
}

int main(void)
{
    sal_error err = { 0 };
    sal_run *run = NULL;
    sal_exact exact;
    int32_t best[STATES];
    double f;
    sal_model *map = map_model(3, &err);
    sal_run_options options = { .sampler = "gwg",
                                .chains = 8,
                                .draws = 2000,
                                .thin = 5,
                                .record = { .draws = true, .best = true } };
    if (!map || sal_model_set_name(map, "map of Australia", &err) != SAL_OK ||
        sal_sample(map, &options, &run, &err) != SAL_OK ||
        sal_run_best(run, best, &f, &err) != SAL_OK ||
        sal_model_exact(map, NULL, &exact, NULL, NULL, NULL, &err) != SAL_OK) {
        return fprintf(stderr, "%s\n", err.message), 1;
    }
    sal_run_print_summary(run, stdout);
    count_colourings(run);
    /* The mainland is a chain of triangles: two states are free to begin with, each further one has
     * q - 2 colours left; the island has q. Each colouring has the probability exp(0) / Z. */
    int q = COLOURS, all = q * (q - 1) * (q - 2) * (q - 2) * (q - 2) * (q - 2) * q;
    printf("exact            %.3f, %d colourings\n\n", all * exp(-exact.log_z), all);
    printf("The first one found, f = %.0f:\n", f);
    for (int i = 0; i < STATES; i++) {
        printf("  %-20s %s\n", state[i], colour[best[i]]);
    }
    printf("\n");
    show_a_mistake();
    sal_run_destroy(run);
    sal_model_destroy(map);
}

/* SPDX-License-Identifier: MIT */
