/* SPDX-License-Identifier: MIT */
/* Remarks on files that were read: in JSON; and on stderr if they warn, else in text summaries. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

/* Lines for text summaries; remarks that do not fit are in JSON only. */
static char lines[4096];

void cli_remark(const char *text, bool warns)
{
    if (!text || !cli_is_first() || !cli_json_remark(text)) {
        return;
    }
    if (warns) {
        fprintf(stderr, "saltus: %s\n", text);
    } else {
        size_t used = strlen(lines);
        snprintf(lines + used, sizeof lines - used, "file             %s\n", text);
    }
}

void cli_remark_model(const sal_model *model)
{
    bool warns;
    const char *text = sal_model_remark(model, &warns);
    cli_remark(text, warns);
}

void cli_remark_exact(const sal_exact *exact)
{
    char text[SAL_ERROR_SIZE];
    if (sal_exact_warning(exact, text, sizeof text)) {
        cli_remark(text, true);
    }
}

void cli_print_remarks(void)
{
    printf("%s", lines);
}
