#!/bin/sh
# check.sh NAME PROGRAM [SUMMARY RETRIEVAL]: the brief form of a figure or table shows what is said of it.
. "$(dirname "$0")/../claims.sh"

if [ "$name" = tables ]; then
    output=$("$program" "$3" "$4" --quick)
    echo "$output"
else
    draw
fi

case $name in
unadjusted) # Columns: law, run, noise, bound, printed bound, printed bound of F - 6.
    from="Figure 1"
    holds 'v[0.1, 1] < v[0.5, 1] && v[0.5, 1] < v[2, 1] && v[0.1, 1] < 0.01'
    for alpha in 0.1 0.2 0.5 1 2; do
        holds "v[$alpha, 2] < v[$alpha, 1] + 3 * v[$alpha, 3]"
        holds "v[$alpha, 1] < v[$alpha, 4] && v[$alpha, 1] > v[$alpha, 6]"
    done
    holds 'v[2, 2] > v[2, 1] / 2' ;;
convergence) # Columns: the 15th is the last error.
    from=flat
    holds 'v["MANA", 15] < v["LB", 15] && v["MANA", 15] < v["Gibbs", 15]'
    holds 'v["MANA", 15] < v["UNA", 15] && v["MANA", 15] < v["D-SVGD", 15]'
    from=potts
    holds 'v["MANA", 15] == v["DMALA", 15] && v["LB", 15] == v["GWG", 15]'
    holds 'v["UNA", 15] == v["DULA", 15] && v["MANA", 6] > v["LB", 6]' ;;
step_sizes) # Columns: acceptance, changed a step, if accepted, acceptance of LB; then ESS.
    output=$(echo "$output" | sed -n '/customers=4/,$p')
    from=acceptance
    holds 'v[0.1, 1] > v[1, 1] && v[1, 1] > v[10, 1] && v[1, 3] > 4 && v[1, 3] < 6'
    from=ESS
    holds 'v[1, 1] > 2 * v[1, 2] && v[1, 2] > v[1, 3]' ;;
tables)
    from="Table 2, means"
    holds 'v["lb", 3] > 10 && v["gibbs", 3] > 10 && v["mana", 3] > 10 && v["lb", 4] > 0'
    from="Table 3, means"
    holds 'v["lb", 4] > 0.3 && v["gibbs", 4] > 0.3' ;;
esac

# SPDX-License-Identifier: MIT
