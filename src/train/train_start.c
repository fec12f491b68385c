/* SPDX-License-Identifier: MIT */
/* Starting parameters that suit a data set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/train.h>
#include "core/alloc.h"
#include "core/error.h"
#include "models/levels/levels.h"
#include "models/zoo/builtin.h"
#include "train/data.h"

/* Mean of the data by coordinate of the embedding, in 0..1: the share of the highest code, or of
 * each label; of a count without a cap the mean itself. */
static void data_mean(const sal_space *space, const sal_data *data, double *mean)
{
    double sum = sali_data_weight(data);
    for (int64_t r = 0; r < data->rows; r++) {
        double unit = (data->weight ? data->weight[r] : 1) / sum;
        for (int64_t v = 0; v < space->n_variables; v++) {
            const sali_variable *variable = &space->variables[v];
            int64_t at = r * space->n_variables + v;
            double code = data->intensity ? data->intensity[at] : data->codes[at];
            if (variable->kind == SAL_CATEGORICAL) {
                mean[variable->offset + data->codes[at]] += unit;
            } else {
                int32_t highest = variable->states > 0 ? variable->states - 1 : 1;
                mean[variable->offset] += unit * code / highest;
            }
        }
    }
}

/* The builtin model of a specification, in which a key `file` is ignored. */
static sal_status find_record(const char *specification, const sali_builtin **builtin,
                              sal_error *err)
{
    double values[SAL_SETTINGS];
    char *rest = sali_strdup(specification), *path = NULL;
    sal_status status =
        rest ? sali_specification_take(rest, "file", &path, err) : sali_fail_memory(err);
    status = status ? status : sali_builtin_parse(rest, builtin, values, err);
    sali_free(rest);
    sali_free(path);
    return status;
}

static bool has_setting(const char *specification, const char *name)
{
    return sali_specification_find(specification, name, strlen(name)) != NULL;
}

/* Ordinal variables have no base distribution, and no levels of noise. */
static bool is_ordinal(const char *specification)
{
    return strstr(specification, "kind=ordinal") != NULL;
}

/* Whether the settings of a specification leave it a net of bits, to which an RBM is added in place
 * of a base. */
static bool takes_rbm(const char *specification)
{
    const char *kind = sali_specification_find(specification, "kind", 4),
               *states = sali_specification_find(specification, "states", 6);
    const char *units = sali_specification_find(specification, "units", 5),
               *base = sali_specification_find(specification, "base", 4);
    return !(base && strtod(base, NULL) != 0) &&
           !(kind && strncmp(kind, "binary", 6) != 0 && *kind != '0') &&
           !(states && strtod(states, NULL) > 2) && !(units && strtod(units, NULL) == 0);
}

/* The suggested training for a specification; NULL: none is known. */
static const sali_training *training_of(const sali_builtin *builtin, const char *specification)
{
    const char *levels = sali_specification_find(specification, "levels", 6);
    const bool none = is_ordinal(specification) || (levels && strtod(levels, NULL) == 0);
    const sali_training *asked = none ? builtin->layered : levels ? builtin->levelled : NULL;
    asked = asked ? asked : builtin->training;
    return asked && asked->rbm_first && !takes_rbm(specification) ? builtin->plain : asked;
}

/* The suggested training for a specification whose model may be unknown; NULL: none. */
static const sali_training *suggested_for(const char *specification)
{
    const sali_builtin *builtin = NULL;
    return specification && sali_builtin_find(specification, &builtin, NULL) == SAL_OK &&
                   builtin->training
               ? training_of(builtin, specification)
               : NULL;
}

bool sal_train_suggest(const char *specification, sal_train_options *options, const char **settings)
{
    const sali_training *training = options ? suggested_for(specification) : NULL;
    if (!training) {
        return false;
    }
    *options = training->options;
    if (settings) {
        *settings = training->settings;
    }
    return true;
}

