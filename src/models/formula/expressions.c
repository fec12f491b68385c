/* SPDX-License-Identifier: MIT */
/* f of a formula's text, recorded on the tape as it is read. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "models/formula/parser.h"

/* Most pairs of a sum(i<j: ..). */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define MOST_PAIRS 65536
#else
#define MOST_PAIRS (INT64_C(1) << 26)
#endif

static const sal_expr nothing = { .node = -1 };

static sal_expr parse_sum(sali_formula_parser *p);

static sal_expr record_number(sali_formula_parser *p, double value)
{
    return sal_scalar(p->tape, value);
}

static bool is_word(const char *name, int length, const char *word)
{
    return (int)strlen(word) == length && strncmp(name, word, (size_t)length) == 0;
}

/* The block whose name is the `length` characters at p->at; NULL: there is none. */
static sali_formula_block *find_block(const sali_formula_parser *p, int length)
{
    sali_formula_block *found = NULL;
    for (int64_t k = 0; k < p->n_blocks && !found; k++) {
        found = is_word(p->at, length, p->blocks[k].name) ? &p->blocks[k] : NULL;
    }
    return found;
}

/* ---- what a sum goes over */

/* The block of the enclosing sum. If it is not known yet, it becomes `occurs`, the block that is
 * indexed here, or the only block; in a sum over i alone also the first block of `count` variables.
 * NULL after a mistake at `place` if none fits. */
static sali_formula_block *block_of_sum(sali_formula_parser *p, sali_formula_block *occurs,
                                        int64_t count, const char *place)
{
    const bool each = p->bound == SALI_EACH;
    if (!p->over) {
        p->over = occurs ? occurs : p->n_blocks == 1 ? p->blocks : NULL;
    }
    for (int64_t k = 0; k < p->n_blocks && each && !p->over; k++) {
        p->over = p->blocks[k].count == count ? &p->blocks[k] : NULL;
    }
    if (!p->over) {
        sali_formula_fail(p, place, "say which variables the sum is over, as in sum(%s in %s: ..)",
                          each                          ? "i"
                          : p->bound == SALI_NEIGHBOURS ? "i~j"
                                                        : "i<j",
                          p->blocks[0].name);
    }
    return p->over;
}

/* List all pairs i < j of n variables in p->all, unless these are listed already. False: too many,
 * or out of memory. */
static bool list_all_pairs(sali_formula_parser *p, int64_t n, const char *place)
{
    if (n * (n - 1) / 2 > MOST_PAIRS) {
        return sali_formula_fail(p, place, "%lld variables have more than %lld pairs", (long long)n,
                                 (long long)MOST_PAIRS);
    }
    if (p->all_of == n) {
        return true;
    }
    p->all_pairs = 0;
    for (int k = 0; k < 2; k++) {
        p->all[k] = sali_memory_take(&p->memory, n * (n - 1) / 2, sizeof *p->all[k]);
    }
    if (!p->all[0] || !p->all[1]) {
        return sali_formula_no_memory(p);
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 1; j < n; j++) {
            p->all[0][p->all_pairs] = i;
            p->all[1][p->all_pairs++] = j;
        }
    }
    p->all_of = n;
    return true;
}

/* Set (*end)[0] and (*end)[1] to the first and second variables of the *n pairs of the enclosing
 * sum. False if there are none. */
static bool pairs_of_sum(sali_formula_parser *p, const char *place, int64_t *const **end,
                         int64_t *n)
{
    sali_formula_block *over = p->over;
    const bool all = p->bound == SALI_ALL_PAIRS;
    if (!(all ? list_all_pairs(p, over->count, place) : sali_formula_neighbours(p, over))) {
        return false;
    }
    *end = all ? p->all : over->end;
    *n = all ? p->all_pairs : over->pairs;
    return *n > 0 || sali_formula_fail(p, p->sum, "no variable has a neighbour here");
}

/* For each term of the enclosing sum, the row of `of` for its variable i (which = 0) or j (1). `of`
 * has a row for each variable of the sum's block. */
static sal_expr rows_of_sum(sali_formula_parser *p, sal_expr of, int which, const char *place)
{
    int64_t *const *end, n;
    if (p->bound == SALI_EACH) {
        return of;
    }
    return pairs_of_sum(p, place, &end, &n) ? sal_gather(of, 0, n, end[which]) : nothing;
}

/* Number of terms of the enclosing sum. */
static int64_t terms_of_sum(sali_formula_parser *p, const char *place)
{
    int64_t *const *end, n = 0;
    const sali_formula_block *over = block_of_sum(p, NULL, 0, place);
    if (!over || p->bound == SALI_EACH) {
        return over ? over->count : 0;
    }
    return pairs_of_sum(p, place, &end, &n) ? n : 0;
}

