# SPDX-License-Identifier: MIT
"""PyTorch modules as models: formulas against autograd, and modules that are called back."""

import copy
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import unittest
import warnings

import numpy as np

import saltus as sal

try:
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as failure:
    torch, F, MISSING = None, None, f"PyTorch is not there: {failure}"

    class nn:  # what the classes below derive from
        Module = object
else:
    MISSING = ""
    torch.set_num_threads(1)
HAS_EXPORT = torch is not None and importlib.util.find_spec("torch.export") is not None

SOURCE = pathlib.Path(os.environ["SALTUS_SOURCE_DIR"])


# ---- modules


class Of(nn.Module):
    """A function of the input and of parameters as a module."""

    def __init__(self, function, **tensors):
        super().__init__()
        self.function = function
        self.fixed = tensor(6)
        for name, value in tensors.items():
            setattr(self, name, nn.Parameter(value))

    def forward(self, x):
        return self.function(x, self)


class Quadratic(nn.Module):
    """A network of convolutions over 16 x 16 pixels, and couplings of all pairs."""

    def __init__(self, channels):
        super().__init__()
        layers, before = [], 1
        for factor, kernel, stride, padding in ((1, 3, 1, 1), (2, 4, 2, 1), (2, 3, 1, 1), (4, 4, 2, 1), (4, 3, 1, 1),
                                                (8, 4, 2, 1), (8, 2, 1, 0)):
            layers += [nn.Conv2d(before, factor * channels, kernel, stride, padding), nn.SiLU()]
            before = factor * channels
        self.net = nn.Sequential(*layers)
        self.final = nn.Linear(before, 1)
        self.couplings = nn.Parameter(0.01 * torch.randn(256, 256))

    def forward(self, s):
        symmetric = 0.5 * (self.couplings + self.couplings.T)
        features = self.net(s.view(-1, 1, 16, 16)).flatten(1)
        return self.final(features).squeeze(-1) + 0.5 * ((s @ symmetric) * s).sum(dim=-1)


class Residual(nn.Module):
    """A block of two convolutions and a shortcut."""

    def __init__(self, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, stride, 1)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1)
        self.shortcut_conv = nn.Conv2d(channels, channels, 1, stride) if stride > 1 else None

    def forward(self, x):
        shortcut = x if self.shortcut_conv is None else self.shortcut_conv(x)
        return F.silu(self.conv2(F.silu(self.conv1(x))) + shortcut)


class ResidualNet(nn.Module):
    """Blocks over 28 x 28 pixels, with the names of the reference values."""

    def __init__(self, channels=8, blocks=8):
        super().__init__()
        self.proj = nn.Conv2d(1, channels, 3, 1, 1)
        self.net = nn.Sequential(*[Residual(channels, 2 if k < 2 else 1) for k in range(blocks)])
        self.energy_linear = nn.Linear(channels, 1)

    def forward(self, x):
        y = self.net(self.proj(x.reshape(-1, 1, 28, 28)))
        return self.energy_linear(y.flatten(2).mean(-1)).squeeze(1)


