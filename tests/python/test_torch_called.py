# SPDX-License-Identifier: MIT
"""PyTorch modules that have no formula: what is said of them, and that they are called back."""

import copy
import unittest
import warnings

import numpy as np

import saltus as sal
from test_torch import F, HAS_EXPORT, MISSING, Of, autograd, nn, say_skipped, tensor, torch


class Checks(nn.Module):
    """Checks its input; the value of a state does not depend on the others."""

    def forward(self, x):
        if bool((x < 0).any()):
            raise ValueError("negative")
        return x.sum(1) + x[:, 0]


class Branch(nn.Module):
    """Goes one way or the other with a whole batch."""

    def forward(self, x):
        return x.sum(1) if x.sum() > 0 else 2 * x.sum(1) + 1


class Within(nn.Module):
    """A part of it, or all, in a context of autograd."""

    def __init__(self, context, whole):
        super().__init__()
        self.context, self.whole = context, whole
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        with self.context():
            h = torch.tanh(self.first(x))
            if self.whole:
                return self.second(h)
        return self.second(h) + self.second(x)


def changed(how):
    """Functions that use a tensor again after a change in place of its memory, through another name."""

    def function(x, m):
        h = x @ m.w
        how(h)
        return (h * torch.arange(1, 7)).sum(1)

    return function


def change_view(h):
    v = h.view(-1, 3, 2)
    v *= 2


def change_contiguous(h):
    v = h.contiguous()
    v += 1


def change_root(x, m):
    h = x @ m.w
    v = h[:, :3]
    h -= 1
    return v.sum(1) + h[:, 5]


