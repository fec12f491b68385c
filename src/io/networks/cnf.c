/* SPDX-License-Identifier: MIT */
/* Clauses of DIMACS files, for satisfiability (.cnf) and weighted partial MaxSAT (.wcnf), as a
 * Markov network of binary variables: a factor for each clause, whose table is 0 but for the one
 * state that violates the clause. There it is minus the weight, or -inf for a hard clause. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "io/format.h"

/* A clause of k literals has a table of 2^k entries. */
#define MOST_LITERALS 16
#define MOST_ENTRIES ((int64_t)1 << 24)

/* Most variables of a short file. */
#define FREE_VARIABLES ((int64_t)1 << 20)

/* A file being read. */
typedef struct reader {
    sali_scan *scan;
    sali_factor_graph *net;
    int64_t scope_room, begin_room, table_room, entry_room;
    int64_t most;         /* the largest number of a variable */
    bool weighted;        /* each clause begins with its weight */
    bool marks;           /* hard clauses are marked by "h"; else by a weight of `top` */
    double top;           /* the least weight of a hard clause; INFINITY: there are none */
    int64_t hard, always; /* how many clauses are hard; that no state violates */
    int32_t *literals;    /* of the clause being read, -1 - v for "not v" */
    int64_t literal_room;
} reader;

/* ---- the heading */

/* Read "p cnf VARIABLES CLAUSES", or "p wcnf VARIABLES CLAUSES TOP" with TOP or without. Returns
 * the number of clauses. */
static int64_t read_problem(reader *r)
{
    sali_scan *scan = r->scan;
    sali_token p = sali_scan_token(scan), word = sali_scan_token(scan);
    r->weighted = sali_token_is(&word, "wcnf");
    if (!sali_token_is(&p, "p") || !(r->weighted || sali_token_is(&word, "cnf")) ||
        word.line != p.line) {
        sali_scan_expected(scan, sali_token_is(&p, "p") ? &word : &p,
                           "a line 'p cnf VARIABLES CLAUSES' or 'p wcnf VARIABLES CLAUSES TOP'");
    }
    r->net->variables = sali_scan_int(scan, "the number of variables", 1, r->most);
    int64_t clauses = sali_scan_int(scan, "the number of clauses", 0, INT64_MAX);
    r->most = r->net->variables;
    r->top = INFINITY;
    if (r->weighted && sali_scan_on_line(scan, p.line)) {
        r->top = sali_scan_double(scan, "the weight of hard clauses");
    }
    if (scan->line != p.line) {
        sali_scan_fail(scan, p.line, "expected the numbers of variables and clauses on this line");
    }
    return clauses;
}

/* Whether the next word is `word`. */
static bool is_next(const sali_scan *scan, const char *word)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    sali_token token = sali_scan_token(&ahead);
    return sali_token_is(&token, word);
}

/* ---- clauses */

static int by_variable(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int32_t v = x < 0 ? -1 - x : x, u = y < 0 ? -1 - y : y;
    return v != u ? (v > u) - (v < u) : (x > y) - (x < y);
}

/* Read literals up to 0 into r->literals, in the order of their variables and each once. Returns
 * their number, or -1 if a variable and its negation are among them: the clause is always true. */
static int64_t read_literals(reader *r)
{
    int64_t n = 0, kept = 0;
    bool always = false;
    for (;;) {
        int64_t x =
            sali_scan_int(r->scan, "a literal, or 0 at the end of a clause", -r->most, r->most);
        if (r->scan->status != SAL_OK || x == 0 ||
            !sali_scan_grow(r->scan, (void **)&r->literals, &r->literal_room, n + 1,
                            sizeof *r->literals)) {
            break;
        }
        r->literals[n++] = (int32_t)(x > 0 ? x - 1 : x);
    }
    if (r->scan->status != SAL_OK || n == 0) {
        return 0;
    }
    qsort(r->literals, (size_t)n, sizeof *r->literals, by_variable);
    for (int64_t k = 0; k < n; k++) {
        int32_t x = r->literals[k], last = kept > 0 ? r->literals[kept - 1] : x;
        always |= kept > 0 && x == -1 - last;
        if (kept == 0 || x != last) {
            r->literals[kept++] = x;
        }
    }
    return always ? -1 : kept;
}

