#include "io/text_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/number.h"

void sali_text_open(sali_text_output *w, const char *path, sal_error *err)
{
    *w = (sali_text_output){ .err = err };
    w->status = sali_output_open(path, &w->out, err);
}

void sali_put_text(sali_text_output *w, const char *text)
{
    if (w->status == SAL_OK) {
        w->status = sali_output_write(&w->out, text, (int64_t)strlen(text), w->err);
    }
}

void sali_put_int(sali_text_output *w, int64_t value, const char *after)
{
    char text[SALI_NUMBER_SIZE];
    snprintf(text, sizeof text, "%lld", (long long)value);
    sali_put_text(w, text);
    sali_put_text(w, after);
}

void sali_put_double(sali_text_output *w, double value, const char *after)
{
    char text[SALI_NUMBER_SIZE];
    if (w->status == SAL_OK && sali_format_double(value, text) != SAL_OK) {
        w->status = sali_fail_memory(w->err);
    }
    if (w->status == SAL_OK) {
        sali_put_text(w, text);
        sali_put_text(w, after);
    }
}

void sali_put_exp(sali_text_output *w, double log_value, const char *after)
{
    double value = exp(log_value);
    if (isfinite(value) && (value > 0 || log_value == -INFINITY)) {
        sali_put_double(w, value, after);
    } else if (w->status == SAL_OK) {
        w->status = sali_fail(w->err, SAL_ERR_ARGUMENT,
                              "%s: a table entry has log %g, whose exponential is no positive "
                              "finite number; subtract a constant from that table",
                              w->out.path, log_value);
    }
}

const char *sali_separator(int64_t i, int64_t n)
{
    return i + 1 == n ? "\n" : " ";
}

sal_status sali_text_close(sali_text_output *w)
{
    if (w->status == SAL_OK) {
        w->status = sali_output_commit(&w->out, w->err);
    }
    sali_output_discard(&w->out);
    return w->status;
}
