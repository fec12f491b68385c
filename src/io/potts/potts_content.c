/* SPDX-License-Identifier: MIT */
#include "io/potts/potts_content.h"

#include <string.h>

#include "models/alphabet.h"

bool sali_potts_allocate(sali_scan *scan, sali_potts *potts, int64_t sites, int64_t states)
{
    if (sites < 1 || states < 2 || states > SALI_POTTS_MOST || sites > SALI_POTTS_MOST / states) {
        sali_scan_refuse(scan,
                         "%lld sites of %lld states; expected a site and two states at least, and "
                         "%d states in all at most",
                         (long long)sites, (long long)states, SALI_POTTS_MOST);
        return false;
    }
    const int64_t N = sites * states;
    potts->sites = sites;
    potts->states = states;
    potts->h = SALI_SCAN_ARRAY(scan, double, N);
    potts->J = SALI_SCAN_ARRAY(scan, double, N *N);
    return scan->status == SAL_OK;
}

void sali_potts_mirror(sali_potts *potts)
{
    const int64_t q = potts->states, N = potts->sites * q;
    for (int64_t k = 0; k < N; k++) {
        for (int64_t l = (k / q + 1) * q; l < N; l++) {
            potts->J[l * N + k] = potts->J[k * N + l];
        }
    }
}

sal_alphabet sali_potts_order(sali_scan *scan, const char *letters, int64_t n, int64_t *order)
{
    for (int k = 2 * SAL_ALPHABET_PROTEIN; k <= 2 * SAL_ALPHABET_DNA + 1; k++) {
        /* The gap comes first: every other alphabet is one without it. */
        const char *alphabet = sali_alphabet_letters((sal_alphabet)(k / 2)) + k % 2;
        bool seen[SALI_ALPHABET_MOST] = { false }, all = (int64_t)strlen(alphabet) == n;
        for (int64_t i = 0; all && i < n; i++) {
            const char letter = letters[i] == '.' ? '-' : letters[i];
            const char *at = letter ? strchr(alphabet, letter) : NULL;
            all = at && !seen[at - alphabet];
            if (all) {
                order[i] = at - alphabet;
                seen[order[i]] = true;
            }
        }
        if (all) {
            return (sal_alphabet)(k / 2);
        }
    }
    char shown[SALI_SHOW_SIZE];
    sali_scan_refuse(scan,
                     "the letters '%s'; expected those of proteins (-ACDEFGHIKLMNPQRSTVWY), RNA "
                     "(-ACGU) or DNA (-ACGT), with or without the gap, in any order",
                     sali_show(letters, n, shown));
    return SAL_ALPHABET_AUTO;
}