class ConvNet(nn.Module):
    """Seven convolutions, with the names of the reference values."""

    def __init__(self, side, channels):
        super().__init__()
        layers, before = [], 1
        for factor, kernel, stride, padding in ((1, 3, 1, 1), (2, 4, 2, 1), (2, 3, 1, 1), (4, 4, 2, 1), (4, 3, 1, 1),
                                                (8, 4, 2, 1), (8, side // 8, 1, 0)):
            layers += [nn.Conv2d(before, factor * channels, kernel, stride, padding), nn.SiLU()]
            before = factor * channels
        self.net, self.side = nn.Sequential(*layers), side
        self.final_linear = nn.Linear(before, 1)

    def forward(self, x):
        return self.final_linear(self.net(x.view(x.shape[0], 1, self.side, self.side)).flatten(1))


# ---- comparison


def autograd(module, x):
    """Values and gradients of a module in double precision, at the rows of x (points, *shape)."""
    x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    module = module.double().eval()
    if isinstance(module, Of):
        module.fixed = module.fixed.double()
    f = module(x.clone())  # which it may change in place
    f = f.reshape(len(x))
    gradient, = torch.autograd.grad(f.sum(), x, allow_unused=True)
    gradient = torch.zeros_like(x) if gradient is None else gradient
    return f.detach().numpy(), gradient.numpy().reshape(len(x), -1)


def tensor(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)).float()


def cases():
    """Functions of the input that can be turned: name, shape, module."""
    x6, image, rows = (6,), (3, 8, 8), (4, 6)

    def row(name, function, shape=x6, **tensors):
        return name, shape, Of(function, **tensors)

    def net(name, *layers, shape=image):
        return name, shape, nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(1))

    w = tensor(6, 6)
    elementwise = ["exp", "sin", "cos", "tanh", "erf", "square", "sigmoid", "relu", "abs", "neg", "expm1"]
    for name in elementwise:
        yield row(name, lambda x, m, name=name: getattr(torch, name)(x @ m.w).sum(-1), w=w)
        yield row("." + name, lambda x, m, name=name: getattr(x @ m.w, name)().sum(-1), w=w)
    for name in ["log", "log1p", "sqrt", "rsqrt", "reciprocal", "lgamma"]:
        yield row(name, lambda x, m, name=name: getattr(torch, name)(x * x + m.w).sum(1), w=w[0] ** 2 + 1)
    for name in ["silu", "gelu", "elu", "softplus", "leaky_relu", "mish", "logsigmoid", "softsign", "relu6", "hardtanh",
                 "selu", "hardswish", "relu", "tanh", "sigmoid"]:
        yield row("F." + name, lambda x, m, name=name: getattr(F, name)(F.linear(x, m.w)).sum(1), w=w)
    yield row("F.softplus(beta)", lambda x, m: F.softplus(x @ m.w, beta=2.5).sum(1), w=w)
    yield row("F.gelu(tanh)", lambda x, m: F.gelu(x @ m.w, approximate="tanh").sum(1), w=w)
    yield row("arithmetic", lambda x, m: ((2 - x) / (x + 3) * m.w - 1 / (4 + x) + (x + 1) ** 3 - 2 ** x).sum(-1),
              w=w[0])
    yield row("torch.add", lambda x, m: torch.add(x, m.w, alpha=3).sub(x * x, alpha=0.5).mul(m.w).div(2).sum(1), w=w[0])
    yield row("pow", lambda x, m: (torch.pow(x + 2, 1.5) + (x + 3).pow(2)).sum(1))
    yield row("F.prelu", lambda x, m: F.prelu(x @ m.w, m.a).sum(1), w=w, a=tensor(1))
    yield row("F.prelu of channels", lambda x, m: F.prelu(x - m.b, m.a).sum((1, 2)), rows, a=tensor(4), b=tensor(6))
    yield row("expand", lambda x, m: (x[:, None].expand(-1, 2, 6) * m.w.expand(x.shape[0], 2, -1)).tanh().sum((1, 2)),
              w=tensor(1, 2, 1))
    yield row("changed view", lambda x, m: changed_view(x @ m.w), w=w)
    yield row("changed input", lambda x, m: changed_input(x))
    yield row("in place", lambda x, m: (x @ m.w).add_(1).tanh_().sum(1), w=w)
    yield row("augmented", lambda x, m: augmented(x, m.w), w=w)
    yield row("minimum", lambda x, m: (torch.minimum(x @ m.w, x) + torch.maximum(x, m.w[0])).sum(1), w=w)
    for name in ["gt", "ge", "lt", "le", "eq", "ne"]:  # also where both sides are equal
        yield row("where " + name, lambda x, m, name=name: torch.where(
            getattr(torch, name)(x, m.r), x @ m.w, -x).sum(1), w=w, r=w[0].round())
        yield row("where ." + name, lambda x, m, name=name: (x + 1).where(getattr(x, name)(1), m.w[0] * x).sum(1), w=w)
    yield row("where of numbers", lambda x, m: torch.where(x[:, 0] > x[:, 1], (x @ m.w).sum(1), 2.5 * x[:, 2]), w=w)
    yield row("where of a mask", lambda x, m: torch.where(m.w > 0, x[:, None] * m.w, x[:, :, None]).sum((1, 2)), w=w)
    yield row("where of truths", lambda x, m: torch.where(torch.tensor([True, False] * 3), x, x * x * m.w[0]).sum(1),
              w=w)
    yield row("logic", lambda x, m: torch.where(((x > 0) & (x @ m.w < 0)) | ~(x <= m.w[0]), x, 3 - x).sum(1), w=w)
    yield row("logical", lambda x, m: torch.where(
        torch.logical_and(x > 0, torch.logical_not(x @ m.w > 0)), x, -2.0).sum(1), w=w)
    yield row("masked_fill", lambda x, m: (x @ m.w).masked_fill(x < 1, 0.5).sum(1), w=w)
    yield row("comparison as numbers", lambda x, m: ((x @ m.w > 0).float() * x + (x == 1).to(x.dtype)).sum(1), w=w)
    yield row("clamp", lambda x, m: torch.clamp(x @ m.w, -0.5, 0.7).sum(1) + (x @ m.w).clamp(min=0).sum(1), w=w)
    yield row("scalars", lambda x, m: (x * m.a).sum(1) * m.b + m.b, a=tensor(), b=tensor(1))
    yield row("keepdim", lambda x, m: (x * m.w).sum(1, keepdim=True) + m.b, w=w[0], b=tensor(1))
    yield row("column", lambda x, m: x.mean(-1).unsqueeze(1) * m.b, b=tensor(1, 1))
    yield row("matmul", lambda x, m: ((x @ m.w) * x).sum(-1) + torch.matmul(x, m.w[0]) + torch.mm(x, m.w)[:, 2], w=w)
    yield row("matmul of rows", lambda x, m: (x @ m.w @ m.w[0]).sum(1) + (m.v @ x).sum((1, 2)) + (m.v[0] @ x).sum(1),
              rows, w=w, v=tensor(5, 4))
    yield row("bmm", lambda x, m: torch.bmm(x, x.transpose(1, 2)).sum((1, 2)), rows)
    yield row("stacks", lambda x, m: (x @ x.transpose(-1, -2) @ (x @ m.w)).square().sum((1, 2, 3)), (2, 3, 4),
              w=tensor(4, 5))
    yield row("addmm", lambda x, m: torch.addmm(m.b, x, m.w, alpha=2).tanh().sum(1), w=w, b=w[1])
    yield row("einsum", lambda x, m: torch.einsum("bi,ij,bj->b", x, m.w, x), w=w)
    yield row("einsum of rows", lambda x, m: torch.einsum("nia,abij,njb->n", x, m.w, x), rows, w=tensor(6, 6, 4, 4))
    yield row("einsum kept", lambda x, m: torch.einsum("bij,ij,bik->bjk", x, m.w, x).square().sum((1, 2)), rows,
              w=tensor(4, 6))
    yield row("einsum of stacks", lambda x, m: torch.einsum("bsij,bskj->bsik", x, x * m.w).sin().sum((1, 2, 3)),
              (2, 3, 4), w=tensor(4))
    yield row("linear of rows", lambda x, m: F.linear(x, m.w, m.b).tanh().mean((1, 2)), rows, w=w, b=w[0])
    yield row("linear of images", lambda x, m: F.linear(x, m.w).tanh().mean(dim=(-1, -2, -3)), (2, 4, 6), w=w)
    yield row("logsumexp", lambda x, m: torch.logsumexp(x @ m.w, 1) + (x @ m.w).logsumexp(dim=-1), w=w)
    yield row("softmax", lambda x, m: (F.softmax(x @ m.w, -1) * x).sum(1) + F.log_softmax(x @ m.w, 1)[:, 0], w=w)
    yield row("amax", lambda x, m: (x @ m.w).amax(1) + torch.amin(x @ m.w, -1), w=w)
    yield row("cumsum", lambda x, m: (torch.cumsum(x, 1) * m.w).sum(1), w=w[0])
    yield row("cat", lambda x, m: (torch.cat([x, x * x, x[:, :2]], dim=1) @ m.w).tanh().sum(-1), w=tensor(14, 3))
    yield row("stack", lambda x, m: torch.stack([x, 2 * x], -1).sum(1).square().mean(1))
    yield row("slices", lambda x, m: x[:, 0] * x[:, -1] + (x[:, 1:] * x[:, :-1]).sum(1) + x[..., 2] + x[:, ::2].sum(1))
    yield row("indices", lambda x, m: (x[:, torch.tensor([0, 3, 3])] * m.w[[1, 2, 0]]).sum(1), w=w[0])
    yield row("index_select", lambda x, m: x.index_select(1, torch.tensor([5, 1])).square().sum(1))
    yield row("chunk", lambda x, m: products(x.chunk(2, dim=1)) + products(torch.split(x, [3, 3], 1)))
    yield row("sizes", lambda x, m: sizes(x), rows)
    yield row("reshape", lambda x, m: (x.reshape(x.size(0), 2, -1).sum(2) ** 2).sum(1) + x.view(-1, 24)[:, 3], rows)
    yield row("flatten", lambda x, m: (torch.flatten(x, 1) * m.w).sum(1), rows, w=tensor(24))
    yield row("squeeze", lambda x, m: (x.unsqueeze(1) * m.w).squeeze(1).sum(1) + x[:, None].squeeze().sum(-1), w=w[0])
    yield row("permute", lambda x, m: (x.permute(0, 2, 1) * m.w.t()).sum(1).square().sum(1), rows, w=tensor(4, 6))
    yield row("types", lambda x, m: (x.float() * m.w.to(x.dtype)).contiguous().sum(1).double(), w=(8 * w[0]).round())
    yield row("constants", lambda x, m: (x * torch.arange(6) + torch.ones(6)).sum(1))
    yield row("pads", lambda x, m: (F.pad(x, (1, 2), value=0.5) * m.w).sum(1), w=tensor(9))
    yield row("roll", lambda x, m: (x * x.roll(1, 1) * m.w).sum((1, 2)) + torch.roll(x, (1, -2), (2, 1))[:, 0, 0], rows,
              w=tensor(6))
    yield row("triangles", lambda x, m: ((x @ m.w.triu(1)) * x @ torch.tril(m.w)).sum(1), w=w)
    yield row("constants of tensors", lambda x, m: x.sum(1) * torch.dot(m.fixed, m.fixed))
    yield row("squeezed", lambda x, m: (x @ m.w).squeeze(), w=tensor(6, 1))
    yield row("number", lambda x, m: x.sum(1, True))
    yield row("constant", lambda x, m: 0 * x[:, 0] + m.b, b=tensor(1))
    yield net("Linear", nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 3, bias=False), nn.SiLU(), shape=x6)
    for name, layer in [("ReLU", nn.ReLU()), ("ReLU(inplace)", nn.ReLU(inplace=True)), ("Softplus", nn.Softplus()),
                        ("GELU", nn.GELU()), ("ELU", nn.ELU(0.7)), ("Sigmoid", nn.Sigmoid()),
                        ("Softmax", nn.Softmax(1)),
                        ("LeakyReLU", nn.LeakyReLU(0.2)), ("Identity", nn.Identity()), ("Dropout", nn.Dropout(0.5)),
                        ("LayerNorm", nn.LayerNorm(6)), ("Hardtanh", nn.Hardtanh()), ("SiLU", nn.SiLU())]:
        yield net(name, nn.Linear(6, 6), layer, shape=x6)
    for name, layer in [("Conv2d", nn.Conv2d(3, 4, 3)), ("Conv2d(stride)", nn.Conv2d(3, 4, 3, 2, 1, bias=False)),
                        ("Conv2d(same)", nn.Conv2d(3, 2, 5, padding="same")),
                        ("Conv2d(valid)", nn.Conv2d(3, 2, 2, padding="valid")),
                        ("Conv2d(unequal)", nn.Conv2d(3, 2, (3, 5), padding=(1, 2))),
                        ("Conv2d(circular)", nn.Conv2d(3, 2, 3, padding=1, padding_mode="circular")),
                        ("AvgPool2d", nn.AvgPool2d(2)), ("AvgPool2d(stride)", nn.AvgPool2d(3, 2)),
                        ("AdaptiveAvgPool2d", nn.AdaptiveAvgPool2d(1)),
                        ("AdaptiveAvgPool2d(4)", nn.AdaptiveAvgPool2d(4)),
                        ("Unflatten", nn.Sequential(nn.Flatten(), nn.Unflatten(1, (3, 64))))]:
        yield net(name, layer, nn.Tanh())
    yield net("MaxPool2d", nn.Conv2d(3, 4, 3, padding=1), nn.MaxPool2d(2))
    yield net("Conv1d", nn.Conv1d(4, 3, 3, stride=2, padding=1), nn.SiLU(), nn.Conv1d(3, 2, 2), shape=rows)
    yield net("BatchNorm1d", nn.Linear(6, 5), normalised(nn.BatchNorm1d(5)), nn.Tanh(), shape=x6)
    yield net("BatchNorm2d", nn.Conv2d(3, 4, 3), normalised(nn.BatchNorm2d(4)), nn.SiLU())
    yield net("GroupNorm", nn.Conv2d(3, 4, 3), nn.GroupNorm(2, 4), nn.SiLU())
    yield net("weight_norm", nn.utils.weight_norm(nn.Conv2d(3, 4, 3)), nn.Tanh())
    yield net("BatchNorm2d(plain)", normalised(nn.BatchNorm2d(3, affine=False)), nn.SiLU())


