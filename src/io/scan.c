/* SPDX-License-Identifier: MIT */
#include "io/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/number.h"

void sali_scan_init(sali_scan *scan, const char *name, const void *data, int64_t size,
                    unsigned comments)
{
    const char *text = size > 0 ? data : "";
    int64_t mark = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    *scan = (sali_scan){ .name = name, .line = 1, .comments = comments };
    scan->begin = scan->next = text + mark;
    scan->end = text + size;
}

const char *sali_show(const char *text, int64_t size, char out[SALI_SHOW_SIZE])
{
    const int64_t room = SALI_SHOW_SIZE - 4;
    int64_t n = size < room ? size : room;
    for (int64_t i = 0; i < n; i++) {
        out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    }
    strcpy(out + n, size > room ? "..." : "");
    return out;
}

sal_status sali_scan_fail(const sali_scan *scan, int64_t line, sal_error *err, const char *format,
                          ...)
{
    char message[SAL_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return sali_fail(err, SAL_ERR_DATA, "%s:%lld: %s", scan->name, (long long)line, message);
}

sal_status sali_scan_expected(const sali_scan *scan, const sali_token *token, const char *what,
                              sal_error *err)
{
    char shown[SALI_SHOW_SIZE];
    if (token->size == 0) {
        return sali_scan_fail(scan, token->line, err, "expected %s, found the end of the file",
                              what);
    }
    return sali_scan_fail(scan, token->line, err, "expected %s, found '%s'", what,
                          sali_show(token->text, token->size, shown));
}

bool sali_scan_line(sali_scan *scan, sali_scan *line)
{
    if (scan->next >= scan->end) {
        return false;
    }
    const char *end = memchr(scan->next, '\n', (size_t)(scan->end - scan->next));
    *line = *scan;
    line->end = end ? end : scan->end;
    scan->next = end ? end + 1 : scan->end;
    scan->line++;
    return true;
}

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int at(const sali_scan *scan, const char *two)
{
    return scan->end - scan->next >= 2 && memcmp(scan->next, two, 2) == 0;
}

/* Does a comment to the end of the line start here? */
static int at_line_comment(const sali_scan *scan)
{
    return ((scan->comments & SALI_COMMENT_HASH) && *scan->next == '#') ||
           ((scan->comments & SALI_COMMENT_PERCENT) && *scan->next == '%') ||
           ((scan->comments & SALI_COMMENT_CPP) && at(scan, "//"));
}

static int at_block_comment(const sali_scan *scan)
{
    return (scan->comments & SALI_COMMENT_C) && at(scan, "/*");
}

/* A lone "c" that begins a line; blanks may precede it. */
static int at_letter_c(const sali_scan *scan)
{
    const char *p = scan->next;
    if (!(scan->comments & SALI_COMMENT_LETTER_C) || *p != 'c' ||
        (p + 1 < scan->end && !is_blank(p[1]))) {
        return 0;
    }
    while (p > scan->begin && (p[-1] == ' ' || p[-1] == '\t')) {
        p--;
    }
    return p == scan->begin || p[-1] == '\n' || p[-1] == '\r';
}

static void skip_line(sali_scan *scan)
{
    const char *end = memchr(scan->next, '\n', (size_t)(scan->end - scan->next));
    scan->next = end ? end : scan->end;
}

static sal_status skip_block_comment(sali_scan *scan, sal_error *err)
{
    int64_t begin = scan->line;
    for (scan->next += 2; scan->next < scan->end; scan->next++) {
        if (at(scan, "*/")) {
            scan->next += 2;
            return SAL_OK;
        }
        scan->line += *scan->next == '\n';
    }
    return sali_scan_fail(scan, begin, err, "this comment has no end; expected */");
}

static sal_status skip_blanks(sali_scan *scan, sal_error *err)
{
    while (scan->next < scan->end) {
        if (is_blank(*scan->next)) {
            scan->line += *scan->next == '\n';
            scan->next++;
        } else if (at_line_comment(scan) || at_letter_c(scan)) {
            skip_line(scan);
        } else if (at_block_comment(scan)) {
            sal_status status = skip_block_comment(scan, err);
            if (status != SAL_OK) {
                return status;
            }
        } else {
            break;
        }
    }
    return SAL_OK;
}

sal_status sali_scan_token(sali_scan *scan, sali_token *token, sal_error *err)
{
    sal_status status = skip_blanks(scan, err);
    if (status != SAL_OK) {
        return status;
    }
    const char *begin = scan->next;
    while (scan->next < scan->end && !is_blank(*scan->next) && !at_line_comment(scan) &&
           !at_block_comment(scan)) {
        scan->next++;
    }
    *token = (sali_token){ begin, scan->next - begin, scan->line };
    return SAL_OK;
}

bool sali_scan_on_line(const sali_scan *scan, int64_t line)
{
    sali_scan ahead = *scan;
    sali_token token;
    return sali_scan_token(&ahead, &token, NULL) == SAL_OK && token.size > 0 && token.line == line;
}

sal_status sali_scan_int(sali_scan *scan, const char *what, int64_t min, int64_t max, int64_t *out,
                         sal_error *err)
{
    sali_token token;
    sal_status status = sali_scan_token(scan, &token, err);
    if (status != SAL_OK) {
        return status;
    }
    int64_t value;
    if (sali_parse_int(token.text, token.size, &value) != SAL_OK || value < min || value > max) {
        char expected[256];
        const char *form = min == max         ? "%s (%lld)"
                           : max == INT64_MAX ? "%s (an integer, at least %lld)"
                                              : "%s (an integer, %lld to %lld)";
        snprintf(expected, sizeof expected, form, what, (long long)min, (long long)max);
        return sali_scan_expected(scan, &token, expected, err);
    }
    *out = value;
    return SAL_OK;
}

sal_status sali_scan_double(sali_scan *scan, const char *what, double *out, sal_error *err)
{
    sali_token token;
    sal_status status = sali_scan_token(scan, &token, err);
    if (status != SAL_OK) {
        return status;
    }
    status = sali_parse_double(token.text, token.size, out);
    if (status == SAL_ERR_MEMORY) {
        return sali_fail_memory(err);
    }
    if (status != SAL_OK) {
        char expected[256];
        snprintf(expected, sizeof expected, "%s (a finite decimal number)", what);
        return sali_scan_expected(scan, &token, expected, err);
    }
    return SAL_OK;
}

sal_status sali_scan_words(const sali_scan *scan, int64_t *n, sal_error *err)
{
    sali_scan ahead = *scan;
    sali_token token;
    for (*n = 0;; ++*n) {
        sal_status status = sali_scan_token(&ahead, &token, err);
        if (status != SAL_OK || token.size == 0) {
            return status;
        }
    }
}

int64_t sali_scan_room(const sali_scan *scan)
{
    return (scan->end - scan->next + 1) / 2; /* a character each, and a blank between */
}

sal_status sali_scan_count(sali_scan *scan, const char *what, int64_t min, int64_t *out,
                           sal_error *err)
{
    int64_t count;
    sal_status status = sali_scan_int(scan, what, min, INT64_MAX, &count, err);
    if (status != SAL_OK) {
        return status;
    }
    if (count > sali_scan_room(scan)) {
        return sali_scan_fail(scan, scan->line, err,
                              "%s is %lld, more than the rest of the file can hold", what,
                              (long long)count);
    }
    *out = count;
    return SAL_OK;
}

sal_status sali_scan_end(sali_scan *scan, sal_error *err)
{
    sali_token token;
    sal_status status = sali_scan_token(scan, &token, err);
    if (status == SAL_OK && token.size > 0) {
        return sali_scan_expected(scan, &token, "the end of the file", err);
    }
    return status;
}

int sali_token_is(const sali_token *token, const char *word)
{
    int64_t i = 0;
    for (; i < token->size && word[i]; i++) {
        char a = token->text[i];
        char b = word[i];
        a = (char)(a >= 'A' && a <= 'Z' ? a + 32 : a);
        b = (char)(b >= 'A' && b <= 'Z' ? b + 32 : b);
        if (a != b) {
            return 0;
        }
    }
    return i == token->size && !word[i];
}
