#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 7. Fixed sums and permutations: states that no change of one variable connects.

1. A lattice gas: half of the sites are full, and particles hop to neighbours.
2. Which 20 of 500 features explain a response.
3. An assignment: who does what.
4. Seriation: an order in which similar things are near each other.
5. A quantum spin chain: the energy of a wave function, from states of magnetisation 0.
"""
import itertools
from typing import Any, Iterator

import numpy as np
from numpy.typing import NDArray

import saltus as sal

rng = np.random.default_rng(7)

# ---- 1. Kawasaki dynamics. 8 particles on 4 x 4 sites, which attract each other: of 65536 states of
#         16 bits, 12870 have this sum. Only neighbours exchange.

SIDE, ATTRACTION = 4, 0.6
site = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
pairs = np.concatenate([np.stack([site, np.roll(site, -1, axis)], -1).reshape(-1, 2) for axis in (0, 1)])
n = sal.binary(SIDE * SIDE, name="full", total=SIDE * SIDE // 2)
gas = sal.Model(ATTRACTION * sal.sum(n[pairs[:, 0]] * n[pairs[:, 1]]))
run = sal.sample(gas, "pair-gibbs:pairs=coupled", chains=8, draws=4000, thin=16, seed=1)
exact = sal.exact(gas)
print(f"lattice gas: mean f {run.log_prob.mean():.1f}, of all {12870} states {exact.log_prob_mean:.1f}")
print("particles in every draw:", *np.unique(run.draws.sum(axis=-1)))

# ---- 2. Feature selection. f = -|y - X g|^2 / 2 over g with exactly 20 ones: balanced exchanges by
#         the gradient, and all variables at once given their sum.

ROWS, FEATURES, CHOSEN = 200, 500, 20
X = rng.normal(size=(ROWS, FEATURES)) / 3
belong = np.sort(rng.choice(FEATURES, CHOSEN, replace=False))
y = X[:, belong].sum(axis=1) + rng.normal(size=ROWS)
g = sal.binary(FEATURES, name="chosen", total=CHOSEN)
choice = sal.Model(g @ (X.T @ y) - 0.5 * sal.quad(g, X.T @ X))
for sampler in ("exchange", "dlmc"):
    run = sal.sample(choice, sampler, chains=4, warmup=2000, draws=500, thin=4, seed=2)
    share = run.draws.reshape(-1, FEATURES).mean(axis=0)
    found = np.sort(np.argsort(share)[-CHOSEN:])
    print(f"{sampler}: of the {CHOSEN} features {np.isin(found, belong).sum()} are right")

# ---- 3. Assignment. Worker i does job p_i; f is the sum of profits, and annealing finds the largest.

WORKERS = 9
profit = rng.normal(size=(WORKERS, WORKERS))
p = sal.permutation(WORKERS, name="job")  # one-hot: [workers, jobs], one 1 in each row and column
run = sal.sample(sal.Model(sal.sum(p * profit)), anneal=True, chains=8, draws=2000, seed=3)
top = np.zeros(1 << WORKERS)  # the best of the first workers, by the set of jobs that are taken
for taken in range(1, 1 << WORKERS):
    jobs = [j for j in range(WORKERS) if taken >> j & 1]
    top[taken] = max(top[taken ^ 1 << j] + profit[len(jobs) - 1, j] for j in jobs)
print("assignment: the best of all permutations:", bool(abs(run.best()[1] - top[-1]) < 1e-6))

# ---- 4. Seriation. Things lie on a line in an order that is to be found; the cost is the sum of
#         likeness times distance in the order.

THINGS = 8
where = rng.permutation(THINGS)
likeness = np.exp(-0.5 * (where[:, None] - where) ** 2) + 0.05 * rng.normal(size=(THINGS, THINGS))
likeness = (likeness + likeness.T) / 2
apart = np.abs(np.arange(THINGS)[:, None] - np.arange(THINGS))
order = sal.permutation(THINGS, name="place")
near = sal.Model(-sal.sum((order.T @ sal.constant(likeness) @ order) * apart))
run = sal.sample(near, anneal=True, chains=8, draws=2000, seed=4)
best = max(-(likeness * apart[np.ix_(q, q)]).sum() for q in itertools.permutations(range(THINGS)))
print("seriation: the best of all 40320 orders:", bool(abs(run.best()[1] - best) < 1e-6))

# ---- 5. Variational Monte Carlo: the chain H = sum_i S_i S_(i+1) keeps its magnetisation. The wave
#         function of Haldane and Shastry (1988) has psi(n) = prod |sin(pi (i - j) / N)|^2 over the
#         sites i < j whose spin is up, times a sign that makes each exchange of neighbours count
#         -1/2 psi(n') / psi(n). States are drawn from psi^2.

SPINS = 12
n = sal.binary(SPINS, name="up", total=SPINS // 2)
i, j = np.triu_indices(SPINS, 1)
log_sin = np.log(np.sin(np.pi * (j - i) / SPINS))
wave = sal.Model(4 * sal.sum(log_sin * (n[i] * n[j])))
run = sal.sample(wave, "exchange", chains=8, draws=4000, thin=4, seed=5)


def log_psi(states: NDArray[Any]) -> NDArray[np.float64]:
    log_psi: NDArray[np.float64] = 2 * (states[..., i] * states[..., j]) @ log_sin
    return log_psi


def exchanges(states: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
    """Of each pair of neighbours: the states with their spins exchanged, and where these differ."""
    for a in range(SPINS):
        turned = np.array(states)
        turned[..., [a, a - 1]] = turned[..., [a - 1, a]]
        yield turned, states[..., a] != states[..., a - 1]


def local_energy(states: NDArray[Any]) -> NDArray[np.float64]:
    """(H psi)(n) / psi(n)."""
    ratio = ((turned, differ, np.exp(log_psi(turned) - log_psi(states))) for turned, differ in exchanges(states))
    return sum((np.where(differ, -0.25 - 0.5 * r, 0.25) for _, differ, r in ratio), np.zeros(states.shape[:-1]))


states = np.array([s for s in itertools.product([0, 1], repeat=SPINS) if sum(s) == SPINS // 2])
number = {tuple(s): k for k, s in enumerate(states)}
H = np.zeros((len(states), len(states)))
for turned, differ in exchanges(states):
    H += np.diag(np.where(differ, -0.25, 0.25))
    H[[number[tuple(s)] for s in turned[differ]], np.flatnonzero(differ)] -= 0.5
weight = np.exp(2 * log_psi(states))
of_all = weight @ local_energy(states) / weight.sum()
print(f"spin chain: energy {local_energy(run.draws.reshape(-1, SPINS)).mean():.2f}, of all {len(states)} states",
      f"{of_all:.2f}, of the ground state {np.linalg.eigvalsh(H)[0]:.2f}")
