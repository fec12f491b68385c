/* SPDX-License-Identifier: MIT */
#include "models/remark.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

/* Replace the text by before + between + after. If `before` or `after` is NULL, `between` is left
 * out, too. */
static sal_status set_joined(sali_remark *remark, const char *before, const char *between,
                             const char *after, sal_error *err)
{
    const char *first = before ? before : "", *second = after ? after : "";
    between = before && after ? between : "";
    const size_t size = strlen(first) + strlen(between) + strlen(second) + 1;
    char *text = sali_alloc((int64_t)size, 1);
    if (!text) {
        return sali_fail_memory(err);
    }
    snprintf(text, size, "%s%s%s", first, between, second);
    sali_free(remark->text);
    remark->text = text;
    return SAL_OK;
}

sal_status sali_remark_add(sali_remark *remark, bool warns, sal_error *err, const char *format, ...)
{
    char statement[401];
    va_list args;
    va_start(args, format);
    vsnprintf(statement, sizeof statement, format, args);
    va_end(args);
    sal_status status = set_joined(remark, remark->text, "; ", statement, err);
    remark->warns |= status == SAL_OK && warns;
    return status;
}

sal_status sali_remark_prefix(sali_remark *remark, const char *prefix, sal_error *err)
{
    return remark->text ? set_joined(remark, prefix, ": ", remark->text, err) : SAL_OK;
}

sal_status sali_remark_move(sali_remark *to, sali_remark *from, sal_error *err)
{
    sal_status status = from->text ? set_joined(to, to->text, "; ", from->text, err) : SAL_OK;
    if (status == SAL_OK) {
        to->warns |= from->warns;
        sali_remark_free(from);
    }
    return status;
}

void sali_remark_free(sali_remark *remark)
{
    sali_free(remark->text);
    *remark = (sali_remark){ 0 };
}
