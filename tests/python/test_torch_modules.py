# SPDX-License-Identifier: MIT
"""The table of PyTorch modules that become formulas: value and gradient of each against autograd.

"fx": by torch.fx, with every PyTorch. "export": where torch.fx stops, by torch.export, from PyTorch 2 on.
With the argument --table it prints for each module of the table what becomes of it, with --speed how much slower a
module is that is called.
"""

import math
import sys
import time
import unittest
import warnings

import numpy as np

import saltus as sal
from saltus import _torch_operations, _torch_trace
from test_torch import HAS_EXPORT, MISSING, Of, autograd, cases, say_skipped, tensor, torch

if torch is not None:
    from torch import nn
    from torch.nn import functional as F
    from torch.nn.utils import parametrize, parametrizations

    sal.from_torch(nn.Linear(2, 1), 2)  # what torch.fx imports is slow the first time
    ROWS, IMAGE = (5, 6), (4, 7, 8)

    class Symmetric(nn.Module):
        def forward(self, w):
            return w.triu() + w.triu(1).transpose(-1, -2)

    class Attends(nn.Module):
        """Attention of rows to themselves, or to other rows made of them."""

        def __init__(self, features=6, heads=2, other=None, mask=None, weights=False, **options):
            super().__init__()
            self.attention = nn.MultiheadAttention(features, heads, batch_first=True, **options)
            if options.get("bias", True):
                for bias in (self.attention.in_proj_bias, self.attention.out_proj.bias):
                    nn.init.normal_(bias)
            self.key, self.value = ((nn.Linear(features, n) for n in other) if other
                                    else (nn.Identity(), nn.Identity()))
            self.mask, self.weights = mask, weights

        def forward(self, x):
            y, weights = self.attention(x, self.key(x), self.value(x), attn_mask=self.mask, need_weights=self.weights)
            return (y * x).tanh().sum((1, 2)) + (weights.square().sum((1, 2)) if self.weights else 0)

    class Masked(nn.Module):
        """An encoder with a causal mask."""

        def __init__(self):
            super().__init__()
            self.encoder = nn.TransformerEncoder(perturbed(nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)), 2)
            self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(5))

        def forward(self, x):
            return (self.encoder(x, self.mask) * x).sum((1, 2))

    class Recurrent(nn.Module):
        """The outputs, or the last states, of a recurrent layer."""

        def __init__(self, layer, last):
            super().__init__()
            self.layer, self.last = layer, last

        def forward(self, x):
            y, h = self.layer(x)
            if not self.last:
                return y.square().sum((1, 2))
            if isinstance(self.layer, nn.LSTM):
                return h[0][-1].square().sum(1) + h[1][0].sin().sum(1)
            return torch.cat([h[0], h[-2], h[-1]], 1).square().sum(1) if self.layer.bidirectional else h[-1].square().sum(1)

    class Steps(nn.Module):
        """A cell over the rows of its input."""

        def __init__(self, cell):
            super().__init__()
            self.cell = cell

        def forward(self, x):
            h = self.cell(x[:, 0])
            for k in range(1, 3):
                h = self.cell(x[:, k], h)
            return (h[0] * h[1] if isinstance(h, tuple) else h).square().sum(1)

    class Guarded(nn.Module):
        """Branches on the shape of its input, which torch.fx cannot trace."""

        def __init__(self, layer):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            if x.dim() != 3 or x.shape[1] != 5:
                raise ValueError("expected 5 rows")
            y = self.layer(x)
            return sum(row.square().sum(1) for row in y.unbind(1)) / len(list(range(x.shape[1])))

    class SequenceFirst(nn.Module):
        """An encoder that has the batch at axis 1."""

        def __init__(self):
            super().__init__()
            self.layer = perturbed(nn.TransformerEncoderLayer(6, 2, 8))

        def forward(self, x):
            return self.layer(x.transpose(0, 1)).mean(0).square().sum(1)