/* Make room for a factor of n variables. */
static bool grow(reader *r, int64_t n)
{
    sali_factor_graph *g = r->net;
    int64_t at = g->scope_begin ? g->scope_begin[g->factors] : 0;
    int64_t entries = g->table_begin ? g->table_begin[g->factors] : 0;
    if (entries + (1 << n) > MOST_ENTRIES) {
        sali_scan_fail(r->scan, r->scan->line,
                       "the tables of the clauses up to this one have more than %lld entries; a "
                       "clause of k literals has 2^k",
                       (long long)MOST_ENTRIES);
    }
    return sali_scan_grow(r->scan, (void **)&g->scope_begin, &r->begin_room, g->factors + 2,
                          sizeof *g->scope_begin) &&
           sali_scan_grow(r->scan, (void **)&g->table_begin, &r->table_room, g->factors + 2,
                          sizeof *g->table_begin) &&
           sali_scan_grow(r->scan, (void **)&g->scope, &r->scope_room, at + n + 1,
                          sizeof *g->scope) &&
           sali_scan_grow(r->scan, (void **)&g->log_table, &r->entry_room, entries + (1 << n),
                          sizeof *g->log_table);
}

/* Append the factor of the n literals in r->literals, whose violation has the logarithm `log`. */
static void add_factor(reader *r, int64_t n, double log)
{
    sali_factor_graph *g = r->net;
    if (!grow(r, n)) {
        return;
    }
    if (g->factors == 0) {
        g->scope_begin[0] = g->table_begin[0] = 0;
    }
    int64_t at = g->scope_begin[g->factors], first = g->table_begin[g->factors], violated = 0;
    for (int64_t k = 0; k < n; k++) {
        int32_t x = r->literals[k];
        g->scope[at + k] = x < 0 ? -1 - x : x;
        violated = 2 * violated + (x < 0);
    }
    memset(&g->log_table[first], 0, sizeof(double) << n);
    g->log_table[first + violated] = log;
    g->factors++;
    g->scope_begin[g->factors] = at + n;
    g->table_begin[g->factors] = first + (1 << n);
}

/* Read the weight of a clause: INFINITY for a hard one. */
static double read_weight(reader *r)
{
    if (!r->weighted) {
        return 1;
    }
    if (r->marks && is_next(r->scan, "h")) {
        sali_scan_token(r->scan);
        return INFINITY;
    }
    double weight = sali_scan_double(r->scan, r->marks ? "h or the weight of a clause"
                                                       : "the weight of a clause");
    if (weight < 0) {
        sali_scan_fail(r->scan, r->scan->line, "the weight of a clause is negative");
    }
    return weight >= r->top ? INFINITY : weight;
}

static void read_clause(reader *r)
{
    double weight = read_weight(r);
    int64_t n = read_literals(r), line = r->scan->line;
    if (n > MOST_LITERALS) {
        sali_scan_fail(r->scan, line,
                       "a clause of %lld literals; clauses of at most %d are read, as a clause "
                       "becomes a table",
                       (long long)n, MOST_LITERALS);
    }
    if (n == 0 && isinf(weight)) {
        sali_scan_fail(r->scan, line, "a hard clause without literals, which nothing satisfies");
    }
    if (r->scan->status == SAL_OK) {
        r->hard += isinf(weight);
        r->always += n < 0;
        if (n >= 0 && weight > 0) {
            add_factor(r, n, -weight);
        }
    }
    /* without a line p, variables are those that occur */
    for (int64_t k = 0; r->marks && r->scan->status == SAL_OK && k < (n < 0 ? 0 : n); k++) {
        int32_t x = r->literals[k];
        int64_t v = x < 0 ? -1 - x : x;
        r->net->variables = v >= r->net->variables ? v + 1 : r->net->variables;
    }
}

