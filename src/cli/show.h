/* SPDX-License-Identifier: MIT */
/* Printing what states choose. */
#ifndef SHOW_H
#define SHOW_H

#include "cli/cli.h"

/* Print what is chosen in a state [V]: the number of each two-level variable in its upper state,
 * and "number = code" for each other variable, a line each. */
void cli_show_state(const sal_model *model, const int32_t *codes);

#endif
