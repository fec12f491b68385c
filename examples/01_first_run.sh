#!/bin/sh
# Lesson 1. Sample an Ising model, and read what comes out.
#
# 100 spins s_i = -1 or +1 on a square lattice whose borders are joined. Neighbours like to agree:
# f(s) = 2 theta (sum of s_i s_j over neighbours), and p(s) is proportional to exp f(s). theta is
# the inverse temperature; at 0.2203 an infinite lattice becomes a magnet.
# (Grathwohl et al. 2021, eq. 10; samplers: Rhodes & Gutmann 2022, section 3.1.)
set -eu

run() {
    echo "\$ $*"
    "$@"
    echo
}

# ---- A hot lattice: chains agree

run saltus sample ising:side=10,theta=0.15 --sampler ncg --chains 8 --draws 1000 --thin 10

# Line by line:
#
# model            what was sampled, and how many variables it has
# sampler          ncg moves all spins at once by the gradient of f; how boldly, its step size says.
#                  Warm-up found it, so that 0.574 of the proposals are accepted.
# chains           8 chains, from 8 random states, each with its own random numbers. The first 1000
#                  steps are thrown away (warm-up), then every 10th state is kept (thin).
#                  The same seed gives the same draws again, bit by bit, on your machine.
# acceptance       how many proposals were accepted. Near 0: steps are too large. Near 1: too small.
# mean jump        how far a step goes: a flipped spin counts 2, so here 6 spins flip in a step,
#                  rejected steps included.
# ESS a chain      effective sample size. Successive draws resemble each other; 1000 draws of a
#                  chain are worth as much as this many independent ones. An average over them has
#                  the standard error (standard deviation) / sqrt(ESS). Of this number you want at
#                  least a hundred or so in all chains together.
# ESS per second   the number to compare samplers by ('saltus compare')
# largest R-hat    do the chains agree? It compares the spread of all draws with the spread within
#                  chains, for f and for every state of every variable, and shows the worst. 1:
#                  alike. Above 1.01 wait longer; above 1.1 believe nothing.
# mean log prob    the mean of f: what a physicist calls minus the mean energy
# steps per second of all chains together, on so many threads. Results do not depend on threads.

# ---- A cold lattice: chains disagree

run saltus sample ising:side=10,theta=0.3 --sampler ncg --chains 8 --draws 1000 --thin 10

# Look at the ESS: it is high, though the run is worthless. Each chain has magnetised, most spins up
# or most spins down, and sees only its own half of the distribution, over which it moves quickly.
# No figure of a single chain can know that. R-hat compares chains, and it shouts.
#
# When not to trust a run, then: R-hat above 1.1; an ESS of a handful; a single chain, which always
# agrees with itself; chains that all started at the same state (--init), for the same reason.
# And R-hat near 1 proves nothing if no chain has ever found the other half: start many of them.
#
# (Averages that are the same in both halves, such as the mean of f, are right even so.)

# ---- What to do: tempering

# More steps do not help: a magnet of 100 spins turns over once in a very long while. Replicas at
# higher temperatures do turn over, and exchange their states with colder ones. Where neighbours
# exchange too rarely the summary says how many replicas it would take: try 4.
run saltus sample ising:side=10,theta=0.3 --sampler gibbs --chains 8 --draws 4000 --tempering 10

# temperatures     that warm-up found; how often neighbours exchange their states, at least; and
#                  how often a state went from the coldest to the hottest and back.
# The ESS is much lower than before, and true: it counts how often chains changed sides.

# SPDX-License-Identifier: MIT
