#!/bin/sh
# check.sh NAME PROGRAM: the brief form of a figure shows what the paper says of it.
. "$(dirname "$0")/../claims.sh"
draw

case $name in
convergence) # Columns: the 11th is the last error of marginals, the 16th of covariances or pairs.
    for from in ordinal-poly2 ordinal-poly4; do
        holds 'v["NCG", 16] < v["GWG", 16] && v["AVG", 16] < v["GWG", 16]'
        holds 'v["PAVG", 11] < v["GWG", 11] && v["Gibbs", 11] < v["GWG", 11]'
    done
    from=ordinal-poly2
    holds 'v["NCG", 16] < v["GWG-ordinal", 16] && v["NCG", 16] < v["Gibbs", 16]'
    for from in poly2-as-run poly4-as-run; do # as run, and what is searched for moves on
        holds 'v["NCG", 16] < v["GWG", 16] && v["PAVG", 16] < v["GWG", 16]'
        holds 'v["GWG-search", 11] < v["GWG", 11] && v["Gibbs", 11] < v["GWG", 11]'
    done
    for from in regression: regression-as-run; do
        holds 'v["NCG", 16] < v["Gibbs", 16] && v["GWG", 16] < v["Gibbs", 16]'
    done ;;
step_sizes) # A tenth of the step size does not follow the couplings as they grow.
    from="relative error"
    holds 'v[0.1, 1] > 5 && v[1, 1] == 1'
    echo "$output" | awk '$1 == "NCG" && $3 > 0.112 && $3 < 0.119 { ok = 1 } END { exit !ok }' ;;
cubic) # Columns: AVG, its standard error, PAVG.
    from="Figure 11"
    # One error of so short a run is uncertain by half; the sum over alpha is not.
    holds '2 * (v[0.1, 3] + v[0.2, 3] + v[0.3, 3]) < v[0.1, 1] + v[0.2, 1] + v[0.3, 1]'
    from="Figure 12"
    holds 'v[1, 2] + v[2, 2] > v[1, 1] + v[2, 1] && v[512, 2] < v[512, 1]'
    from="As run: figure 11" # what is wrong with the truth is small
    holds 'v[0.2, 3] < v[0.2, 1] && v[-0.2, 3] < v[-0.2, 1] && v[0.2, 7] <= v[0.2, 3]' ;;
esac

# SPDX-License-Identifier: MIT
