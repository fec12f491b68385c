/* SPDX-License-Identifier: MIT */
/* Round numbers along an axis, and how they are written. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "figure/figure.h"

int sali_put_exponent(int exponent, char *out)
{
    static const char *const digits[] = { "⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹" };
    char plain[16];
    int used = 0;
    snprintf(plain, sizeof plain, "%d", exponent);
    for (const char *p = plain; *p; p++) {
        used += sprintf(out + used, "%s", *p == '-' ? "⁻" : digits[*p - '0']);
    }
    return used;
}

/* Write mantissa * 10^exponent, the mantissa with `decimals` decimal places. */
static void put_value(double mantissa, int decimals, int exponent, char out[40])
{
    char text[SALI_FIXED_SIZE];
    sali_fixed(fabs(mantissa), decimals, text);
    int used = sprintf(out, "%s", mantissa < 0 && strcmp(text, "0") != 0 ? "−" : "");
    if (exponent == 0 || strcmp(text, "0") == 0) {
        sprintf(out + used, "%s", text);
        return;
    }
    used += strcmp(text, "1") == 0 ? sprintf(out + used, "10") : sprintf(out + used, "%s·10", text);
    sali_put_exponent(exponent, out + used);
}

/* ---- linear */

/* The smallest step, 1, 2 or 5 times 10^*power, that fits at most `most` times into `range`.
 * Returns the factor 1, 2 or 5. */
static double round_step(double range, int most, int *power)
{
    double least = range / most;
    *power = (int)floor(log10(least));
    double unit = pow(10, *power);
    for (int i = 0; i < 3; i++) {
        double step = (double[]){ 1, 2, 5 }[i];
        if (step * unit >= least * (1 - 1e-9)) {
            return step;
        }
    }
    (*power)++;
    return 1;
}

/* Append round numbers within a linear scale, in steps for about `most` ticks, all with the same
 * exponent and number of decimals. */
static void linear_ticks(const sali_scale *scale, int most, sali_ticks *ticks)
{
    int power = 0;
    double half = scale->high / 2 - scale->low / 2;
    double step = round_step(fmin(half, 5e307) * 2, most, &power);
    double unit = pow(10, power);
    /* Counts of units, exact while the range is more than 1e-11 of the numbers. */
    double first = ceil(scale->low / unit / step - 1e-6);
    double last = floor(scale->high / unit / step + 1e-6);
    double largest = fmax(fabs(first), fabs(last)) * step;
    int digits = largest > 0 ? (int)floor(log10(largest * 1.000001)) : 0;
    bool plain = power + digits < 6 && power >= -6;
    int exponent = plain ? 0 : power + digits;
    for (double k = first; k <= last && ticks->n < SALI_MAX_TICKS; k++) {
        sali_tick *tick = &ticks->tick[ticks->n++];
        int places = exponent - power; /* behind the point */
        tick->value = power < 0 && power > -300 ? k * step / pow(10, -power) : k * step * unit;
        if (places <= 6) {
            put_value(k * step * pow(10, -places), places < 0 ? 0 : places, exponent, tick->text);
        } else { /* neighbours differ far behind the point */
            snprintf(tick->text, sizeof tick->text, "%s%.0f", k < 0 ? "−" : "", fabs(k * step));
            sali_put_exponent(power, strcpy(tick->text + strlen(tick->text), "·10") + 4);
        }
    }
}

/* ---- logarithmic */

/* Append the tick mantissa * 10^power; written as a plain number if `plain`, which is so if all
 * ticks have at most five digits. */
static void add_power(sali_ticks *ticks, int mantissa, int power, bool plain)
{
    double value = mantissa * pow(10, power);
    if (ticks->n == SALI_MAX_TICKS || !isfinite(value) || value == 0) {
        return; /* axes may end beyond what a double can hold */
    }
    sali_tick *tick = &ticks->tick[ticks->n++];
    tick->value = value;
    if (plain || power == 0 || power == 1) {
        put_value(value, 4, 0, tick->text);
    } else {
        put_value(mantissa, 0, power, tick->text);
    }
}

/* Make the ticks m * 10^power within the scale, for each digit m in `mantissas` and every
 * `every`-th power. */
static void power_ticks(const sali_scale *scale, const char *mantissas, int every,
                        sali_ticks *ticks)
{
    int first = (int)floor(scale->low - 1e-9), last = (int)ceil(scale->high + 1e-9);
    bool plain = scale->low >= -4 - 1e-9 && scale->high < 5 - 1e-9;
    ticks->n = 0;
    for (int power = first; power <= last; power++) {
        for (const char *m = mantissas; *m && power % every == 0; m++) {
            double at = power + log10(*m - '0');
            if (at >= scale->low - 1e-9 && at <= scale->high + 1e-9) {
                add_power(ticks, *m - '0', power, plain);
            }
        }
    }
}

/* Make the ticks from the finest set of mantissas whose closest neighbours have about 1 / `most` of
 * the axis between them; a finer set if that leaves fewer than two ticks. */
static void log_ticks(const sali_scale *scale, int most, sali_ticks *ticks)
{
    static const struct {
        const char *mantissas;
        double closest; /* neighbours, in decades */
    } sets[] = { { "1", 1 }, { "125", 0.301 }, { "12357", 0.146 }, { "123456789", 0.0457 } };
    double decades = scale->high - scale->low;
    int every = 1, set = 0;
    while (decades / every > most) {
        every++;
    }
    while (set < 3 && 1.25 * most * sets[set + 1].closest >= decades) {
        set++;
    }
    do {
        power_ticks(scale, sets[set].mantissas, every, ticks);
    } while (ticks->n < 2 && ++set < 4);
}

void sali_ticks_make(const sali_scale *scale, int most, sali_ticks *ticks)
{
    ticks->n = 0;
    if (scale->logarithmic && scale->high - scale->low >= 0.15) {
        log_ticks(scale, most, ticks);
    }
    if (scale->logarithmic && ticks->n < 2) { /* fewer than two ticks: as on a linear axis */
        ticks->n = 0;
        sali_scale plain = { .low = pow(10, scale->low), .high = pow(10, scale->high) };
        linear_ticks(&plain, most, ticks);
    } else if (!scale->logarithmic) {
        linear_ticks(scale, most, ticks);
    }
}
