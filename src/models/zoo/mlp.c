/* A multilayer perceptron as a deep energy-based model. */
#include <stdio.h>

#include "core/error.h"
#include "models/zoo/deep.h"

enum { VISIBLE, HIDDEN, LAYERS, SHARED };

/* net.0 SiLU net.2 SiLU .. and a linear output, as PyTorch numbers a sequence. */
static sal_expr perceptron(sal_expr x, int64_t hidden, int64_t layers)
{
    char name[32];
    for (int64_t k = 0; k < layers; k++) {
        snprintf(name, sizeof name, "net.%d", (int)(2 * k));
        x = sal_silu(sali_deep_linear(name, x, hidden));
    }
    snprintf(name, sizeof name, "net.%d", (int)(2 * layers));
    return sal_reshape(sali_deep_linear(name, x, 1), SAL_SCALAR);
}

static sal_status make_mlp(const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_deep deep;
    sal_status status =
        sali_deep_settings("mlp", (int64_t)values[VISIBLE], values + SHARED, &deep, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_tape *tape = sali_deep_tape(&deep, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr f = perceptron(sal_state(tape), (int64_t)values[HIDDEN], (int64_t)values[LAYERS]);
    return sali_deep_finish(&deep, tape, f, out, err);
}

const sali_builtin sali_builtin_mlp = {
    .name = "mlp",
    .doc = "multilayer perceptron: `layers` linear layers with SiLU, then linear",
    .source = "Grathwohl et al. 2021 sec. 8 (deep energy-based models), fully connected",
    .dtype = SAL_F32,
    .parameters = { { "visible", 784, 1, 1e6, true, "variables", NULL },
                    { "hidden", 256, 1, 1e5, true, "units of a layer", NULL },
                    { "layers", 2, 1, 64, true, "hidden layers", NULL },
                    SALI_DEEP_PARAMETERS },
    .make = make_mlp,
    .init = sali_deep_init,
    .training = &sali_deep_training,
};