def perturbed(module):
    """A module whose parameters are all random; many start at 0 or 1."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.3 * torch.randn(parameter.shape)
    return module


def net(layer, shape):
    """A layer between others, so that its gradients differ from point to point."""
    torch.manual_seed(7)
    first = nn.Linear(shape[-1], shape[-1])
    whole = nn.Sequential(first, layer, nn.Tanh(), nn.Flatten(), nn.LazyLinear(1)).eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # lazy layers are new
        whole(torch.zeros((2,) + shape))
    return whole


def table():
    """The table: group, name, shape of a state, module, and what makes the formula."""
    torch.manual_seed(6)

    def encoder(**options):
        return perturbed(nn.TransformerEncoderLayer(6, 2, 8, batch_first=True, **options))

    causal = torch.ones(5, 5).triu(1).bool()
    lower = torch.zeros(5, 5).masked_fill(causal, -math.inf)

    def row(group, name, module, shape=ROWS, by="fx"):
        return group, name, shape, module, by

    def function(group, name, f, shape=ROWS, by="fx", **tensors):
        return row(group, name, Of(f, **tensors), shape, by)

    for options in ({}, {"activation": "gelu"}, {"norm_first": True}, {"dropout": 0.0, "activation": torch.tanh}):
        name = ", ".join(f"{key}={getattr(value, '__name__', value)}" for key, value in options.items())
        yield row("attention", f"TransformerEncoderLayer({name})", net(encoder(**options), ROWS))
    yield row("attention", "TransformerEncoder", net(nn.TransformerEncoder(encoder(), 2, nn.LayerNorm(6)), ROWS))
    yield row("attention", "TransformerEncoder(mask)", Masked())
    yield row("attention", "TransformerEncoder, batch at axis 1", SequenceFirst(), by="export")
    for name, options in (("", {}), ("need_weights", {"weights": True}), ("bias=False", {"bias": False}),
                          ("kdim, vdim", {"other": (3, 4), "kdim": 3, "vdim": 4}), ("attn_mask", {"mask": causal}),
                          ("attn_mask of numbers", {"mask": lower}), ("add_bias_kv", {"add_bias_kv": True}),
                          ("add_zero_attn", {"add_zero_attn": True, "mask": lower})):
        yield row("attention", f"MultiheadAttention({name})", Attends(**options))
    if hasattr(F, "scaled_dot_product_attention"):
        attend = F.scaled_dot_product_attention
        w = tensor(6, 6)
        for name, options in (("", {}), ("is_causal", {"is_causal": True}), ("attn_mask", {"attn_mask": ~causal}),
                              ("scale", {"scale": 0.7})):
            yield function("attention", f"scaled_dot_product_attention({name})",
                           lambda x, m, options=options: (attend(x @ m.w, x, x.sin(), **options) * x).sum((1, 2)), w=w)
        yield function("attention", "scaled_dot_product_attention(attn_mask of numbers)",
                       lambda x, m: (attend(x, x @ m.w, x, m.w[:5, :5]) * x).sum((1, 2)), w=w)
        yield function("attention", "scaled_dot_product_attention of heads", lambda x, m: attend(
            (x @ m.w).view(-1, 5, 2, 3).transpose(1, 2), *[x.view(-1, 5, 2, 3).transpose(1, 2)] * 2).square().sum((1, 2, 3)),
            w=w)
    else:
        yield row("attention", "scaled_dot_product_attention", None, by="PyTorch 2")

    symmetric = nn.Linear(6, 6)
    parametrize.register_parametrization(symmetric, "weight", Symmetric())
    yield row("parametrisations", "register_parametrization", net(symmetric, ROWS))
    spectral = parametrizations.spectral_norm(nn.Linear(6, 4))
    yield row("parametrisations", "spectral_norm", net(spectral, ROWS))
    yield row("parametrisations", "spectral_norm of Conv2d",
              net(parametrizations.spectral_norm(nn.Conv2d(4, 3, 2)), IMAGE), IMAGE)
    yield row("parametrisations", "utils.weight_norm", net(nn.utils.weight_norm(nn.Linear(6, 4)), ROWS))
    yield row("parametrisations", "utils.spectral_norm", net(nn.utils.spectral_norm(nn.Linear(6, 4)), ROWS))
    if hasattr(parametrizations, "weight_norm"):
        yield row("parametrisations", "weight_norm", net(parametrizations.weight_norm(nn.Linear(6, 4)), ROWS))
    else:
        yield row("parametrisations", "weight_norm", None, by="PyTorch 2")

    for name, layer, shape in (
            ("Conv2d(groups)", lambda: nn.Conv2d(4, 6, 3, groups=2), IMAGE),
            ("Conv2d(depthwise)", lambda: nn.Conv2d(4, 4, 3, 1, 1, groups=4, bias=False), IMAGE),
            ("Conv2d(dilation)", lambda: nn.Conv2d(4, 3, 2, 1, 1, dilation=2), IMAGE),
            ("Conv2d(dilation, stride, groups)", lambda: nn.Conv2d(4, 2, (2, 3), (2, 1), (0, 2), (3, 2), 2), IMAGE),
            ("Conv2d(strides)", lambda: nn.Conv2d(4, 3, 2, (4, 2)), IMAGE),
            ("Conv2d(same, dilation)", lambda: nn.Conv2d(4, 3, (2, 3), padding="same", dilation=(1, 2)), IMAGE),
            ("Conv2d(reflect)", lambda: nn.Conv2d(4, 3, 3, padding=(1, 2), padding_mode="reflect"), IMAGE),
            ("Conv2d(replicate)", lambda: nn.Conv2d(4, 3, 3, padding=1, padding_mode="replicate"), IMAGE),
            ("Conv1d(groups)", lambda: nn.Conv1d(4, 6, 3, groups=2, padding=1), (4, 8)),
            ("Conv1d(dilation)", lambda: nn.Conv1d(4, 3, 3, stride=2, dilation=2, padding=2), (4, 8)),
            ("Conv1d(circular)", lambda: nn.Conv1d(4, 3, 3, padding=1, padding_mode="circular"), (4, 8)),
            ("ConvTranspose2d", lambda: nn.ConvTranspose2d(4, 3, 3), IMAGE),
            ("ConvTranspose2d(stride)", lambda: nn.ConvTranspose2d(4, 3, 3, 2, 1, 1), IMAGE),
            ("ConvTranspose2d(unequal)", lambda: nn.ConvTranspose2d(4, 2, (2, 3), (3, 2), (1, 3), (2, 1), bias=False), IMAGE),
            ("ConvTranspose2d(groups, dilation)", lambda: nn.ConvTranspose2d(4, 6, 2, 2, 1, 1, 2, dilation=2), IMAGE),
            ("ConvTranspose1d", lambda: nn.ConvTranspose1d(4, 3, 3, 2, 1, 1), (4, 8)),
            ("ConvTranspose1d(groups)", lambda: nn.ConvTranspose1d(4, 6, 2, 3, groups=2), (4, 8)),
            ("Unfold", lambda: nn.Unfold((2, 3), stride=(1, 2)), IMAGE)):
        yield row("convolutions", name, net(layer(), shape), shape)

    for name, layer, shape in (
            ("MaxPool1d", lambda: nn.MaxPool1d(2), (4, 8)), ("MaxPool1d(padding)", lambda: nn.MaxPool1d(3, 2, 1), (4, 8)),
            ("AvgPool1d", lambda: nn.AvgPool1d(3, 2), (4, 8)), ("AvgPool1d(padding)", lambda: nn.AvgPool1d(3, 2, 1), (4, 8)),
            ("AdaptiveAvgPool1d", lambda: nn.AdaptiveAvgPool1d(3), (4, 8)),
            ("AdaptiveMaxPool1d", lambda: nn.AdaptiveMaxPool1d(3), (4, 8)),
            ("MaxPool2d(padding)", lambda: nn.MaxPool2d(3, 2, 1), IMAGE),
            ("MaxPool2d(unequal, dilation)", lambda: nn.MaxPool2d((2, 3), (1, 2), (1, 0), (2, 1)), IMAGE),
            ("MaxPool2d(ceil_mode)", lambda: nn.MaxPool2d(2, ceil_mode=True), IMAGE),
            ("AvgPool2d(padding)", lambda: nn.AvgPool2d(3, 2, 1), IMAGE),
            ("AvgPool2d(without padding in the mean)", lambda: nn.AvgPool2d(3, 2, 1, count_include_pad=False), IMAGE),
            ("AvgPool2d(ceil_mode)", lambda: nn.AvgPool2d((2, 3), (2, 3), ceil_mode=True), IMAGE),
            ("AvgPool2d(divisor_override)", lambda: nn.AvgPool2d(2, divisor_override=3), IMAGE),
            ("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d((3, 5)), IMAGE),
            ("AdaptiveAvgPool2d(None)", lambda: nn.AdaptiveAvgPool2d((None, 2)), IMAGE),
            ("AdaptiveMaxPool2d", lambda: nn.AdaptiveMaxPool2d((3, 5)), IMAGE),
            ("LPPool2d", lambda: nn.Sequential(nn.Softplus(), nn.LPPool2d(2, 2)), IMAGE),
            ("Upsample(nearest)", lambda: nn.Upsample(scale_factor=2), IMAGE),
            ("Upsample(bilinear)", lambda: nn.Upsample(size=(5, 11), mode="bilinear"), IMAGE),
            ("PixelShuffle", lambda: nn.PixelShuffle(2), IMAGE),
            ("PixelUnshuffle", lambda: nn.PixelUnshuffle(2), (4, 6, 8)),
            ("ReflectionPad2d", lambda: nn.ReflectionPad2d((1, 2, 0, 3)), IMAGE),
            ("ReplicationPad1d", lambda: nn.ReplicationPad1d((1, 2)), (4, 8)),
            ("ZeroPad2d", lambda: nn.ZeroPad2d((1, 0, -1, 2)), IMAGE)):
        yield row("pools and pictures", name, net(layer(), shape), shape)

    for name, layer, shape in (
            ("InstanceNorm1d", lambda: nn.InstanceNorm1d(5), ROWS),
            ("InstanceNorm1d(affine)", lambda: perturbed(nn.InstanceNorm1d(5, affine=True)), ROWS),
            ("InstanceNorm2d(affine)", lambda: perturbed(nn.InstanceNorm2d(4, affine=True)), IMAGE),
            ("InstanceNorm2d(track_running_stats)", lambda: trained(nn.InstanceNorm2d(4, affine=True,
                                                                                     track_running_stats=True)), IMAGE),
            ("LayerNorm of two axes", lambda: perturbed(nn.LayerNorm((7, 8))), IMAGE),
            ("GroupNorm", lambda: perturbed(nn.GroupNorm(2, 4)), IMAGE),
            ("LocalResponseNorm", lambda: nn.LocalResponseNorm(3, 0.5), IMAGE)):
        yield row("norms", name, net(layer(), shape), shape)
    if hasattr(nn, "RMSNorm"):
        yield row("norms", "RMSNorm", net(perturbed(nn.RMSNorm(6)), ROWS))
        yield row("norms", "RMSNorm(eps) of two axes", net(perturbed(nn.RMSNorm((5, 6), eps=0.1)), ROWS))
    else:
        yield row("norms", "RMSNorm", None, by="PyTorch 2.4")
    yield function("norms", "F.normalize", lambda x, m: (F.normalize(x + m.b, dim=2) * x).sum((1, 2)), b=tensor(6))
    for name, norm in (("torch.norm", lambda y: torch.norm(y, dim=-1)), ("norm(p=1)", lambda y: y.norm(1, dim=2)),
                       ("norm(p=3)", lambda y: y.norm(3, 2, keepdim=True)[:, :, 0]),
                       ("linalg.norm", lambda y: torch.linalg.norm(y, dim=(1, 2))[:, None]),
                       ("linalg.vector_norm", lambda y: torch.linalg.vector_norm(y, dim=1)),
                       ("norm(inf)", lambda y: torch.linalg.vector_norm(y, math.inf, dim=2)),
                       ("cdist", lambda y: torch.cdist(y, y.sin() + 3).sum(1))):
        yield function("norms", name, lambda x, m, norm=norm: norm(x + m.b).square().sum(1), b=tensor(6) + 2)

    for name, layer in (("CELU", lambda: nn.CELU()), ("GLU", lambda: nn.GLU()), ("GLU(1)", lambda: nn.Sequential(
            nn.Linear(6, 4), nn.Flatten(), nn.GLU(1))), ("Softmin", lambda: nn.Softmin(2)),
            ("LogSoftmax", lambda: nn.LogSoftmax(1)), ("Softmax2d", lambda: nn.Softmax2d()),
            ("Tanhshrink", lambda: nn.Tanhshrink()), ("Hardsigmoid", lambda: nn.Hardsigmoid()),
            ("Threshold", lambda: nn.Threshold(0.1, -2)), ("Softshrink", lambda: nn.Softshrink(0.2)),
            ("Hardshrink", lambda: nn.Hardshrink(0.2)), ("RReLU", lambda: nn.RReLU()),
            ("Dropout2d", lambda: nn.Dropout2d()), ("AlphaDropout", lambda: nn.AlphaDropout())):
        shape = IMAGE if name.endswith("2d") else ROWS
        yield row("activations", name, net(layer(), shape), shape)

    bilinear = perturbed(nn.Bilinear(6, 6, 3))
    yield row("products", "Bilinear", Pair(bilinear))
    yield row("products", "CosineSimilarity", Pair(nn.CosineSimilarity(2)))
    yield row("products", "PairwiseDistance", Pair(nn.PairwiseDistance()))
    w = tensor(6, 6)
    for name, f in (("baddbmm", lambda x, m: torch.baddbmm(x @ m.w[:, :5], x, x.transpose(1, 2), beta=0.5)),
                    ("outer product", lambda x, m: torch.einsum("bi,bj->bij", x[:, 0], x[:, 1] @ m.w)),
                    ("tensordot", lambda x, m: torch.tensordot(x, m.w, 1)),
                    ("prod", lambda x, m: (x + 2).prod(2)), ("var", lambda x, m: (x @ m.w).var(2)),
                    ("std", lambda x, m: torch.std(x @ m.w, dim=1, unbiased=False)),
                    ("max over an axis", lambda x, m: (x @ m.w).max(2)[0]),
                    ("max(..).values", lambda x, m: torch.max(x @ m.w, dim=1, keepdim=True).values),
                    ("min over an axis", lambda x, m: (x @ m.w).min(-1).values),
                    ("masked_fill", lambda x, m: (x @ m.w).masked_fill(m.w[:5] > 0, -1.5)),
                    ("masked_fill_", lambda x, m: (x @ m.w).masked_fill_(x > 0.5, 2.0)),
                    ("unbind", lambda x, m: x.unbind(1)[2] * x.unbind(1)[-1]),
                    ("narrow, select", lambda x, m: x.narrow(2, 1, 3) * x.select(1, 2)[:, 1:4, None].transpose(1, 2)),
                    ("flip", lambda x, m: x.flip(1) * torch.flip(x @ m.w, (1, 2))),
                    ("repeat", lambda x, m: x.repeat(1, 2, 1) * torch.cat([x, x @ m.w], 1)),
                    ("repeat_interleave", lambda x, m: x.repeat_interleave(2, 1) * torch.cat([x, x @ m.w], 1)),
                    ("gather of constants", lambda x, m: x[:, :, [0, 2]] * torch.gather(m.w, 0, torch.tensor([[1, 0]]))),
                    ("diagonal", lambda x, m: (x @ m.w).diagonal(0, 1, 2)),
                    ("movedim", lambda x, m: x.movedim(2, 1) * (x @ m.w).transpose(1, 2)),
                    ("log2, exp2, sinh", lambda x, m: torch.log2(x * x + 1) + torch.exp2(x) + x.sinh() * x.cosh()),
                    ("addcmul", lambda x, m: torch.addcmul(x, x @ m.w, x, value=0.5)),
                    ("lerp", lambda x, m: torch.lerp(x, x @ m.w, 0.3)),
                    ("logaddexp", lambda x, m: torch.logaddexp(x, x @ m.w)),
                    ("zeros_like", lambda x, m: torch.ones_like(x) * x + torch.zeros_like(x) + x.new_zeros(5, 6)),
                    ("numbers of shapes", lambda x, m: x / math.sqrt(6) * x.size(-1) ** -0.5 + x.shape[1])):
        yield function("functions", name, lambda x, m, f=f: f(x, m).tanh().flatten(1).sum(1) +
                       (x @ m.w).sin().sum((1, 2)), w=w)

    for name, layer in (("RNN", lambda: nn.RNN(6, 4, batch_first=True)), ("GRU", lambda: nn.GRU(6, 4, batch_first=True)),
                        ("RNN(relu)", lambda: nn.RNN(6, 4, nonlinearity="relu", bias=False, batch_first=True)),
                        ("LSTM", lambda: nn.LSTM(6, 4, batch_first=True)),
                        ("LSTM(proj_size)", lambda: nn.LSTM(6, 4, batch_first=True, proj_size=2)),
                        ("GRU(2 layers, bidirectional)", lambda: nn.GRU(6, 3, 2, batch_first=True, bidirectional=True))):
        for last in (False, True):
            yield row("recurrent", name + (", last state" if last else ""), Recurrent(layer(), last))
    for kind in (nn.RNNCell, nn.GRUCell, nn.LSTMCell):
        yield row("recurrent", kind.__name__, Steps(kind(6, 4)))

    yield row("control flow", "branch on a shape", Guarded(nn.Linear(6, 6)), by="export")
    yield row("control flow", "branch and attention", Guarded(encoder()), by="export")
    yield row("control flow", "branch and GRU", Guarded(nn.Sequential(nn.GRU(6, 4, batch_first=True), First())), by="export")
    for name, layer, shape in (("Conv2d", lambda: nn.Conv2d(5, 4, 3, 2, 1, 1), (5, 6, 6)),
                               ("ConvTranspose2d", lambda: nn.ConvTranspose2d(5, 4, 3, 2, 1, 1, 1), (5, 3, 3)),
                               ("MaxPool2d", lambda: nn.MaxPool2d(2), (5, 6, 6)),
                               ("AvgPool2d", lambda: nn.AvgPool2d(3, 2, 1), (5, 6, 6)),
                               ("AdaptiveAvgPool2d", lambda: nn.AdaptiveAvgPool2d(3), (5, 7, 7)),
                               ("BatchNorm2d", lambda: trained(nn.BatchNorm2d(5)), (5, 3, 3)),
                               ("InstanceNorm2d", lambda: nn.InstanceNorm2d(5), (5, 3, 3)),
                               ("GroupNorm", lambda: nn.GroupNorm(5, 5), (5, 3, 3)),
                               ("Softshrink, GLU, CELU", lambda: nn.Sequential(nn.Softshrink(0.3), nn.GLU(), nn.CELU()),
                                (5, 3, 4))):
        yield row("control flow", f"branch and {name}", Channels(layer()), shape, by="export")


class Pair(torch.nn.Module if torch else object):
    """A function of two tensors that are made of the input."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer
        self.linear = torch.nn.Linear(6, 6)

    def forward(self, x):
        return self.layer(self.linear(x), x.sin()).tanh().flatten(1).sum(1)


