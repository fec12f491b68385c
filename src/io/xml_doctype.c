/* SPDX-License-Identifier: MIT */
/* XML documents with a DOCTYPE that only declares elements and attributes.
 *
 * The declaration is replaced by blanks before the parser sees the document. The parser goes on
 * refusing any DOCTYPE, so whatever this scanner misses is refused too: a mistake here cannot let
 * an entity through. */
#include "io/xml.h"

#include <string.h>

#include "core/alloc.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(sali_scan *s)
{
    while (s->next < s->end && is_blank(*s->next)) {
        s->next++;
    }
}

static bool starts_with(const sali_scan *s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s->end - s->next) >= n && memcmp(s->next, word, n) == 0;
}

/* Skip `open`, at which the scanner stands, and everything up to and including `close`; false if
 * that is missing. */
static bool skip_past(sali_scan *s, const char *open, const char *close)
{
    const char *from = s->next + strlen(open);
    const char *found = memmem(from, (size_t)(s->end - from), close, strlen(close));
    s->next = found ? found + strlen(close) : s->end;
    return found;
}

/* Skip blanks, comments and processing instructions. */
static void skip_misc(sali_scan *s)
{
    for (;;) {
        skip_blanks(s);
        if (!(starts_with(s, "<?") && skip_past(s, "<?", "?>")) &&
            !(starts_with(s, "<!--") && skip_past(s, "<!--", "-->"))) {
            return;
        }
    }
}

static void skip_name(sali_scan *s)
{
    while (s->next < s->end && !is_blank(*s->next) && !strchr("[]<>\"'%&", *s->next)) {
        s->next++;
    }
}

/* ---- the declaration */

/* Skip <!ELEMENT ..> or <!ATTLIST ..> including its '>'; quoted defaults may contain anything.
 * False if it is not well-formed. */
static bool skip_declaration(sali_scan *s)
{
    char quote = '\0';
    for (s->next += strlen("<!ELEMENT"); s->next < s->end; s->next++) {
        char c = *s->next;
        if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>') {
            s->next++;
            return true;
        } else if (c == '<' || c == '%' || c == '[' || c == ']') {
            return false;
        }
    }
    return false;
}

/* Skip the declarations up to and including ']'. Returns NULL, or a message on what is wrong. */
static const char *skip_subset(sali_scan *s)
{
    for (;;) {
        skip_blanks(s);
        if (starts_with(s, "]")) {
            s->next++;
            return NULL;
        }
        if (starts_with(s, "<!--")) {
            if (!skip_past(s, "<!--", "-->")) {
                return "a comment in the DOCTYPE has no end";
            }
        } else if (!starts_with(s, "<!ELEMENT") && !starts_with(s, "<!ATTLIST")) {
            return "a DOCTYPE may declare elements and attributes only, no entities; remove it";
        } else if (!skip_declaration(s)) {
            return "a declaration in the DOCTYPE is not well-formed; remove the DOCTYPE";
        }
    }
}

/* Skip a whole DOCTYPE, at which the scanner stands. Returns NULL, or a message on what is
 * wrong. */
static const char *skip_doctype(sali_scan *s)
{
    s->next += strlen("<!DOCTYPE");
    skip_blanks(s);
    skip_name(s);
    skip_blanks(s);
    if (starts_with(s, "[")) {
        s->next++;
        const char *wrong = skip_subset(s);
        if (wrong) {
            return wrong;
        }
        skip_blanks(s);
    }
    if (!starts_with(s, ">")) {
        return starts_with(s, "SYSTEM") || starts_with(s, "PUBLIC")
                   ? "a DOCTYPE that names another file is not accepted; remove it"
                   : "the DOCTYPE is not well-formed; remove it";
    }
    s->next++;
    return NULL;
}

/* ---- the document */

xmlDoc *sali_xml_parse_doctype(sali_scan *scan)
{
    sali_scan s = *scan;
    skip_misc(&s);
    if (scan->end - scan->begin > SALI_XML_MAX_SIZE || !starts_with(&s, "<!DOCTYPE")) {
        return sali_xml_parse(scan);
    }
    const char *begin = s.next, *wrong = skip_doctype(&s);
    if (wrong) {
        sali_scan_fail(scan, sali_scan_line_of(scan, s.next), "%s", wrong);
        return NULL;
    }
    int64_t size = s.end - s.begin;
    char *copy = sali_memdup(s.begin, size, 1);
    if (!sali_scan_granted(scan, copy)) {
        return NULL;
    }
    for (int64_t i = begin - s.begin; i < s.next - s.begin; i++) {
        copy[i] = copy[i] == '\n' ? '\n' : ' ';
    }
    s.begin = copy;
    s.end = copy + size;
    xmlDoc *document = sali_xml_parse(&s);
    scan->status = s.status;
    sali_free(copy);
    return document;
}

bool sali_xml_root_is(const sali_scan *scan, const char *name)
{
    sali_scan s = *scan;
    skip_misc(&s);
    if (starts_with(&s, "<!DOCTYPE")) {
        s.next += strlen("<!DOCTYPE");
        skip_blanks(&s);
    } else if (starts_with(&s, "<")) {
        s.next++;
    } else {
        return false;
    }
    const char *from = s.next;
    skip_name(&s);
    const char *colon = memchr(from, ':', (size_t)(s.next - from));
    const char *end = s.next > from && s.next[-1] == '/' ? s.next - 1 : s.next;
    from = colon ? colon + 1 : from;
    return (size_t)(end - from) == strlen(name) && memcmp(from, name, strlen(name)) == 0;
}
