#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 3. From a PyTorch module to samples.

A module that gives f for each state of a batch becomes a model in one line. torch.fx reads its forward, and
Saltus writes the same as a formula, with the same weights; from_torch then compares value and gradient with
autograd. Sampling goes on without PyTorch, so it uses all threads and repeats bit by bit. This lesson needs
PyTorch (Debian: python3-torch) and NumPy.
"""
import warnings

import numpy as np

import saltus as sal

try:
    import torch
    from torch import nn
except ImportError:
    print("this lesson needs PyTorch (Debian: python3-torch)")
    raise SystemExit(77)

# ---- 1. A module: a small residual net over 4 x 4 pixels, and couplings of all pairs


class Energy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 3, 3, padding=1)
        self.second = nn.Conv2d(3, 3, 3, padding=1)
        self.last = nn.Linear(3, 1)
        self.couplings = nn.Parameter(torch.zeros(16, 16))

    def forward(self, s: torch.Tensor) -> torch.Tensor:
        x = self.first(s.view(-1, 1, 4, 4))
        x = x + self.second(nn.functional.silu(x))
        features = nn.functional.softplus(x).mean((2, 3))
        f: torch.Tensor = 4 * self.last(features).squeeze(-1) + ((s @ self.couplings) * s).sum(-1)
        return f


module = Energy()
with torch.no_grad():  # weights that do not depend on the version of PyTorch
    for number, weight in enumerate(module.parameters()):
        weight.copy_(0.4 * torch.sin(torch.arange(weight.numel()) ** 2 + number).reshape(weight.shape))

# ---- 2. The model

model = sal.from_torch(module, shape=(16,), kind="binary")
print(model)
print("parameters:", ", ".join(model.params))

# ---- 3. The same numbers on both sides?

state = [1, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1]
s = torch.tensor([state], dtype=torch.float32, requires_grad=True)
f = module(s)
gradient, = torch.autograd.grad(f.sum(), s)
print(f"f of a state: by Saltus {model.value(state):.4f}, by PyTorch {f.item():.4f}")
print("its gradient, by Saltus: ", np.round(model.gradient(state)[:6], 4))
print("its gradient, by PyTorch:", np.round(gradient.numpy()[0, :6].astype(float), 4))

# ---- 4. Samples, and how good they are: 65536 states can be listed

run = sal.sample(model, "gwg", chains=8, draws=4000, seed=1)
sampled = run.values.mean(axis=(0, 1))
exact = np.array([p[1] for p in model.exact().marginals])
print(f"\ngwg: acceptance rate {run.summary['acceptance_rate']:.3f}, largest R-hat {run.summary['rhat_max']:.3f}")
print("pixel      p(1) sampled   exact")
for i in range(0, 16, 3):
    print(f"{i:5d}      {sampled[i]:12.3f} {exact[i]:7.3f}")

# ---- 5. Back to PyTorch: parameters that Saltus has learned, or that you set

model.params["couplings"] = 0.5 * model.params["couplings"]
module.load_state_dict(sal.to_torch_state_dict(model))
f = module(torch.tensor([state], dtype=torch.float32)).item()
print(f"\nwith other couplings: by Saltus {model.value(state):.4f}, by PyTorch {f:.4f}")

# ---- 6. What cannot be a formula is called back, with a warning that says why; it is slower


class Checked(Energy):
    def forward(self, s: torch.Tensor) -> torch.Tensor:
        if bool((s < 0).any()):
            raise ValueError("expected zeros and ones")
        return super().forward(s)


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    called = sal.from_torch(Checked(), shape=(16,))
print("\nwarning:", str(caught[0].message))
try:
    sal.from_torch(Checked(), shape=(16,), fallback=False)
except sal.UnsupportedError as mistake:
    print("\nmistake:", type(mistake).__name__)

# ---- 7. A model is a function of one state: a branch must look at each state, not at the whole batch


class ByBatch(Energy):
    def forward(self, s: torch.Tensor) -> torch.Tensor:
        f = super().forward(s)
        return f if s.sum() > 8 else torch.zeros_like(f)  # the sum over all states of the batch


class ByState(Energy):
    def forward(self, s: torch.Tensor) -> torch.Tensor:
        f = super().forward(s)
        return torch.where(s.sum(1) > 8, f, torch.zeros_like(f))


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    try:
        sal.from_torch(ByBatch(), shape=(16,))
    except sal.ArgumentError as mistake:
        print("mistake:", mistake)
    print("by state: f of no pixel", sal.from_torch(ByState(), shape=(16,)).value([0] * 16))
