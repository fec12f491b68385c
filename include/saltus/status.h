/* SPDX-License-Identifier: MIT */
/* Status codes and error messages. */
#ifndef SALTUS_STATUS_H
#define SALTUS_STATUS_H

/* Marks the functions that the shared library exports. */
#if defined(__GNUC__) && !defined(SALTUS_STATIC)
#define SAL_API __attribute__((visibility("default")))
#else
#define SAL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The list of all status codes: X(name, value, meaning). */
#define SAL_STATUS_LIST(X)                                                              \
    X(OK, 0, "success")                                                                 \
    X(ERR_MEMORY, -1, "out of memory")                                                  \
    X(ERR_ARGUMENT, -2, "an argument or option is not acceptable")                      \
    X(ERR_SHAPE, -3, "shapes of a formula do not fit")                                  \
    X(ERR_MODEL, -4, "the model gave NaN or +inf, or no state with finite f was found") \
    X(ERR_DATA, -5, "the content of a file is not acceptable")                          \
    X(ERR_NOT_FOUND, -6, "a file does not exist or cannot be opened")                   \
    X(ERR_IO, -7, "reading or writing failed")                                          \
    X(ERR_UNSUPPORTED, -8, "this build, model or sampler cannot do that")               \
    X(ERR_INTERNAL, -9, "a defect in saltus")

/* The result of a function: 0 for success, a negative code for the cause of a failure. */
typedef enum sal_status {
#define SAL_STATUS_ENUM(name, value, text) SAL_##name = (value),
    SAL_STATUS_LIST(SAL_STATUS_ENUM)
#undef SAL_STATUS_ENUM
} sal_status;

/* The first value of a struct that has defaults where its fields are zero: options, blocks of
 * variables, callbacks, sal_error. In C and in C++:
 *
 *     sal_run_options options = SAL_DEFAULTS;
 *     options.chains = 8;
 *
 * In C you may also name fields, `= { .chains = 8 }`; in C++ from 2020 on, in the struct's order.
 */
#ifdef __cplusplus
#define SAL_DEFAULTS \
    {                \
    }
#else
#define SAL_DEFAULTS \
    {                \
        0            \
    }
#endif

/* Size of a message, with room for a file name, a line and what was expected. */
#define SAL_ERROR_SIZE 1024

/* A failure and its message. Initialise the struct by SAL_DEFAULTS before use. Every fallible
 * function takes a pointer to it, or NULL if you do not want the message. On success the struct is
 * left untouched. */
typedef struct sal_error {
    sal_status status;            /* what the function returned */
    char message[SAL_ERROR_SIZE]; /* NUL-terminated UTF-8: what, where, what to do */
} sal_error;

/* The meaning of a status in words; "unknown status" for other values.
 * Threads: any. */
SAL_API const char *sal_status_string(sal_status status);

/* The library's version, "major.minor.patch".
 * Threads: any. */
SAL_API const char *sal_version(void);

#ifdef __cplusplus
}
#endif
#endif