class First(torch.nn.Module if torch else object):
    """The first of a tuple."""

    def forward(self, x):
        return x[0]


class Channels(torch.nn.Module if torch else object):
    """Branches on the number of channels."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        if x.size(1) != 5:
            raise ValueError("expected 5 channels")
        y = self.layer(x.sin() + x[:, :, :1])
        return (y * y.tanh()).flatten(1).sum(1)


def trained(layer):
    """A norm with statistics, as after training."""
    random = torch.Generator().manual_seed(3)
    layer.running_mean.copy_(torch.randn(layer.num_features, generator=random))
    layer.running_var.copy_(torch.rand(layer.num_features, generator=random) + 0.3)
    return perturbed(layer)


def becomes_formula(module, shape):
    """The model, or why there is none."""
    try:
        return sal.from_torch(module, shape, fallback=False), ""
    except sal.SaltusError as failure:
        return None, str(failure)


@unittest.skipIf(MISSING, MISSING)
class Table(unittest.TestCase):
    def assert_same(self, module, model, shape, tolerance=2e-9):
        """Value and gradient of a model are the module's at random points, where functions with kinks are smooth."""
        x = np.random.default_rng(5).uniform(-0.3, 1.2, (3,) + shape)
        expected_f, expected_gradient = autograd(module, x)
        flat = x.reshape(3, -1)
        self.assertGreater(np.abs(expected_gradient).max(), 1e-3)
        np.testing.assert_allclose(model.value_at(flat), expected_f, rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose(model.gradient_at(flat), expected_gradient, rtol=tolerance, atol=tolerance)

    def test_celu_against_its_formula(self):
        """PyTorch computes with 1 / alpha in single precision, so its gradient is off by 1e-9 and more."""
        a = 0.6
        w = np.random.default_rng(0).normal(size=(6, 6))
        module = Of(lambda x, m: F.celu(x @ m.w, a).sum(1), w=torch.tensor(w))
        model = sal.from_torch(module.double(), 6, fallback=False)
        x = np.random.default_rng(1).uniform(-1, 1, (4, 6))
        h = x @ w
        low = np.minimum(h, 0) / a
        np.testing.assert_allclose(model.value_at(x), np.where(h > 0, h, a * np.expm1(low)).sum(1), rtol=1e-13)
        np.testing.assert_allclose(model.gradient_at(x), np.where(h > 0, 1, np.exp(low)) @ w.T, rtol=1e-12, atol=1e-13)

    def test_norms_at_zero(self):
        """Where all variables are 0 PyTorch has the gradient 0 of a root of a sum of squares."""
        for function in (lambda x, m: x.norm(dim=1), lambda x, m: x.std(1), lambda x, m: F.normalize(x, dim=1).sum(1)):
            model = sal.from_torch(Of(function), 6, fallback=False)
            np.testing.assert_allclose(model.gradient(np.zeros(6)), autograd(Of(function), np.zeros((1, 6)))[1][0])

    def test_values_and_gradients_against_autograd(self):
        missing = []
        for group, name, shape, module, by in table():
            if module is None or by == "export" and not HAS_EXPORT:
                missing.append(name)
                continue
            with self.subTest(f"{group}: {name}"):
                model, why = becomes_formula(module, shape)
                self.assertEqual(why, "")
                self.assertEqual(set(model.params), {n for n, _ in module.named_parameters()})
                self.assert_same(module, model, shape)
        if missing:
            say_skipped(f"PyTorch {torch.__version__} does not have: {'; '.join(missing)}")

    @unittest.skipUnless(not MISSING and HAS_EXPORT, "torch.export needs PyTorch 2")
    def test_all_by_export(self):
        """The same modules where torch.fx is not there, and the functions of test_torch: the operations of aten."""
        def refuse(turner, x):
            raise _torch_operations.CannotTurn("not by torch.fx")

        known, _torch_trace.Turner.turn = _torch_trace.Turner.turn, refuse
        rows = [(f"{row[0]}: {row[1]}", row[2], row[3]) for row in table() if row[1] != "LocalResponseNorm"]  # 5 axes
        rows += [row for row in cases() if row[0] not in ("types", "constant")]  # single precision; no gradient
        try:
            for name, shape, module in rows:
                with self.subTest(name), warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # lazy layers are new
                    module.eval()(torch.zeros((2,) + shape))
                    model, why = becomes_formula(module, shape)
                    self.assertEqual(why, "")
                    self.assert_same(module, model, shape)
        finally:
            _torch_trace.Turner.turn = known


class OneHot(torch.nn.Module if torch else object):
    """A module of labels as one of one-hot states, for autograd: embeddings become products with their weights."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        own, F.embedding = F.embedding, lambda input, weight, *_, **__: input @ weight
        try:
            return self.module(x)
        finally:
            F.embedding = own


@unittest.skipIf(MISSING, MISSING)
class LabelsOfCategoricalVariables(unittest.TestCase):
    def models(self):
        class Words(nn.Module):
            """A transformer over letters."""

            def __init__(self, **options):
                super().__init__()
                self.embedding = nn.Embedding(4, 6, **options)
                self.position = nn.Parameter(torch.randn(5, 6))
                self.encoder = perturbed(nn.TransformerEncoderLayer(6, 2, 8, batch_first=True))
                self.final = nn.Linear(6, 1)

            def forward(self, labels):
                return self.final(self.encoder(self.embedding(labels) + self.position).mean(1)).squeeze(1)

        torch.manual_seed(4)
        yield Words()
        yield Words(padding_idx=1)
        yield nn.Sequential(nn.Embedding(6, 3), nn.Flatten(), nn.Linear(15, 4), nn.Tanh(), nn.Linear(4, 1))

    def test_embedding_has_the_gradient_of_one_hot_states(self):
        labels = np.random.default_rng(2).integers(0, 4, (6, 5))
        one_hot = np.eye(4)[labels]
        for module in self.models():
            with self.subTest(str(module)):
                model = sal.from_torch(module, 5, "categorical", states=4, labels=True, fallback=False)
                if isinstance(module, nn.Sequential):  # the weight has rows that no label has
                    one_hot = np.concatenate([one_hot, np.zeros((6, 5, 2))], 2)
                f, gradient = autograd(OneHot(module), one_hot)
                np.testing.assert_allclose(model.value(labels), f, rtol=1e-10, atol=1e-12)
                expected = gradient.reshape(one_hot.shape)[:, :, :4].reshape(6, -1)
                np.testing.assert_allclose(model.gradient(labels), expected, rtol=1e-9, atol=1e-11)
                called = sal.from_torch(module, 5, "categorical", states=4, labels=True, fallback="always")
                np.testing.assert_allclose(called.value(labels), f, rtol=1e-10, atol=1e-12)
                with self.assertRaises(sal.SaltusError):
                    called.gradient(labels)

    def test_the_row_of_padding_is_not_trained(self):
        torch.manual_seed(0)
        module = nn.Sequential(nn.Embedding(3, 2, padding_idx=1), nn.Flatten(), nn.Linear(8, 1))
        with torch.no_grad():
            module[0].weight[1] = 0.5
        model = sal.from_torch(module, 4, "categorical", states=3, labels=True, fallback=False)
        before = model.params["0.weight"].copy()
        sal.train(model, np.random.default_rng(0).integers(0, 3, (50, 4)), iterations=5, seed=1)
        moved = np.abs(model.params["0.weight"] - before).max(1)
        self.assertEqual(moved[1], 0)
        self.assertGreater(min(moved[0], moved[2]), 0)

    @unittest.skipUnless(not MISSING and HAS_EXPORT, "torch.export needs PyTorch 2")
    def test_labels_by_export(self):
        class Checked(nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, labels):
                if labels.shape[1] != 5:
                    raise ValueError("expected 5 labels")
                return self.inner(labels)

        labels = np.random.default_rng(2).integers(0, 4, (6, 5))
        for module in self.models():
            options = {"kind": "categorical", "states": 4, "labels": True, "fallback": False}
            by_fx, by_export = (sal.from_torch(m, 5, **options) for m in (module, Checked(module)))
            np.testing.assert_allclose(by_export.value(labels), by_fx.value(labels), rtol=1e-12)
            np.testing.assert_allclose(by_export.gradient(labels), by_fx.gradient(labels), rtol=1e-10, atol=1e-12)

    def test_labels_in_other_places_and_as_numbers(self):
        w, e = tensor(5), tensor(3, 2)
        labels = np.random.default_rng(2).integers(0, 3, (6, 5))
        for name, function in (("moved", lambda x, m: F.embedding(x.view(-1, 5, 1).squeeze(2).flip(1)[:, 1:4], m.e).mul(
                                   m.w[:3, None]).sum((1, 2))),
                               ("numbers", lambda x, m: (x.to(m.w.dtype) * m.w).sum(1)),
                               ("one_hot", lambda x, m: (F.one_hot(x, 4).to(m.w.dtype)[:, :, :3] @ m.e).sin().sum((1, 2))),
                               ("compared", lambda x, m: torch.where(x == 2, m.w, 0.5 * m.w).sum(1))):
            with self.subTest(name):
                module = Of(function, w=w, e=e).double()
                model = sal.from_torch(module, 5, "categorical", states=3, labels=True, fallback=False)
                expected = module(torch.tensor(labels)).detach().numpy()
                np.testing.assert_allclose(model.value(labels), expected, rtol=1e-12)

    def test_what_labels_cannot_do(self):
        for options, message in (({"kind": "spin", "labels": True}, "labels=True.*categorical"),):
            with self.assertRaisesRegex(sal.ArgumentError, message):
                sal.from_torch(nn.Embedding(3, 2), 5, **options)
        module = nn.Sequential(nn.Embedding(2, 3), nn.Flatten(), nn.Linear(15, 1))
        with self.assertRaisesRegex(sal.UnsupportedError, "3 labels, the weight has 2 rows"):
            sal.from_torch(module, 5, "categorical", states=3, labels=True, fallback=False)
        with self.assertRaisesRegex(sal.UnsupportedError, "labels=True"):
            sal.from_torch(module, (5,), fallback=False)


def print_table():
    """For each module of the table whether it becomes a formula."""
    for group, name, shape, module, by in table():
        why = f"needs {by}" if module is None else becomes_formula(module, shape)[1]
        print(f"{group:20} {name:45} {'formula' if not why else why.splitlines()[0][:400]}")


def print_speed():
    """How many times as long a step of gwg takes of a module that is called as of its formula."""
    torch.manual_seed(0)
    conv = nn.Sequential(nn.Unflatten(1, (1, 16)), nn.Conv2d(1, 8, 3, padding=1), nn.SiLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.SiLU(),
                         nn.Flatten(), nn.Linear(512, 1))
    for name, module, shape in (
            ("two layers of 64 units, 64 variables", nn.Sequential(nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1)), 64),
            ("two convolutions of 8 channels, 16 x 16 variables", conv, (16, 16))):
        for chains in (1, 4, 64):
            seconds = []
            for options in ({"fallback": False, "dtype": "f32"}, {"fallback": "always"}):
                chain = sal.Chain(sal.from_torch(module, shape, **options), "gwg", chains=chains, warmup=0, seed=1, threads=1)
                chain.step(20)
                rounds = []
                for _ in range(5):
                    begun = time.perf_counter()
                    chain.step(100)
                    rounds.append((time.perf_counter() - begun) / 100)
                seconds.append(min(rounds))
            print(f"{name}, {chains} chains: {seconds[1] / seconds[0]:.1f} times "
                  f"({1e6 * seconds[0]:.0f} us, called {1e6 * seconds[1]:.0f} us)")


if __name__ == "__main__":
    if MISSING:
        say_skipped(MISSING)
    elif sys.argv[1:] in (["--table"], ["--speed"]):
        print_table() if sys.argv[1] == "--table" else print_speed()
        sys.exit()
    unittest.main()
