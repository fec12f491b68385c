/* SPDX-License-Identifier: MIT */
/* Work in which another library may crash is tried in a child process first. */
#ifndef SALI_ATTEMPT_H
#define SALI_ATTEMPT_H

#include <stdint.h>

#include <saltus/status.h>

/* Seconds of processor time, and bytes of memory beyond what the process has now. */
typedef struct sali_attempt_limits {
    double seconds;
    int64_t bytes;
} sali_attempt_limits;

/* Do `work` in a child process, which prints nothing and leaves no core file. The work must not
 * wait for a lock or another thread: the child has this thread only.
 * Returns: OK when the work ended; DATA, with the message "NAME: WHAT", when it crashed or
 *          reached a limit; IO when there is no child. */
sal_status sali_attempt(const char *name, const char *what, const sali_attempt_limits *limits,
                        void (*work)(const void *), const void *data, sal_error *err);

#endif
