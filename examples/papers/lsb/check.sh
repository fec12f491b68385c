#!/bin/sh
# check.sh NAME PROGRAM: the brief form of a figure shows what the paper says of it.
. "$(dirname "$0")/../claims.sh"
draw

# Columns: arrival, ESS(f), its deviation, the paper's, ESS(d), acceptance, mean f.
case $name in
ising) # Unbounded functions arrive first; max(1,t) then is rejected most and mixes worst.
    echo "$output" | awk '
        /^[1-4]:/ { case_ = $1 + 0 }
        NF == 8 && $3 != "sd" { arrival[case_, $1] = $2; ess[case_, $1] = $3; taken[case_, $1] = $7 }
        END {
            exit !(arrival[2, "sqrt(t)"] < arrival[2, "min(1,t)"] &&
                   arrival[4, "sqrt(t)"] < arrival[4, "min(1,t)"] &&
                   arrival[2, "LSB1"] < arrival[2, "min(1,t)"] &&
                   taken[4, "t/(1+t)"] > taken[4, "sqrt(t)"] &&
                   taken[4, "sqrt(t)"] > taken[4, "max(1,t)"] + 0.2 &&
                   ess[4, "max(1,t)"] < ess[4, "sqrt(t)"] / 2)
        }' ;;
bayes) # The same by acceptance, and all six are there.
    echo "$output" | awk '
        NF == 8 && $3 != "sd" { taken[$1] = $7; n++ }
        END { exit !(n == 6 && taken["max(1,t)"] < taken["sqrt(t)"] - 0.05 &&
                     taken["max(1,t)"] < taken["LSB2"] - 0.05) }' ;;
capacity) # A fit, and not a perfect one.
    echo "$output" | awk '
        /RMSE/ { rmse[++n] = $(NF - 3) + 0 }
        END { exit !(n == 2 && rmse[1] < 0.15 && rmse[2] < 0.15 && rmse[1] > 0.001) }' ;;
esac

# SPDX-License-Identifier: MIT
