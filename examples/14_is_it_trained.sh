#!/bin/sh
# Lesson 14. Is it trained?
#
# The chains of a training can look like data while the model does not. This lesson trains one RBM
# twice on the digits of lesson 10: by persistent contrastive divergence with a sampler that moves
# one pixel a step, and by parallel trajectory tempering (Bereux, Decelle, Furtlehner & Seoane 2026),
# which keeps the chains at equilibrium. Each time it asks what samples are like that are drawn from
# scratch.
#
# Leaves the directories pcd and ptt in the current directory, and replaces them if it is run again
# (--overwrite).
set -eu

# Run a command; show its last lines, from 'against held-out rows' on.
run_to_verdict() {
    echo "\$ $* | sed -n '/^against/,\$p'"
    "$@" | sed -n '/^against/,$p'
    echo
}

# ---- Chains that do not mix

run_to_verdict saltus train rbm:hidden=64 --data digits --objective pcd --sampler gwg --iterations 2000 --out pcd \
    --overwrite

# Columns: samples drawn from scratch by tempering; the training's own chains; as many training
# digits, which is what a perfect model would reach. The chains of the training are all right: their
# MMD to digits that were held out is small, and pcd/persistent.png shows digits of all ten kinds.
# But the model is not what its chains show. In fresh samples, pcd/samples.png, some kinds of digits
# are rare or missing; which ones, rounding decides, so that a processor of another type may give
# other words. A chain that is a 1 stayed a 1 for the whole training, whatever the model thought of
# ones.

# ---- Chains at equilibrium

run_to_verdict saltus train rbm:hidden=64 --data digits --batch 200 --learning-rate 0.1 \
    --iterations 1500 --out ptt --overwrite

# No --objective: an rbm then takes what suits it, the objective ptt and the sampler block-gibbs. Now
# log Z is known all the time, and with it the log-likelihood of held-out digits:

echo "\$ cut -d , -f 1,15,17-19 ptt/log.csv"
cut -d , -f 1,15,17-19 ptt/log.csv
echo

# Levels are frozen copies of the model on its way from independent pixels. Chains of the model get
# from one kind of digit to another by way of states of the last level, whose states came by way of
# the level before, and so on down to independent pixels, which are drawn exactly. The levels stay
# in ptt/ladder, and 'saltus sample' uses them. The same model along the ladder and without it:

for ladder in yes no; do
    echo "\$ saltus sample ptt --ladder $ladder --chains 20 --draws 400 | grep '^levels\|^largest'"
    saltus sample ptt --ladder $ladder --chains 20 --draws 400 | grep '^levels\|^largest'
    echo
done

# Without the ladder each chain stays with its digit, so chains disagree: R-hat is far above 1.

# SPDX-License-Identifier: MIT
