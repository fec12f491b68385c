#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 2. An energy of your own, as a formula with NumPy's operators, or as a function.

Eight people choose one of three shirts, 0, 1 or 2, and a volume from 0 to 4. Friends like to wear
different shirts, and to have nearly the same volume.
"""
import numpy as np
from numpy.typing import NDArray

import saltus as sal

PEOPLE, SHIRTS = 8, 3
friends = [(i, (i + k) % PEOPLE) for i in range(PEOPLE) for k in (1, 3)]
first, second = np.array(friends).T

# ---- 1. Variables: blocks of any kind, with NumPy's shapes. Categorical ones are one-hot.

shirt = sal.categorical(PEOPLE, SHIRTS, name="shirt")  # shape (8, 3)
volume = sal.ordinal(PEOPLE, 5, name="volume")         # shape (8,)

# ---- 2. f, the log-probability up to a constant: higher is more probable

same_shirt = (shirt[first] * shirt[second]).sum()
difference = volume[first] - volume[second]
f = -1.5 * same_shirt - 0.5 * (difference ** 2).sum() + 0.2 * np.sum(np.log(volume + 1))
model = sal.Model(f, name="friends")
print(model)

# ---- 3. Values, gradients and exact differences come from the formula

state = [0, 1, 2, 0, 1, 2, 0, 1] + [2] * PEOPLE
print(f"f of a state     {model.value(state):.4f}")
differences = model.differences(state)
print("another shirt for person 0:", " ".join(f"{d:+.3f}" for d in differences[:SHIRTS]))
checks = model.check(seed=0)
print("gradient against differences: within 1e-6:", checks["gradient_error"] < 1e-6, "\n")

# ---- 4. Sample it

run = sal.sample(model, "ncg", chains=20, draws=4000, thin=5, seed=1)
shirts, volumes = run.values[..., :PEOPLE], run.values[..., PEOPLE:]
print(f"friends with the same shirt {np.mean(shirts[..., first] == shirts[..., second]):.3f}")
print(f"mean volume                 {volumes.mean():.3f}")

# ---- 5. The same as a Python function of many states at once. It is slower, but can be anything.
#         x has the reals that the formula sees: 8 one-hots of 3, then 8 levels.


def energy(x: NDArray[np.float64]) -> NDArray[np.float64]:
    one_hot, level = x[:, :PEOPLE * SHIRTS].reshape(-1, PEOPLE, SHIRTS), x[:, PEOPLE * SHIRTS:]
    same = (one_hot[:, first] * one_hot[:, second]).sum((1, 2))
    apart = ((level[:, first] - level[:, second]) ** 2).sum(1)
    return np.asarray(-1.5 * same - 0.5 * apart + 0.2 * np.log(level + 1).sum(1))


called_back = sal.Model.from_function(energy, shirt, volume)
print(f"\nthe function says {called_back.value(state):.4f}")
again = sal.sample(called_back, "gibbs", chains=20, draws=400, thin=16, seed=2)
print(f"its mean volume             {again.values[..., PEOPLE:].mean():.2f}")

# ---- 6. A mistake names the line that made it

try:
    shirt + np.zeros(7)
except sal.ShapeError as error:
    print("\nmistake:", str(error).split("/")[-1])
