/* SPDX-License-Identifier: MIT */
/* A bound on the attributes of a tag, checked before parsing: libxml2 compares all attributes of a
 * tag with one another, so a small file with one long tag would take hours. The check need not
 * understand what the parser will refuse. */
#include <string.h>

#include "io/xml.h"

/* If a comment or the like begins with `open` at p, the place after its `close`, or `end` if it has
 * none; NULL if `open` is not at p. */
static const char *skip_aside(const char *p, const char *end, const char *open, const char *close)
{
    size_t n = strlen(open);
    if ((size_t)(end - p) < n || memcmp(p, open, n) != 0) {
        return NULL;
    }
    const char *found = memmem(p + n, (size_t)(end - p) - n, close, strlen(close));
    return found ? found + strlen(close) : end;
}

/* The '>' of the tag at p, or `end`; *values is the number of quoted values in the tag. */
static const char *skip_tag(const char *p, const char *end, int64_t *values)
{
    *values = 0;
    while (p < end && *p != '>') {
        if (*p == '"' || *p == '\'') {
            const char *close = p + 1 < end ? memchr(p + 1, *p, (size_t)(end - p - 1)) : NULL;
            p = close ? close : end - 1;
            ++*values;
        }
        p++;
    }
    return p;
}

void sali_xml_check_tags(sali_scan *scan)
{
    const char *end = scan->end;
    for (const char *p = scan->begin; p < end && (p = memchr(p, '<', (size_t)(end - p)));) {
        const char *after = skip_aside(p, end, "<!--", "-->");
        after = after ? after : skip_aside(p, end, "<![CDATA[", "]]>");
        after = after ? after : skip_aside(p, end, "<?", "?>");
        int64_t values = 0;
        p = after ? after : skip_tag(p, end, &values);
        if (values > SALI_XML_MAX_ATTRIBUTES) {
            sali_scan_fail(scan, sali_scan_line_of(scan, p), "a tag with more than %d attributes",
                           SALI_XML_MAX_ATTRIBUTES);
            return;
        }
    }
}
