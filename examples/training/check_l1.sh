#!/bin/sh
# check_l1.sh PROGRAM: what it prints has the form of the table, and all methods have learned most
# of the couplings.
set -eu
output=$("$1" --brief)
echo "$output"
echo "$output" | awk '
    $1 == "K" && $2 == 5 && $3 == 25 && $4 == 100 { head++ }
    ($1 == "gwg" || $1 == "Gibbs") && $4 < -4.3 && $4 > -5 { learned++ }
    $1 == "pseudo-likelihood" && $2 < -4 && $2 > -5 { learned++ }
    END { exit !(head == 1 && learned == 3) }'

# SPDX-License-Identifier: MIT