def augmented(x, w):
    y = x @ w
    y += 1
    y *= 2
    return y.tanh().sum(1)


def changed_view(h):
    v = h.view(-1, 3, 2)
    v += 1
    return v.transpose(1, 2).mul_(2).tanh().sum((1, 2))


def changed_input(x):
    x -= 0.5
    return x.square().sum(1) + x[:, 0]


def products(parts):
    a, b = parts
    return (a * b).sum(1)


def sizes(x):
    batch, height, width = x.shape
    return x.view(batch, height * width)[:, :width].sum(1)


def normalised(layer):
    """A normalisation with statistics, as after training."""
    random = torch.Generator().manual_seed(3)
    layer.running_mean.copy_(torch.randn(layer.num_features, generator=random))
    layer.running_var.copy_(torch.rand(layer.num_features, generator=random) + 0.3)
    return layer


def say_skipped(why):
    print(f"SKIPPED: {why}", file=sys.stderr)


def data_folder():
    """The folder of reference values, or None."""
    for root in (os.environ.get("SALTUS_DATA"), SOURCE.parent / "shared"):
        if root and (pathlib.Path(root) / "reference").is_dir():
            return pathlib.Path(root) / "reference"
    return None


def load_reference(module, path):
    """Give a module the weights of a safetensors file of 32-bit floats."""
    data = path.read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8:begin]).items():
        if name != "__metadata__":
            first, last = entry["data_offsets"]
            numbers = np.frombuffer(data[begin + first:begin + last], dtype="<f4").reshape(entry["shape"])
            tensors[name] = torch.from_numpy(numbers.copy())
    module.load_state_dict(tensors)


