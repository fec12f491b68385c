#!/bin/sh
# check.sh NAME PROGRAM [SALTUS]: the brief form of a figure shows what the paper says of it.
. "$(dirname "$0")/../claims.sh"

if [ "$name" = annealed ]; then
    "$3" train mlp:visible=256,hidden=64,base=1,units=0 --data digits --out "$directory/model" \
        --iterations 200 --steps 10 --averaging 0.99 --threads 1 >"$directory/log" 2>&1 ||
        { cat "$directory/log"; exit 1; }
    draw "$directory/model"
else
    draw
fi

case $name in
ising) # Columns: Gibbs-1, Gibbs-2, HB-10-1, GWG. Where spins are coupled GWG has the most.
    holds 'v[0.25, 4] > v[0.25, 1] && v[0.25, 4] > v[0.25, 2] && v[0.25, 4] > v[0.25, 3]' ;;
relaxations) # Columns: Target, GWG, R-MALA, R-HMC, D-SVGD, each with its deviation.
    from='RBMs of rising dimension, U-statistic'
    holds 'v[50, 3] < v[50, 5] - 0.8 && v[50, 3] < v[50, 7] - 0.8'
    # The diagonal keeps the V-statistic of 100 right states near -2.4; means of three models vary by
    # .07 for GWG and for block Gibbs itself, and GWG's is as low as that.
    from='RBMs of rising dimension, V-statistic'
    holds 'v[50, 3] < v[50, 5] - 0.3 && v[50, 3] < v[50, 7] - 0.3 && v[50, 3] < v[50, 1] + 0.3' ;;
rbm) # Columns: Block-Gibbs, Gibbs-1, Gibbs-2, HB-10-1, GWG, R-MALA, R-HMC, D-SVGD.
    from='Figure 3, left: MMD to block Gibbs, U-statistic'
    holds 'v[1000, 5] < v[1000, 6] - 0.8 && v[1000, 5] < v[1000, 7] - 0.8 && v[1000, 5] < v[1000, 8]'
    from=
    holds 'v["Block-Gibbs", 1] > v["GWG", 1] && v["GWG", 1] > v["Gibbs-1", 1]' ;;
fhmm) # The log-joint is the first panel; of each row the second one is kept: reconstruction error.
    output=$(echo "$output" | sed '/Reconstruction/,$d')
    holds 'v[1000, 4] > v[1000, 1] && v[1000, 4] > v[1000, 2] && v[1000, 4] > v[1000, 3]'
    holds 'v[8000, 4] > v[8000, 1] && v[8000, 4] > v[8000, 2] && v[8000, 4] > v[8000, 3]' ;;
rbm_run) # Only D-SVGD misses a model that has learned little.
    from='Figure 3, left: MMD to block Gibbs, U-statistic'
    holds 'v[5120, 5] < v[5120, 8] - 1 && v[5120, 5] < -2.5' ;;
annealed)
    holds 'v["annealed", 1] < -0.8 && rows["at"] == 1' ;;
esac

# SPDX-License-Identifier: MIT
