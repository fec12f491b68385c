/* SPDX-License-Identifier: MIT */
#include "io/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"

sali_scan sali_scan_of(const char *name, const void *data, int64_t size, unsigned comments,
                       sal_error *err)
{
    const char *text = size > 0 ? data : "", *end = text + size;
    bool mark = !(comments & SALI_BYTES) && size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    text += mark ? 3 : 0;
    return (sali_scan){ name, text, text, end, 1, comments, SAL_OK, err, NULL };
}

const char *sali_show(const char *text, int64_t size, char out[SALI_SHOW_SIZE])
{
    const int64_t room = SALI_SHOW_SIZE - 4;
    size = size < 0 ? (int64_t)strlen(text) : size;
    int64_t n = size < room ? size : room;
    for (int64_t i = 0; i < n; i++) {
        out[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    }
    strcpy(out + n, size > room ? "..." : "");
    return out;
}

/* ---- failures */

/* Record a failure with DATA, unless there is one: "name:line: message", or without the line if it
 * is 0. */
static sal_status record_failure(sali_scan *scan, int64_t line, const char *format, va_list args)
{
    if (scan->status == SAL_OK) {
        char message[SAL_ERROR_SIZE], at[SALI_NUMBER_SIZE] = "";
        vsnprintf(message, sizeof message, format, args);
        if (line > 0) {
            snprintf(at, sizeof at, ":%lld", (long long)line);
        }
        scan->status = sali_fail(scan->err, SAL_ERR_DATA, "%s%s: %s", scan->name, at, message);
    }
    return scan->status;
}

sal_status sali_scan_fail(sali_scan *scan, int64_t line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record_failure(scan, line, format, args);
    va_end(args);
    return scan->status;
}

sal_status sali_scan_refuse(sali_scan *scan, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record_failure(scan, 0, format, args);
    va_end(args);
    return scan->status;
}

sal_status sali_scan_expected(sali_scan *scan, const sali_token *token, const char *what)
{
    char shown[SALI_SHOW_SIZE];
    bool end = token->size == 0;
    return sali_scan_fail(scan, token->line, "expected %s, found %s%s%s", what, end ? "" : "'",
                          end ? "the end of the file" : sali_show(token->text, token->size, shown),
                          end ? "" : "'");
}

#undef sali_scan_granted /* analysers see their own */
bool sali_scan_granted(sali_scan *scan, bool granted)
{
    if (scan->status == SAL_OK && !granted) {
        scan->status = sali_fail_memory(scan->err);
    }
    return scan->status == SAL_OK;
}

void *sali_scan_alloc(sali_scan *scan, int64_t count, size_t size)
{
    void *array = scan->status == SAL_OK ? sali_alloc(count, size) : NULL;
    sali_scan_granted(scan, array);
    return array;
}

char *sali_scan_copy(sali_scan *scan, const char *text, int64_t size)
{
    char *copy = sali_scan_alloc(scan, size + 1, 1);
    if (copy && size > 0) {
        memcpy(copy, text, (size_t)size);
    }
    return copy;
}

bool sali_scan_grow(sali_scan *scan, void **array, int64_t *capacity, int64_t need, size_t size)
{
    return sali_scan_granted(scan, sali_grow(array, capacity, need, size) == 0);
}

/* ---- lines and words */

bool sali_scan_line(sali_scan *scan, sali_scan *line)
{
    scan->status = scan->status ? scan->status : line->status;
    if (scan->status != SAL_OK || scan->next >= scan->end) {
        return false;
    }
    const char *end = memchr(scan->next, '\n', (size_t)(scan->end - scan->next));
    *line = *scan;
    line->end = end ? end : scan->end;
    scan->next = end ? end + 1 : scan->end;
    scan->line++;
    return true;
}

static int is_at(const sali_scan *scan, const char *two)
{
    return scan->end - scan->next >= 2 && memcmp(scan->next, two, 2) == 0;
}

/* Whether a comment to the end of the line starts here. */
static int at_line_comment(const sali_scan *scan)
{
    return ((scan->comments & SALI_COMMENT_HASH) && *scan->next == '#') ||
           ((scan->comments & SALI_COMMENT_PERCENT) && *scan->next == '%') ||
           ((scan->comments & SALI_COMMENT_CPP) && is_at(scan, "//"));
}

static int at_block_comment(const sali_scan *scan)
{
    return (scan->comments & SALI_COMMENT_C) && is_at(scan, "/*");
}

/* Whether a comment of DIMACS files starts here: a lone "c" that begins a line, perhaps after
 * blanks. */
static int at_letter_c(const sali_scan *scan)
{
    const char *p = scan->next;
    if (!(scan->comments & SALI_COMMENT_LETTER_C) || *p != 'c' ||
        (p + 1 < scan->end && !sali_is_blank(p[1]))) {
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

/* Skip a comment of C, counting its lines; fails if it has no end. */
static void skip_block_comment(sali_scan *scan)
{
    int64_t begin = scan->line;
    for (scan->next += 2; scan->next < scan->end; scan->next++) {
        if (is_at(scan, "*/")) {
            scan->next += 2;
            return;
        }
        scan->line += *scan->next == '\n';
    }
    sali_scan_fail(scan, begin, "this comment has no end; expected */");
}

/* Skip blanks and the comments that this scanner knows, counting lines. */
static void skip_blanks(sali_scan *scan)
{
    while (scan->status == SAL_OK && scan->next < scan->end) {
        if (sali_is_blank(*scan->next)) {
            scan->line += *scan->next == '\n';
            scan->next++;
        } else if (at_line_comment(scan) || at_letter_c(scan)) {
            skip_line(scan);
        } else if (at_block_comment(scan)) {
            skip_block_comment(scan);
        } else {
            break;
        }
    }
}

sali_token sali_scan_token(sali_scan *scan)
{
    skip_blanks(scan);
    const char *begin = scan->next;
    while (scan->status == SAL_OK && scan->next < scan->end && !sali_is_blank(*scan->next) &&
           !at_line_comment(scan) && !at_block_comment(scan)) {
        scan->next++;
    }
    return (sali_token){ begin, scan->next - begin, scan->line };
}

/* Whether the character ends a word among `marks`. */
static bool ends_piece(char c, const char *marks)
{
    return sali_is_blank(c) || c == '"' || (c && strchr(marks, c));
}

/* Skip a text in double quotes, counting its lines; fails if it has no end. */
static void skip_quoted(sali_scan *scan)
{
    int64_t begin = scan->line;
    for (scan->next++; scan->next < scan->end; scan->next++) {
        if (*scan->next == '"') {
            scan->next++;
            return;
        }
        scan->line += *scan->next == '\n';
    }
    sali_scan_fail(scan, begin, "this text in quotes has no end; expected \"");
}

sali_token sali_scan_piece(sali_scan *scan, const char *marks)
{
    skip_blanks(scan);
    sali_token piece = { scan->next, 0, scan->line };
    if (scan->status != SAL_OK || scan->next >= scan->end) {
        return piece;
    }
    if (*scan->next == '"') {
        skip_quoted(scan);
    } else {
        do {
            scan->next++;
        } while (scan->next < scan->end && !ends_piece(scan->next[-1], marks) &&
                 !ends_piece(*scan->next, marks) && !at_line_comment(scan) &&
                 !at_block_comment(scan));
    }
    piece.size = scan->status == SAL_OK ? scan->next - piece.text : 0;
    return piece;
}

void sali_scan_need_mark(sali_scan *scan, const char *marks, char mark)
{
    const char what[] = { '\'', mark, '\'', '\0' };
    sali_token piece = sali_scan_piece(scan, marks);
    if (!sali_piece_is(&piece, mark)) {
        sali_scan_expected(scan, &piece, what);
    }
}

void sali_scan_skip_to(sali_scan *scan, const char *marks, char mark)
{
    int64_t depth = 0, line = scan->line;
    while (scan->status == SAL_OK) {
        sali_token piece = sali_scan_piece(scan, marks);
        char c = piece.size == 1 ? *piece.text : ' ';
        if (piece.size == 0) {
            sali_scan_fail(scan, line, "no '%c' follows", mark);
        } else if (depth == 0 && c == mark) {
            return;
        }
        depth += (c == '{') - (c == '}');
    }
}

bool sali_scan_more(sali_scan *scan)
{
    skip_blanks(scan);
    return scan->status == SAL_OK && scan->next < scan->end;
}

bool sali_scan_on_line(const sali_scan *scan, int64_t line)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    return sali_scan_more(&ahead) && ahead.line == line;
}

int64_t sali_scan_int(sali_scan *scan, const char *what, int64_t min, int64_t max)
{
    sali_token token = sali_scan_token(scan);
    int64_t value = min;
    if (scan->status == SAL_OK &&
        (sali_parse_int(token.text, token.size, &value) != SAL_OK || value < min || value > max)) {
        char expected[256];
        const char *form = min == max         ? "%s (%lld)"
                           : max == INT64_MAX ? "%s (an integer, at least %lld)"
                                              : "%s (an integer, %lld to %lld)";
        snprintf(expected, sizeof expected, form, what, (long long)min, (long long)max);
        sali_scan_expected(scan, &token, expected);
        return min;
    }
    return value;
}

double sali_scan_double(sali_scan *scan, const char *what)
{
    sali_token token = sali_scan_token(scan);
    double value = 0;
    if (scan->status == SAL_OK && sali_parse_double(token.text, token.size, &value) != SAL_OK) {
        char expected[256];
        snprintf(expected, sizeof expected, "%s (a finite decimal number)", what);
        sali_scan_expected(scan, &token, expected);
    }
    return value;
}

int64_t sali_scan_words(const sali_scan *scan)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    int64_t n = 0;
    while (sali_scan_token(&ahead).size > 0) {
        n++;
    }
    return n;
}

int64_t sali_scan_room(const sali_scan *scan)
{
    return (scan->end - scan->next + 1) / 2; /* a character each, and a blank between */
}

int64_t sali_scan_count(sali_scan *scan, const char *what, int64_t min)
{
    int64_t count = sali_scan_int(scan, what, min, INT64_MAX);
    if (count <= sali_scan_room(scan)) {
        return count;
    }
    sali_scan_fail(scan, scan->line, "%s is %lld, more than the rest of the file can hold", what,
                   (long long)count);
    return min;
}

int64_t sali_scan_line_of(const sali_scan *scan, const char *place)
{
    int64_t line = 1;
    for (const char *c = scan->begin; c < place; c++) {
        line += *c == '\n';
    }
    return line;
}

sal_status sali_scan_end(sali_scan *scan)
{
    sali_token token = sali_scan_token(scan);
    return token.size == 0 ? scan->status : sali_scan_expected(scan, &token, "the end of the file");
}

sali_token sali_token_trim(const char *begin, const char *end, int64_t line)
{
    while (begin < end && sali_is_blank(*begin)) {
        begin++;
    }
    while (end > begin && sali_is_blank(end[-1])) {
        end--;
    }
    return (sali_token){ begin, end - begin, line };
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
