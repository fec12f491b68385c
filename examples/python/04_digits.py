#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 4. Train a model of digits, and look at what it has learned.

An RBM learns 12 x 12 pictures of digits by parallel trajectory tempering: its states stay at
equilibrium while the parameters change, so log Z, and with it the log-likelihood of held-out rows, is
always known. At the end new digits are drawn from scratch, and the library judges whether they are
like the data.
"""

import saltus as sal

# 1. Pictures, some of them held out.
train = sal.Data.digits(6000, side=12, seed=1)
test = train.split(500, seed=1)
print("training rows:", train)
print("held-out rows:", test)

# 2. Training. "rbm" by name gets its visible units, its start and suitable options from the data; the
# model that it ends with is the one of the best report.
training = sal.train("rbm:hidden=40", train, test=test, iterations=2500, batch=100, report_every=500, seed=1)
print("\niteration  held-out log-likelihood    log Z  levels")
for report in training.reports:
    print(f"{report['iteration']:9}  {report['log_likelihood']:23.1f}  {report['log_z']:7.1f}  {report['levels']:6}")

# 3. How good is it? Annealing gives log Z from both sides, without the training's knowledge. Independent
# pixels are the least that a model must beat.
result = sal.evaluate(training, test, temperatures=300, seed=1)
print(f"\nindependent pixels: {result.independent['log_likelihood']:.1f} nats a picture")
print(f"this RBM:           {result.reverse['log_likelihood']:.1f} to {result.forward['log_likelihood']:.1f}")
print(result.verdict["sentence"])

# 4. New digits, each from another chain.
digits = result.samples[:6, -1].reshape(6, 12, 12)
print("\nnew digits:")
for row in range(12):
    print("  ".join("".join(".#"[pixel] for pixel in digit[row]) for digit in digits))

# 5. The same as a picture, if matplotlib is there.
try:
    import matplotlib
except ImportError:
    pass
else:
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(4, 8, figsize=(8, 4))
    for axis, digit in zip(axes.ravel(), result.samples[:32, -1]):
        axis.imshow(digit.reshape(12, 12), cmap="gray_r")
        axis.set_axis_off()
    figure.savefig("digits.png")