/* Read what follows "sum(i": "~j" or "<j", and "in" with the name of a block, both optional, and
 * ":". */
static bool read_bound(sali_formula_parser *p)
{
    sali_formula_skip(p);
    p->sum = p->at;
    p->bound = sali_formula_take(p, "~")   ? SALI_NEIGHBOURS
               : sali_formula_take(p, "<") ? SALI_ALL_PAIRS
                                           : SALI_EACH;
    if (p->bound != SALI_EACH &&
        !sali_formula_expect(p, "j", p->bound == SALI_NEIGHBOURS ? "after 'i~'" : "after 'i<'")) {
        return false;
    }
    p->over = NULL;
    if (is_word(p->at, sali_formula_word(p), "in")) {
        p->at += 2;
        const int length = sali_formula_word(p);
        p->over = find_block(p, length);
        if (!p->over) {
            return sali_formula_fail(p, p->at, "expected the name of variables after 'in'");
        }
        p->at += length;
    }
    return sali_formula_expect(p, ":", "after the index");
}

/* Parse a sum after "sum(", up to its ")". */
static sal_expr parse_sum_over(sali_formula_parser *p)
{
    const sali_formula_bound bound = p->bound;
    sali_formula_block *over = p->over;
    const char *sum = p->sum;
    sal_expr e = nothing;
    if (!sali_formula_expect(p, "i", "after 'sum('") || !read_bound(p)) {
        return e;
    }
    const char *place = p->at;
    e = parse_sum(p);
    if (!p->mistake[0] && sal_expr_shape(e).rank == 0) { /* the term does not depend on i */
        e = sal_scale(e, (double)terms_of_sum(p, place));
    } else if (!p->mistake[0]) {
        e = sal_sum(e);
    }
    p->bound = bound;
    p->over = over;
    p->sum = sum;
    return sali_formula_expect(p, ")", "at the end of the sum") ? e : nothing;
}

/* ---- variables and parameters */

/* Parse "[0]", "[i]" or "[j]" after `name`: a row of `of` [count, ..], or a row for each term of
 * the enclosing sum. `block` is the block that `of` is the state of; NULL: `of` is a parameter. */
static sal_expr parse_index(sali_formula_parser *p, const char *name, sal_expr of, int64_t count,
                            sali_formula_block *block)
{
    sal_expr row = nothing;
    char after[SALI_FORMULA_NAME + 8];
    snprintf(after, sizeof after, "after %s", name);
    if (!sali_formula_expect(p, "[", after)) {
        return row;
    }
    sali_formula_skip(p);
    const char *place = p->at;
    const size_t digits = strspn(p->at, "0123456789");
    if (digits > 0) {
        int64_t v;
        if (digits > 9 || !sali_formula_whole(p, 999999999, "an index", &v) || v >= count) {
            sali_formula_fail(p, place, "there is no %s[%.*s]: the last one is %s[%lld]", name,
                              digits < 30 ? (int)digits : 30, place, name, (long long)count - 1);
            return row;
        }
        row = sal_slice(of, 0, v, 1);
        row = sal_expr_shape(of).rank == 1 ? sal_reshape(row, SAL_SCALAR)
                                           : sal_reshape(row, SAL_SHAPE(sal_expr_shape(of).dim[1]));
    } else if (is_word(p->at, sali_formula_word(p), "i") ||
               is_word(p->at, sali_formula_word(p), "j")) {
        const int which = *p->at++ - 'i';
        if (p->bound == SALI_UNBOUND || (which == 1 && p->bound == SALI_EACH)) {
            sali_formula_fail(p, place,
                              which == 0 ? "%s[i] stands outside of a sum(i: ..)"
                                         : "%s[j] stands outside of a sum(i~j: ..)",
                              name);
            return row;
        }
        const sali_formula_block *over = block_of_sum(p, block, count, place);
        if (over && over->count != count) {
            sali_formula_fail(p, place, "the sum is over %lld variables, and %s has %lld",
                              (long long)over->count, name, (long long)count);
        }
        row = p->mistake[0] ? nothing : rows_of_sum(p, of, which, place);
    } else {
        sali_formula_fail(p, place, "expected a number, i or j between the brackets of %s[..]",
                          name);
    }
    return sali_formula_expect(p, "]", "after the index") ? row : nothing;
}

/* Parse a label or another categorical variable after "==": 1 where `a`, a one-hot of `block` in
 * its last axis, is equal to it, else 0. */
