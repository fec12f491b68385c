/* SPDX-License-Identifier: MIT */
/* Raising errors. Every fallible function ends in `return SAL_OK` or `return sali_fail(...)`. */
#ifndef SALI_ERROR_H
#define SALI_ERROR_H

#include <stdint.h>

#include <saltus/status.h>

/* Write a formatted message into *err (if not NULL) and return `status`. */
sal_status sali_fail(sal_error *err, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Put "prefix: " before a message already in *err, to say where it happened; returns `status`. */
sal_status sali_fail_prefix(sal_error *err, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Whether an option lies in low .. high. Returns: SAL_ERR_ARGUMENT naming it. */
sal_status sali_check_range(const char *name, int64_t value, int64_t low, int64_t high,
                            sal_error *err);

/* The out-of-memory error; it formats without allocating. */
sal_status sali_fail_memory(sal_error *err) __attribute__((cold));

/* Analysers see one file at a time: a failure is never SAL_OK (scripts/nightly). */
#ifdef SALTUS_ANALYSE
#define sali_fail(err, status, ...) (sali_fail(err, status, __VA_ARGS__), (status))
#define sali_fail_memory(err) (sali_fail_memory(err), SAL_ERR_MEMORY)
#endif

/* The last step of a function that creates something. On failure, destroy(made) frees what exists
 * of it; on success, *out receives it. The value is the status. */
#define SALI_GIVE(status, made, out, destroy) \
    ((status) ? (destroy(made), (status)) : (*(out) = (made), SAL_OK))

/* SALI_GIVE for a struct that is held by value: `destroy` takes its address. */
#define SALI_GIVE_STRUCT(status, made, out, destroy) \
    ((status) ? (destroy(&(made)), (status)) : (*(out) = (made), SAL_OK))

#endif
