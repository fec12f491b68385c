#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python lesson 8. An RBM as an estimator: features, in-painting, and classification by clamped units.

saltus.rbm.RBM has the interface of scikit-learn's BernoulliRBM, and needs no scikit-learn. Two kinds of
noisy 6 x 6 pictures, lines across and lines down, have a label: two more visible units.
"""
from typing import Any

import numpy as np
from numpy.typing import NDArray

import saltus as sal

rng = np.random.default_rng(1)


def pictures(rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pictures with three lines each, of which 2 % of the pixels are wrong, and their labels."""
    labels = rng.integers(0, 2, rows)
    lines = np.array([rng.permutation([1, 1, 1, 0, 0, 0]) for _ in range(rows)])
    across = np.repeat(lines[:, :, None], 6, axis=2)
    images = np.where(labels[:, None, None] == 0, across, across.transpose(0, 2, 1))
    return images ^ (rng.random(images.shape) < 0.02), labels


def with_labels(images: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([images.reshape(len(images), 36), np.eye(2, dtype=int)[labels]], axis=1)


train, test = pictures(2000), pictures(200)

# 1. Fit, and score: the pseudo-likelihood of rows that the RBM has not seen. Independent units have -13.
rbm = sal.rbm.RBM(n_components=40, n_iter=60, random_state=1).fit(with_labels(*train))
print("log pseudo-likelihood:", round(rbm.score(with_labels(*test)), 2))

# 2. Features of rows, for what comes next in a pipeline.
print("features:", rbm.transform(with_labels(*test)).shape)

# 3. Classification: pixels are clamped, and the two units of the label are drawn. NaN is free.
known = with_labels(*test).astype(float)
known[:, 36:] = np.nan
shares = rbm.sample(50, clamp=known, steps=100, random_state=2).mean(axis=1)[:, 36:]
print("right labels:", round((shares.argmax(axis=1) == test[1]).mean(), 2))

# 4. In-painting: a picture whose right half is hidden, given the left one; and the label is drawn too.
hidden = test[0].astype(float)
hidden[:, :, 3:] = np.nan
rows = np.concatenate([hidden.reshape(200, 36), np.full((200, 2), np.nan)], axis=1)
drawn = rbm.sample(50, clamp=rows, steps=100, random_state=3).mean(axis=1)[:, :36].reshape(200, 6, 6)
across = test[1] == 0
print("right pixels in hidden halves of lines across:",
      round((drawn.round() == test[0])[across][:, :, 3:].mean(), 2))
