/* SPDX-License-Identifier: MIT */
/* Numbers as text, whatever locale the host program has set. */
#ifndef SALI_NUMBER_H
#define SALI_NUMBER_H

#include <stdint.h>

#include <saltus/status.h>

/* `size` characters as an integer: an optional sign and digits, nothing else.
 * Returns:   DATA when it is not one or does not fit; no message. */
sal_status sali_parse_int(const char *text, int64_t size, int64_t *out);

/* `size` characters as a finite decimal number: no hexadecimal, "inf" or "nan", no overflow.
 * Returns:   DATA when it is not one; no message. */
sal_status sali_parse_double(const char *text, int64_t size, double *out);

/* As sali_parse_double, and also hexadecimal numbers as C's %a writes them. */
sal_status sali_parse_real(const char *text, int64_t size, double *out);

/* Room for any double or int64_t and a NUL. */
#define SALI_NUMBER_SIZE 32

/* The shortest text that reads back as the same double (x must be finite). */
void sali_format_double(double x, char out[SALI_NUMBER_SIZE]);

/* Sort n values in ascending order; none may be NaN. */
void sali_sort_doubles(int64_t n, double *values);

#endif
