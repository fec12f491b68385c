#!/bin/sh
# check_contacts.sh PROGRAM: from an alignment of a known model each method finds the coupled pairs,
# i and i + 8 of 16 sites; what is no alignment is refused.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$1" --make "$directory/known.aln"
"$1" "$directory/known.aln" "$directory" --updates 50
for method in mean-field pcd-gwg pcd-gibbs pseudo-likelihood; do
    awk -F, 'NR > 1 && NR < 10 && $2 == $1 + 8 { found++ } END { exit found != 8 }' \
        "$directory/$method.csv" || { echo "$method misses pairs"; exit 1; }
done
printf 'ACDEFGHIKLMN\nACD\n' > "$directory/bad.aln"
! "$1" "$directory/bad.aln" "$directory"

# SPDX-License-Identifier: MIT
