#!/bin/sh
# check.sh NAME PROGRAM: the brief form shows what README.md says of it.
. "$(dirname "$0")/../claims.sh"
output=$("$program" --quick categorical)
echo "$output"

# Columns: effective samples, theirs, by second, acceptance, jump. Independent labels: a long enough
# jump process draws them anew, paths do not, and single moves hardly move. Chains of paths and of
# single moves disagree in so few steps, and their effective samples do not count.
for from in "categorical, 4" "categorical, 8"; do
    holds 'v["dlmc", 4] > 0.99 && v["dlmc", 1] > 10 * v["pafs", 1]'
    holds 'v["dlmcf", 1] > v["dlmcf", 2] && v["block-gibbs", 1] > 10 * v["pafs", 1]'
    holds 'v["pafs", 5] > 20 * v["gwg", 5] && v["dlmc", 5] > 20 * v["pafs", 5]'
done

# SPDX-License-Identifier: MIT
