/* Convolutional nets of the papers. Parameters bear PyTorch's names and shapes, so that weights
 * trained there load as they are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "models/builtin.h"

enum { CHANNELS, KIND, QUADRATIC, SEED };

static const char *const kinds[] = { "binary", "spin", NULL };

#define NET_PARAMETERS(standard)                                                                   \
    .parameters = {                                                                                \
        [CHANNELS] = { "channels", standard, 1, 1024, true, "channels of the first layer", NULL }, \
        [KIND] = { "kind", 0, 0, 1, true, "pixels in {0,1} or {-1,+1}", kinds },                   \
        [QUADRATIC] = { "quadratic", 0, 0, 1, true, "1: add s'Js + b's", NULL },                   \
        [SEED] = { "seed", 0, 0, 4294967295.0, true, "seed of the random weights", NULL }          \
    }

/* ---- formulas */

/* A parameter "layer.part". */
static sal_expr part(sal_tape *tape, const char *layer, const char *which, sal_shape shape)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", layer, which);
    return sal_param(tape, name, shape);
}

static sal_expr conv(const char *layer, sal_expr x, int64_t out, int64_t kernel, int64_t stride,
                     int64_t padding)
{
    int64_t in = sal_expr_shape(x).dim[0];
    sal_expr weight = part(x.tape, layer, "weight", SAL_SHAPE(out, in, kernel, kernel));
    return sal_conv2d(x, weight, part(x.tape, layer, "bias", SAL_SHAPE(out)), stride, padding);
}

/* One output of an image [features, 1, 1]. */
static sal_expr linear(const char *layer, sal_expr x)
{
    int64_t features = sal_expr_shape(x).dim[0];
    sal_expr flat = sal_reshape(x, SAL_SHAPE(features));
    sal_expr y = sal_matvec(part(x.tape, layer, "weight", SAL_SHAPE(1, features)), flat);
    return sal_reshape(sal_add(y, part(x.tape, layer, "bias", SAL_SHAPE(1))), SAL_SCALAR);
}

/* Seven layers, each followed by SiLU: three times the sides are halved and the channels doubled;
 * the last window covers what is left. */
static sal_expr conv_net(sal_expr x, int64_t channels)
{
    static const struct {
        int64_t factor, kernel, stride, padding;
    } layers[] = { { 1, 3, 1, 1 }, { 2, 4, 2, 1 }, { 2, 3, 1, 1 }, { 4, 4, 2, 1 },
                   { 4, 3, 1, 1 }, { 8, 4, 2, 1 }, { 8, 0, 1, 0 } };
    for (int k = 0; k < 7; k++) {
        char name[32];
        snprintf(name, sizeof name, "net.%d", 2 * k);
        int64_t kernel = layers[k].kernel ? layers[k].kernel : sal_expr_shape(x).dim[1];
        x = sal_silu(conv(name, x, layers[k].factor * channels, kernel, layers[k].stride,
                          layers[k].padding));
    }
    return linear("final_linear", x);
}

static sal_expr residual_block(int index, sal_expr x, int64_t channels, int64_t stride)
{
    char name[64];
    snprintf(name, sizeof name, "net.%d.conv1", index);
    sal_expr y = sal_silu(conv(name, x, channels, 3, stride, 1));
    snprintf(name, sizeof name, "net.%d.conv2", index);
    y = conv(name, y, channels, 3, 1, 1);
    if (stride > 1) {
        snprintf(name, sizeof name, "net.%d.shortcut_conv", index);
        x = conv(name, x, channels, 1, stride, 0);
    }
    return sal_silu(sal_add(y, x));
}

static sal_expr residual_net(sal_expr x, int64_t channels)
{
    x = conv("proj", x, channels, 3, 1, 1);
    for (int k = 0; k < 8; k++) {
        x = residual_block(k, x, channels, k < 2 ? 2 : 1);
    }
    x = sal_avg_pool2d(x, sal_expr_shape(x).dim[1], 1);
    return linear("energy_linear", x);
}