/* Whether a suggested setting "key=value" can be added to a specification. */
static bool wants_setting(const char *specification, const char *setting)
{
    const size_t length = strcspn(setting, "=");
    const bool base = length == 4 && strncmp(setting, "base", length) == 0;
    return !sali_specification_find(specification, setting, length) &&
           !(base && (has_setting(specification, "quadratic") || is_ordinal(specification)));
}

/* The number of states that the rows have codes of: the largest code and one, at least 2. */
static int64_t states_of(const sal_data *data)
{
    uint8_t most = 1;
    for (int64_t k = 0; k < data->rows * data->variables; k++) {
        most = data->codes[k] > most ? data->codes[k] : most;
    }
    return most + 1;
}

/* Whether the specification of a model with the setting kind gives it this value. */
static bool is_of_kind(const char *specification, const char *kind)
{
    const char *given = sali_specification_find(specification, "kind", 4);
    return given && strncmp(given, kind, strlen(kind)) == 0;
}

/* Whether a specification names an alphabet or gives its letters. */
static bool has_alphabet(const char *specification)
{
    const char *given = sali_specification_find(specification, "alphabet", 8);
    return given && !(strncmp(given, "auto", 4) == 0 && strchr(",", given[4]));
}

/* Whether the letters of the model's variables are taken from data: they are labels, the
 * specification gives no letters, and not another number of states than the data have letters. */
static bool takes_letters(const sali_builtin *builtin, const char *specification,
                          const sal_data *data)
{
    const char *states = sali_specification_find(specification, "states", 6);
    return data && data->alphabet[0] && builtin && builtin->states_of_data &&
           is_of_kind(specification, "categorical") && !has_alphabet(specification) &&
           (!states || strtod(states, NULL) == (double)strlen(data->alphabet));
}

/* Whether the states of the model's variables are taken from data: it is of a kind with any number
 * of states, and the specification does not say how many. */
static bool takes_states(const sali_builtin *builtin, const char *specification)
{
    return builtin && builtin->states_of_data && !has_setting(specification, "states") &&
           (is_of_kind(specification, "ordinal") ||
            (is_of_kind(specification, "categorical") && !has_alphabet(specification)));
}

/* Append a setting to a specification in text [room]. */
static void add_setting(char *text, size_t room, const char *name, const char *value)
{
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%c%s=%s", strchr(text, ':') ? ',' : ':', name, value);
}

static void add_number(char *text, size_t room, const char *name, int64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)value);
    add_setting(text, room, name, number);
}

/* Append the letters of data to a specification in text [room], in place of alphabet=auto.
 * Returns: SAL_ERR_ARGUMENT if it has that twice; SAL_ERR_MEMORY. */
static sal_status add_letters(char *text, size_t room, const char *letters, sal_error *err)
{
    char *automatic = NULL;
    sal_status status = sali_specification_take(text, "alphabet", &automatic, err);
    if (status == SAL_OK) {
        add_setting(text, room, "alphabet", letters);
    }
    sali_free(automatic);
    return status;
}

/* Append what `specification` leaves to the data to its copy in text [room]. */
static sal_status add_of_data(const char *specification, const sali_builtin *builtin,
                              const sal_data *data, char *text, size_t room, sal_error *err)
{
    const sal_setting *first = builtin ? builtin->settings : NULL;
    if (first && first->name && strcmp(first->name, "visible") == 0 &&
        !has_setting(specification, "visible")) {
        add_number(text, room, "visible", data->variables);
    }
    if (takes_letters(builtin, specification, data)) {
        return add_letters(text, room, data->alphabet, err);
    }
    if (takes_states(builtin, specification)) {
        add_number(text, room, "states", states_of(data));
    }
    return SAL_OK;
}

