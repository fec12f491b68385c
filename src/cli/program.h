/* SPDX-License-Identifier: MIT */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <saltus/model.h>

/* Print a tape model's program before and after its passes, a line a node. */
sal_status cli_print_program(const sal_model *model, sal_error *err);

#endif
