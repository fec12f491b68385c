/* SPDX-License-Identifier: MIT */
/* Checks of the descriptors of users' own samplers. */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/number.h"
#include "core/specification.h"
#include "samplers/sampler.h"

_Static_assert(SAL_SAMPLER_TUNED <= SALI_MOST_STATE, "lists of what is tuned have room");

/* The longest name of a sampler or a number, so that texts hold all of them. */
#define NAME_SIZE 40

_Static_assert(NAME_SIZE + SAL_SETTINGS * (NAME_SIZE + 2 + SALI_NUMBER_SIZE) < SALI_SAMPLER_TEXT,
               "a specification is written in full");

static bool is_name(const char *name)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return name && *name && strspn(name, letters) == strlen(name);
}

/* What is wrong with the words of a key, or NULL. */
static const char *choice_fault(const sal_setting *p)
{
    for (int64_t k = 0; k < sali_setting_words(p); k++) {
        const char *word = p->choices[k];
        if (!is_name(word) || strlen(word) >= SALI_NUMBER_SIZE) {
            return "has a choice of more than 31 or of other characters than names have";
        }
    }
    return sali_setting_takes_numbers(p) || sali_setting_word(p, p->standard)
               ? NULL
               : "has a default that is none of its choices";
}

/* What is wrong with entry k of a list of settings, or NULL. */
static const char *setting_fault(const sal_setting *list, int k)
{
    const sal_setting *p = &list[k];
    for (int other = 0; other < k; other++) {
        if (strcmp(list[other].name, p->name) == 0) {
            return "is there twice";
        }
    }
    if (strlen(p->name) > NAME_SIZE) {
        return "has a name of more than 40 characters";
    }
    if (!is_name(p->name)) {
        return "has a name of other characters than letters, digits, '_' and '-'";
    }
    const char *fault = choice_fault(p);
    if (fault || !sali_setting_takes_numbers(p)) {
        return fault;
    }
    if (!isfinite(p->low) || !isfinite(p->high) || !(p->low <= p->standard) ||
        !(p->standard <= p->high)) {
        return "needs finite numbers low <= standard <= high";
    }
    bool whole =
        p->low == floor(p->low) && p->high == floor(p->high) && p->standard == floor(p->standard);
    return p->whole && !whole ? "is whole, but its range or default is not" : NULL;
}

/* SAL_ERR_ARGUMENT if an entry of the list, which has at most `most`, has a fault; `what` says
 * which list it is. */
static sal_status check_settings(const char *sampler, const char *what, const sal_setting *list,
                                 int most, sal_error *err)
{
    for (int k = 0; list && list[k].name; k++) {
        const char *fault = k < most ? setting_fault(list, k) : "is one too many";
        if (fault) {
            return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s': %s '%.100s' %s", sampler, what,
                             list[k].name, fault);
        }
    }
    return SAL_OK;
}

/* What is wrong with the descriptor's functions, or NULL. */
static const char *function_fault(const sali_sampler *d)
{
    if (d->engine) {
        return "engine is not NULL; only the library's own samplers have one";
    }
    if (!d->draw) {
        return "draw is NULL";
    }
    if (!d->log_q && !d->unadjusted) {
        return "log_q is NULL; without it proposals cannot be accepted or refused";
    }
    if (!d->create != !d->destroy) {
        return "create and destroy go together";
    }
    if (!d->row_size != !d->prepare) {
        return "row_size and prepare go together";
    }
    return (!d->tuned || !d->tuned->name) != !d->adapt ? "tuned and adapt go together" : NULL;
}

/* Check the directions: not too many, a reverse of the reverse that is the direction itself, and no
 * unadjusted sampler. */
static sal_status check_directions(const sali_sampler *d, sal_error *err)
{
    if (d->directions < 0 || d->directions > SAL_SAMPLER_DIRECTIONS) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sampler '%s': directions is %d; expected 0 (none) to %d", d->name,
                         d->directions, SAL_SAMPLER_DIRECTIONS);
    }
    if (!(d->refresh_direction >= 0 && d->refresh_direction <= 1)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sampler '%s': refresh_direction is %g; expected a probability", d->name,
                         d->refresh_direction);
    }
    if (d->directions > 1 && d->unadjusted) {
        return sali_fail(
            err, SAL_ERR_ARGUMENT,
            "sampler '%s': it is unadjusted and has directions, which only a rejection "
            "turns",
            d->name);
    }
    for (int v = 0; d->reverse && v < d->directions; v++) {
        int32_t back = d->reverse[v];
        if (back < 0 || back >= d->directions || d->reverse[back] != v) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "sampler '%s': reverse[%d] is %d; expected a direction whose reverse "
                             "is %d again",
                             d->name, v, (int)back, v);
        }
    }
    return SAL_OK;
}

/* Check functions, kinds, directions and lists of a descriptor whose name is right. */
static sal_status check_one(const sali_sampler *d, sal_error *err)
{
    const char *fault = function_fault(d);
    if (fault) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sampler '%s': %s", d->name, fault);
    }
    if (d->kinds & ~(unsigned)(SAL_MOVES_FINITE | SAL_MOVES_UNBOUNDED | SAL_MOVES_FIXED)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sampler '%s': kinds is %#x; expected an OR of SAL_MOVES_*", d->name,
                         d->kinds);
    }
    sal_status status = check_directions(d, err);
    status = status ? status : check_settings(d->name, "setting", d->settings, SAL_SETTINGS, err);
    return status ? status : check_settings(d->name, "tuned", d->tuned, SAL_SAMPLER_TUNED, err);
}

sal_status sali_own_check(const sali_sampler *const *own, sal_error *err)
{
    for (int64_t k = 0; own && own[k]; k++) {
        const char *name = own[k]->name;
        if (!is_name(name) || strlen(name) > NAME_SIZE) {
            return sali_fail(
                err, SAL_ERR_ARGUMENT,
                "own_samplers[%lld]: its name is %s%.100s%s; expected letters, digits, "
                "'_' and '-', at most 40 of them",
                (long long)k, name ? "'" : "", name ? name : "NULL", name ? "'" : "");
        }
        if (sali_sampler_find(name)) {
            return sali_fail(err, SAL_ERR_ARGUMENT,
                             "own_samplers[%lld]: the library has a sampler '%s' already",
                             (long long)k, name);
        }
        for (int64_t other = 0; other < k; other++) {
            if (strcmp(own[other]->name, name) == 0) {
                return sali_fail(err, SAL_ERR_ARGUMENT,
                                 "own_samplers[%lld]: '%s' is the name of number %lld too",
                                 (long long)k, name, (long long)other);
            }
        }
        sal_status status = check_one(own[k], err);
        if (status != SAL_OK) {
            return status;
        }
    }
    return SAL_OK;
}
