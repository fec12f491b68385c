/* SPDX-License-Identifier: MIT */
/* Texts: how wide they are, and where they are broken. */
#include <math.h>
#include <string.h>

#include "core/utf8.h"
#include "figure/figure.h"

/* The approximate width of a character, in units of the font size. */
static double letter_width(int32_t code)
{
    if (code >= 0x1100) {
        return code >= 0x2000 && code < 0x2e80 ? 0.6 : 1;
    }
    if (code < 0x80 && strchr("iljI.,:;'|!()[] ", (int)code)) {
        return 0.35;
    }
    return code < 0x80 && (strchr("mwMW%@", (int)code)) ? 0.9 : 0.63;
}

double sali_text_width(const char *text)
{
    const char *end = text + strlen(text);
    double width = 0;
    while (text < end) {
        width += SALI_FONT * letter_width(sali_utf8_next(&text, end));
    }
    return width;
}

int64_t sali_text_line(const char *text, double width)
{
    /* A line ends within this many bytes, so that a long text is not measured again for each
     * line. */
    const char *end = text + strnlen(text, SALI_LINE_BYTES + 4), *blank = NULL;
    double used = 0;
    for (const char *at = text; at < end;) {
        const char *here = at;
        int32_t code = sali_utf8_next(&at, end);
        used += SALI_FONT * letter_width(code);
        blank = code == ' ' ? here : blank;
        bool full = (used > width && code != ' ') || at - text > SALI_LINE_BYTES;
        if (full && here > text) {
            return (blank ? blank + 1 : here) - text;
        }
    }
    return end - text;
}

int64_t sali_text_lines(const char *text, double width)
{
    int64_t n = 0;
    while (text && *text) {
        text += sali_text_line(text, width);
        n++;
    }
    return n;
}

double sali_label_room(double length)
{
    return fmax(1.1 * length, 120);
}

int64_t sali_label_lines(const char *label, double length)
{
    int64_t lines = sali_text_lines(label, sali_label_room(length));
    return lines < 2 ? lines : 2;
}

const char *sali_text_next(const char *text, double width, bool last,
                           char line[SALI_LINE_BYTES + 2])
{
    int64_t size = sali_text_line(text, width);
    memcpy(line, text, (size_t)size);
    line[size] = '\0';
    if (last) {
        sali_text_fit(text, width, line, SALI_LINE_BYTES + 2);
    }
    return text + size;
}

void sali_text_fit(const char *text, double width, char *out, int64_t size)
{
    const char *end = text + strlen(text), *fits = text;
    double used = 0;
    for (const char *at = text; at < end;) {
        used += SALI_FONT * letter_width(sali_utf8_next(&at, end));
        bool whole = at == end;
        if (used + (whole ? 0 : SALI_FONT) > width || at - text + (whole ? 1 : 4) > size) {
            break;
        }
        fits = at;
    }
    memcpy(out, text, (size_t)(fits - text));
    strcpy(out + (fits - text), fits < end ? "…" : "");
}
