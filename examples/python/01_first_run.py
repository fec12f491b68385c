#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 1. A first run: a ready-made model, samples, and whether to trust them.

A lattice of 6 x 6 spins that like to be equal: f(s) = theta s'As (Grathwohl et al. 2021, eq. 10). Its
36 spins are few enough for an exact answer, so that samples can be held against the truth.
"""
import numpy as np

import saltus as sal

model = sal.Model("ising:side=6,theta=0.1")
print(model)
print("samplers that can sample it:", ", ".join(model.samplers[:6]), "...\n")

# ---- 1. Sample. The same seed gives the same draws, on any number of threads.

run = sal.sample(model, "gwg", chains=20, draws=2000, thin=5, seed=1)
summary = run.summary
print(f"{summary['chains']} chains of {summary['draws']} draws, acceptance {summary['acceptance_rate']:.2f}, "
      f"R-hat {summary['rhat_max']:.2f}")

# ---- 2. The draws are arrays: codes without a copy, or values (spins -1 and 1)

print("codes", run.draws.shape, run.draws.dtype, " values of one draw:", run.values[0, 0, :8], "...")

# ---- 3. Against the truth: how often two neighbours are equal

exact = model.exact()
spins = run.values
sampled = np.mean(spins[..., 0] == spins[..., 1])
f_sampled = run.log_prob.mean()
print(f"\nmean f           {f_sampled:.2f} by samples, {exact.log_prob_mean:.2f} exactly ({exact.oracle})")
print(f"neighbours equal {sampled:.3f} of the draws")

# ---- 4. Which sampler is best here? Equal numbers of draws; the figures are yours to compare.

table = sal.compare(model, ["gwg", "gibbs", "ncg"], chains=20, draws=1000, seed=1)
best_by_step = max(table, key=lambda s: float(s["ess"]["median"]))
print(f"\nmost effective draws a chain: {best_by_step['sampler']}")

# ---- 5. A run that should not be trusted says so

import warnings

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    sal.sample("ising:side=6,theta=0.3", "ncg", draws=1000, seed=1)
print("\nwarning:", str(caught[0].message).split(":")[0])
