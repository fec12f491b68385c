#!/bin/sh
# check_table1.sh PROGRAM: what it prints has the form of the table, ncg has learned the couplings
# with K = 5 and not with K = 1, and avg with K = 5 has run away without stopping the training.
set -eu
output=$("$1" --brief)
echo "$output"
echo "$output" | awk '
    $1 == "K" && $2 == 1 && $3 == 5 { head++ }
    $1 == "NCG" && $2 > 0.3 && $3 > 0.112 && $3 < 0.118 { learned++ }
    $1 == "AVG" && $3 > 4 && $3 < 6 { lost++ }
    $1 == "paper" && NF == 3 || $1 == "authors\047" && NF == 4 { known++ }
    $1 == 2200 && $2 > 1000 && $3 < 0.05 { runaway++ }
    END { exit !(head == 1 && learned == 1 && lost == 1 && known == 4 && runaway == 1) }'

# SPDX-License-Identifier: MIT