class Twice(nn.Module):
    """Uses a tensor again that it has changed in place."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        z = y.relu_()
        return (y * z).sum(1)


class Raises(Exception):
    pass


@unittest.skipIf(MISSING, MISSING)
class CallBack(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)

    def refused(self):
        """Modules that cannot be turned: module, shape, what the message names."""
        cut = nn.Sequential(nn.Tanh(), nn.Identity(), nn.Softplus(4, 5))
        deep = nn.Sequential(nn.Linear(8, 8), cut, nn.Flatten(), nn.Linear(8, 1))
        return ([] if HAS_EXPORT else self.exported()) + [
            (deep, 8, r"operation softplus .*module 1\.2 \(Softplus\).*threshold=5"),
            (nn.Sequential(nn.Conv3d(1, 2, 2), nn.Flatten(), nn.Linear(8, 1)), (1, 2, 3, 3), "conv3d.*at most 4 axes"),
            (nn.Sequential(nn.Upsample(scale_factor=2, mode="bicubic"), nn.Flatten(), nn.Linear(64, 1)), (1, 4, 4),
             "interpolate.*bicubic"),
            (Of(lambda x, m: torch.sort(x * m.w, 1)[0][:, 1], w=tensor(4)), 4,
             r"operation sort .*test_torch_called\.py:\d+.*no translation"),
            (Checks(), 4, "cannot trace.*control flow"),
            (Of(lambda x, m: torch.where(torch.floor(x.sum(1)) > 1, x.sum(1), 3 * x[:, 0])), 4, "operation floor"),
            (Of(lambda x, m: ((x > 0.5) * x).sum(1)), 4, r"operation mul .*truth of a comparison.*\.float\(\)"),
            (Of(lambda x, m: x.bool().to(x.dtype).sum(1) * 1.0), 4, "operation bool "),
            (Of(lambda x, m: F.softplus(x @ m.w, beta=4, threshold=5).sum(1), w=tensor(6, 6)), 6,
             "softplus.*threshold=5"),
            (Of(changed(lambda h: h[:, :3].mul_(3)), w=tensor(6, 6)), 6, "mul_.*in place"),
            (Of(changed(lambda h: h[:, :, None].squeeze(2).flatten(1)[..., :].add_(1)), w=tensor(6, 6)), 6,
             "add_.*in place"),
            (Within(torch.no_grad, False), 4, "linear .*no_grad"),
        ]

    def exported(self):
        """Modules that can be turned by torch.export, where PyTorch has it, and not by torch.fx."""
        return [
            (Twice(), 4, "relu_.*in place"),
            (Of(lambda x, m: x.view(-1, 2).sum(1).view(-1, 2).sum(1)), 4, "mixes the states"),
            (Of(changed(change_view), w=tensor(6, 6)), 6, "imul.*in place"),
            (Of(changed(change_contiguous), w=tensor(6, 6)), 6, "iadd.*in place"),
            (Of(changed(lambda h: F.elu(h.permute(0, 1), 0.5, True)), w=tensor(6, 6)), 6, "elu.*in place"),
            (Of(lambda x, m: change_root(x, m), w=tensor(6, 6)), 6, "isub.*in place"),
        ]

    def mixing(self):
        """Modules whose value of a state depends on the batch."""
        return [
            (Of(lambda x, m: x.sum(1) - x.sum(1).mean()), 4, "mean.*mixes the states"),
            (Of(lambda x, m: (x - x.mean(0)).sum(1)), 4, "mean along axis 0 mixes the states"),
            (Of(lambda x, m: x.sum(1) / x.shape[0]), 4, "truediv.*size of the batch"),
            (Of(lambda x, m: (x @ x.T).sum(1)), 4, "mixes the states"),
            (Branch(), 4, "control flow"),
            (Of(lambda x, m: (x * torch.randn(4)).sum(1)), 4, "draws random numbers"),
            (Of(lambda x, m: (x * torch.rand_like(x)).sum(1)), 4, "rand_like"),
            (nn.Sequential(nn.BatchNorm1d(4, track_running_stats=False), nn.Linear(4, 1)), 4,
             "statistics of the batch"),
        ]

    @unittest.skipUnless(not MISSING and HAS_EXPORT, "torch.export needs PyTorch 2")
    def test_what_export_turns(self):
        for module, shape, message in self.exported():
            with self.subTest(message):
                model = sal.from_torch(module, shape, fallback=False)
                x = np.random.default_rng(0).uniform(size=(4, shape))
                f, gradient = autograd(module, x)
                np.testing.assert_allclose(model.value_at(x), f, rtol=1e-9, atol=1e-9)
                np.testing.assert_allclose(model.gradient_at(x), gradient, rtol=1e-9, atol=1e-9)

    def test_what_cannot_be_turned_is_named(self):
        for module, shape, message in self.refused() + self.mixing():
            with self.subTest(message), self.assertRaisesRegex(sal.UnsupportedError, message):
                sal.from_torch(module, shape, fallback=False)

    @unittest.skipUnless(not MISSING and HAS_EXPORT, "torch.export needs PyTorch 2")
    def test_what_export_cannot_turn_is_named(self):
        def function(x, m):
            return torch.sort(x, 1)[0][:, 1] if x.dim() == 2 else x

        with self.assertRaisesRegex(sal.UnsupportedError, "control flow.*; by torch.export: operation aten.sort .*no translation"):
            sal.from_torch(Of(function), 4, fallback=False)

    def test_what_cannot_be_turned_is_called(self):
        for module, shape, message in self.refused():
            with self.subTest(message):
                with self.assertWarnsRegex(sal.SaltusWarning, message + ".*slower"):
                    model = sal.from_torch(module, shape)
                x = np.random.default_rng(0).integers(0, 2, (4,) + tuple(np.atleast_1d(shape)))
                flat = x.reshape(4, -1)
                if message == "operation bool ":  # no gradient
                    np.testing.assert_array_equal(model.value(flat), x.sum(axis=1))
                else:
                    f, gradient = autograd(module, x)
                    np.testing.assert_allclose(model.value(flat), f, rtol=1e-5, atol=1e-6)
                    np.testing.assert_allclose(model.gradient(flat), gradient, rtol=1e-5, atol=1e-6)
                self.assertEqual(dict(model.params), {})

    def test_what_depends_on_the_batch_is_no_model(self):
        for module, shape, message in self.mixing():
            with self.subTest(message), self.assertRaisesRegex(sal.ArgumentError, "other states of its batch"):
                sal.from_torch(module, shape)

    def test_called_and_turned_are_the_same(self):
        module = nn.Sequential(nn.Linear(6, 5), nn.SiLU(), nn.Linear(5, 1)).double()
        turned, called = sal.from_torch(module, 6, "spin"), sal.from_torch(module, 6, "spin", fallback="always")
        x = 2 * np.random.default_rng(0).integers(0, 2, (7, 6)) - 1
        np.testing.assert_allclose(turned.value(x), called.value(x), rtol=1e-12)
        np.testing.assert_allclose(turned.gradient(x), called.gradient(x), rtol=1e-12)
        runs = [sal.sample(model, "gwg", chains=2, draws=200, seed=3) for model in (turned, called)]
        np.testing.assert_array_equal(runs[0].draws, runs[1].draws)

    def test_gradient_of_another_batch_is_not_reused(self):
        from saltus import _torch
        called = _torch._Called(torch, nn.Linear(3, 1).double(), (3,))
        a, b = np.zeros((2, 3)), np.ones((4, 3))
        called.gradient(a)
        called.value(a)
        self.assertEqual(called.gradient(b).shape, (4, 3))
        called.value(b)
        np.testing.assert_allclose(called.gradient(b), np.tile(called.module.weight.detach().numpy(), (4, 1)))

    def test_training_of_a_module_that_is_called(self):
        """PyTorch's optimiser changes the module, and the model that calls it live gives the samples of the change."""
        torch.manual_seed(0)

        class Middle(nn.Module):
            """It has no formula: the median of features."""

            def __init__(self):
                super().__init__()
                self.features, self.fields = nn.Linear(8, 5), nn.Linear(8, 1, bias=False)

            def forward(self, x):
                return self.fields(x).squeeze(1) + torch.sort(self.features(x), 1)[0][:, 2]

        rng = np.random.default_rng(3)
        data = np.where(rng.random((600, 8)) < 0.5 + 0.4 * np.sin(np.arange(8)), 1, -1)
        data, held_out = torch.tensor(data[:500]).float(), torch.tensor(data[500:]).float()
        module = Middle().train()
        model = sal.from_torch(module, 8, "spin", fallback="live")
        chain = sal.Chain(model, "gwg", chains=100, warmup=0, seed=1)
        optimiser = torch.optim.Adam(module.parameters(), lr=0.05)

        def gap():
            with torch.no_grad():
                return float(module(held_out).mean() - module(torch.tensor(chain.state).float()).mean())

        chain.step(100)
        gaps = [gap()]
        self.assertGreater(np.abs(np.mean(chain.state, 0) - data.mean(0).numpy()).max(), 0.5)
        for _ in range(80):
            negative = torch.tensor(chain.step(10).state).float()
            optimiser.zero_grad()
            (module(negative).mean() - module(data).mean()).backward()
            optimiser.step()
            with torch.no_grad():
                np.testing.assert_allclose(chain.log_prob, module(torch.tensor(chain.state).float()).numpy(), rtol=1e-5, atol=1e-5)
        chain.step(200)
        gaps.append(gap())
        self.assertLess(abs(gaps[1]), 0.5 * abs(gaps[0]))
        self.assertTrue(module.training)
        self.assertLess(np.abs(np.mean(chain.state, 0) - held_out.mean(0).numpy()).max(), 0.45)

    def test_without_gradient(self):
        module = Of(lambda x, m: torch.unique(x, dim=1).shape[1] + x.round().long().sum(1))
        with self.assertWarnsRegex(sal.SaltusWarning, "has no gradient"):
            model = sal.from_torch(module, 3)
        self.assertEqual(model.value([1, 0, 1]), 4)
        with self.assertRaises(sal.SaltusError):
            model.gradient([1, 0, 1])

    def test_the_callers_context_changes_nothing(self):
        module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))
        x = np.random.default_rng(0).integers(0, 2, (5, 4))
        f, gradient = autograd(copy.deepcopy(module), x)
        outside = sal.from_torch(module, 4, fallback="always")
        for context in (torch.no_grad, torch.inference_mode):
            with self.subTest(context.__name__), context():
                for model in (outside, sal.from_torch(module, 4, fallback="always"),
                              sal.from_torch(module, 4, fallback=False)):
                    np.testing.assert_allclose(model.value(x), f, rtol=1e-5, atol=1e-6)
                    np.testing.assert_allclose(model.gradient(x), gradient, rtol=1e-5, atol=1e-6)
                    sal.sample(model, "gwg", chains=2, draws=10, seed=1)
                made_here = nn.Linear(4, 1)
                self.assertEqual(sal.from_torch(made_here, 4, fallback="always").gradient(x).shape, (5, 4))

    def test_parts_without_gradient(self):
        for context in (torch.no_grad, torch.inference_mode):
            module = Within(context, True)
            with self.subTest(context.__name__):
                with self.assertWarnsRegex(sal.SaltusWarning, "has no gradient"):
                    model = sal.from_torch(module, 4)
                self.assertAlmostEqual(model.value([1, 0, 0, 1]), float(module(torch.tensor([[1.0, 0, 0, 1]]))), 5)
                with self.assertRaises(sal.SaltusError):
                    model.gradient([1, 0, 1, 1])

    def test_an_error_of_autograd_is_not_a_missing_gradient(self):
        def function(x, m):
            y = torch.exp(x)
            y[:, 0] = 1
            return (y * torch.prod(x + 1, 1)[:, None]).sum(1)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sal.SaltusWarning)
            with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
                sal.from_torch(Of(function), 4)

    def test_types(self):
        x = np.random.default_rng(0).integers(0, 2, (5, 4))
        module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1)).bfloat16()
        f, gradient = autograd(copy.deepcopy(module), x)
        for fallback, tolerance in (("always", 0.05), (False, 1e-6)):
            model = sal.from_torch(module, 4, fallback=fallback)
            np.testing.assert_allclose(model.value(x), f, rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(model.gradient(x), gradient, rtol=tolerance, atol=tolerance)
        module = Of(lambda x, m: x @ m.weights)
        module.register_buffer("weights", tensor(4).double())
        np.testing.assert_allclose(sal.from_torch(module, 4, fallback="always").value(x), x @ module.weights.numpy())

    def test_a_value_that_is_cut(self):
        module = nn.Sequential(nn.Linear(64, 1, bias=False), nn.Softplus(beta=4, threshold=5))
        nn.init.constant_(module[0].weight, 1.25 / 50)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sal.SaltusWarning)
            model = sal.from_torch(module, 64)
        self.assertAlmostEqual(model.value(np.arange(64) < 51), 1.275, 5)

    def test_the_extreme_states_are_compared(self):
        from saltus import _torch_operations as operations
        right = operations.OPERATIONS["relu"]
        operations.OPERATIONS["relu"] = operations._elementwise(lambda e: sal.minimum(sal.relu(e), 59.9))
        try:
            with self.assertRaisesRegex(sal.InternalError, "not the module's"):
                sal.from_torch(Of(lambda x, m: x.sum(1).relu()), 60, fallback=False)
        finally:
            operations.OPERATIONS["relu"] = right

    def test_other_arguments_have_their_defaults(self):
        class Masked(nn.Linear):
            def forward(self, x, mask=None, *, factor=2.0):
                return factor * super().forward(x if mask is None else x * mask)

        module = Masked(4, 1)
        model = sal.from_torch(module, 4, fallback=False)
        self.assertEqual(set(model.params), {"weight", "bias"})
        self.assertAlmostEqual(model.value([1, 0, 0, 1]), float(module(torch.tensor([[1.0, 0, 0, 1]]))), 5)
        two = nn.Bilinear(4, 4, 1)
        with self.assertRaisesRegex(sal.UnsupportedError, "one argument.*input2"):
            sal.from_torch(two, 4, fallback=False)

    def test_exceptions_pass_as_themselves(self):
        calls = []

        class Fails(nn.Module):
            def forward(self, x):
                calls.append(len(x))
                if x.sum() > 1000:
                    return None
                if len(calls) > 30:
                    raise Raises("enough")
                return torch.prod(x + 1, 1)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sal.SaltusWarning)
            model = sal.from_torch(Fails(), 5)
        with self.assertRaisesRegex(Raises, "enough"):
            sal.sample(model, "gwg", chains=2, draws=1000, seed=0)
        with self.assertRaisesRegex(Raises, "enough"):
            model.value([1, 1, 1, 1, 1])

    def test_modules_that_are_wrong(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sal.SaltusWarning)
            with self.assertRaisesRegex(sal.ShapeError, r"\(6, 3\) for 6 states"):
                sal.from_torch(nn.Linear(5, 3), 5)
            with self.assertRaisesRegex(sal.ShapeError, r"for [46] states"):
                sal.from_torch(Of(lambda x, m: x.sum()), 5)
            with self.assertRaisesRegex(RuntimeError, "shapes cannot be multiplied"):
                sal.from_torch(nn.Linear(5, 1), 6)
        with self.assertRaisesRegex(sal.UnsupportedError, r"the shape \(the size of the batch, 3\)"):
            sal.from_torch(nn.Linear(5, 3), 5, fallback=False)

    def test_hooks_of_the_module_are_not_forgotten(self):
        module = nn.Sequential(nn.Linear(4, 1))
        module.register_forward_hook(lambda m, x, y: 2 * y)
        with self.assertRaisesRegex(sal.UnsupportedError, "hooks"):
            sal.from_torch(module, 4, fallback=False)
        inside = nn.Sequential(module, nn.Identity())
        model = sal.from_torch(inside, 4, fallback=False)
        self.assertAlmostEqual(model.value([1, 0, 0, 1]), float(inside(torch.tensor([[1.0, 0, 0, 1]]))), places=5)


if __name__ == "__main__":
    if MISSING:
        say_skipped(MISSING)
    unittest.main()