static sal_expr parse_label(sali_formula_parser *p, const sali_formula_block *block, sal_expr a)
{
    const int axis = sal_expr_shape(a).rank - 1, length = sali_formula_word(p);
    sali_formula_block *other = length > 0 ? find_block(p, length) : NULL;
    const char *place = p->at;
    int64_t label = 0;
    if (length == 0) {
        if (!sali_formula_whole(p, block->states - 1, "a label", &label)) {
            return nothing;
        }
        sal_expr of = sal_slice(a, axis, label, 1);
        return axis == 0 ? sal_reshape(of, SAL_SCALAR)
                         : sal_reshape(of, SAL_SHAPE(sal_expr_shape(a).dim[0]));
    }
    if (!other || other->kind != SAL_CATEGORICAL || other->states != block->states) {
        sali_formula_fail(p, place, "expected a label or a variable with %lld labels after '=='",
                          (long long)block->states);
        return nothing;
    }
    p->at += length;
    sal_expr b = parse_index(p, other->name, other->x, other->count, other);
    if (p->mistake[0]) {
        return nothing;
    }
    sal_expr same = sal_mul(a, b);
    return sal_sum_axis(same, sal_expr_shape(same).rank - 1);
}

/* Parse a variable of `block`, whose name is next. A categorical variable must be followed by
 * "==". */
static sal_expr parse_variable(sali_formula_parser *p, sali_formula_block *block)
{
    const char *place = p->at;
    p->at += strlen(block->name);
    sal_expr x = parse_index(p, block->name, block->x, block->count, block);
    const char *after = p->at;
    const bool labels = block->kind == SAL_CATEGORICAL, compared = sali_formula_take(p, "==");
    if (compared && !labels) {
        sali_formula_fail(p, after, "%s[..] is a number; '==' is for categorical variables",
                          block->name);
    } else if (labels && !compared) {
        sali_formula_fail(p, place,
                          "%s[..] has labels and is no number: write %s[..] == 0, or "
                          "%s[i] == %s[j]",
                          block->name, block->name, block->name, block->name);
    }
    return p->mistake[0] || !labels ? x : parse_label(p, block, x);
}

/* Parse a parameter, whose name is next, with an index if it is a list of numbers. */
static sal_expr parse_parameter(sali_formula_parser *p, sali_formula_parameter *a)
{
    p->at += strlen(a->name);
    a->used = true;
    if (a->count == 0) {
        return sal_param(p->tape, a->name, SAL_SCALAR);
    }
    return parse_index(p, a->name, sal_param(p->tape, a->name, SAL_SHAPE(a->count)), a->count,
                       NULL);
}

/* ---- functions */

static const char *const functions[] = { "exp",     "log",      "log1p", "sqrt", "abs",
                                         "sin",     "cos",      "tanh",  "erf",  "lgamma",
                                         "sigmoid", "softplus", "silu",  "relu", NULL };

/* Parse the arguments of a function after "name(", up to the ")". */
static sal_expr parse_call(sali_formula_parser *p, const char *name, int length)
{
    const bool least = is_word(name, length, "min");
    if (least || is_word(name, length, "max")) {
        sal_expr a = parse_sum(p);
        if (!sali_formula_expect(p, ",", "between the two arguments")) {
            return a;
        }
        sal_expr b = parse_sum(p);
        return sali_formula_expect(p, ")", "after the arguments")
                   ? sal_op2_at(SAL_HERE, least ? "minimum" : "maximum", a, b)
                   : nothing;
    }
    for (int k = 0; functions[k]; k++) {
        if (is_word(name, length, functions[k])) {
            sal_expr a = parse_sum(p);
            return sali_formula_expect(p, ")", "after the argument")
                       ? sal_op1_at(SAL_HERE, functions[k], a)
                       : nothing;
        }
    }
    sali_formula_fail(p, name,
                      "there is no function '%.*s'; there are exp log log1p sqrt abs sin cos tanh "
                      "erf lgamma sigmoid softplus silu relu min max sum",
                      length < 20 ? length : 20, name);
    return nothing;
}

/* Parse what begins with a name: a variable, a parameter, pi, a sum or a function. */
static sal_expr parse_name(sali_formula_parser *p)
{
    const int length = sali_formula_word(p);
    const char *name = p->at;
    sali_formula_block *block = find_block(p, length);
    if (block) {
        return parse_variable(p, block);
    }
    for (int64_t k = 0; k < p->n_parameters; k++) {
        if (is_word(name, length, p->parameters[k].name)) {
            return parse_parameter(p, &p->parameters[k]);
        }
    }
    p->at += length;
    if (is_word(name, length, "pi")) {
        return record_number(p, 3.14159265358979323846);
    }
    if (!sali_formula_take(p, "(")) {
        sali_formula_fail(p, name, "'%.*s' is no variable, parameter or function",
                          length < 20 ? length : 20, name);
        return nothing;
    }
    return is_word(name, length, "sum") ? parse_sum_over(p) : parse_call(p, name, length);
}

