/* SPDX-License-Identifier: MIT */
#include "core/error.h"

#undef sali_fail /* analysers see their own */
#undef sali_fail_memory

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *sal_status_string(sal_status status)
{
    switch (status) {
#define SALI_STATUS_CASE(name, value, text) \
    case SAL_##name:                        \
        return text;
        SAL_STATUS_LIST(SALI_STATUS_CASE)
#undef SALI_STATUS_CASE
    }
    return "unknown status";
}

const char *sal_version(void)
{
    return SALI_VERSION;
}

sal_status sali_fail(sal_error *err, sal_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        va_start(args, format);
        err->status = status;
        vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

sal_status sali_fail_prefix(sal_error *err, sal_status status, const char *format, ...)
{
    if (err) {
        char inner[SAL_ERROR_SIZE];
        memcpy(inner, err->message, sizeof inner);
        va_list args;
        va_start(args, format);
        int n = vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        size_t used = n < 0 ? 0 : (size_t)n;
        if (used + 3 < sizeof err->message) {
            size_t room = sizeof err->message - used - 3, length = strlen(inner);
            length = length < room ? length : room;
            memcpy(err->message + used, ": ", 2);
            memcpy(err->message + used + 2, inner, length);
            err->message[used + 2 + length] = '\0';
        }
        err->status = status;
    }
    return status;
}

sal_status sali_check_range(const char *name, int64_t value, int64_t low, int64_t high,
                            sal_error *err)
{
    return value >= low && value <= high
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT, "%s is %lld; expected %lld to %lld", name,
                           (long long)value, (long long)low, (long long)high);
}

sal_status sali_fail_memory(sal_error *err)
{
    return sali_fail(err, SAL_ERR_MEMORY, "out of memory");
}
