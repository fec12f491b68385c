/* SPDX-License-Identifier: MIT */
/* Convolutional nets of the papers, over pictures. */
#include <stdio.h>

#include "models/zoo/deep.h"

/* Indices of settings: of nets for one size of pictures, and of nets for any size. */
enum { CHANNELS, SHARED };
enum { HEIGHT = CHANNELS + 1, WIDTH, PROJECT, SIZED_SHARED };

/* Most outputs of a layer: eight times the most channels. */
enum { MOST_CHANNELS = 1024, MOST_OUTPUTS = 8 * MOST_CHANNELS };

#define CHANNELS_SETTING(standard)                                                        \
    {                                                                                     \
        "channels", standard, 1, MOST_CHANNELS, true, "channels of the first layer", NULL \
    }

#define NET_PARAMETERS(standard) .settings = { CHANNELS_SETTING(standard), SALI_DEEP_PARAMETERS }

#define SIZED_PARAMETERS(standard)                                                             \
    .settings = { CHANNELS_SETTING(standard),                                                  \
                  { "height", 28, 8, 1024, true, "of the picture, in pixels", NULL },          \
                  { "width", 28, 8, 1024, true, "of the picture, in pixels", NULL },           \
                  { "project", 0, 0, 1024, true,                                               \
                    "channels of a 1 x 1 convolution before the first layer; 0: none", NULL }, \
                  SALI_DEEP_PARAMETERS }

/* ---- formulas */

/* A convolution of x [channels, rows, columns] with `out` outputs and a window of height x width.
 * With levels the bias is the row of `level` in a parameter [levels, out]. */
static sal_expr conv_window(const char *layer, sal_expr x, sal_expr level, int64_t out,
                            int64_t height, int64_t width, int64_t stride, int64_t padding)
{
    static const double zeros[MOST_OUTPUTS];
    int64_t in = sal_expr_shape(x).dim[0];
    sal_expr weight =
        sali_deep_parameter(x.tape, layer, "weight", SAL_SHAPE(out, in, height, width));
    if (!level.tape) {
        sal_expr bias = sali_deep_parameter(x.tape, layer, "bias", SAL_SHAPE(out));
        return sal_conv2d(x, weight, bias, stride, padding);
    }
    sal_expr none = sal_constant(x.tape, zeros, SAL_SHAPE(out));
    sal_expr row =
        sali_deep_row(layer, "bias", level, SAL_SHAPE(sal_expr_shape(level).dim[0], out));
    return sal_add(sal_conv2d(x, weight, none, stride, padding),
                   sal_reshape(row, SAL_SHAPE(out, 1, 1)));
}

static sal_expr conv(const char *layer, sal_expr x, sal_expr level, int64_t out, int64_t side,
                     int64_t stride, int64_t padding)
{
    return conv_window(layer, x, level, out, side, side, stride, padding);
}

/* Seven layers, each followed by SiLU. Three of them halve the sides and double the channels; the
 * last window covers all pixels that are left. */
static sal_expr conv_net(sal_expr x, sal_expr level, const double *values)
{
    int64_t channels = (int64_t)values[CHANNELS];
    static const struct {
        int64_t factor, kernel, stride, padding;
    } layers[] = { { 1, 3, 1, 1 }, { 2, 4, 2, 1 }, { 2, 3, 1, 1 }, { 4, 4, 2, 1 },
                   { 4, 3, 1, 1 }, { 8, 4, 2, 1 }, { 8, 0, 1, 0 } };
    for (int k = 0; k < 7; k++) {
        char name[32];
        snprintf(name, sizeof name, "net.%d", 2 * k);
        sal_shape left = sal_expr_shape(x);
        int64_t height = layers[k].kernel ? layers[k].kernel : left.dim[1];
        int64_t width = layers[k].kernel ? layers[k].kernel : left.dim[2];
        x = sal_silu(conv_window(name, x, level, layers[k].factor * channels, height, width,
                                 layers[k].stride, layers[k].padding));
    }
    return sali_deep_output("final_linear", x, level);
}

/* Few layers, each followed by SiLU: 5 x 5, then 3 x 3 until at most 4 x 4 pixels are left, all
 * with stride 2, then a window over these. Channels double twice. */
static sal_expr strided_net(sal_expr x, sal_expr level, const double *values)
{
    const int64_t channels = (int64_t)values[CHANNELS];
    int64_t factor = 1, k = 0;
    char name[32];
    sal_shape left = sal_expr_shape(x);
    while (k == 0 || left.dim[1] > 4 || left.dim[2] > 4) {
        snprintf(name, sizeof name, "net.%d", (int)(2 * k));
        const int64_t side = k == 0 ? 5 : 3;
        x = sal_silu(conv(name, x, level, factor * channels, side, 2, side / 2));
        left = sal_expr_shape(x);
        factor = factor < 4 ? 2 * factor : 4;
        k++;
    }
    snprintf(name, sizeof name, "net.%d", (int)(2 * k));
    x = sal_silu(conv_window(name, x, level, 4 * channels, left.dim[1], left.dim[2], 1, 0));
    return sali_deep_output("final_linear", x, level);
}

/* Two 3 x 3 convolutions, the first with `stride`, plus x, or a 1 x 1 convolution of x if the
 * stride is above 1; then SiLU. */