sal_status sal_train_specification(const char *specification, const sal_data *data, bool suggested,
                                   char **text, sal_error *err)
{
    const sali_builtin *builtin = NULL;
    if (!specification || !text) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_train_specification: the specification or the text are NULL");
    }
    if (sali_builtin_find(specification, &builtin, NULL) != SAL_OK) {
        builtin = NULL; /* opening the model will report it */
    }
    const sali_training *training =
        builtin && suggested ? training_of(builtin, specification) : NULL;
    const char *more = training && training->settings ? training->settings : "";
    const size_t room = strlen(specification) + strlen(more) + 96 + SAL_ALPHABET_ROOM;
    char *made = sali_alloc((int64_t)room, 1);
    if (!made) {
        return sali_fail_memory(err);
    }
    strcpy(made, specification);
    sal_status status = data ? add_of_data(specification, builtin, data, made, room, err) : SAL_OK;
    if (status != SAL_OK) {
        sali_free(made);
        return status;
    }
    size_t used = strlen(made);
    for (size_t length; *more; more += length + (more[length] == ',')) {
        length = strcspn(more, ",");
        if (wants_setting(specification, more)) {
            used += (size_t)snprintf(made + used, room - used, "%c%.*s",
                                     strchr(made, ':') ? ',' : ':', (int)length, more);
        }
    }
    *text = made;
    return SAL_OK;
}

sal_status sal_train_first(const char *specification, char **first, sal_error *err)
{
    char *whole = NULL, text[64];
    if (!specification || !first) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_train_first: the specification or the result is NULL");
    }
    const sali_training *training = suggested_for(specification);
    if (!training || !training->rbm_first) {
        *first = NULL;
        return SAL_OK;
    }
    sal_status status = sal_train_specification(specification, NULL, true, &whole, err);
    if (status != SAL_OK) {
        return status;
    }
    snprintf(text, sizeof text, "rbm:hidden=%.0f",
             strtod(sali_specification_find(whole, "units", 5), NULL));
    sali_free(whole);
    char *made = sali_strdup(text);
    if (!made) {
        return sali_fail_memory(err);
    }
    *first = made;
    return SAL_OK;
}

/* Set all parameters to 0, for models without starting values of their own. */
static sal_status zero_params(sal_model *model, sal_error *err)
{
    const int64_t n = sal_model_parameters_size(model);
    double *zeros = SALI_NEW_ARRAY(double, n);
    if (!zeros) {
        return sali_fail_memory(err);
    }
    sal_status status = n > 0 ? sal_model_set_params(model, NULL, zeros, err) : SAL_OK;
    sali_free(zeros);
    return status;
}

/* The space of rows of data: the model's, without the level if the rows have none. */
static sal_space *space_of_rows(const sal_model *model, const sal_data *data)
{
    const bool level =
        sal_model_levels(model) > 0 && data->variables == model->space->n_variables - 1;
    return level ? sali_levels_space(model) : sali_space_clone(model->space);
}

/* Set starting values from the data's mean by coordinate; the mean of a level is 0. */
static sal_status start_at_data(sal_model *model, const sali_builtin *builtin, const sal_data *data,
                                uint64_t seed, sal_error *err)
{
    sal_space *space = space_of_rows(model, data);
    double *mean = SALI_NEW_ARRAY(double, model->space->width);
    sal_status status = space && mean ? SAL_OK : sali_fail_memory(err);
    status = status ? status : sali_data_check("the start of training", data, space, err);
    if (status == SAL_OK && builtin->init) {
        data_mean(space, data, mean);
        status = builtin->init(model, seed, mean, err);
    } else if (status == SAL_OK) {
        status = zero_params(model, err);
    }
    sal_space_destroy(space);
    sali_free(mean);
    return status;
}

sal_status sal_model_train_start(sal_model *model, const char *specification, const sal_data *data,
                                 uint64_t seed, sal_error *err)
{
    const sali_builtin *builtin = NULL;
    if (!model || !specification || !data) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "sal_model_train_start: the model, its specification or the data are NULL");
    }
    sal_status status = find_record(specification, &builtin, err);
    return status ? status : start_at_data(model, builtin, data, seed, err);
}
