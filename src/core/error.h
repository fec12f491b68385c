/* Raising errors. Every fallible function ends in `return SAL_OK` or `return sali_fail(...)`. */
#ifndef SALI_ERROR_H
#define SALI_ERROR_H

#include <saltus/status.h>

/* Write a formatted message into *err (if not NULL) and return `status`. */
sal_status sali_fail(sal_error *err, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* Put "prefix: " before a message already in *err, to say where it happened; returns `status`. */
sal_status sali_fail_prefix(sal_error *err, sal_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The out-of-memory error; it formats without allocating. */
sal_status sali_fail_memory(sal_error *err) __attribute__((cold));

#endif
