/* SPDX-License-Identifier: MIT */
/* What another library may not survive is tried in a child process first. */
#ifndef SALI_ATTEMPT_H
#define SALI_ATTEMPT_H

#include <saltus/status.h>

/* Do `work` in a child process, which prints nothing, leaves no core file and has so many seconds
 * of a processor. It must not wait for a lock or another thread: the child has this thread only.
 * Returns: OK when it came to its end; DATA, with the message "NAME: .. WHAT", when it crashed or
 *          took longer; IO, MEMORY when there is no child. */
sal_status sali_attempt(const char *name, const char *what, double seconds,
                        void (*work)(const void *), const void *data, sal_error *err);

#endif
