/* SPDX-License-Identifier: MIT */
/* A Bayesian network with nearly deterministic dependencies. */
#ifndef NETWORK_H
#define NETWORK_H

#include <saltus/saltus.h>

/* Up to 100 two-level variables that are the exclusive or of two earlier ones with probability .95,
 * but for the first three, which are free. */
sal_status made_network(int variables, sal_model **model, sal_error *err);

#endif
