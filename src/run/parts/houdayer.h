/* SPDX-License-Identifier: MIT */
/* Exchanges of clusters between chains in parallel tempering: after each swap of temperatures, the
 * replicas of chains 2k and 2k + 1 at the same temperature exchange a cluster
 * (cluster_exchange.h). Houdayer 2001; Zhu, Ochoa & Katzgraber 2015.
 *
 * Where nearly all differing variables are in one cluster, exchanges do next to nothing. Warm-up
 * measures at each temperature which share of the differing variables clusters have, in its second
 * half; draws then have exchanges at the temperatures where the share is below
 * SALI_HOUDAYER_LIMIT. A run without warm-up has them at all temperatures. */
#ifndef SALI_HOUDAYER_H
#define SALI_HOUDAYER_H

#define SALI_HOUDAYER_LIMIT 0.95

#endif
