/* SPDX-License-Identifier: MIT */
/* Exact answers to compare samplers with. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/compare.h"
#include "cli/text.h"

/* With more states of all variables than this, no exact pairs are computed. */
#define MOST_PAIR_STATES 2000

/* ---- oracles */

/* Set the reference by an exact method; it stays empty if none applies. Returns the exit code. */
static int ask_oracle(const sal_model *model, const sal_exact_options *options,
                      compare_reference *r)
{
    int64_t R;
    sal_error err = { 0 };
    sal_exact exact;
    r->marginals = cli_marginals(sal_model_space(model), &R);
    r->pairs = R <= MOST_PAIR_STATES ? malloc((size_t)(R * R) * sizeof(double)) : NULL;
    sal_status status = SAL_ERR_MEMORY;
    if (r->marginals && (r->pairs || R > MOST_PAIR_STATES)) {
        status = sal_model_exact(model, options, &exact, r->marginals, r->pairs, NULL, &err);
    }
    if (status == SAL_ERR_UNSUPPORTED && r->pairs) { /* pairs may be what is too much */
        free(r->pairs);
        r->pairs = NULL;
        status = sal_model_exact(model, options, &exact, r->marginals, NULL, NULL, &err);
    }
    if (status == SAL_OK) {
        snprintf(r->source, sizeof r->source, "%s", exact.oracle);
        r->log_z = exact.log_z;
        cli_remark_exact(&exact);
        return CLI_OK;
    }
    compare_free_reference(r);
    return status == SAL_ERR_UNSUPPORTED ? CLI_OK : cli_fail(status, &err);
}

/* ---- files */

/* Replace the marginals of a reference by the marginals in a file. `given`: a file that does not
 * fit the model is an error; else it is ignored. Returns the exit code. */
static int read_file(const sal_model *model, const char *path, bool given, compare_reference *r)
{
    double log_z = NAN;
    double *marginals = cli_marginals(sal_model_space(model), NULL);
    sal_error err = { 0 };
    sal_status status =
        marginals ? sal_marginals_read(path, model, marginals, &log_z, &err) : SAL_ERR_MEMORY;
    if (status != SAL_OK) {
        free(marginals);
        return status != SAL_ERR_ARGUMENT ? cli_fail(status, &err)
               : given                    ? cli_fail(SAL_ERR_DATA, &err)
                                          : CLI_OK;
    }
    free(r->marginals);
    r->marginals = marginals;
    r->log_z = log_z;
    snprintf(r->source, sizeof r->source, "%.255s", path);
    return CLI_OK;
}

/* Set path to MODEL.mar.json or MODEL.uai.MAR, beside MODEL.uai. False: neither can be read. */
static bool file_beside(const char *specification, char *path, size_t room)
{
    size_t length = strlen(specification);
    if (!cli_has_suffix(specification, ".uai") || length + 8 > room) {
        return false;
    }
    snprintf(path, room, "%.*s.mar.json", (int)(length - 4), specification);
    if (access(path, R_OK) != 0) {
        snprintf(path, room, "%s.MAR", specification);
    }
    return access(path, R_OK) == 0;
}

int compare_find_reference(const sal_model *model, const char *specification, const char *file,
                           const sal_exact_options *exact, compare_reference *r)
{
    char path[4096];
    *r = (compare_reference){ .log_z = NAN };
    int code = ask_oracle(model, exact, r);
    if (code == CLI_OK && file) {
        return read_file(model, file, true, r);
    }
    if (code == CLI_OK && !r->marginals && file_beside(specification, path, sizeof path)) {
        return read_file(model, path, false, r);
    }
    return code;
}

void compare_free_reference(compare_reference *r)
{
    free(r->marginals);
    free(r->pairs);
    *r = (compare_reference){ .log_z = NAN };
}
