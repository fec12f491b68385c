#!/bin/sh
# Lesson 10. Train a model of digits, and look at it.
#
# An RBM with 64 hidden units learns what digits look like: 16 x 16 black or white pixels, 'digits'.
# (Those are drawn by the program itself, strokes of random slant, width, scale and shift; your own
# pictures come from a file, --data FILE.) Its f has parameters, and training moves them so that f
# is larger at data than at what the model itself believes in: at samples of it (Grathwohl et al.
# 2021, section 7; persistent contrastive divergence, Tieleman 2008; samplers in training: Rhodes &
# Gutmann 2022, section 3.2).
#
# Leaves the directories rbm and early and two pictures, halves.png and early.png, in the current
# directory. (--overwrite is there so that you can run the lesson again: without it, 'saltus train'
# refuses a directory that holds an earlier training.)
set -eu

run() {
    echo "\$ $*"
    "$@"
    echo
}

# ---- Train

run saltus train rbm:hidden=64 --data digits --objective pcd --sampler ncg --steps 10 --iterations 1000 \
    --learning-rate 0.003 --report 250 --averaging 0.99 --out rbm --overwrite

# Line by line: log p(data) - log p(samples) is the mean of f at digits less that at samples. Near 0
# would mean that the model cannot tell its own samples from data; it grows when samples lag behind
# the model. acceptance is the sampler's, whose step size follows it. MMD is a distance between
# samples and digits held out, beside what it is between digits and digits.
#
# Look at rbm/persistent.png: the chains of training, which were never shown a digit. They can be fine
# while the model is not, so training ends with samples from scratch, rbm/samples.png, and a verdict on
# them. Here it cannot tell, because the fresh chains still disagree, or says that the samples are not
# like the data: rounding, which is another on another processor, decides. 'saltus evaluate rbm --data
# digits --fresh 10000' draws longer chains, which takes a minute or more. How the training's chains
# went on:

run cut -d , -f 1,5-7,12 rbm/log.csv

# ---- How good is it? The log-likelihood of digits that were held out

run saltus evaluate rbm --data digits --temperatures 2000 --fresh 0

# f is not a probability until log Z is known, which is a sum over 2^256 pictures. Annealed
# importance sampling estimates it twice: forward, from below on average, and in reverse, from above.
# The truth lies between the two, if the model is right about where the reverse chains start. More
# temperatures bring them together. "independent" is a model whose pixels know nothing of each other.

# ---- What does it know? The lower half of a digit from the upper one

run saltus inpaint rbm --data digits --mask bottom --steps 300 --sampler ncg --out halves.png

# A row of halves.png: a digit, what was shown of it, eight guesses, their mean. Half a 7 can also
# be a 3, and sometimes it is. Now a model that has learned for a tenth of the time.

run saltus train rbm:hidden=64 --data digits --objective pcd --sampler ncg --steps 10 --iterations 100 \
    --learning-rate 0.003 --report 100 --fresh 0 --out early --overwrite
run saltus inpaint early --data digits --mask bottom --steps 300 --sampler ncg --out early.png

# SPDX-License-Identifier: MIT
