/* SPDX-License-Identifier: MIT */
/* A multilayer perceptron as a deep energy-based model. */
#include <stdio.h>

#include "models/zoo/deep.h"

enum { VISIBLE, HIDDEN, LAYERS, SHARED };

/* `layers` linear layers with SiLU and a linear output. Layers are named net.0, net.2, ..: PyTorch
 * numbers activations, too. */
static sal_expr perceptron(sal_expr x, sal_expr level, const double *values)
{
    int64_t hidden = (int64_t)values[HIDDEN], layers = (int64_t)values[LAYERS];
    char name[32];
    for (int64_t k = 0; k < layers; k++) {
        snprintf(name, sizeof name, "net.%d", (int)(2 * k));
        x = sal_silu(sali_deep_linear(name, x, level, hidden));
    }
    snprintf(name, sizeof name, "net.%d", (int)(2 * layers));
    return sali_deep_output(name, x, level);
}

static sal_status mlp(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, false, 1, (int64_t)m->values[VISIBLE], SHARED, perceptron, f);
}

const sali_builtin sali_builtin_mlp = {
    .name = "mlp",
    .doc = "multilayer perceptron: `layers` linear layers with SiLU, then linear",
    .source = "Grathwohl et al. 2021 sec. 8 (deep energy-based models), fully connected",
    .dtype = SAL_F32,
    .settings = { { "visible", 784, 1, 1e6, true, "variables", NULL },
                  { "hidden", 256, 1, 1e5, true, "units of a layer", NULL },
                  { "layers", 2, 1, 64, true, "hidden layers", NULL },
                  SALI_DEEP_PARAMETERS },
    .formula = mlp,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_rbm_training, sali_deep_training),
};
