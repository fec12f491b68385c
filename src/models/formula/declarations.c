/* SPDX-License-Identifier: MIT */
/* Variables and parameters that a formula's text declares. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "core/slice.h"
#include "models/formula/parser.h"
#include "models/lattice.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define MOST_VARIABLES 4096
#else
#define MOST_VARIABLES (INT64_C(1) << 26)
#endif
#define MOST_STATES (1 << 20)
/* Most states of all variables of a block together. */
#define MOST_LABELS (2 * MOST_VARIABLES)
#define MOST_SUM (INT64_C(1) << 50)

/* ---- letters, words and numbers */

bool sali_formula_fail(sali_formula_parser *p, const char *place, const char *format, ...)
{
    if (!p->mistake[0]) {
        va_list list;
        va_start(list, format);
        vsnprintf(p->mistake, sizeof p->mistake, format, list);
        va_end(list);
        p->place = place;
    }
    p->at = p->text + strlen(p->text);
    return false;
}

bool sali_formula_no_memory(sali_formula_parser *p)
{
    p->memory.refused = true;
    return sali_formula_fail(p, p->at, "no memory");
}

void sali_formula_skip(sali_formula_parser *p)
{
    while (isspace((unsigned char)*p->at)) {
        p->at++;
    }
}

bool sali_formula_take(sali_formula_parser *p, const char *word)
{
    sali_formula_skip(p);
    const size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0) {
        return false;
    }
    p->at += n;
    return true;
}

bool sali_formula_expect(sali_formula_parser *p, const char *word, const char *where)
{
    return sali_formula_take(p, word) ||
           (*p->at
                ? sali_formula_fail(p, p->at, "expected '%s' %s, found '%.10s'", word, where, p->at)
                : sali_formula_fail(p, p->at, "expected '%s' %s, but the formula ends", word,
                                    where));
}

int sali_formula_word(sali_formula_parser *p)
{
    sali_formula_skip(p);
    int length = 0;
    while (isalpha((unsigned char)p->at[0]) &&
           (isalnum((unsigned char)p->at[length]) || p->at[length] == '_')) {
        length++;
    }
    return length;
}

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* Number of characters of a number without a sign at the start of `text`. An 'e' is part of the
 * number only if digits follow. */
static int64_t number_length(const char *text)
{
    size_t n = count_digits(text);
    n += text[n] == '.' ? 1 + count_digits(text + n + 1) : 0;
    if (text[n] == 'e' || text[n] == 'E') {
        const size_t sign = text[n + 1] == '-' || text[n + 1] == '+';
        const size_t power = count_digits(text + n + 1 + sign);
        n += power > 0 ? 1 + sign + power : 0;
    }
    return (int64_t)n;
}

bool sali_formula_number(sali_formula_parser *p, double *value)
{
    sali_formula_skip(p);
    const int64_t length = number_length(p->at);
    if (sali_parse_double(p->at, length, value) != SAL_OK) {
        return sali_formula_fail(p, p->at, "'%.10s' is no number", p->at);
    }
    p->at += length;
    return true;
}

bool sali_formula_signed(sali_formula_parser *p, double *value)
{
    const bool minus = sali_formula_take(p, "-");
    const bool is = sali_formula_number(p, value);
    *value = minus ? -*value : *value;
    return is;
}

bool sali_formula_whole(sali_formula_parser *p, int64_t most, const char *what, int64_t *value)
{
    sali_formula_skip(p);
    const int64_t length = (int64_t)count_digits(p->at);
    if (length == 0 || sali_parse_int(p->at, length, value) != SAL_OK || *value > most) {
        return sali_formula_fail(p, p->at, "expected %s, a whole number up to %lld", what,
                                 (long long)most);
    }
    p->at += length;
    return true;
}

/* ---- names */

static const char *const reserved[] = { "i", "j", "in", "pi", "sum", "cyclic" };

