/* SPDX-License-Identifier: MIT */
/* XML documents with a DOCTYPE that only declares elements and attributes.
 *
 * The declaration is replaced by blanks before the parser sees the document. The parser goes on
 * refusing any DOCTYPE, so whatever this scanner misses is refused too: a mistake here cannot let
 * an entity through. */
#include "io/xml.h"

#include <string.h>

#include "core/alloc.h"
#include "core/error.h"

typedef struct scanner {
    const char *begin, *at, *end;
} scanner;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(scanner *s)
{
    while (s->at < s->end && is_blank(*s->at)) {
        s->at++;
    }
}

static bool starts(const scanner *s, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(s->end - s->at) >= n && memcmp(s->at, word, n) == 0;
}

/* Step over `open`, where the scanner stands, to after `close`; false when that is missing. */
static bool skip_past(scanner *s, const char *open, const char *close)
{
    const char *from = s->at + strlen(open);
    const char *found = memmem(from, (size_t)(s->end - from), close, strlen(close));
    s->at = found ? found + strlen(close) : s->end;
    return found;
}

/* To the first character of a document that is no blank, comment or processing instruction. */
static void skip_misc(scanner *s)
{
    for (;;) {
        skip_blanks(s);
        if (!(starts(s, "<?") && skip_past(s, "<?", "?>")) &&
            !(starts(s, "<!--") && skip_past(s, "<!--", "-->"))) {
            return;
        }
    }
}

static void skip_name(scanner *s)
{
    while (s->at < s->end && !is_blank(*s->at) && !strchr("[]<>\"'%&", *s->at)) {
        s->at++;
    }
}

static scanner scan_document(const char *text, int64_t size)
{
    scanner s = { text, text, text + size };
    s.at += starts(&s, "\xef\xbb\xbf") ? 3 : 0;
    skip_misc(&s);
    return s;
}

/* ---- the declaration */

/* To after the '>' of <!ELEMENT ..> or <!ATTLIST ..>; quoted defaults may hold anything. */
static bool skip_declaration(scanner *s)
{
    char quote = '\0';
    for (s->at += strlen("<!ELEMENT"); s->at < s->end; s->at++) {
        char c = *s->at;
        if (quote) {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '>') {
            s->at++;
            return true;
        } else if (c == '<' || c == '%' || c == '[' || c == ']') {
            return false;
        }
    }
    return false;
}

/* What is wrong with the declarations up to ']'; NULL: nothing, and the scanner is after it. */
static const char *skip_subset(scanner *s)
{
    for (;;) {
        skip_blanks(s);
        if (starts(s, "]")) {
            s->at++;
            return NULL;
        }
        if (starts(s, "<!--")) {
            if (!skip_past(s, "<!--", "-->")) {
                return "a comment in the DOCTYPE has no end";
            }
        } else if (!starts(s, "<!ELEMENT") && !starts(s, "<!ATTLIST")) {
            return "a DOCTYPE may declare elements and attributes only, no entities; remove it";
        } else if (!skip_declaration(s)) {
            return "a declaration in the DOCTYPE is not well-formed; remove the DOCTYPE";
        }
    }
}

/* The same for all of it, from "<!DOCTYPE". */
static const char *skip_doctype(scanner *s)
{
    s->at += strlen("<!DOCTYPE");
    skip_blanks(s);
    skip_name(s);
    skip_blanks(s);
    if (starts(s, "[")) {
        s->at++;
        const char *wrong = skip_subset(s);
        if (wrong) {
            return wrong;
        }
        skip_blanks(s);
    }
    if (!starts(s, ">")) {
        return starts(s, "SYSTEM") || starts(s, "PUBLIC")
                   ? "a DOCTYPE that names another file is not accepted; remove it"
                   : "the DOCTYPE is not well-formed; remove it";
    }
    s->at++;
    return NULL;
}

/* ---- the document */

static long line_of(const scanner *s)
{
    long line = 1;
    for (const char *c = s->begin; c < s->at; c++) {
        line += *c == '\n';
    }
    return line;
}

sal_status sali_xml_parse_doctype(const char *name, const void *text, int64_t size, xmlDoc **out,
                                  sal_error *err)
{
    if (size > SALI_XML_MAX_SIZE) {
        return sali_xml_parse(name, text, size, out, err); /* refuses it */
    }
    scanner s = scan_document(size > 0 ? text : "", size);
    if (!starts(&s, "<!DOCTYPE")) {
        return sali_xml_parse(name, text, size, out, err);
    }
    int64_t begin = s.at - s.begin;
    const char *wrong = skip_doctype(&s);
    if (wrong) {
        return sali_fail(err, SAL_ERR_DATA, "%s:%ld: %s", name, line_of(&s), wrong);
    }
    char *copy = sali_memdup(text, size, 1);
    if (!copy) {
        return sali_fail_memory(err);
    }
    for (int64_t i = begin; i < s.at - s.begin; i++) {
        copy[i] = copy[i] == '\n' ? '\n' : ' ';
    }
    sal_status status = sali_xml_parse(name, copy, size, out, err);
    sali_free(copy);
    return status;
}

bool sali_xml_root_is(const char *text, int64_t size, const char *name)
{
    scanner s = scan_document(text, size);
    if (starts(&s, "<!DOCTYPE")) {
        s.at += strlen("<!DOCTYPE");
        skip_blanks(&s);
    } else if (starts(&s, "<")) {
        s.at++;
    } else {
        return false;
    }
    const char *from = s.at;
    skip_name(&s);
    const char *colon = memchr(from, ':', (size_t)(s.at - from));
    const char *end = s.at > from && s.at[-1] == '/' ? s.at - 1 : s.at;
    from = colon ? colon + 1 : from;
    return (size_t)(end - from) == strlen(name) && memcmp(from, name, strlen(name)) == 0;
}
