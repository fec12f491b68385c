#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 6. Saltus inside another sampler: discrete variables by Saltus, real ones by NumPy.

1. Spike and slab: which of ten predictors belong in a regression, and their coefficients.
2. A picture of three kinds of ground, of which neighbours are mostly alike, and their mean colours.
"""
import itertools

import numpy as np
from numpy.typing import NDArray

import saltus as sal

rng = np.random.default_rng(4)

# ---- 1. Spike and slab. y = X (g b) + noise, with inclusions g in {0, 1} and coefficients b ~ N(0, 1).
#         Given b, log p(g | b, y) is a quadratic form: linear terms and couplings are parameters.

ROWS, COLUMNS, PRIOR = 40, 10, 0.2
X = rng.normal(size=(ROWS, COLUMNS))
X[:, 1] = 0.9 * X[:, 0] + 0.4 * X[:, 1]  # two that are hard to tell apart
y = X[:, 0] + 0.5 * X[:, 4] - 0.35 * X[:, 7] + rng.normal(size=ROWS)
XX, Xy = X.T @ X, X.T @ y

g = sal.binary(COLUMNS, name="include")
f = g @ sal.param("linear", COLUMNS) + sal.quad(g, sal.param("couplings", (COLUMNS, COLUMNS)))
chain = sal.Chain(sal.Model(f), "gibbs", chains=1, warmup=0, seed=1)

included, SWEEPS = np.zeros(COLUMNS), 20000
for sweep in range(SWEEPS):
    on = chain.state[0] == 1
    b = rng.normal(size=COLUMNS)  # those that are left out have their prior
    matrix = XX[np.ix_(on, on)] + np.eye(on.sum())
    half = np.linalg.cholesky(np.linalg.inv(matrix)) if on.any() else np.zeros((0, 0))
    b[on] = np.linalg.solve(matrix, Xy[on]) + half @ b[on]
    chain.model.params["linear"] = b * Xy + np.log(PRIOR / (1 - PRIOR))
    chain.model.params["couplings"] = -0.5 * np.outer(b, b) * XX
    chain.step(COLUMNS)  # a sweep of gibbs
    included += chain.state[0] / SWEEPS

# The posterior of g with b integrated out, of all 1024 models.


def log_evidence(on: NDArray[np.intp]) -> float:
    matrix = np.eye(len(on)) + XX[np.ix_(on, on)]
    return float(0.5 * Xy[on] @ np.linalg.solve(matrix, Xy[on]) - 0.5 * np.linalg.slogdet(matrix)[1]
                 + len(on) * np.log(PRIOR / (1 - PRIOR)))


models = list(itertools.product([0, 1], repeat=COLUMNS))
weights = np.exp([log_evidence(np.flatnonzero(m)) for m in models])
exact = weights @ np.array(models) / weights.sum()
print("predictors that belong:", *np.flatnonzero(included > 0.5))
print("largest error of a probability of inclusion below .02:", bool(np.abs(included - exact).max() < 0.02))

# ---- 2. A picture. Labels z with the colours' means mu: Saltus draws z given mu, and NumPy mu given z.

SIDE, KINDS, NOISE = 24, 3, 1.0
rows, columns = np.indices((SIDE, SIDE))
truth = (rows > 11).astype(int) + (rows + columns > 30)
picture = np.array([-2.0, 0.0, 2.0])[truth] + NOISE * rng.normal(size=(SIDE, SIDE))

z = sal.categorical((SIDE, SIDE), KINDS, name="ground")  # one-hot: shape (24, 24, 3)
alike = (z[1:] * z[:-1]).sum() + (z[:, 1:] * z[:, :-1]).sum()
chain = sal.Chain(sal.Model(0.8 * alike + (z * sal.param("colour", (SIDE, SIDE, KINDS))).sum()), "gibbs", chains=1,
                  warmup=0, seed=2)

mu, means, votes = np.array([-1.0, 0.0, 1.0]), [], np.zeros((SIDE, SIDE, KINDS))
for sweep in range(400):
    chain.model.params["colour"] = -(picture[..., None] - mu) ** 2 / (2 * NOISE ** 2)
    ground = chain.step(SIDE * SIDE).codes[0].reshape(SIDE, SIDE)
    for k in range(KINDS):  # conjugate: a normal prior of mu with deviation 10
        own = picture[ground == k]
        precision = len(own) / NOISE ** 2 + 0.01
        mu[k] = own.sum() / NOISE ** 2 / precision + rng.normal() / np.sqrt(precision)
    if sweep >= 100:
        means.append(mu.copy())
        votes += np.eye(KINDS)[ground]
print("mean colours within .25 of -2, 0, 2:", bool(np.abs(np.mean(means, 0) - [-2, 0, 2]).max() < 0.25))
print("more than 97 % of the ground found:", bool((votes.argmax(2) == truth).mean() > 0.97))