/* ---- the whole */

/* Complete the network after the last clause: the numbers of states, and what it was made of. */
static void finish(reader *r, int64_t clauses, sali_remark *remark)
{
    sali_factor_graph *g = r->net;
    if (g->variables == 0) {
        sali_scan_refuse(r->scan, "has no clause");
    }
    g->kind = SALI_FACTOR_MARKOV;
    g->states = SALI_SCAN_ARRAY(r->scan, int32_t, g->variables);
    for (int64_t v = 0; r->scan->status == SAL_OK && v < g->variables; v++) {
        g->states[v] = 2;
    }
    if (r->scan->status == SAL_OK && g->factors == 0) {
        add_factor(r, 0, 0);
    }
    if (r->scan->status == SAL_OK) {
        r->scan->status = sali_remark_add(
            remark, false, r->scan->err, "%lld clauses, %lld of them hard%s", (long long)clauses,
            (long long)r->hard,
            r->weighted ? "" : "; f is minus the number of clauses that are violated");
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .scan = scan, .net = &out->network };
    const int64_t text = scan->end - scan->begin;
    int64_t said = -1, clauses = 0;
    r.most = text > FREE_VARIABLES ? text : FREE_VARIABLES;
    r.most = r.most > INT32_MAX ? INT32_MAX : r.most;
    if (is_next(scan, "p")) {
        said = read_problem(&r);
    } else {
        r.weighted = true;
        r.marks = true;
        r.top = INFINITY;
    }
    /* the files of SATLIB end with "%" and "0" */
    for (; sali_scan_more(scan) && !is_next(scan, "%"); clauses++) {
        read_clause(&r);
    }
    if (said >= 0 && clauses != said) {
        sali_scan_refuse(scan, "has %lld clauses; its line p says %lld", (long long)clauses,
                         (long long)said);
    }
    finish(&r, clauses, &out->remark);
    sali_free(r.literals);
}

/* Whether a file begins with a line p of this format. */
static bool has_problem(sali_scan *scan, bool weighted)
{
    sali_factor_graph net = { 0 };
    reader r = { .scan = scan, .net = &net, .most = INT32_MAX };
    read_problem(&r);
    return scan->status == SAL_OK && r.weighted == weighted;
}

static bool recognise_cnf(sali_scan *scan)
{
    return has_problem(scan, false);
}

/* A line p, or a first clause that is hard and has a line of its own: fields of Potts models,
 * "h site state value", may begin alike. */
static bool recognise_wcnf(sali_scan *scan)
{
    if (!is_next(scan, "h")) {
        return has_problem(scan, true);
    }
    sali_scan_token(scan);
    int64_t n = 0, line = scan->line;
    while (sali_scan_int(scan, "", -INT32_MAX, INT32_MAX) != 0 && scan->status == SAL_OK) {
        n++;
    }
    return scan->status == SAL_OK && n > 0 && !sali_scan_on_line(scan, line);
}

const sali_format sali_format_cnf = {
    .name = "cnf",
    .doc = "clauses of DIMACS: \"p cnf variables clauses\"; f is minus the number of violated "
           "clauses",
    .suffixes = { ".cnf" },
    .content = SALI_CONTENT_NETWORK,
    .model = "max-sat",
    .comments = SALI_COMMENT_LETTER_C,
    .recognise = recognise_cnf,
    .has_heading = true,
    .parse = parse,
};

const sali_format sali_format_wcnf = {
    .name = "wcnf",
    .doc = "weighted MaxSAT: \"p wcnf variables clauses top\", or \"h\" and weights; f is minus "
           "the weight of the violated clauses",
    .suffixes = { ".wcnf" },
    .content = SALI_CONTENT_NETWORK,
    .model = "max-sat",
    .comments = SALI_COMMENT_LETTER_C,
    .recognise = recognise_wcnf,
    .has_heading = true,
    .parse = parse,
};
