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

/* The text after "key=" in a specification, up to its end; NULL: there is no such pair. `length` is
 * that of the key. */
const char *sali_specification_find(const char *specification, const char *key, size_t length);

/* Read the pairs after the name: values[k] is the value of settings[k], or its default if the
 * specification does not give it. `settings` may be NULL: no keys. Returns: SAL_ERR_ARGUMENT naming
 * the key and what it accepts. */
sal_status sali_specification_values(const char *specification, const sal_setting *settings,
                                     double *values, sal_error *err);

/* Remove the pair "key=value" from a specification, in place. *value receives a copy of the value
 * (the text up to the next comma), which the caller frees; NULL if there is no such pair. Returns:
 * SAL_ERR_ARGUMENT when the value is empty or the key is given twice; SAL_ERR_MEMORY. */
sal_status sali_specification_take(char *specification, const char *key, char **value,
                                   sal_error *err);

/* The number of words of a setting; whether it takes numbers as well. */
int64_t sali_setting_words(const sal_setting *setting);
bool sali_setting_takes_numbers(const sal_setting *setting);

/* The word that stands for a value of a setting; NULL if the value is written as a number. */
const char *sali_setting_word(const sal_setting *setting, double value);

/* "side=10, theta=0.2": the keys with their defaults; "" without any. */
void sali_specification_keys(const sal_setting *settings, char *text, size_t room);

/* sali_specification_values of the aims "key=value,..." of an option `until`. */
sal_status sali_specification_until(const char *until, const sal_setting *aims,
                                    double values[SAL_SETTINGS], sal_error *err);

#endif
