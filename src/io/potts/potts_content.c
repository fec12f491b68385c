/* SPDX-License-Identifier: MIT */
#include "io/potts/potts_content.h"

#include <stdio.h>
#include <string.h>

#include "core/text.h"
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

const char *sali_potts_given(const sali_scan *scan)
{
    return scan->reading && scan->reading->alphabet ? scan->reading->alphabet : "";
}

/* Whether an alphabet has just these letters, in any order: order[k] is the code of letter k. */
static bool order_by(const char *alphabet, const char *letters, int64_t *order)
{
    bool all = strlen(alphabet) == strlen(letters);
    for (int64_t k = 0; all && letters[k]; k++) {
        const char *at = strchr(alphabet, letters[k]);
        all = at;
        order[k] = at ? at - alphabet : 0;
    }
    return all;
}

/* The alphabet of letters that are one: given, named, or the letters, the gap first. */
static void find_alphabet(const char *given, const char *letters, char *alphabet)
{
    int64_t order[SAL_ALPHABET_ROOM];
    for (int k = 0; !given[0] && sali_alphabet_at(k / 2); k++) {
        const char *named = sali_alphabet_at(k / 2) + k % 2; /* with the gap, and without it */
        given = order_by(named, letters, order) ? named : given;
    }
    const char *gap = strchr(letters, '-');
    if (given[0]) {
        strcpy(alphabet, given);
    } else if (gap) { /* which comes first */
        const size_t before = (size_t)(gap - letters);
        alphabet[0] = '-';
        memcpy(alphabet + 1, letters, before);
        strcpy(alphabet + 1 + before, gap + 1);
    } else {
        strcpy(alphabet, letters);
    }
}

void sali_potts_order(sali_scan *scan, const char *letters, int64_t n, int64_t *order,
                      char alphabet[SAL_ALPHABET_ROOM])
{
    char all[SAL_ALPHABET_ROOM] = "", shown[SALI_SHOW_SIZE];
    const char *given = sali_potts_given(scan);
    bool seen[256] = { false }, good = n < SAL_ALPHABET_ROOM;
    for (int64_t k = 0; good && k < n; k++) {
        all[k] = letters[k] == '.' ? '-' : letters[k];
        good = all[k] > ' ' && all[k] <= '~' && !seen[(unsigned char)all[k]];
        seen[(unsigned char)all[k]] = true;
    }
    if (good) {
        find_alphabet(given, all, alphabet);
        good = sali_letters_check(alphabet, NULL) == SAL_OK && order_by(alphabet, all, order);
    }
    if (!good) {
        sali_scan_refuse(scan, "the letters '%s'; expected %s%s, in any order",
                         sali_show(letters, n, shown), given[0] ? "those of " : "each letter once",
                         given);
    }
}
