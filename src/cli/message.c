/* SPDX-License-Identifier: MIT */
/* Messages of failures, and the exit codes that go with them. */
#include <stdarg.h>

#include "cli/cli.h"

#undef cli_fail /* analysers see another definition */
int cli_fail(sal_status status, const sal_error *err)
{
    fprintf(stderr, "saltus: %s\n", err->message[0] ? err->message : sal_status_string(status));
    switch (status) {
    case SAL_OK:
        return CLI_OK;
    case SAL_ERR_ARGUMENT:
    case SAL_ERR_SHAPE:
    case SAL_ERR_UNSUPPORTED:
        return CLI_USAGE;
    case SAL_ERR_DATA:
    case SAL_ERR_MODEL:
        return CLI_DATA;
    case SAL_ERR_NOT_FOUND:
        return CLI_NO_INPUT;
    case SAL_ERR_IO:
        return CLI_IO;
    case SAL_ERR_MEMORY:
    case SAL_ERR_INTERNAL:
        return CLI_FAULT;
    }
    return CLI_FAULT;
}

int cli_error(sal_status status, const char *format, ...)
{
    sal_error err = { 0 };
    va_list args;
    va_start(args, format);
    vsnprintf(err.message, sizeof err.message, format, args);
    va_end(args);
    return cli_fail(status, &err);
}

int cli_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("saltus: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return CLI_USAGE;
}
