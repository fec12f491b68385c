/* SPDX-License-Identifier: MIT */
#include "fuzz.h"

#include <saltus/program.h>
#include <saltus/saltus.h>

/* Lines "name=value" for the options of a run or, after an '!', of a training. What an option says
 * of its value sets it to that value again; specifications of samplers are read, too. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool trains = size > 0 && data[0] == '!';
    const sal_option_table *table =
        sal_option_table_of(trains ? SAL_OPTIONS_TRAIN : SAL_OPTIONS_RUN);
    sal_run_options run = { 0 };
    sal_train_options train = { 0 };
    void *options = trains ? (void *)&train : (void *)&run;
    char *text = fuzz_alloc((int64_t)size + 1, 1);
    memcpy(text, data + trains, size - trains);
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) {
            *next++ = '\0';
        }
        char *value = strchr(line, '=');
        char first[512], again[512];
        sal_error err = { 0 };
        if (!value) {
            continue;
        }
        *value++ = '\0';
        sal_status status = sal_option_set(table, options, line, value, &err);
        fuzz_check_any(status, &err);
        if (status == SAL_OK && strlen(value) < sizeof first &&
            sal_option_get(table, options, line, first, sizeof first, &err) == SAL_OK && first[0] &&
            (sal_option_set(table, options, line, first, &err) != SAL_OK ||
             sal_option_get(table, options, line, again, sizeof again, &err) != SAL_OK ||
             strcmp(first, again) != 0 ||
             sal_option_set(table, options, line, value, &err) != SAL_OK)) { /* a text that stays */
            abort();
        }
    }
    sal_error err = { 0 };
    sal_status status = sal_option_resolve(table, options, &err);
    fuzz_check_any(status, &err);
    if (status == SAL_OK && !trains && run.sampler) {
        sal_model *model = NULL;
        sal_run *made = NULL;
        const sal_run_options o = {
            .sampler = run.sampler, .chains = 2, .warmup = 2, .draws = 2, .threads = 1
        };
        if (sal_model_open("ising:side=2", 0, &model, &err) != SAL_OK) {
            abort();
        }
        fuzz_check_any(sal_sample(model, &o, &made, &err), &err);
        sal_run_destroy(made);
        sal_model_destroy(model);
    }
    free(text);
    return 0;
}
