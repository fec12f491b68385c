/* States in words. */
#ifndef SHOW_H
#define SHOW_H

#include "cli/cli.h"

/* Print what is chosen in a state [V]: a line for each two-level variable in its upper state (the
 * model's text for it, as the sentence of a summary, or its number), and "number = code" for each
 * other variable. */
void cli_show_state(const sal_model *model, const int32_t *codes);

#endif
