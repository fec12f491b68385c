/* Lesson 3. One formula, four derivatives.
 *
 * From a formula f(s) of discrete s Saltus makes, without more work of yours,
 *
 *   1. its value;
 *   2. its gradient: s taken as real numbers, whatever that means off the lattice;
 *   3. exact differences f(s with s_i changed) - f(s): what samplers really want to know;
 *   4. the multilinear extension F(theta) = E f(s), where the s_i are independent and P(s_i = 1) =
 *      theta_i, and its gradient (Xiang et al. 2023, eq. 11): what f means between the states.
 *
 * gwg and ncg guess differences from the gradient, lb and mana compute them. When is the guess
 * right? When f is multilinear: linear in each s_i while the others stand still. Below are three
 * formulas with the same values at all eight states of {0,1}^3:
 *
 *   products  f = s_0 s_1 - 2 s_1 s_2 + s_0 / 2, pairs and a linear term: multilinear
 *   matrix    f = s'J s, where s_0^2 / 2 stands for s_0 / 2: not multilinear
 *   matrix, canonical: the same formula, and the pass that knows that s^2 = s for 0 and 1 */
#include <saltus/saltus.h>

enum { N = 3 };

static sal_model *make(bool matrix, bool canonical, sal_error *err)
{
    const double J[N * N] = { 0.5, 0.5, 0, 0.5, 0, -1, 0, -1, 0 };
    const double coupling[] = { 1, -2 }, field[N] = { 0.5, 0, 0 };
    const int64_t pairs[] = { 0, 1, 1, 2 };
    sal_model *model = NULL;
    sal_space *space = sal_space_create();
    sal_space_add(space, &(sal_block){ .name = "s", .kind = SAL_BINARY, .count = N }, err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr f, s = sal_state(t);
    if (matrix) {
        f = sal_quad(s, sal_constant(t, J, SAL_SHAPE(N, N)));
    } else {
        sal_expr w = sal_constant(t, coupling, SAL_SHAPE(2));
        sal_expr b = sal_constant(t, field, SAL_SHAPE(N));
        f = sal_add(sal_edges(s, w, 2, pairs), sal_dot(b, s));
    }
    if (canonical) {
        sal_tape_set_passes(t, SAL_PASS_DEFAULT | SAL_PASS_CANONICAL);
    }
    sal_model_from_tape(t, f, &model, err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return model;
}

/* At states: value, gradient, and slopes: a difference divided by the step from s_i to 1 - s_i. */
static sal_status at_states(const sal_model *model, sal_error *err)
{
    const int32_t codes[3][N] = { { 0, 1, 0 }, { 1, 0, 1 }, { 1, 1, 1 } };
    double f[3], g[3][N], d[3][N][2]; /* d[.][i][v]: f(s with s_i = v) - f(s) */
    sal_status status = sal_model_evaluate(model, 3, *codes, f, *g, **d, err);
    if (status != SAL_OK) {
        return status;
    }
    printf("    s        f |    gradient           |    slopes\n");
    for (int k = 0; k < 3; k++) {
        const int32_t *s = codes[k];
        printf("  %d %d %d  %5.1f |", s[0], s[1], s[2], f[k]);
        for (int i = 0; i < N; i++) {
            printf(" %6.2f", g[k][i] + 0.0);
        }
        printf("  |");
        for (int i = 0; i < N; i++) {
            printf(" %6.2f", d[k][i][1 - s[i]] / (1 - 2 * s[i]) + 0.0);
        }
        printf("\n");
    }
    return SAL_OK;
}

/* Between states, at P(s_i = 1) = p_i: the formula at the reals p, and the extension F. */
static sal_status between_states(const sal_model *model, sal_error *err)
{
    const double p[N] = { 0.3, 0.2, 0.9 };
    double theta[N][2], f, g[N], G[N][2];
    sal_extension extension;
    for (int i = 0; i < N; i++) {
        theta[i][0] = 1 - p[i];
        theta[i][1] = p[i];
    }
    sal_status status = sal_model_evaluate_at(model, 1, p, &f, g, err);
    if (status == SAL_OK) {
        status = sal_model_extension(model, NULL, *theta, &extension, *G, NULL, err);
    }
    if (status != SAL_OK) {
        return status;
    }
    printf("  at p = (0.3, 0.2, 0.9): the formula %.4f, gradient", f);
    for (int i = 0; i < N; i++) {
        printf(" %.3f", g[i]);
    }
    printf("\n                        the extension %.4f, gradient", extension.F);
    for (int i = 0; i < N; i++) {
        printf(" %.3f", G[i][1] - G[i][0]);
    }
    printf("\n\n");
    return SAL_OK;
}

/* What to see: the slopes are the same three times, since differences are exact. The gradient
 * equals them in the first and third model. In the second it is s_0 where the slope is 1/2: too low
 * by a half at s_0 = 0, too high at s_0 = 1. A gradient-based sampler stays exact with it, since it
 * accepts or rejects, but proposes worse. The extension is the same three times too: it depends on
 * f at the states only. Where f is multilinear the extension is the formula itself. */
int main(void)
{
    const char *const names[] = { "products", "matrix", "matrix, canonical" };
    sal_error err = { 0 };
    for (int k = 0; k < 3; k++) {
        sal_model *model = make(k > 0, k == 2, &err);
        if (!model) {
            return fprintf(stderr, "%s\n", err.message), 1;
        }
        printf("%s (%s)\n", names[k],
               sal_model_is_multilinear(model) ? "multilinear" : "not multilinear");
        if (at_states(model, &err) != SAL_OK || between_states(model, &err) != SAL_OK) {
            return fprintf(stderr, "%s\n", err.message), 1;
        }
        sal_model_destroy(model);
    }
}

/* SPDX-License-Identifier: MIT */
