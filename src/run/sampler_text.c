/* SPDX-License-Identifier: MIT */
/* The sampler of a run as a text, and whether a text means this sampler. */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "core/specification.h"
#include "run/run.h"

/* Write the sampler and its settings; settings at their standard values only if `all`. */
void sali_run_write_sampler(const sal_run *run, bool all, char text[SALI_SAMPLER_TEXT])
{
    const sali_sampler *sampler = run->inner ? run->inner : run->sampler;
    const sali_sampler_settings *settings = run->inner ? &run->inner_settings : &run->settings;
    const sal_setting *p = sampler->settings;
    char separator = ':';
    snprintf(text, SALI_SAMPLER_TEXT, "%s", all ? sampler->name : run->options.sampler);
    for (int k = 0; p && p[k].name; k++) {
        size_t used = strlen(text), room = SALI_SAMPLER_TEXT - used;
        double value = settings->values[k];
        if (!all && value == p[k].standard) {
            continue;
        }
        const char *word = sali_setting_word(&p[k], value);
        char number[SALI_NUMBER_SIZE] = "";
        sali_format_double(value, number);
        snprintf(text + used, room, "%c%s=%s", separator, p[k].name, word ? word : number);
        separator = ',';
    }
}

void sali_run_sampler_text(const sal_run *run, char text[SALI_SAMPLER_TEXT])
{
    sali_run_write_sampler(run, true, text);
}

/* Whether a specification means the sampler of the run. Settings that the specification does not
 * name, because they are newer than it for example, have their defaults. */
bool sali_run_means_sampler(const sal_run *run, const char *specification)
{
    const sali_sampler *sampler = run->inner ? run->inner : run->sampler;
    const sali_sampler_settings *settings = run->inner ? &run->inner_settings : &run->settings;
    const size_t length = sali_specification_name(specification);
    double values[SAL_SETTINGS] = { 0 };
    bool same = strlen(sampler->name) == length &&
                strncmp(sampler->name, specification, length) == 0 &&
                sali_specification_values(specification, sampler->settings, values, NULL) == SAL_OK;
    for (int k = 0; same && sampler->settings && sampler->settings[k].name; k++) {
        same = values[k] == settings->values[k];
    }
    return same;
}
