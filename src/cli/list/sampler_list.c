/* SPDX-License-Identifier: MIT */
/* Lists of samplers: "gwg,ncg:step-size=0.2,gibbs:scan=random". */
#include <string.h>

#include "cli/cli.h"
#include "cli/text.h"

/* The length of the first sampler's text: up to a comma, unless what follows the comma is another
 * of its settings, a "key=value" without a name before it. */
static size_t item_length(const char *text)
{
    size_t length = strcspn(text, ",");
    while (text[length]) {
        const char *next = text + length + 1;
        size_t word = strcspn(next, ":=,");
        if (next[word] != '=') {
            return length;
        }
        length += 1 + strcspn(next, ",");
    }
    return length;
}

/* Move "step-size=X" from the settings to item->step_size. Returns the exit code. */
static int take_step_size(cli_sampler_item *item)
{
    char *value = cli_find_setting(item->specification, "step-size");
    if (value &&
        (!cli_parse_real(value, strcspn(value, ","), &item->step_size) || !(item->step_size > 0))) {
        return cli_usage("%s: expected a positive number as step-size", item->specification);
    }
    cli_drop_setting(value);
    return CLI_OK;
}

int cli_next_sampler(const char **list, cli_sampler_item *item)
{
    size_t length = item_length(*list);
    *item = (cli_sampler_item){ 0 };
    if (length == 0 || length >= sizeof item->specification) {
        return cli_usage("--samplers: expected names with settings, NAME:key=value,..., separated "
                         "by commas; found '%.40s'",
                         *list);
    }
    memcpy(item->specification, *list, length);
    memcpy(item->name, *list, length);
    *list += length + ((*list)[length] == ',');
    return take_step_size(item);
}
