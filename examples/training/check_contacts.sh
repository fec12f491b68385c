#!/bin/sh
# check_contacts.sh PROGRAM: from draws of a known model each method finds the coupled pairs, i and
# i + 8 of 16 sites, also as the authors' program ran; what is no alignment or list of contacts is
# refused; contacts.awk finds the residues that are near.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
for i in 1 2 3 4 5 6 7 8; do echo "$i $((i + 8))"; done > "$directory/known"
"$1" --make "$directory/known.aln"
for form in "" "--as-run --group 0.02 --steps 10"; do
    # shellcheck disable=SC2086
    "$1" "$directory/known.aln" "$directory" --updates 50 --contacts "$directory/known" $form \
        > "$directory/out"
    for method in mean-field pcd-gwg pcd-gibbs pseudo-likelihood; do
        awk -F, 'NR > 1 && NR < 10 && $2 == $1 + 8 { found++ } END { exit found != 8 }' \
            "$directory/$method.csv" || { echo "$method $form misses pairs"; exit 1; }
        awk -v m=$method '/^contacts/ { on = 1 } on && $1 == m && $3 == "1.00" { right++ }
            END { exit right != 2 }' "$directory/out" || { cat "$directory/out"; exit 1; }
    done
done
wc -l < "$directory/pcd-gwg.csv" | grep -qx ' *121' # as run: all pairs
"$1" --make "$directory/long.aln" 40
head -1 "$directory/long.aln" | grep -qE '^[A-Z-]{40}$'
printf 'ACDEFGHIKLMN\nACD\n' > "$directory/bad.aln"
! "$1" "$directory/bad.aln" "$directory"
! "$1" --make "$directory/odd.aln" 7
echo '1 17' > "$directory/far"
! "$1" "$directory/known.aln" "$directory" --contacts "$directory/far"
! "$1" "$directory/known.aln" --nothing
awk 'BEGIN { # residues 4 to 7 along a line; the last but one has a hydrogen in between
    for (k = 0; k < 4; k++) {
        line = "ATOM  %5d  CA  GLY A%4d    %8.3f%8.3f%8.3f  1.00  0.00           %s\n"
        printf line, k, k + 4, 4 * k + (k == 3), 0, 0, "C"
    }
    printf line, 4, 6, 9.5, 0, 0, "H"
}' > "$directory/line.pdb"
found=$(awk -v first=4 -v sites=4 -f "$(dirname "$0")/contacts.awk" "$directory/line.pdb" | sort |
    tr '\n' ';')
[ "$found" = "1 2;2 3;" ] || { echo "contacts: $found"; exit 1; }
