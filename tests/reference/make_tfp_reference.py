# SPDX-License-Identifier: MIT
"""Writes tfp_reference.json: small chains and their effective sample sizes by the definition of
TensorFlow Probability's mcmc.effective_sample_size(filter_beyond_positive_pairs=True), transcribed
in plain sums (no FFT, TFP itself is not used):

    c_k   = 1/(n-k) sum_t (x_t - mean)(x_t+k - mean),   rho_k = c_k / c_0
    pairs = (rho_0, rho_1), (rho_2, rho_3), ...; an odd last lag is dropped
    keep the pairs before the first with rho_2k + rho_2k+1 < 0
    ess   = n / (-1 + 2 sum over kept lags of (n-k)/n rho_k)

Run in this directory: python3 make_tfp_reference.py
"""
import json
import sys

import numpy as np


def ess_tfp(x, weigh_before_filtering=False):
    n = len(x)
    centred = x - x.mean()
    c = np.array([np.sum(centred[: n - k] * centred[k:]) / (n - k) for k in range(n)])
    rho = c / c[0]
    weighted = rho * (n - np.arange(n)) / n
    even = n - n % 2
    pair = rho[:even].reshape(-1, 2).sum(axis=1)
    weighted_pair = weighted[:even].reshape(-1, 2).sum(axis=1)
    kept = np.cumsum((weighted_pair if weigh_before_filtering else pair) < 0.0) == 0
    return n / (-1.0 + 2.0 * np.sum(weighted_pair[kept]))


def autoregression(rng, n, phi):
    x = np.empty(n)
    value = 0.0
    for t in range(n):
        value = phi * value + rng.normal()
        x[t] = value
    return np.round(x, 5)


def main():
    rng = np.random.default_rng(7)
    cases = {}
    for n, phi in [(4, 0.0), (5, 0.0), (7, 0.5), (16, 0.5), (33, -0.5), (100, 0.0), (101, 0.9),
                   (256, 0.7), (300, 0.99), (300, -0.9), (500, 0.3)]:
        cases["autoregression n=%d phi=%g" % (n, phi)] = autoregression(rng, n, phi)
    cases["binary"] = (autoregression(rng, 200, 0.8) > 0.5).astype(float)
    cases["distances"] = np.abs(np.cumsum(rng.integers(-1, 2, 150))).astype(float)
    cases["far from zero"] = 1e6 + autoregression(rng, 120, 0.6)
    cases["one jump"] = np.repeat([0.1, 0.7], 20)
    x = autoregression(rng, 30, 0.4)
    while ess_tfp(x) == ess_tfp(x, weigh_before_filtering=True):
        x = autoregression(rng, 30, 0.4)
    cases["where filtering weighted pairs would differ"] = x
    out = {"provenance": "numpy %s, Python %s; made by: python3 make_tfp_reference.py"
                         % (np.__version__, sys.version.split()[0]),
           "cases": [{"name": name, "ess": ess_tfp(x), "series": x.tolist()}
                     for name, x in cases.items()]}
    with open("tfp_reference.json", "w") as file:
        file.write(json.dumps(out).replace('{"name"', '\n{"name"') + "\n")


main()
