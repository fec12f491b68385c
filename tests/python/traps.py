#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Look for runs that are wrong though nothing is said against them.

    traps.py [SEEDS [PART OF]]

For all samplers, variants of them and starts of a list, on tiny models of every kind, many seeds: the mean over
seeds of the shares of states is compared with the exact probabilities. A run is a trap if that mean is off by more
than chance, while most of the runs have an R-hat below 1.01 and no warning. PART OF: every OF-th run, from PART on.
The exit status is 1 if there is a trap. 25 seeds of all take about 40 minutes of one core."""
import sys
import warnings

import numpy as np

import saltus as sal

CHAINS, DRAWS, MORE = 8, 300, 200
VARIANTS = {
    "gibbs": ["scan=random", "scan=shuffled", "scan=adaptive", "block=2"],
    "hamming-ball": ["block=2"],
    "block-gibbs": ["scan=random"],
    "lb": ["balance=min", "radius=1"],
    "lsb1": ["objective=density"],
    "pas": ["length=2"],
    "pafs": ["length=2"],
    "gwg": ["hops=2", "hops=adapt", "radius=2", "radius=search", "balance=barker", "ball=2"],
    "ncg": ["cycle=4", "schedule=polynomial", "most=2", "preconditioner=none"],
    "avg": ["momentum=0.5"],
    "pavg": ["momentum=0.5"],
    "dula": ["cycle=4"],
    "dlmc": ["balance=barker"],
    "dlmcf": ["balance=barker"],
    "mh-uniform": ["radius=1"],
    "mana": ["categorical=2"],
    "exchange": ["radius=2"],
}
SETUPS = [dict(warmup=warmup, thin=thin) for warmup in (0, 1, 7, 300, 301) for thin in (1, 2, 5)] + [
    dict(warmup=300, tempering=3), dict(warmup=301, tempering=2, thin=3), dict(warmup=300, step_size="adapt"),
    dict(warmup=301, step_size="auto"), dict(warmup=300, init="one"), dict(warmup=0, thin=3, init="one")]


def pairs(x, n, scale, rng):
    return sum(float(rng.normal(0, scale)) * x[i] * x[j] for i in range(n) for j in range(i))


def make_models():
    """Tiny models by name."""
    rng = np.random.default_rng(5)
    x, s, c, o = sal.binary(4), sal.spins(4), sal.categorical(2, 3), sal.ordinal(2, [0, 1, 2, 3])
    b, t, k, p, d = sal.binary(2), sal.binary(4, total=2), sal.counts(2, cap=3), sal.permutation(3), sal.categorical(1, 3)
    return {
        "binary": sal.Model(pairs(x, 4, 1.5, rng) + (x * rng.normal(0, 1, 4)).sum()),
        "flat": sal.Model(0.0 * sal.binary(3).sum()),
        "modes": sal.Model(0.8 * (s[:-1] * s[1:]).sum()),
        "labels": sal.Model((c[0] @ rng.normal(0, 1, (3, 3)) * c[1]).sum() + (c[1] * np.array([0, 0.5, -1])).sum()),
        "levels": sal.Model(-0.4 * (o[0] - o[1])**2 + 0.2 * o[0]),
        "counts": sal.Model(0.5 * k[0] - 0.2 * k[0] * k[1]),
        "permutation": sal.Model((p * rng.normal(0, 1, (3, 3))).sum()),
        "total": sal.Model(pairs(t, 4, 1.0, rng)),
        "one": sal.Model(0.7 * sal.binary(1).sum()),
        "mixed": sal.Model((d[0] * np.array([0.0, 1, 2])).sum() * b[0] - 1.2 * b[0] * b[1]),
    }


class Target:
    """All states of a model, and their probabilities."""

    def __init__(self, model):
        self.model = model
        codes = np.asarray(model.exact_draws(4000, seed=1, codes=True)).reshape(4000, -1)
        self.states = np.unique(codes, axis=0)
        f = np.asarray(model.value(self.states, codes=True), float).reshape(-1)
        self.p = np.exp(f - f.max()) / np.exp(f - f.max()).sum()

    def shares(self, run):
        """The share of draws in each state."""
        codes = self.model.codes(run.values).reshape(CHAINS * DRAWS, -1)
        states, counts = np.unique(np.vstack([self.states, codes]), axis=0, return_counts=True)
        assert len(states) == len(self.states), "a draw of probability 0, or so small that 4000 draws miss it"
        return (counts - 1) / (CHAINS * DRAWS)


def try_out(target, p, sampler, setup, seeds):
    """Whether nothing is said, how far the mean of the shares is from p in standard errors, and its distance."""
    options = dict(setup)
    if options.get("init") == "one":
        options.update(init=np.tile(target.states[np.argmin(target.p)], (CHAINS, 1)), codes=True)
    shares, quiet = [], 0
    for seed in seeds:
        run = sal.sample(target.model, sampler, chains=CHAINS, draws=DRAWS, seed=seed, threads=1, **options)
        rhat = run.summary["rhat_max"]
        quiet += rhat is not None and rhat < 1.01 and not run.summary["warnings"]
        shares.append(target.shares(run))
    off = np.abs(np.mean(shares, axis=0) - p)
    error = np.std(shares, axis=0, ddof=1) / np.sqrt(len(shares))
    return quiet > len(shares) / 2, (off / np.maximum(error, 1e-5)).max(), off.sum() / 2


def is_trap(target, p, sampler, setup, seeds):
    """By few seeds, and if those are suspicious by many others."""
    for among, limit in ((range(seeds), 4.5), (range(1000, 1000 + MORE), 5.5)):
        quiet, deviation, distance = try_out(target, p, sampler, setup, among)
        if not quiet or deviation < limit or distance < 0.002:
            return None
    return f"{deviation:.1f} standard errors, total variation {distance:.4f}"


def main(seeds=25, part=0, of=1):
    warnings.simplefilter("ignore", sal.SaltusWarning)
    targets = {name: Target(model) for name, model in make_models().items()}
    first = targets["binary"]
    wrong = np.roll(first.p, 1)
    if not is_trap(first, wrong, "gibbs", dict(warmup=300, thin=5), seeds):
        sys.exit("a wrong distribution is not noticed")
    jobs = [(name, sampler + variant, setup) for name, target in targets.items() for sampler in target.model.samplers
            for variant in [""] + [":" + v for v in VARIANTS.get(sampler, [])] for setup in SETUPS]
    np.random.default_rng(1).shuffle(jobs)
    traps, refused = 0, set()
    tried = {sampler for _, sampler, _ in jobs[part::of]}
    for name, sampler, setup in jobs[part::of]:
        try:
            found = is_trap(targets[name], targets[name].p, sampler, setup, seeds)
        except (sal.ArgumentError, sal.UnsupportedError):
            refused.add(sampler)  # such as a step size for a sampler that has none
            continue
        tried.discard(sampler)
        if found:
            traps += 1
            print(f"{name}, {sampler}, {setup}: {found}")
    print(f"{len(jobs[part::of])} runs, {traps} traps; some refused: {', '.join(sorted(refused))}")
    if tried and of == 1:
        sys.exit(f"always refused: {', '.join(sorted(tried))}")
    sys.exit(traps > 0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
