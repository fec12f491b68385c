/* SPDX-License-Identifier: MIT */
/* Specifications "name" or "name:key=value,...": how models and samplers are asked for by text. */
#ifndef SALI_SPECIFICATION_H
#define SALI_SPECIFICATION_H

#include <stdbool.h>
#include <stddef.h>

#include <saltus/options.h>
#include <saltus/status.h>

/* Length of the name, up to the ':' or the end. */
size_t sali_specification_name(const char *specification);

/* values[k] of settings[k] from what follows the name; keys not given take their defaults.
 * `settings` may be NULL: no keys. Returns: SAL_ERR_ARGUMENT naming the key and what it accepts.
 */
sal_status sali_specification_values(const char *specification, const sal_setting *settings,
                                     double *values, sal_error *err);

/* Take the pair "key=value" out of a specification, in place: *value, if it is there, is its text,
 * up to the next comma, in memory of its own; NULL otherwise. Returns: SAL_ERR_ARGUMENT when the
 * value is empty or the key there twice; SAL_ERR_MEMORY. */
sal_status sali_specification_take(char *specification, const char *key, char **value,
                                   sal_error *err);

/* How many words a setting has, and whether numbers are values of it, too. */
int64_t sali_setting_words(const sal_setting *setting);
bool sali_setting_takes_numbers(const sal_setting *setting);

/* "side=10, theta=0.2": the keys with their defaults; "" without any. */
void sali_specification_keys(const sal_setting *settings, char *text, size_t room);

#endif
