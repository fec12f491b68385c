/* SPDX-License-Identifier: MIT */
/* Trainings that suit ready-made models: options, settings, and what is trained first. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/train.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/option.h"
#include "core/specification.h"
#include "models/zoo/builtin.h"
#include "train/objectives/objective.h"

/* ---- what a specification says */

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

/* ---- options, beside those that are given */

/* What the caller gives. */
typedef struct request {
    const char *names; /* names of the options that are given; NULL: those that are not 0 */
    sal_train_options options;
} request;

static bool is_given(const request *r, const sali_option *o)
{
    return r->names ? sali_option_is_among(o, r->names) : !sali_option_is_zero(o, &r->options);
}

/* Whether the option whose field begins at `offset` is given. */
static bool gives_at(const request *r, size_t offset)
{
    const sal_option_table *table = sali_train_option_table();
    int64_t k = 0;
    while (k < table->n && table->options[k].offset != offset) {
        k++;
    }
    return k < table->n && is_given(r, &table->options[k]);
}

#define GIVES(request, member) gives_at((request), offsetof(sal_train_options, member))

/* Whether suggestions for an objective go with what is given: with an objective if it is this one,
 * with options of persistent chains if it has such chains. */
static bool goes_with(const request *r, sal_objective suggested)
{
    const bool chains = GIVES(r, buffer.chains) || GIVES(r, buffer.start) ||
                        GIVES(r, buffer.order) || GIVES(r, buffer.restart) ||
                        GIVES(r, magnitude_penalty);
    return GIVES(r, objective) ? r->options.objective == suggested
                               : !chains || sali_objective_of(suggested)->persistent;
}

/* Whether two specifications of samplers, which may be NULL, have the same name. */
static bool same_sampler(const char *a, const char *b)
{
    const size_t length = a ? strcspn(a, ":") : 0;
    return a && b && length == strcspn(b, ":") && strncmp(a, b, length) == 0;
}

/* Whether a batch may have more chains than there are rows: all rows take their place (contrast.c),
 * unless the gradient is to be one of both samples or of other coordinates. */
static bool takes_more_chains(const request *r, bool persistent)
{
    return persistent && !(GIVES(r, magnitude_penalty) && r->options.magnitude_penalty > 0) &&
           !(GIVES(r, centring) && r->options.centring == SAL_CENTRING_ON);
}

/* Fit suggestions *s to what is given and to the number of rows (0: not known); activation_rate as
 * in the model's record. */
static void fit_suggestions(const request *r, int64_t rows, double activation_rate,
                            sal_train_options *s)
{
    const sal_train_options *given = &r->options;
    const bool persistent = sali_objective_of(s->objective)->persistent;
    const int64_t batch = s->batch;
    if (GIVES(r, sparsity.method) && given->sparsity.method == SAL_SPARSITY_ACTIVATE &&
        activation_rate > 0) {
        s->learning_rate = activation_rate;
    }
    if (GIVES(r, sampler) && !same_sampler(given->sampler, s->sampler)) {
        s->steps = 0;
    }
    if (GIVES(r, optimiser.method) && given->optimiser.method != s->optimiser.method) {
        s->learning_rate = s->optimiser.momentum = s->optimiser.beta2 = 0;
    }
    if (persistent && GIVES(r, buffer.chains) && given->buffer.chains < s->batch) {
        s->batch = given->buffer.chains;
    } else if (!takes_more_chains(r, persistent) && rows > 0 && rows < s->batch) {
        s->batch = rows;
    }
    if (GIVES(r, batch) && given->batch > s->buffer.chains && s->buffer.chains > 0) {
        s->buffer.chains = given->batch;
    }
    if ((GIVES(r, batch) ? given->batch : s->batch) != batch) {
        s->ptt.reservoir = 0; /* as many batches as is usual */
    }
}

bool sal_train_suggest(const char *specification, const char *given, int64_t rows,
                       sal_train_options *options, const char **settings)
{
    const sal_option_table *table = sali_train_option_table();
    const sali_training *training = options ? suggested_for(specification) : NULL;
    if (!training) {
        return false;
    }
    const request r = { given, *options };
    sal_train_options suggested = training->options;
    if (!goes_with(&r, suggested.objective)) {
        return false;
    }
    fit_suggestions(&r, rows, training->activation_rate, &suggested);
    for (int64_t k = 0; k < table->n; k++) {
        if (!is_given(&r, &table->options[k])) {
            sali_option_copy(&table->options[k], &suggested, options);
        }
    }
    if (settings) {
        *settings = training->settings;
    }
    return true;
}

/* ---- settings, and what comes first */

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