/* ---- starting values */

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* PyTorch's: uniform within 1 / sqrt(inputs of one output), weights and biases both. */
static sal_status start_net(sal_model *model, uint64_t seed, sal_error *err)
{
    double *flat = SALI_NEW_ARRAY(double, sal_model_parameters_size(model)), *at = flat;
    if (!flat) {
        return sali_fail_memory(err);
    }
    sal_status status = sal_model_get_params(model, NULL, flat, err);
    sal_shape shape;
    const char *name;
    double bound = 0;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        int64_t size = 1;
        for (int32_t i = 0; i < shape.rank; i++) {
            size *= shape.dim[i];
        }
        if (ends_with(name, ".weight")) { /* comes before its bias */
            bound = 1 / sqrt((double)(size / shape.dim[0]));
        }
        if (ends_with(name, ".weight") || ends_with(name, ".bias")) {
            sali_stream stream = { .seed = seed, .chain = (uint32_t)k, .purpose = SALI_RNG_PARAMS };
            sali_rng_uniform_f64(&stream, size, at);
            for (int64_t i = 0; i < size; i++) {
                at[i] = bound * (2 * at[i] - 1);
            }
        }
        at += size;
    }
    status = status == SAL_OK ? sal_model_set_params(model, NULL, flat, err) : status;
    sali_free(flat);
    return status;
}

static bool has_quadratic(const sal_model *model)
{
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, NULL)); k++) {
        if (strcmp(name, "J") == 0) {
            return true;
        }
    }
    return false;
}

static sal_status start(sal_model *model, uint64_t seed, sal_error *err)
{
    sal_status status = start_net(model, seed, err);
    if (status == SAL_OK && has_quadratic(model)) {
        status = sali_builtin_randomise(model, "J", 0.01, seed, UINT32_MAX, err);
    }
    return status;
}

/* The linear term as Rhodes & Gutmann start it: b = log(mean + 0.01). */
static sal_status init_net(sal_model *model, uint64_t seed, const double *mean, sal_error *err)
{
    sal_status status = start(model, seed, err);
    if (status != SAL_OK || !has_quadratic(model)) {
        return status;
    }
    int64_t n = model->space->width;
    double *b = SALI_NEW_ARRAY(double, n);
    if (!b) {
        return sali_fail_memory(err);
    }
    for (int64_t i = 0; i < n; i++) {
        b[i] = log(mean[i] + 0.01);
    }
    status = sal_model_set_params(model, "b", b, err);
    sali_free(b);
    return status;
}

/* ---- models */

static sal_status make_net(const char *name, int64_t side, sal_expr (*net)(sal_expr, int64_t),
                           const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    int64_t n = side * side;
    sal_kind kind = values[KIND] != 0 ? SAL_SPIN : SAL_BINARY;
    sal_tape *tape = sali_builtin_tape("pixel", kind, n, 0, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr s = sal_state(tape);
    sal_expr f = net(sal_reshape(s, SAL_SHAPE(1, side, side)), (int64_t)values[CHANNELS]);
    if (values[QUADRATIC] != 0) {
        sal_expr J = sal_param(tape, "J", SAL_SHAPE(n, n)), b = sal_param(tape, "b", SAL_SHAPE(n));
        f = sal_add(f, sal_add(sal_quad(s, J), sal_dot(b, s)));
    }
    sal_model *model = NULL;
    sal_status status = sali_builtin_finish(tape, f, name, &model, err);
    if (status == SAL_OK) {
        status = start(model, (uint64_t)values[SEED], err);
    }
    if (status != SAL_OK) {
        sal_model_destroy(model);
        return status;
    }
    *out = model;
    return SAL_OK;
}

static sal_status make_usps_conv(const double *values, sal_dtype dtype, sal_model **out,
                                 sal_error *err)
{
    return make_net("usps-conv", 16, conv_net, values, dtype, out, err);
}

static sal_status make_mnist_conv(const double *values, sal_dtype dtype, sal_model **out,
                                  sal_error *err)
{
    return make_net("mnist-conv", 28, conv_net, values, dtype, out, err);
}

static sal_status make_mnist_resnet(const double *values, sal_dtype dtype, sal_model **out,
                                    sal_error *err)
{
    return make_net("mnist-resnet", 28, residual_net, values, dtype, out, err);
}

const sali_builtin sali_builtin_usps_conv = {
    .name = "usps-conv",
    .doc = "seven convolutions with SiLU, then linear; 16x16 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .make = make_usps_conv,
    .init = init_net,
};

const sali_builtin sali_builtin_mnist_conv = {
    .name = "mnist-conv",
    .doc = "seven convolutions with SiLU, then linear; 28x28 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4, at MNIST's size",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .make = make_mnist_conv,
    .init = init_net,
};

const sali_builtin sali_builtin_mnist_resnet = {
    .name = "mnist-resnet",
    .doc = "residual net of eight blocks with SiLU, mean, linear; 28x28 pixels",
    .source = "Grathwohl et al. 2021, deep energy-based models",
    .dtype = SAL_F32,
    NET_PARAMETERS(64),
    .make = make_mnist_resnet,
    .init = init_net,
};
