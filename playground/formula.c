/* SPDX-License-Identifier: MIT */
/* f as a text, made into a tape:
 *
 *     0.3 sum(i~j: x[i] x[j]) + 0.1 sum(i: x[i])
 *
 *     f         a sum of products of powers x^2, whose exponents are numbers; a product may be
 *               written without '*'
 *     x[0]      a variable by its number
 *     sum(i: e) over all variables, sum(i~j: e) over all pairs of neighbours; in e, x[i] and x[j].
 *               Sums may stand within sums: each has its own i and j.
 *     functions exp log log1p sqrt abs sin cos tanh sigmoid softplus silu relu erf, min(a, b),
 *               max(a, b); numbers; pi
 *
 * Within a sum all terms are one vector: a variable of the sum is a gather of the state, and
 * numbers broadcast. So a formula is as fast as one written in C. */
#include "bridge.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <saltus/ad.h>
#include <saltus/model.h>

#include "core/error.h"

/* Brackets within brackets. */
#define DEEPEST 100
#define MOST_VARIABLES (1 << 16)
#define LONGEST 2000

typedef struct parser {
    const char *text, *at;
    sal_tape *tape;
    sal_expr s; /* the state [V] */
    int64_t V, pairs;
    int64_t *end[2]; /* [pairs] the two variables of each pair of neighbours */
    int bound;       /* of the sum around: 0 none, 1 i, 2 i and j */
    int depth;
    char mistake[200];
    const char *place;
} parser;

static sal_expr parse_sum(parser *p);

/* ---- mistakes: the first one counts, and nothing is read after it */

static sal_expr fail(parser *p, const char *place, const char *format, ...)
{
    if (!p->mistake[0]) {
        va_list list;
        va_start(list, format);
        vsnprintf(p->mistake, sizeof p->mistake, format, list);
        va_end(list);
        p->place = place;
    }
    p->at = p->text + strlen(p->text);
    return (sal_expr){ .node = -1 };
}

static void skip_blanks(parser *p)
{
    while (isspace((unsigned char)*p->at)) {
        p->at++;
    }
}

static bool take(parser *p, const char *word)
{
    skip_blanks(p);
    const size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0) {
        return false;
    }
    p->at += n;
    return true;
}

static bool expect(parser *p, const char *word, const char *where)
{
    if (take(p, word)) {
        return true;
    }
    if (*p->at) {
        fail(p, p->at, "expected '%s' %s, found '%.10s'", word, where, p->at);
    } else {
        fail(p, p->at, "expected '%s' %s, but the formula ends", word, where);
    }
    return false;
}

/* ---- variables */

static sal_expr number(parser *p, double value)
{
    return sal_scalar(p->tape, value);
}

/* x[..], after the bracket. */
static sal_expr parse_variable(parser *p)
{
    skip_blanks(p);
    const char *place = p->at;
    sal_expr x = { .node = -1 };
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        const long v = strtol(p->at, &end, 10);
        if (v >= p->V) {
            return fail(p, place, "there is no x[%.*s]: the last one is x[%lld]",
                        (int)(end - place), place, (long long)(p->V - 1));
        }
        p->at = end;
        x = sal_reshape(sal_slice(p->s, 0, v, 1), SAL_SCALAR);
    } else if (*p->at == 'i' || *p->at == 'j') {
        const int which = *p->at++ - 'i';
        if (which >= p->bound) {
            return fail(p, place,
                        which == 0 ? "x[i] stands outside of a sum(i: ..)"
                                   : "x[j] stands outside of a sum(i~j: ..)");
        }
        x = p->bound == 1 ? p->s : sal_gather(p->s, 0, p->pairs, p->end[which]);
    } else {
        return fail(p, place, "expected a number, i or j between the brackets of x[..]");
    }
    return expect(p, "]", "after the index") ? x : (sal_expr){ .node = -1 };
}

/* sum(, then i: or i~j: */
static sal_expr parse_sum_over(parser *p)
{
    const int outer = p->bound;
    if (!expect(p, "i", "after 'sum('")) {
        return (sal_expr){ .node = -1 };
    }
    p->bound = take(p, "~") ? 2 : 1;
    if ((p->bound == 2 && !expect(p, "j", "after 'i~'")) || !expect(p, ":", "after the index")) {
        return (sal_expr){ .node = -1 };
    }
    sal_expr e = parse_sum(p);
    if (!p->mistake[0] && sal_expr_shape(e).rank == 0) { /* the same term for each */
        e = sal_scale(e, (double)(p->bound == 2 ? p->pairs : p->V));
    } else if (!p->mistake[0]) {
        e = sal_sum(e);
    }
    p->bound = outer;
    return expect(p, ")", "at the end of the sum") ? e : (sal_expr){ .node = -1 };
}