/* Whether `name` is reserved, or the name of a declared block or parameter. */
static bool is_taken(const sali_formula_parser *p, const char *name)
{
    bool taken = false;
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++) {
        taken |= strcmp(name, reserved[k]) == 0;
    }
    for (int64_t k = 0; k < p->n_blocks; k++) {
        taken |= strcmp(name, p->blocks[k].name) == 0;
    }
    for (int64_t k = 0; k < p->n_parameters; k++) {
        taken |= strcmp(name, p->parameters[k].name) == 0;
    }
    return taken;
}

/* Read a name of `length` characters for a declaration; a mistake if it is too long or taken. */
static bool read_name(sali_formula_parser *p, int length, char name[SALI_FORMULA_NAME])
{
    if (length >= SALI_FORMULA_NAME) {
        return sali_formula_fail(p, p->at, "a name has at most %d letters", SALI_FORMULA_NAME - 1);
    }
    snprintf(name, SALI_FORMULA_NAME, "%.*s", length, p->at);
    if (is_taken(p, name)) {
        return sali_formula_fail(p, p->at, "the name '%s' is taken", name);
    }
    p->at += length;
    return true;
}

/* Append a zero-filled element of `size` bytes to a list; returns the element, NULL when out of
 * memory. */
static void *append_element(sali_formula_parser *p, void **list, int64_t *n, int64_t *room,
                            size_t size)
{
    if (sali_grow(list, room, *n + 1, size) != 0) {
        sali_formula_no_memory(p);
        return NULL;
    }
    void *last = (char *)*list + (size_t)*n * size;
    memset(last, 0, size);
    ++*n;
    return last;
}

/* ---- blocks */

