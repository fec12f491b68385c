/* SPDX-License-Identifier: MIT */
/* Diagnostics of chains that are known not to have moved. */
#ifndef SALI_STATS_DIAGNOSE_H
#define SALI_STATS_DIAGNOSE_H

#include <saltus/stats.h>

/* Keep the mean and sd of the draws, and set all diagnostics of mixing to NaN. */
void sali_diagnostics_unmoved(sal_diagnostics *d);

#endif
