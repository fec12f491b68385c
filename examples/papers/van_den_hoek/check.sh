#!/bin/sh
# check.sh NAME PROGRAM: the brief form of a figure shows what README.md says of it.
. "$(dirname "$0")/../claims.sh"
draw

case $name in
cells) # Columns: (v - V)^2, its root over V, the largest cell, borders.
    from="Cellular Potts"
    holds 'v["-0.02", 1] > 150 && v["0.02", 1] < v[0, 1] / 2 && v[1, 1] < 1 && v[1, 3] < 8' ;;
correct) # Columns of distances: Gibbs, its deviation, GWG, its deviation.
    from="Figures 2"
    holds 'v[100, 3] < v[100, 1] - 0.05 && v[10000, 1] < v[100, 1] / 5 && v[10000, 3] < 0.03'
    # Columns: the thesis's statistic, verdict, the whole one, verdict, that of chains, df, P.
    from="Chi-square"
    # GWG stays in a 17th of its steps, which multiplies its statistic by 18/16: the thesis's is 7783.
    holds 'v["Gibbs", 1] > 21000 && v["Gibbs", 1] < 22100'
    holds 'v["GWG", 1] > 8500 && v["GWG", 1] < 9000 && v["GWG", 4] == "rejected"'
    holds 'v["DULA", 2] == "accepted"'
    holds 'v["Gibbs", 6] > 300 && v["Gibbs", 7] > 1e-3 && v["GWG", 7] > 1e-3'
    holds 'v["DULA", 7] < 1e-6' ;;
ising) # Columns: ESS, us, us/ESS of Gibbs, of GWG, and of Gibbs in turn.
    from="Ising" words=2
    for n in 2 5 8; do
        holds "v[\"$n 0.1\", 4] > 1.5 * v[\"$n 0.1\", 1] && v[\"$n 0.1\", 7] > 1.3 * v[\"$n 0.1\", 1]"
    done
    holds 'v["8 0.9", 4] > 3 * v["8 0.9", 1] && v["2 0.1", 1] > 10 * v["8 0.1", 1]' ;;
potts)
    from="Potts" words=2
    for q in 4 7 10; do
        holds "v[\"$q 4\", 4] > 0.9 * v[\"$q 4\", 1] && v[\"$q 4\", 7] > 1.2 * v[\"$q 4\", 1]"
        holds "v[\"$q 2\", 1] > 3 * v[\"$q 4\", 1]"
    done ;;
random_models) # Columns: ESS of Gibbs, its deviation, that of GWG, its deviation.
    for from in "Figures 8, 14" "Figures 9, 14" "Figure 8: m = 5" "Figures 8, 15"; do
        holds 'v[3, 3] > 1.5 * v[3, 1] && v[10, 3] > v[10, 1] && v[10, 4] > v[10, 2]'
        holds 'v[10, 1] < 100 && v[10, 1] < v[3, 1] / 2'
    done ;;
samplers) # Columns: acceptance, ESS, IAT, R-hat, TV, ideal, us.
    for from in "Ising 4 x 4, J = 0.1" "Ising 4 x 4, J = 0.5"; do
        holds 'v["Gibbs", 1] == 1 && v["PAS", 2] > 3 * v["GWG", 2] && v["PAS", 3] < v["GWG", 3] / 3'
        holds 'v["GWG", 5] < v["Gibbs", 5] && v["PAS", 5] < v["Gibbs", 5]'
    done
    from="Ising 4 x 4, J = 0.1" # at .5 chains disagree, and effective samples do not count
    holds 'v["GWG", 2] > 1.5 * v["Gibbs", 2]' ;;
esac

# SPDX-License-Identifier: MIT