@unittest.skipIf(MISSING, MISSING)
class Formulas(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)

    def assert_same(self, module, model, shape, tolerance=1e-8):
        """Value and gradient of a model are the module's, at states and between them."""
        random = np.random.default_rng(5)
        states = random.integers(0, 2, (3,) + shape)
        points = random.uniform(-0.3, 1.2, (3,) + shape)
        flat, between = states.reshape(3, -1), points.reshape(3, -1)
        for x, f, gradient in ((states, model.value(flat), model.gradient(flat)),
                               (points, model.value_at(between), model.gradient_at(between))):
            expected_f, expected_gradient = autograd(module, x)
            np.testing.assert_allclose(f, expected_f, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(gradient, expected_gradient, rtol=tolerance, atol=tolerance)

    def test_every_operation_against_autograd(self):
        names = set()
        for name, shape, module in cases():
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # lazy layers are new
                module.eval()(torch.zeros((2,) + shape))  # a lazy layer learns its size
                model = sal.from_torch(module, shape, fallback=False)
                self.assertEqual(model.variables, int(np.prod(shape)))
                self.assertEqual(set(model.params), {n for n, _ in module.named_parameters()})
                self.assert_same(module, model, shape, 1e-6 if name == "types" else 1e-8)
            names.add(name)
        self.assertGreater(len(names), 80)

    def test_convolutions_with_couplings(self):
        module = Quadratic(4)
        model = sal.from_torch(module, (256,), fallback=False)
        self.assertEqual(dict((n, model.params[n].shape) for n in model.params),
                         dict((n, tuple(p.shape)) for n, p in module.named_parameters()))
        self.assert_same(module, model, (256,))

    def test_residual_net(self):
        module = ResidualNet(3, 4)
        model = sal.from_torch(module, 784, fallback=False)
        self.assertEqual(set(model.params), {n for n, _ in module.named_parameters()})
        self.assert_same(module, model, (784,))

    def test_single_precision(self):
        module = ResidualNet(3, 3)
        model = sal.from_torch(module, (784,), dtype="f32", fallback=False)
        self.assertEqual(model.info["dtype"], "f32")
        states = np.random.default_rng(0).integers(0, 2, (4, 784))
        f, gradient = autograd(module, states)
        np.testing.assert_allclose(model.value(states), f, rtol=1e-4)
        np.testing.assert_allclose(model.gradient(states), gradient, atol=1e-4 * np.abs(gradient).max())

    def test_reference_values_of_the_papers_nets(self):
        folder = data_folder()
        if folder is None:
            say_skipped("the reference values are not there (set SALTUS_DATA)")
            self.skipTest("no reference values")
        for name, module in (("usps_conv", ConvNet(16, 16)), ("mnist_conv", ConvNet(28, 8)),
                             ("mnist_resnet", ResidualNet(8, 8))):
            with self.subTest(name):
                load_reference(module, folder / f"{name}.safetensors")
                x, f, gradient = (np.load(folder / f"{name}_{what}.npy") for what in ("x", "f", "grad"))
                model = sal.from_torch(module, x.shape[1:], fallback=False)
                np.testing.assert_allclose(model.value(x), f, rtol=0, atol=1e-10 * np.abs(f).max())
                np.testing.assert_allclose(model.gradient(x), gradient, rtol=0, atol=1e-10 * np.abs(gradient).max())

    def test_all_kinds_of_variables(self):
        random = np.random.default_rng(2)
        w = tensor(5)
        module = Of(lambda x, m: (x * m.w).sum(1) + x.square().mean(1), w=w)

        def expected(x):
            return x @ w.double().numpy() + (x ** 2).mean(axis=1)

        for kind, options, x in (("spin", {}, 2 * random.integers(0, 2, (4, 5)) - 1),
                                 ("binary", {}, random.integers(0, 2, (4, 5))),
                                 ("ordinal", {"levels": [-0.5, 0.1, 2.0]}, random.choice([-0.5, 0.1, 2.0], (4, 5))),
                                 ("ordinal", {"states": 4}, random.integers(0, 4, (4, 5))),
                                 ("count", {}, random.integers(0, 9, (4, 5))),
                                 ("count", {"states": 6}, random.integers(0, 6, (4, 5)))):
            with self.subTest(kind, **options):
                model = sal.from_torch(module, 5, kind, fallback=False, **options)
                self.assertEqual(model.blocks[0].kind, kind)
                np.testing.assert_allclose(model.value(x), expected(x))
        one_hot = Of(lambda x, m: ((x.flatten(1) @ m.w) * x.flatten(1)).sum(1), w=tensor(12, 12))
        model = sal.from_torch(one_hot, (4,), "categorical", states=3, fallback=False)
        labels = random.integers(0, 3, (6, 4))
        f, gradient = autograd(one_hot, np.eye(3)[labels])
        np.testing.assert_allclose(model.value(labels), f)
        np.testing.assert_allclose(model.gradient(labels), gradient)

    def test_samples_are_those_of_the_formula(self):
        module = Quadratic(2)
        values = {n: p.detach().numpy() for n, p in module.named_parameters()}
        s = sal.binary(256, name="x")

        def parameter(name):
            return sal.param(name, value=values[name])

        x = s.reshape(1, 16, 16)
        for k, (stride, padding) in enumerate([(1, 1), (2, 1), (1, 1), (2, 1), (1, 1), (2, 1), (1, 0)]):
            weight, bias = parameter(f"net.{2 * k}.weight"), parameter(f"net.{2 * k}.bias")
            x = sal.silu(sal.conv2d(x, weight, bias, stride, padding))
        linear = (parameter("final.weight") @ x.ravel() + parameter("final.bias"))[0]
        couplings = parameter("couplings")
        written = sal.Model(linear + 0.5 * ((s @ (0.5 * (couplings + couplings.T))) * s).sum())
        turned = sal.from_torch(module, 256, fallback=False)
        for sampler in ("gwg", "ncg"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", sal.SaltusWarning)
                a, b = (sal.sample(model, sampler, chains=2, draws=40, warmup=10, seed=7)
                        for model in (written, turned))
            np.testing.assert_array_equal(a.draws, b.draws)
            np.testing.assert_array_equal(a.log_prob, b.log_prob)

    def test_module_stays_as_it_is(self):
        module = nn.Sequential(nn.Linear(4, 4), nn.Dropout(), nn.Linear(4, 1))
        model = sal.from_torch(module, 4, fallback=False)
        self.assertTrue(module.training and module[1].training)
        self.assertEqual(module[0].weight.dtype, torch.float32)
        before = model.value([1, 0, 1, 1])
        with torch.no_grad():
            module[0].weight.zero_()
        self.assertEqual(model.value([1, 0, 1, 1]), before)
        self.assertEqual(model.name, "Sequential")
        self.assertEqual(sal.from_torch(module, 4, name="own").name, "own")

    def test_minus_infinity(self):
        model = sal.from_torch(Of(lambda x, m: torch.log(x).sum(1)), 3, fallback=False)
        self.assertEqual(model.value([1, 1, 0]), -np.inf)
        self.assertEqual(model.value([1, 1, 1]), 0)

    def test_frozen_parameters_are_constants(self):
        module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
        module[0].requires_grad_(False)
        model = sal.from_torch(module, 4, fallback=False)
        self.assertEqual(set(model.params), {"2.weight", "2.bias"})

    def test_a_wrong_formula_is_noticed(self):
        from saltus import _torch_operations as operations
        right = operations.OPERATIONS["tanh"]
        module = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
        for wrong in (sal.sin, lambda e: sal.tanh(e) + 1e-7 * e):
            operations.OPERATIONS["tanh"] = operations._elementwise(wrong)
            try:
                with self.assertRaisesRegex(sal.InternalError, "not the module's"):
                    sal.from_torch(module, 4, fallback=False)
                with self.assertWarnsRegex(sal.SaltusWarning, "runs in PyTorch at each call.*not the module's"):
                    model = sal.from_torch(module, 4)
                f, gradient = autograd(copy.deepcopy(module), np.eye(4))
                np.testing.assert_allclose(model.value(np.eye(4)), f, rtol=1e-5)
                np.testing.assert_allclose(model.gradient(np.eye(4)), gradient, rtol=1e-5, atol=1e-6)
            finally:
                operations.OPERATIONS["tanh"] = right

    def test_wrong_arguments(self):
        module = nn.Linear(4, 1)
        for arguments, options in (((lambda x: x,), {}), ((module, 4, "colour"), {}), ((module, 4, "categorical"), {}),
                                   ((module, 4, "spin"), {"states": 3}), ((module, 4), {"dtype": "f16"}),
                                   ((module, 4), {"fallback": "never"})):
            with self.subTest(arguments), self.assertRaises(sal.ArgumentError):
                sal.from_torch(*arguments, **options)


@unittest.skipIf(MISSING, MISSING)
class StateDict(unittest.TestCase):
    def test_parameters_go_back(self):
        torch.manual_seed(3)
        module = nn.Sequential(nn.Conv2d(1, 3, 3), normalised(nn.BatchNorm2d(3)), nn.Tanh(), nn.Flatten(),
                               nn.Linear(12, 1))
        model = sal.from_torch(module, (1, 4, 4), fallback=False)
        model.params.flat = model.params.flat + np.random.default_rng(1).normal(size=model.params.flat.size)
        learned = sal.to_torch_state_dict(model)
        self.assertEqual(list(learned), list(module.state_dict()))
        self.assertEqual({value.dtype for value in learned.values()}, {torch.float32, torch.int64})
        module.load_state_dict(learned, strict=True)
        x = np.random.default_rng(0).integers(0, 2, (5, 1, 4, 4))
        np.testing.assert_allclose(model.value(x.reshape(5, 16)), autograd(module, x)[0], rtol=1e-5, atol=1e-6)
        again = sal.from_torch(module, (1, 4, 4), fallback=False)
        np.testing.assert_allclose(again.params.flat, model.params.flat, rtol=1e-6)
        self.assertEqual(sal.to_torch_state_dict(model, torch.float64)["0.weight"].dtype, torch.float64)

    def test_entries_keep_their_types(self):
        module = nn.Sequential(nn.Linear(4, 3).double(), nn.Tanh(), nn.Linear(3, 1).double())
        module[0].weight.requires_grad_(False)
        module.register_buffer("short", torch.ones(1).half())
        for fallback in (False, "always"):
            learned = sal.to_torch_state_dict(sal.from_torch(module, 4, fallback=fallback))
            for name, value in module.state_dict().items():
                self.assertEqual(learned[name].dtype, value.dtype)
                self.assertTrue(torch.equal(learned[name], value))

    def test_shared_and_unused_parameters(self):
        class Shared(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(4, 4)
                self.second = self.first
                self.unused = nn.Linear(2, 2)

            def forward(self, x):
                return self.second(torch.tanh(self.first(x))).sum(1)

        module = Shared()
        model = sal.from_torch(module, 4, fallback=False)
        self.assertEqual(set(model.params), {"first.weight", "first.bias"})
        model.params["first.bias"] = [1, 2, 3, 4]
        learned = sal.to_torch_state_dict(model)
        self.assertEqual(set(learned), set(module.state_dict()))
        for name in ("first.bias", "second.bias"):
            self.assertEqual(learned[name].tolist(), [1, 2, 3, 4])
        self.assertTrue(torch.equal(learned["unused.weight"], module.unused.weight))
        module.load_state_dict(learned)

    def test_other_models(self):
        s = sal.spins(3)
        model = sal.Model((sal.param("W", value=np.arange(3.0)) * s).sum())
        self.assertEqual(sal.to_torch_state_dict(model)["W"].tolist(), [0, 1, 2])
        module = nn.Linear(3, 1)
        called = sal.to_torch_state_dict(sal.from_torch(module, 3, fallback="always"))
        self.assertTrue(torch.equal(called["weight"], module.weight))


class WithoutTorch(unittest.TestCase):
    def run_python(self, code):
        return subprocess.run([sys.executable, "-c", code], env=os.environ, text=True, capture_output=True, check=True)

    def test_the_package_does_not_import_torch(self):
        self.assertEqual(self.run_python("import saltus, sys; print('torch' in sys.modules)").stdout, "False\n")

    def test_the_message_names_the_package(self):
        for call in ("from_torch(None)", "to_torch_state_dict(None)"):
            said = self.run_python("import sys; sys.modules['torch'] = None; import saltus as sal\n"
                                   f"try: sal.{call}\nexcept ImportError as failure: print(failure)").stdout
            self.assertIn("python3-torch", said)


if __name__ == "__main__":
    if MISSING:
        say_skipped(MISSING)
    unittest.main()
