/* SPDX-License-Identifier: MIT */
/* Convolutional nets of the papers, over pictures. */
#include <stdio.h>

#include "models/zoo/deep.h"

enum { CHANNELS, SHARED };

#define NET_PARAMETERS(standard)                                                                \
    .settings = { { "channels", standard, 1, 1024, true, "channels of the first layer", NULL }, \
                  SALI_DEEP_PARAMETERS }

/* ---- formulas */

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
static sal_expr conv_net(sal_expr x, const double *values)
{
    int64_t channels = (int64_t)values[CHANNELS];
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

static sal_expr residual_net(sal_expr x, const double *values)
{
    int64_t channels = (int64_t)values[CHANNELS];
    x = conv("proj", x, channels, 3, 1, 1);
    for (int k = 0; k < 8; k++) {
        x = residual_block(k, x, channels, k < 2 ? 2 : 1);
    }
    x = sal_avg_pool2d(x, sal_expr_shape(x).dim[1], 1);
    return linear("energy_linear", x);
}

/* ---- models */

static sal_status usps_conv(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, 16 * 16, 16, SHARED, conv_net, f);
}

static sal_status mnist_conv(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, 28 * 28, 28, SHARED, conv_net, f);
}

static sal_status mnist_resnet(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, 28 * 28, 28, SHARED, residual_net, f);
}

const sali_builtin sali_builtin_usps_conv = {
    .name = "usps-conv",
    .doc = "seven convolutions with SiLU, then linear; 16x16 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .formula = usps_conv,
    .init = sali_deep_init,
    .training = &sali_deep_training,
};

const sali_builtin sali_builtin_mnist_conv = {
    .name = "mnist-conv",
    .doc = "seven convolutions with SiLU, then linear; 28x28 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4, at MNIST's size",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .formula = mnist_conv,
    .init = sali_deep_init,
    .training = &sali_deep_training,
};

const sali_builtin sali_builtin_mnist_resnet = {
    .name = "mnist-resnet",
    .doc = "residual net of eight blocks with SiLU, mean, linear; 28x28 pixels",
    .source = "Grathwohl et al. 2021, deep energy-based models",
    .dtype = SAL_F32,
    NET_PARAMETERS(64),
    .formula = mnist_resnet,
    .init = sali_deep_init,
    .training = &sali_deep_training,
};
