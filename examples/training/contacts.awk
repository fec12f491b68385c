# SPDX-License-Identifier: MIT
# Contacts of a structure in a PDB file, for potts_contacts: pairs of sites whose residues have atoms,
# hydrogen aside, closer than `cutoff` (5) Angstrom. The first site is residue `first` of chain
# `chain` (A), and there are `sites`; of other positions of an atom the first one counts.
#
#     awk -v first=4 -v sites=53 -f contacts.awk 1bpi.pdb
BEGIN { cutoff = cutoff ? cutoff : 5; chain = chain ? chain : "A" }
/^ENDMDL/ { exit }
/^ATOM/ && substr($0, 22, 1) == chain && substr($0, 77, 2) != " H" && substr($0, 17, 1) ~ /[ A]/ {
    site = substr($0, 23, 4) - first + 1
    if (site >= 1 && site <= sites) {
        n++
        of[n] = site
        x[n] = substr($0, 31, 8)
        y[n] = substr($0, 39, 8)
        z[n] = substr($0, 47, 8)
    }
}
END {
    for (a = 1; a <= n; a++) {
        for (b = 1; b < a; b++) {
            d = (x[a] - x[b]) ^ 2 + (y[a] - y[b]) ^ 2 + (z[a] - z[b]) ^ 2
            if (of[b] < of[a] && d < cutoff ^ 2 && !((of[b], of[a]) in seen)) {
                seen[of[b], of[a]] = 1
                print of[b], of[a]
            }
        }
    }
}