/* ---- arithmetic */

/* Parse a number, what begins with a name, or an expression in brackets. */
static sal_expr parse_atom(sali_formula_parser *p)
{
    sal_expr e = nothing;
    double value;
    sali_formula_skip(p);
    if (p->depth >= SALI_DEEPEST) {
        sali_formula_fail(p, p->at, "brackets are nested more than %d deep", SALI_DEEPEST);
        return e;
    }
    p->depth++;
    if (isdigit((unsigned char)*p->at) || *p->at == '.') {
        e = sali_formula_number(p, &value) ? record_number(p, value) : nothing;
    } else if (isalpha((unsigned char)*p->at)) {
        e = parse_name(p);
    } else if (sali_formula_take(p, "(")) {
        e = parse_sum(p);
        sali_formula_expect(p, ")", "to close the bracket");
    } else if (*p->at) {
        sali_formula_fail(p, p->at, "expected a number, a variable or a function, found '%.10s'",
                          p->at);
    } else {
        sali_formula_fail(p, p->at, "a number, a variable or a function is missing at the end");
    }
    p->depth--;
    return e;
}

/* Parse an atom, or a power of an atom whose exponent is a number. */
static sal_expr parse_power(sali_formula_parser *p)
{
    double power = 0;
    sal_expr a = parse_atom(p);
    if (p->mistake[0] || !sali_formula_take(p, "^")) {
        return a;
    }
    const bool minus = sali_formula_take(p, "-");
    sali_formula_skip(p);
    if (!isdigit((unsigned char)*p->at) && *p->at != '.') {
        sali_formula_fail(p, p->at, "expected a number after '^'");
    }
    if (p->mistake[0] || !sali_formula_number(p, &power)) {
        return nothing;
    }
    return power == 2 && !minus ? sal_square(a) : sal_pow(a, minus ? -power : power);
}

/* Whether another factor follows without a sign. */
static bool factor_follows(sali_formula_parser *p)
{
    sali_formula_skip(p);
    return isalnum((unsigned char)*p->at) || *p->at == '(' || *p->at == '.';
}

/* Parse any number of signs and a power. */
static sal_expr parse_signed(sali_formula_parser *p)
{
    bool minus = false;
    for (;;) {
        if (sali_formula_take(p, "-")) {
            minus = !minus;
        } else if (!sali_formula_take(p, "+")) {
            break;
        }
    }
    sal_expr a = parse_power(p);
    return minus && !p->mistake[0] ? sal_neg(a) : a;
}

/* Parse factors joined by '*', '/' or nothing. */
static sal_expr parse_product(sali_formula_parser *p)
{
    sal_expr a = parse_signed(p);
    while (!p->mistake[0]) {
        const bool divide = sali_formula_take(p, "/");
        if (!divide && !sali_formula_take(p, "*") && !factor_follows(p)) {
            break;
        }
        sal_expr b = parse_signed(p);
        a = p->mistake[0] ? a : sal_op2_at(SAL_HERE, divide ? "div" : "mul", a, b);
    }
    return a;
}

/* Parse products joined by '+' and '-': a whole expression. */
static sal_expr parse_sum(sali_formula_parser *p)
{
    sal_expr a = parse_product(p);
    while (!p->mistake[0]) {
        const bool plus = sali_formula_take(p, "+");
        if (!plus && !sali_formula_take(p, "-")) {
            break;
        }
        sal_expr b = parse_product(p);
        a = p->mistake[0] ? a : sal_op2_at(SAL_HERE, plus ? "add" : "sub", a, b);
    }
    return a;
}

sal_expr sali_formula_expression(sali_formula_parser *p)
{
    sal_expr f = parse_sum(p);
    sali_formula_skip(p);
    if (!p->mistake[0] && *p->at) {
        sali_formula_fail(p, p->at, "expected an operator or the end, found '%.10s'", p->at);
    }
    for (int64_t k = 0; k < p->n_parameters && !p->mistake[0]; k++) {
        if (!p->parameters[k].used) {
            sali_formula_fail(p, p->text, "the parameter %s is declared, and f does not have it",
                              p->parameters[k].name);
        }
    }
    return f;
}
