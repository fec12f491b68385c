/* SPDX-License-Identifier: MIT */
/* Statistics of an alignment: weights of its sequences, frequencies of letters and of pairs, and
 * the couplings that the mean-field approximation gives them.
 *
 * Source: Morcos et al. 2011, Direct-coupling analysis of residue coevolution (PNAS 108). */
#ifndef SALI_ALIGNMENT_H
#define SALI_ALIGNMENT_H

#include "models/content.h"

/* Most sequences of which all pairs are compared. */
#define SALI_ALIGNMENT_PAIRED 200000

/* weights [sequences]: 1 / (number of sequences that agree with this one at a share `identity` of
 * the sites or more, itself included). Gaps agree with gaps. *effective is the sum of
 * the weights, M_eff.
 * Params:  identity in 0..1.
 * Returns: UNSUPPORTED above SALI_ALIGNMENT_PAIRED sequences; MEMORY.
 * Cost:    O(sequences^2 length / 64) on machines with vectors of 64 bytes. */
sal_status sali_alignment_weights(const sali_alignment *alignment, double identity, double *weights,
                                  double *effective, sal_error *err);

/* Single linkage: set cluster [sequences] to the number of each sequence's cluster, from 0 in
 * the order of the clusters' first sequences, and *clusters to the number of clusters. Two
 * sequences are in one cluster if a chain of sequences connects them, in which neighbours agree
 * at a share `identity` of the sites or more.
 * Returns: as sali_alignment_weights.
 * Cost:    as sali_alignment_weights. */
sal_status sali_alignment_clusters(const sali_alignment *alignment, double identity,
                                   int64_t *cluster, int64_t *clusters, sal_error *err);

/* f_i(a) = (1 - pseudocount) (weighted share of letter a at site i) + pseudocount / q, in
 * f [length x q], q being the letters of the alphabet. */
void sali_alignment_site_frequencies(const sali_alignment *alignment, const double *weights,
                                     double pseudocount, double *f);

/* f_ij(a, b) = (1 - pseudocount) (weighted share of the pair) + pseudocount / q^2, in
 * F [N x N], N = q length; its diagonal blocks are f_i(a) [a = b]. Symmetric.
 * Cost: O(sequences length^2). */
void sali_alignment_pair_frequencies(const sali_alignment *alignment, const double *weights,
                                     double pseudocount, double *F);

/* The couplings -C^-1 of the covariance C_ij(a, b) = f_ij(a, b) - f_i(a) f_j(b) without letter 0
 * of each site, in the zero-sum gauge: J [N x N], symmetric, its diagonal blocks 0. F is a
 * result of sali_alignment_pair_frequencies with a positive pseudocount; J may be F. q is below
 * SAL_ALPHABET_ROOM.
 * Returns: DATA when C is not positive definite; MEMORY.
 * Cost:    O(N^3), memory of another matrix.
 * Source:  Morcos et al. 2011 (expansion in small couplings, first order). */
sal_status sali_alignment_mean_field(int64_t length, int64_t q, const double *F, double *J,
                                     sal_error *err);

/* The fields h [N] that give the frequencies f [N] under couplings J [N x N] (NULL: none) in the
 * mean-field approximation, in the zero-sum gauge: h_i(a) = log f_i(a) - sum_jb J_ij(a, b) f_j(b) +
 * const. */
void sali_alignment_fields(int64_t length, int64_t q, const double *f, const double *J, double *h);

#endif
