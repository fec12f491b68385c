/* Which pairs of sites a Potts model couples most: predicted contacts of a protein. */
#ifndef SALI_CONTACTS_H
#define SALI_CONTACTS_H

#include <stdbool.h>
#include <stdint.h>

#include <saltus/status.h>

typedef struct sali_contact {
    int64_t i, j; /* sites, i < j, from 0 */
    double norm;  /* Frobenius norm of the coupling */
    double score; /* after the average-product correction */
} sali_contact;

/* All pairs, by falling score (then by i and j), in contacts [sites (sites - 1) / 2].
 * Math:    with J_ij in the zero-sum gauge over all states, N_ij = |J_ij(a, b), a, b >= first|_F;
 *          score_ij = N_ij - N_i. N_.j / N_.., where a dot is the mean over all other sites, and
 *          over all pairs.
 * Params:  J [N x N], N = sites * states: the coupling of a pair is J_ij + J_ji', halved (its gauge
 *          does not matter); diagonal blocks are ignored. first: 1 leaves out the gaps of
 *          the alphabets of sequences, 0 nothing. sites >= 2.
 * Returns: MEMORY.
 * Cost:    O(N^2 + sites^2 log sites).
 * Source:  Ekeberg et al. 2013, Improved contact prediction in proteins (Phys. Rev. E 87);
 *          Dunn et al. 2008 (the correction). */
sal_status sali_contacts(int64_t sites, int64_t states, int64_t first, const double *J,
                         sali_contact *contacts, sal_error *err);

#endif
