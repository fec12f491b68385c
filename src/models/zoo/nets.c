/* Convolutional nets of the papers, over pictures. */
#include <stdio.h>

#include "core/alloc.h"
#include "core/error.h"
#include "models/zoo/deep.h"

enum { CHANNELS, SHARED };

#define NET_PARAMETERS(standard)                                                                  \
    .parameters = { { "channels", standard, 1, 1024, true, "channels of the first layer", NULL }, \
                    SALI_DEEP_PARAMETERS }

/* ---- formulas */

/* The one-hot [side * side, states] as an image with a channel for each state. */
static sal_status one_hot_image(sal_expr s, int64_t side, int64_t states, sal_expr *image,
                                sal_error *err)
{
    int64_t pixels = side * side, *indices = SALI_NEW_ARRAY(int64_t, pixels * states);
    if (!indices) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; k < states; k++) {
        for (int64_t i = 0; i < pixels; i++) {
            indices[k * pixels + i] = i * states + k;
        }
    }
    sal_expr channels = sal_gather(s, 0, pixels * states, indices);
    *image = sal_reshape(channels, SAL_SHAPE(states, side, side));
    sali_free(indices);
    return SAL_OK;
}

static sal_expr conv(const char *layer, sal_expr x, int64_t out, int64_t kernel, int64_t stride,
                     int64_t padding)
{
    int64_t in = sal_expr_shape(x).dim[0];
    sal_expr weight =
        sali_deep_parameter(x.tape, layer, "weight", SAL_SHAPE(out, in, kernel, kernel));
    sal_expr bias = sali_deep_parameter(x.tape, layer, "bias", SAL_SHAPE(out));
    return sal_conv2d(x, weight, bias, stride, padding);
}

/* One output of an image [features, 1, 1]. */
static sal_expr linear(const char *layer, sal_expr x)
{
    return sal_reshape(sali_deep_linear(layer, x, 1), SAL_SCALAR);
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

/* ---- models */

static sal_status make_net(const char *name, int64_t side, sal_expr (*net)(sal_expr, int64_t),
                           const double *values, sal_dtype dtype, sal_model **out, sal_error *err)
{
    sali_deep deep;
    sal_status status = sali_deep_settings(name, side * side, values + SHARED, &deep, err);
    if (status != SAL_OK) {
        return status;
    }
    sal_tape *tape = sali_deep_tape(&deep, dtype);
    if (!tape) {
        return sali_fail_memory(err);
    }
    sal_expr x = sal_state(tape);
    if (deep.kind == SAL_CATEGORICAL) {
        status = one_hot_image(x, side, deep.states, &x, err);
    } else {
        x = sal_reshape(x, SAL_SHAPE(1, side, side));
    }
    if (status != SAL_OK) {
        sal_tape_destroy(tape);
        return status;
    }
    return sali_deep_finish(&deep, tape, net(x, (int64_t)values[CHANNELS]), out, err);
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
    .init = sali_deep_init,
    .training = &sali_deep_training,
};

const sali_builtin sali_builtin_mnist_conv = {
    .name = "mnist-conv",
    .doc = "seven convolutions with SiLU, then linear; 28x28 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4, at MNIST's size",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .make = make_mnist_conv,
    .init = sali_deep_init,
    .training = &sali_deep_training,
};

const sali_builtin sali_builtin_mnist_resnet = {
    .name = "mnist-resnet",
    .doc = "residual net of eight blocks with SiLU, mean, linear; 28x28 pixels",
    .source = "Grathwohl et al. 2021, deep energy-based models",
    .dtype = SAL_F32,
    NET_PARAMETERS(64),
    .make = make_mnist_resnet,
    .init = sali_deep_init,
    .training = &sali_deep_training,
};