static sal_expr residual_block(int index, sal_expr x, sal_expr level, int64_t channels,
                               int64_t stride)
{
    char name[64];
    snprintf(name, sizeof name, "net.%d.conv1", index);
    sal_expr y = sal_silu(conv(name, x, level, channels, 3, stride, 1));
    snprintf(name, sizeof name, "net.%d.conv2", index);
    y = conv(name, y, level, channels, 3, 1, 1);
    if (stride > 1) {
        snprintf(name, sizeof name, "net.%d.shortcut_conv", index);
        x = conv(name, x, level, channels, 1, stride, 0);
    }
    return sal_silu(sal_add(y, x));
}

/* A convolution named `first`, eight residual blocks (two with stride 2), the mean over pixels, and
 * a linear output. */
static sal_expr residual_net_from(const char *first, sal_expr x, sal_expr level,
                                  const double *values)
{
    int64_t channels = (int64_t)values[CHANNELS];
    x = conv(first, x, level, channels, 3, 1, 1);
    for (int k = 0; k < 8; k++) {
        x = residual_block(k, x, level, channels, k < 2 ? 2 : 1);
    }
    sal_shape left = sal_expr_shape(x);
    x = sal_reshape(x, SAL_SHAPE(left.dim[0], left.dim[1] * left.dim[2]));
    return sali_deep_output("energy_linear", sal_mean_axis(x, 1), level);
}

static sal_expr residual_net(sal_expr x, sal_expr level, const double *values)
{
    return residual_net_from("proj", x, level, values);
}

/* ---- of any size: `projected` mixes the channels of the one-hot before the first layer, as
 * Grathwohl et al. do */

static sal_expr projected(sal_expr x, sal_expr level, const double *values)
{
    int64_t channels = (int64_t)values[PROJECT];
    return channels > 0 ? conv("proj", x, level, channels, 1, 1, 0) : x;
}

static sal_expr sized_conv_net(sal_expr x, sal_expr level, const double *values)
{
    return conv_net(projected(x, level, values), level, values);
}

static sal_expr sized_strided_net(sal_expr x, sal_expr level, const double *values)
{
    return strided_net(projected(x, level, values), level, values);
}

static sal_expr sized_residual_net(sal_expr x, sal_expr level, const double *values)
{
    return residual_net_from(values[PROJECT] > 0 ? "proj2" : "proj", projected(x, level, values),
                             level, values);
}

/* ---- models */

static sal_status usps_conv(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, true, 16, 16, SHARED, conv_net, f);
}

static sal_status mnist_conv(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, true, 28, 28, SHARED, conv_net, f);
}

static sal_status mnist_resnet(sali_making *m, sal_expr *f)
{
    return sali_deep_formula(m, true, 28, 28, SHARED, residual_net, f);
}

static sal_status sized(sali_making *m, sali_net net, sal_expr *f)
{
    return sali_deep_formula(m, true, (int64_t)m->values[HEIGHT], (int64_t)m->values[WIDTH],
                             SIZED_SHARED, net, f);
}

static sal_status sized_conv(sali_making *m, sal_expr *f)
{
    return sized(m, sized_conv_net, f);
}

static sal_status sized_strided(sali_making *m, sal_expr *f)
{
    return sized(m, sized_strided_net, f);
}

static sal_status sized_resnet(sali_making *m, sal_expr *f)
{
    return sized(m, sized_residual_net, f);
}

const sali_builtin sali_builtin_usps_conv = {
    .name = "usps-conv",
    .doc = "seven convolutions with SiLU, then linear; 16x16 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .formula = usps_conv,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_rbm_training, sali_deep_training),
};

const sali_builtin sali_builtin_mnist_conv = {
    .name = "mnist-conv",
    .doc = "seven convolutions with SiLU, then linear; 28x28 pixels",
    .source = "Rhodes & Gutmann 2022 sec. 5.4, at MNIST's size",
    .dtype = SAL_F32,
    NET_PARAMETERS(16),
    .formula = mnist_conv,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_training, sali_deep_training),
};

const sali_builtin sali_builtin_mnist_resnet = {
    .name = "mnist-resnet",
    .doc = "residual net of eight blocks with SiLU, mean, linear; 28x28 pixels",
    .source = "Grathwohl et al. 2021, deep energy-based models",
    .dtype = SAL_F32,
    NET_PARAMETERS(64),
    .formula = mnist_resnet,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_residual_training, sali_deep_residual_training),
};

const sali_builtin sali_builtin_conv = {
    .name = "conv",
    .doc = "seven convolutions with SiLU, then linear; pictures of any size",
    .source = "Rhodes & Gutmann 2022 sec. 5.4; Grathwohl et al. 2021 (`project`)",
    .dtype = SAL_F32,
    SIZED_PARAMETERS(16),
    .formula = sized_conv,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_rbm_training, sali_deep_training),
};

const sali_builtin sali_builtin_strided_conv = {
    .name = "strided-conv",
    .doc = "few convolutions of stride 2 with SiLU, then linear; pictures of any size",
    .source = "as discriminators of DCGAN: Radford, Metz & Chintala 2016",
    .dtype = SAL_F32,
    SIZED_PARAMETERS(24),
    .formula = sized_strided,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_training, sali_deep_training),
};

const sali_builtin sali_builtin_resnet = {
    .name = "resnet",
    .doc = "residual net of eight blocks with SiLU, mean, linear; pictures of any size",
    .source = "Grathwohl et al. 2021, deep energy-based models; their categorical ones (`project`)",
    .dtype = SAL_F32,
    SIZED_PARAMETERS(64),
    .formula = sized_resnet,
    .init = sali_deep_init,
    SALI_DEEP_TRAINING(sali_deep_rbm_training, sali_deep_residual_training),
};
