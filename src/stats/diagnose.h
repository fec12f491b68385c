/* SPDX-License-Identifier: MIT */
/* Diagnostics of chains that are known not to have moved. */
#ifndef SALI_STATS_DIAGNOSE_H
#define SALI_STATS_DIAGNOSE_H

#include <saltus/stats.h>

/* Leave the mean and sd of the draws, and take back what is said of mixing. */
void sali_diagnostics_unmoved(sal_diagnostics *d);

#endif
