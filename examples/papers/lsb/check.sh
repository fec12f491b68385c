#!/bin/sh
# check.sh NAME PROGRAM: the brief form of a figure shows what the paper says of it.
. "$(dirname "$0")/../claims.sh"
draw

# Columns: arrival, that by the sum, the program's ESS, its deviation, the paper's, ESS(f), ESS(d),
# acceptance, mean f.
case $name in
ising) # Unbounded functions arrive first; max(1,t) then is rejected most and mixes worst. As run, a
    # step of LSB2x2 is two of LSB2, and max(1,t) has the least ESS in all cases.
    echo "$output" | awk '
        /^[1-4]:/ { at = $NF " " $1 + 0 }
        NF == 10 && $4 != "ESS" { arrival[at, $1] = $2; mixed[at, $1] = $4; ess[at, $1] = $7; taken[at, $1] = $9 }
        END {
            ok = arrival["(printed) 2", "sqrt(t)"] < arrival["(printed) 2", "min(1,t)"] &&
                 arrival["(printed) 4", "sqrt(t)"] < arrival["(printed) 4", "min(1,t)"] &&
                 arrival["(library) 2", "LSB1"] < arrival["(library) 2", "min(1,t)"] &&
                 taken["(printed) 4", "t/(1+t)"] > taken["(printed) 4", "sqrt(t)"] &&
                 taken["(printed) 4", "sqrt(t)"] > taken["(printed) 4", "max(1,t)"] + 0.2 &&
                 ess["(printed) 4", "max(1,t)"] < ess["(printed) 4", "sqrt(t)"] / 1.5
            for (k = 1; k <= 4; k++) {
                at = "(run) " k
                ratio = arrival[at, "LSB2x2"] / arrival[at, "LSB2"]
                ok = ok && ratio > 0.35 && ratio < 0.65 &&
                     mixed[at, "max(1,t)"] < mixed[at, "min(1,t)"] / 1.15 &&
                     mixed[at, "max(1,t)"] < mixed[at, "LSB2"] / 1.1
            }
            exit !ok
        }' ;;
bayes) # The same by acceptance, and all seven are there, in the two forms without evidence.
    echo "$output" | awk '
        NF == 10 && $4 != "ESS" { taken[$1] = $9; n++ }
        END { exit !(n == 14 && taken["max(1,t)"] < taken["sqrt(t)"] - 0.05 &&
                     taken["max(1,t)"] < taken["LSB2"] - 0.05) }' ;;
tuning) # What is searched for is the best found, and the larger family the better one; eq. 6 as
    # learned comes near to its optimum.
    echo "$output" | awk '
        /^ising/ { model++ }
        NF >= 5 && $(NF - 3) + 0 > 0 {
            name = $0
            sub(/ +[0-9.]+ +[0-9.]+ +-?[0-9.]+ +[0-9.]+$/, "", name)
            gap[model, name] = $(NF - 3); jump[model, name] = $(NF - 2); eq6[model, name] = $(NF - 1)
            names[name] = 1
        }
        END {
            ok = model == 2
            for (m = 1; m <= model; m++) {
                for (n in names) {
                    ok = ok && gap[m, n] <= gap[m, "largest gap, any g"] + 1e-4 &&
                         jump[m, n] <= jump[m, "largest jump, any g"] + 1e-4 &&
                         eq6[m, n] >= eq6[m, "least eq. 6, any g"] - 1e-4
                }
                ok = ok && eq6[m, "LSB1, as learned"] < eq6[m, "least eq. 6, any g"] + 0.01
            }
            exit !ok
        }' ;;
capacity) # A fit, and not a perfect one; lines that are alike do not fit.
    echo "$output" | awk '
        /RMSE/ { rmse[++n] = $(NF - 3) + 0 }
        END { exit !(n == 4 && rmse[1] < 0.15 && rmse[2] < 0.15 && rmse[1] > 0.001 &&
                     rmse[4] > 1.5 * rmse[3]) }' ;;
esac

# SPDX-License-Identifier: MIT