static const struct {
    const char *name;
    sal_kind kind;
    bool permutes;
} kinds[] = {
    { .name = "binary", .kind = SAL_BINARY },
    { .name = "spin", .kind = SAL_SPIN },
    { .name = "ordinal", .kind = SAL_ORDINAL },
    { .name = "categorical", .kind = SAL_CATEGORICAL },
    { .name = "count", .kind = SAL_COUNT },
    { .name = "permutation", .kind = SAL_CATEGORICAL, .permutes = true },
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Read the optional ", -1, 1" after the number of levels: the lowest and the highest of levels at
 * equal distances. */
static bool read_levels(sali_formula_parser *p, sali_formula_block *b)
{
    double low, high;
    const char *place = p->at;
    if (!sali_formula_take(p, ",")) {
        return true;
    }
    if (!sali_formula_signed(p, &low) ||
        !sali_formula_expect(p, ",", "between the lowest and the highest level") ||
        !sali_formula_signed(p, &high)) {
        return false;
    }
    if (!(low < high) || b->states < 2) {
        return sali_formula_fail(p, place, "expected two levels or more, the lowest first");
    }
    b->levels = sali_memory_take(&p->memory, b->states, sizeof *b->levels);
    for (int64_t k = 0; b->levels && k < b->states; k++) {
        b->levels[k] = low + (high - low) * (double)k / (double)(b->states - 1);
    }
    return b->levels || sali_formula_no_memory(p);
}

/* Read the kind of a block, with its number of states or largest count: "spin", "ordinal(5, -1,
 * 1)". */
static bool read_kind(sali_formula_parser *p, sali_formula_block *b)
{
    const int length = sali_formula_word(p);
    int k = 0;
    while (k < KINDS && ((int)strlen(kinds[k].name) != length ||
                         strncmp(p->at, kinds[k].name, (size_t)length) != 0)) {
        k++;
    }
    if (k == KINDS) {
        return sali_formula_fail(p, p->at,
                                 "expected binary, spin, ordinal(5), categorical(3), count or "
                                 "permutation, found '%.12s'",
                                 p->at);
    }
    p->at += length;
    b->kind = kinds[k].kind;
    b->permutes = kinds[k].permutes;
    const bool levels = b->kind == SAL_ORDINAL, labels = b->kind == SAL_CATEGORICAL;
    if (b->kind == SAL_BINARY || b->kind == SAL_SPIN || b->permutes) {
        return true;
    }
    if (!sali_formula_take(p, "(")) {
        return b->kind == SAL_COUNT ||
               sali_formula_expect(
                   p, "(", levels ? "and the number of levels" : "and the number of labels");
    }
    return sali_formula_whole(p, MOST_STATES - 1,
                              levels   ? "the number of levels"
                              : labels ? "the number of labels"
                                       : "the largest count",
                              &b->states) &&
           (!levels || read_levels(p, b)) &&
           sali_formula_expect(p, ")", "after what the kind wants");
}

/* Read the number of variables or the sides of the lattice: "[10]", "[10, 10]". */
static bool read_sides(sali_formula_parser *p, sali_formula_block *b)
{
    if (!sali_formula_expect(p, "[", "and the number of variables")) {
        return false;
    }
    b->count = 1;
    do {
        const char *place = p->at;
        if (b->sides == SALI_FORMULA_SIDES) {
            return sali_formula_fail(p, place, "a lattice has at most %d sides",
                                     SALI_FORMULA_SIDES);
        }
        int64_t *side = &b->side[b->sides++];
        if (!sali_formula_whole(p, MOST_VARIABLES, "a number of variables", side)) {
            return false;
        }
        if (*side < 1 || b->count > MOST_VARIABLES / *side) {
            return sali_formula_fail(p, place, "a block has 1 to %lld variables",
                                     (long long)MOST_VARIABLES);
        }
        b->count *= *side;
    } while (sali_formula_take(p, ","));
    return sali_formula_expect(p, "]", "after the number of variables");
}

/* ---- fixed sums and labels */

sal_block sali_formula_space_block(const sali_formula_block *b)
{
    const bool counts = b->kind == SAL_COUNT;
    return (sal_block){ .name = b->name,
                        .kind = b->kind,
                        .count = b->count,
                        .states = counts ? 0 : b->states,
                        .cap = counts ? b->states : 0,
                        .levels = b->levels,
                        .fixed_sum = b->fixed_sum,
                        .sum = b->sum,
                        .labels = b->labels };
}

/* A mistake at `place`, in the words of the space, if no state has the block's sum or labels. */
static bool check_fixed(sali_formula_parser *p, const sali_formula_block *b, const char *place)
{
    sal_error err = { 0 };
    const sal_block block = sali_formula_space_block(b);
    sal_space *space = sal_space_create();
    const sal_status status = space ? sal_space_add(space, &block, &err) : SAL_ERR_MEMORY;
    sal_space_destroy(space);
    return status == SAL_OK ||
           (status == SAL_ERR_MEMORY ? sali_formula_no_memory(p)
                                     : sali_formula_fail(p, place, "%.*s", 180, err.message));
}

/* Room for the numbers of a block's labels; false when out of memory. */
static bool take_labels(sali_formula_parser *p, sali_formula_block *b)
{
    b->labels = sali_memory_take(&p->memory, b->states, sizeof *b->labels);
    return b->labels || sali_formula_no_memory(p);
}

/* Every label of a permutation occurs once. */
static bool fill_permutation(sali_formula_parser *p, sali_formula_block *b, const char *place)
{
    b->states = b->count;
    if (b->count > SALI_MOST_PERMUTED) {
        return sali_formula_fail(p, place, "a permutation has at most %d variables",
                                 SALI_MOST_PERMUTED);
    }
    if (!take_labels(p, b)) {
        return false;
    }
    for (int64_t k = 0; k < b->states; k++) {
        b->labels[k] = 1;
    }
    return true;
}

/* Take a word if it is next, and not the beginning of a longer one. */
static bool take_word(sali_formula_parser *p, const char *word)
{
    return sali_formula_word(p) == (int)strlen(word) && sali_formula_take(p, word);
}

/* Read "sum -2" or "labels 4 4 4", if it is next and nothing is fixed yet. */
static bool read_fixed(sali_formula_parser *p, sali_formula_block *b)
{
    sali_formula_skip(p);
    const char *place = p->at;
    if (b->fixed_sum || b->labels) {
        return true;
    }
    if (take_word(p, "sum")) {
        const bool minus = sali_formula_take(p, "-");
        b->fixed_sum = true;
        if (!sali_formula_whole(p, MOST_SUM, "the sum of all variables", &b->sum)) {
            return false;
        }
        b->sum = minus ? -b->sum : b->sum;
        return check_fixed(p, b, place);
    }
    if (!take_word(p, "labels")) {
        return true;
    }
    if (b->kind != SAL_CATEGORICAL) {
        return sali_formula_fail(p, place,
                                 "labels are of categorical variables; of others, as "
                                 "binary ones, the sum can be fixed");
    }
    if (!take_labels(p, b)) {
        return false;
    }
    for (int64_t k = 0; k < b->states; k++) {
        if (!sali_formula_whole(p, b->count, "how often each label occurs", &b->labels[k])) {
            return false;
        }
    }
    return check_fixed(p, b, place);
}

/* ---- neighbours */

/* Append the neighbours i and j to a block; false when out of memory. */
static bool add_pair(sali_formula_parser *p, sali_formula_block *b, int64_t i, int64_t j)
{
    for (int k = 0; k < 2 && b->pairs == b->room; k++) {
        const int64_t room = b->room > 0 ? 2 * b->room : b->count;
        int64_t *more = sali_memory_take(&p->memory, room, sizeof *more);
        if (!more) {
            return sali_formula_no_memory(p);
        }
        memcpy(more, b->end[k] ? b->end[k] : more, (size_t)b->pairs * sizeof *more);
        b->end[k] = more;
        b->room = k == 1 ? room : b->room;
    }
    b->end[0][b->pairs] = i;
    b->end[1][b->pairs++] = j;
    return true;
}

bool sali_formula_neighbours(sali_formula_parser *p, sali_formula_block *b)
{
    if (b->pairs >= 0) {
        return true;
    }
    b->end[0] = sali_memory_take(&p->memory, b->sides * b->count, sizeof *b->end[0]);
    b->end[1] = sali_memory_take(&p->memory, b->sides * b->count, sizeof *b->end[1]);
    if (!b->end[0] || !b->end[1]) {
        return sali_formula_no_memory(p);
    }
    b->pairs = sali_lattice_pairs(b->sides, b->side, b->cyclic, b->end[0], b->end[1], 1);
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A mistake if two of a block's pairs are of the same two variables; `place`: of the first pair. */
static bool check_pairs_once(sali_formula_parser *p, const sali_formula_block *b, const char *place)
{
    int64_t *pair = sali_memory_take(&p->memory, b->pairs, sizeof *pair);
    if (!pair) {
        return sali_formula_no_memory(p);
    }
    for (int64_t k = 0; k < b->pairs; k++) {
        const int64_t i = b->end[0][k], j = b->end[1][k];
        pair[k] = i < j ? i * b->count + j : j * b->count + i;
    }
    qsort(pair, (size_t)b->pairs, sizeof *pair, compare_numbers);
    for (int64_t k = 1; k < b->pairs; k++) {
        if (pair[k] == pair[k - 1]) {
            return sali_formula_fail(p, place, "the neighbours %lld~%lld are listed twice",
                                     (long long)(pair[k] / b->count),
                                     (long long)(pair[k] % b->count));
        }
    }
    return true;
}

/* Read a list of pairs of neighbours: "0~1, 1~2". */
static bool read_pairs(sali_formula_parser *p, sali_formula_block *b)
{
    int64_t i, j;
    b->pairs = 0;
    sali_formula_skip(p);
    const char *first = p->at;
    do {
        sali_formula_skip(p);
        const char *place = p->at;
        if (!sali_formula_whole(p, b->count - 1, "a variable", &i) ||
            !sali_formula_expect(p, "~", "between neighbours") ||
            !sali_formula_whole(p, b->count - 1, "a variable", &j)) {
            return false;
        }
        if (i == j) {
            return sali_formula_fail(p, place, "a variable is no neighbour of its own");
        }
        if (!add_pair(p, b, i, j)) {
            return false;
        }
    } while (sali_formula_take(p, ","));
    return check_pairs_once(p, b, first);
}

/* Read the declaration of a block after its name and ':'. */
static bool read_block(sali_formula_parser *p, sali_formula_block *b)
{
    const char *place = p->at;
    b->pairs = -1;
    if (!read_kind(p, b) || !read_sides(p, b) || (b->permutes && !fill_permutation(p, b, place))) {
        return false;
    }
    if (b->kind != SAL_COUNT && b->states > MOST_LABELS / b->count) {
        return sali_formula_fail(p, place, "a block has at most %lld states of all its variables",
                                 (long long)MOST_LABELS);
    }
    if (!read_fixed(p, b)) {
        return false;
    }
    b->cyclic = sali_formula_take(p, "cyclic");
    if (!read_fixed(p, b)) {
        return false;
    }
    sali_formula_skip(p);
    return b->cyclic || !isdigit((unsigned char)*p->at) || read_pairs(p, b);
}

/* ---- parameters */

/* Read the declaration of a parameter after its name and '=': a number or a list. */
static bool read_parameter(sali_formula_parser *p, sali_formula_parameter *a)
{
    double *values = NULL, value = 0;
    int64_t n = 0, room = 0;
    const bool many = sali_formula_take(p, "[");
    bool good = true;
    do {
        good = sali_formula_signed(p, &value) &&
               (sali_grow((void **)&values, &room, n + 1, sizeof *values) == 0 ||
                sali_formula_no_memory(p));
        if (good) {
            values[n++] = value;
        }
    } while (good && many && sali_formula_take(p, ","));
    a->count = many ? n : 0;
    a->values = good ? sali_memory_copy(&p->memory, values, n, sizeof *values) : NULL;
    sali_free(values);
    return good && (!many || sali_formula_expect(p, "]", "after the numbers")) &&
           (a->values || sali_formula_no_memory(p));
}

/* ---- all of them */

/* Read "name: kind[n]" or "name = number". *is: whether a declaration is next; if not, nothing is
 * read. */
static bool read_declaration(sali_formula_parser *p, bool *is)
{
    const int length = sali_formula_word(p);
    const char *start = p->at;
    char name[SALI_FORMULA_NAME];
    p->at += length;
    sali_formula_skip(p);
    const bool block = *p->at == ':', parameter = *p->at == '=' && p->at[1] != '=';
    p->at = start;
    *is = length > 0 && (block || parameter);
    if (!*is) {
        return true;
    }
    if (!read_name(p, length, name)) {
        return false;
    }
    sali_formula_skip(p);
    p->at++;
    void *made = block ? append_element(p, (void **)&p->blocks, &p->n_blocks, &p->block_room,
                                        sizeof *p->blocks)
                       : append_element(p, (void **)&p->parameters, &p->n_parameters,
                                        &p->parameter_room, sizeof *p->parameters);
    if (!made) {
        return false;
    }
    memcpy(made, name, sizeof name); /* both structs begin with the name */
    return (block ? read_block(p, made) : read_parameter(p, made)) &&
           sali_formula_expect(p, ";", "after a declaration");
}

bool sali_formula_declarations(sali_formula_parser *p)
{
    bool good = true;
    for (bool more = true; good && more;) {
        good = read_declaration(p, &more);
    }
    return good &&
           (p->n_blocks > 0 ||
            sali_formula_fail(p, p->at, "no variables are declared: begin with 'x: spin[10];'"));
}
