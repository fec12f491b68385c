/* SPDX-License-Identifier: MIT */
#include "models/zoo/builtin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/rng.h"
#include "ad/op.h"
#include "models/alphabet.h"

static const sali_builtin *const builtins[] = {
#define SALI_BUILTIN_ENTRY(name) &sali_builtin_##name,
    SALI_BUILTIN_LIST(SALI_BUILTIN_ENTRY)
#undef SALI_BUILTIN_ENTRY
};

#define N_BUILTINS ((int64_t)(sizeof builtins / sizeof *builtins))

bool sal_builtin_list(int64_t index, sal_builtin_info *info)
{
    if (index < 0 || index >= N_BUILTINS) {
        return false;
    }
    const sali_builtin *b = builtins[index];
    *info = (sal_builtin_info){ .name = b->name, .doc = b->doc, .source = b->source };
    info->settings = b->settings;
    info->file = b->content ? sali_content_name(b->content) : NULL;
    info->needs_file = b->needs_file;
    return true;
}

sal_status sali_builtin_find(const char *specification, const sali_builtin **out, sal_error *err)
{
    size_t length = sali_specification_name(specification);
    char asked[200];
    snprintf(asked, sizeof asked, "%.*s", (int)length, specification);
    sal_nearest nearest = sal_nearest_begin(asked);
    for (int64_t k = 0; k < N_BUILTINS; k++) {
        const char *name = builtins[k]->name;
        if (strlen(name) == length && strncmp(name, specification, length) == 0) {
            *out = builtins[k];
            return SAL_OK;
        }
        sal_nearest_offer(&nearest, name);
    }
    return sali_fail(err, SAL_ERR_NOT_FOUND, "there is no model or file '%s'; %s", asked,
                     sal_nearest_hint(&nearest, "see 'saltus list models'"));
}

/* ---- settings */

static bool has_alphabet(const sali_builtin *b)
{
    for (int k = 0; b->settings[k].name; k++) {
        if (strcmp(b->settings[k].name, "alphabet") == 0) {
            return true;
        }
    }
    return false;
}

/* Set *rest to a copy of a specification, to be freed, without the alphabet of a model that has
 * that setting: letters, "" without one. Checks the letters. */
static sal_status take_alphabet(const char *specification, const sali_builtin *b, char **rest,
                                char letters[SAL_ALPHABET_ROOM], sal_error *err)
{
    char *text = NULL;
    letters[0] = '\0';
    *rest = sali_strdup(specification);
    sal_status status = *rest ? SAL_OK : sali_fail_memory(err);
    if (status == SAL_OK && has_alphabet(b)) {
        status = sali_specification_take(*rest, "alphabet", &text, err);
    }
    if (status == SAL_OK && text && sali_alphabet_parse(text, letters, err) != SAL_OK) {
        status = sali_fail_prefix(err, SAL_ERR_ARGUMENT, "%s", b->name);
    }
    sali_free(text);
    return status;
}

sal_status sali_builtin_parse(const char *specification, const sali_builtin **out, double *values,
                              sal_error *err)
{
    char letters[SAL_ALPHABET_ROOM], *rest = NULL;
    sal_status status = sali_builtin_find(specification, out, err);
    status = status ? status : take_alphabet(specification, *out, &rest, letters, err);
    status = status ? status : sali_specification_values(rest, (*out)->settings, values, err);
    sali_free(rest);
    return status;
}

sal_status sali_builtin_alphabet(const char *specification, char letters[SAL_ALPHABET_ROOM],
                                 sal_error *err)
{
    const sali_builtin *b = NULL;
    char *rest = NULL;
    sal_status status = sali_builtin_find(specification, &b, err);
    status = status ? status : take_alphabet(specification, b, &rest, letters, err);
    sali_free(rest);
    return status;
}

sal_status sali_builtin_refuse(const sali_builtin *b, const double *values, uint32_t keys,
                               const char *what, sal_error *err)
{
    for (int k = 0; b->settings[k].name; k++) {
        if (keys >> k & 1 && values[k] != b->settings[k].standard) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "%s: %s means nothing for %s; leave it out",
                             b->name, b->settings[k].name, what);
        }
    }
    return SAL_OK;
}

int64_t sali_builtin_parameter_size(const sal_model *model, const char *parameter)
{
    sal_shape shape;
    const char *known;
    for (int64_t k = 0; (known = sal_model_parameter(model, k, &shape)); k++) {
        if (strcmp(known, parameter) == 0) {
            return sali_shape_size(&shape);
        }
    }
    return 0;
}

/* Set a parameter to `values`, and free these. If they are NULL: SAL_ERR_MEMORY. */
static sal_status set_and_free(sal_model *model, const char *parameter, double *values,
                               sal_error *err)
{
    sal_status status =
        values ? sal_model_set_params(model, parameter, values, err) : sali_fail_memory(err);
    sali_free(values);
    return status;
}

sal_status sali_builtin_randomise(sal_model *model, const char *parameter, double deviation,
                                  uint64_t seed, uint32_t index, sal_error *err)
{
    int64_t size = sali_builtin_parameter_size(model, parameter);
    double *values = SALI_NEW_ARRAY(double, size);
    sali_stream stream = { .seed = seed, .chain = index, .purpose = SALI_RNG_PARAMS };
    if (values) {
        sali_rng_normal(&stream, size, values);
    }
    for (int64_t i = 0; values && i < size; i++) {
        values[i] *= deviation;
    }
    return set_and_free(model, parameter, values, err);
}

sal_status sali_builtin_fill(sal_model *model, const char *parameter, double value, sal_error *err)
{
    int64_t size = sali_builtin_parameter_size(model, parameter);
    double *values = SALI_NEW_ARRAY(double, size);
    for (int64_t i = 0; values && i < size; i++) {
        values[i] = value;
    }
    return set_and_free(model, parameter, values, err);
}

sal_status sali_builtin_map(sal_model *model, const char *parameter, const double *x,
                            double (*of)(double x), sal_error *err)
{
    int64_t size = sali_builtin_parameter_size(model, parameter);
    double *values = SALI_NEW_ARRAY(double, size);
    for (int64_t i = 0; values && i < size; i++) {
        values[i] = of(x[i]);
    }
    return set_and_free(model, parameter, values, err);
}

double sali_builtin_logit(double mean)
{
    double p = fmin(fmax(mean, 0.01), 0.99);
    return log(p / (1 - p));
}