/* ---- functions */

static const char *const functions[] = { "exp",      "log",  "log1p", "sqrt", "abs",
                                         "sin",      "cos",  "tanh",  "erf",  "sigmoid",
                                         "softplus", "silu", "relu",  NULL };

static sal_expr parse_call(parser *p, const char *name, int length, const char *place)
{
    const bool least = length == 3 && strncmp(name, "min", 3) == 0;
    if (least || (length == 3 && strncmp(name, "max", 3) == 0)) {
        sal_expr a = parse_sum(p);
        if (!expect(p, ",", "between the two arguments")) {
            return a;
        }
        sal_expr b = parse_sum(p);
        expect(p, ")", "after the arguments");
        return p->mistake[0] ? a : sal_op2_at(SAL_HERE, least ? "minimum" : "maximum", a, b);
    }
    for (int k = 0; functions[k]; k++) {
        if ((int)strlen(functions[k]) == length &&
            strncmp(name, functions[k], (size_t)length) == 0) {
            sal_expr a = parse_sum(p);
            expect(p, ")", "after the argument");
            return p->mistake[0] ? a : sal_op1_at(SAL_HERE, functions[k], a);
        }
    }
    return fail(
        p, place,
        "there is no function '%.*s'; there are exp log log1p sqrt abs sin cos tanh sigmoid "
        "softplus silu relu erf min max sum",
        length < 20 ? length : 20, name);
}

static sal_expr parse_name(parser *p)
{
    const char *name = p->at;
    while (isalnum((unsigned char)*p->at) || *p->at == '_') {
        p->at++;
    }
    const int length = (int)(p->at - name);
    if (length == 1 && *name == 'x') {
        return expect(p, "[", "after x") ? parse_variable(p) : (sal_expr){ .node = -1 };
    }
    if (length == 2 && strncmp(name, "pi", 2) == 0) {
        return number(p, 3.14159265358979323846);
    }
    if (!take(p, "(")) {
        return fail(p, name, "'%.*s' is neither x[..], pi nor a function",
                    length < 20 ? length : 20, name);
    }
    return length == 3 && strncmp(name, "sum", 3) == 0 ? parse_sum_over(p)
                                                       : parse_call(p, name, length, name);
}

/* ---- arithmetic */

static sal_expr parse_number(parser *p)
{
    char *end;
    const char *place = p->at;
    const double value = strtod(p->at, &end);
    if (end == place || !isfinite(value)) {
        return fail(p, place, "'%.10s' is no number", place);
    }
    p->at = end;
    return number(p, value);
}

static sal_expr parse_atom(parser *p)
{
    skip_blanks(p);
    if (p->depth >= DEEPEST) {
        return fail(p, p->at, "brackets are nested more than %d deep", DEEPEST);
    }
    p->depth++;
    sal_expr e;
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        e = parse_number(p);
    } else if (isalpha((unsigned char)*p->at)) {
        e = parse_name(p);
    } else if (take(p, "(")) {
        e = parse_sum(p);
        expect(p, ")", "to close the bracket");
    } else if (*p->at) {
        e = fail(p, p->at, "expected a number, x[..] or a function, found '%.10s'", p->at);
    } else {
        e = fail(p, p->at, "a number, x[..] or a function is missing at the end");
    }
    p->depth--;
    return e;
}

/* a^p, p a number. */
static sal_expr parse_power(parser *p)
{
    sal_expr a = parse_atom(p);
    if (!take(p, "^")) {
        return a;
    }
    const bool minus = take(p, "-");
    skip_blanks(p);
    const char *place = p->at;
    char *end;
    const double power =
        isdigit((unsigned char)*p->at) || *p->at == '.' ? strtod(p->at, &end) : NAN;
    if (!isfinite(power)) {
        return fail(p, place, "expected a number after '^'");
    }
    p->at = end;
    return p->mistake[0]          ? a
           : power == 2 && !minus ? sal_square(a)
                                  : sal_pow(a, minus ? -power : power);
}

/* Whether another factor follows without a sign. */
static bool factor_follows(parser *p)
{
    skip_blanks(p);
    return isalnum((unsigned char)*p->at) || *p->at == '(' || *p->at == '.';
}

/* A power after any number of signs. */
static sal_expr parse_signed(parser *p)
{
    bool minus = false;
    for (;;) {
        if (take(p, "-")) {
            minus = !minus;
        } else if (!take(p, "+")) {
            break;
        }
    }
    sal_expr a = parse_power(p);
    return minus && !p->mistake[0] ? sal_neg(a) : a;
}

static sal_expr parse_product(parser *p)
{
    sal_expr a = parse_signed(p);
    while (!p->mistake[0]) {
        if (take(p, "/")) {
            sal_expr b = parse_signed(p);
            a = p->mistake[0] ? a : sal_div(a, b);
        } else if (take(p, "*") || factor_follows(p)) {
            sal_expr b = parse_signed(p);
            a = p->mistake[0] ? a : sal_mul(a, b);
        } else {
            break;
        }
    }
    return a;
}

static sal_expr parse_sum(parser *p)
{
    sal_expr a = parse_product(p);
    while (!p->mistake[0]) {
        const bool plus = take(p, "+");
        if (!plus && !take(p, "-")) {
            break;
        }
        sal_expr b = parse_product(p);
        a = p->mistake[0] ? a : sal_op2_at(SAL_HERE, plus ? "add" : "sub", a, b);
    }
    return a;
}

/* ---- the lattice */

/* Each pair of neighbours once; none twice where a side has two. */
static bool list_pairs(parser *p, const play_lattice *l)
{
    const int64_t R = l->rows, C = l->columns;
    for (int k = 0; k < 2; k++) {
        p->end[k] = malloc((size_t)(2 * p->V + 1) * sizeof *p->end[k]);
    }
    if (!p->end[0] || !p->end[1]) {
        return false;
    }
    for (int64_t v = 0; v < p->V; v++) {
        const int64_t r = v / C, c = v % C;
        if (C > 2 || (C == 2 && c == 0)) {
            p->end[0][p->pairs] = v;
            p->end[1][p->pairs++] = r * C + (c + 1) % C;
        }
        if (R > 2 || (R == 2 && r == 0)) {
            p->end[0][p->pairs] = v;
            p->end[1][p->pairs++] = (r + 1) % R * C + c;
        }
    }
    return true;
}

static sal_space *make_space(const play_lattice *l)
{
    double levels[256];
    sal_block block = { .name = "x", .count = (int64_t)l->rows * l->columns };
    sal_space *space = sal_space_create();
    block.kind = l->kind == PLAY_SPINS    ? SAL_SPIN
                 : l->kind == PLAY_BINARY ? SAL_BINARY
                                          : SAL_ORDINAL;
    if (l->kind == PLAY_ORDINAL) {
        for (int k = 0; k < l->levels; k++) {
            levels[k] = l->low + (l->high - l->low) * k / (l->levels - 1);
        }
        block.states = l->levels;
        block.levels = levels;
    }
    if (space && sal_space_add(space, &block, play_last()) != SAL_OK) {
        sal_space_destroy(space);
        space = NULL;
    }
    return space;
}

/* ---- all of it */

static sal_model *make_model(parser *p)
{
    sal_model *model = NULL;
    sal_expr f = parse_sum(p);
    skip_blanks(p);
    if (!p->mistake[0] && *p->at) {
        fail(p, p->at, "expected an operator or the end, found '%.10s'", p->at);
    }
    if (!p->mistake[0] && p->pairs == 0 && strchr(p->text, '~')) {
        fail(p, strchr(p->text, '~'), "no variable has a neighbour here");
    }
    if (p->mistake[0]) {
        play_fail(p->mistake);
        return NULL;
    }
    return sal_model_from_tape(p->tape, f, &model, play_last()) == SAL_OK ? model : NULL;
}

sal_model *play_formula(const char *text, const play_lattice *l, int *place)
{
    parser p = { .text = text, .at = text, .V = (int64_t)l->rows * l->columns };
    sal_model *model = NULL;
    *place = -1;
    if (l->rows < 1 || l->columns < 1 || p.V > MOST_VARIABLES ||
        (l->kind == PLAY_ORDINAL && (l->levels < 2 || l->levels > 256 || !(l->low < l->high)))) {
        play_fail("the lattice has no variables, or more than 65536; or its levels do not rise");
        return NULL;
    }
    if (strlen(text) > LONGEST) {
        play_fail("the formula has more than 2000 characters");
        *place = LONGEST;
        return NULL;
    }
    sali_fail_memory(play_last()); /* until another reason is known */
    sal_space *space = make_space(l);
    p.tape = space ? sal_tape_create(space, SAL_F64) : NULL;
    if (p.tape && list_pairs(&p, l)) {
        p.s = sal_state(p.tape);
        model = make_model(&p);
        *place = p.mistake[0] ? (int)(p.place - text) : -1;
    }
    free(p.end[0]);
    free(p.end[1]);
    sal_tape_destroy(p.tape);
    sal_space_destroy(space);
    return model;
}
