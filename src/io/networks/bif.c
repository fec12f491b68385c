/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the Interchange Format 0.15 (Cozman), with what bnlearn, pgmpy and JavaBayes
 * make of it. Variables are in the order of their blocks, factors in that of the blocks of
 * probabilities. Names may be in double quotes or not. Commas and blanks both separate; where a
 * list has commas, its names may have blanks. Properties are ignored. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/format.h"
#include "io/networks/bayes.h"
#include "io/networks/bif.h"

#define MARKS SALI_BIF_MARKS

/* A table in which `table` lists all entries: their order is decided for all such tables together
 * (settle_tables). */
typedef struct whole_table {
    int64_t factor, line;
} whole_table;

typedef struct reader {
    sali_scan *scan;
    sali_bayes bayes;
    whole_table *tables;
    int64_t n_tables, tables_room;
} reader;

/* ---- pieces */

/* The next piece, without consuming it. */
static sali_token peek(const sali_scan *scan)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    return sali_scan_piece(&ahead, MARKS);
}

/* Consume the next piece if it is this mark. */
static bool take_mark(sali_scan *scan, char mark)
{
    sali_token piece = peek(scan);
    if (!sali_piece_is(&piece, mark)) {
        return false;
    }
    sali_scan_piece(scan, MARKS);
    return true;
}

static void need_word(sali_scan *scan, const char *word)
{
    sali_token piece = sali_scan_piece(scan, MARKS);
    if (!sali_token_is(&piece, word)) {
        sali_scan_expected(scan, &piece, word);
    }
}

/* A name without the quotes around it. */
static sali_token unquoted(sali_token name)
{
    bool quoted = name.size > 1 && *name.text == '"' &&
                  memchr(name.text + 1, '"', (size_t)(name.size - 1)) == name.text + name.size - 1;
    return quoted ? sali_token_trim(name.text + 1, name.text + name.size - 1, name.line) : name;
}

/* ---- lists of names */

/* How the names of a list are separated. */
typedef enum separation { BY_COMMAS, BY_BLANKS, ONE_NAME } separation;

/* The separator of the list that follows: commas if there is one before a closing mark. Blanks may
 * belong to a name if the list is to hold `expected` = 1 name. */
static separation separation_of(const sali_scan *scan, int64_t expected)
{
    sali_scan ahead = *scan;
    ahead.err = NULL;
    for (;;) {
        sali_token piece = sali_scan_piece(&ahead, MARKS);
        if (sali_piece_is(&piece, ',')) {
            return BY_COMMAS;
        }
        if (piece.size == 0 || (piece.size == 1 && strchr(")}|;", *piece.text))) {
            return expected == 1 ? ONE_NAME : BY_BLANKS;
        }
    }
}

/* The next name of a list, on one line, up to a mark other than a comma, which is not consumed;
 * size 0 if there is none. */
static sali_token next_name(sali_scan *scan, separation by)
{
    sali_token name = { .text = "", .line = scan->line };
    while (scan->status == SAL_OK) {
        sali_token piece = peek(scan);
        bool comma = sali_piece_is(&piece, ',');
        if (piece.size == 0) {
            sali_scan_piece(scan, MARKS); /* fails if the piece has no end */
        }
        if (piece.size == 0 || (!comma && piece.size == 1 && strchr(MARKS, *piece.text)) ||
            (name.size > 0 && !comma && piece.line != name.line)) {
            break;
        }
        sali_scan_piece(scan, MARKS);
        if (comma && name.size > 0) {
            break;
        }
        if (!comma) {
            name = name.size
                       ? (sali_token){ name.text, piece.text + piece.size - name.text, name.line }
                       : piece;
        }
        if (name.size > 0 && by == BY_BLANKS) {
            break;
        }
    }
    return unquoted(name);
}

/* ---- variables */

/* Skip a property up to its semicolon. */
static void skip_property(reader *r)
{
    sali_scan_skip_to(r->scan, MARKS, ';');
}

/* Read "type discrete [ 2 ] { yes, no };" behind "type". */
static void read_type(reader *r, sali_name_table *states)
{
    sali_scan *scan = r->scan;
    sali_token type = sali_scan_piece(scan, MARKS);
    if (!sali_token_is(&type, "discrete")) {
        sali_scan_expected(scan, &type,
                           "discrete, the only type of variable that can be read (sampled spaces "
                           "are discrete)");
    }
    sali_scan_need_mark(scan, MARKS, '[');
    sali_token count = sali_scan_piece(scan, MARKS);
    int64_t n = 0;
    if (sali_parse_int(count.text, count.size, &n) != SAL_OK || n < 1) {
        sali_scan_expected(scan, &count, "a number of states, at least 1");
    }
    sali_scan_need_mark(scan, MARKS, ']');
    sali_scan_need_mark(scan, MARKS, '{');
    separation by = separation_of(scan, n);
    for (sali_token name; (name = next_name(scan, by)).size > 0;) {
        sali_bayes_new_name(scan, states, &name, "state");
    }
    if (scan->status == SAL_OK && states->count != n) {
        sali_scan_fail(scan, count.line, "%lld states; [%lld] says how many there are",
                       (long long)states->count, (long long)n);
    }
    sali_scan_need_mark(scan, MARKS, '}');
    take_mark(scan, ';');
}

/* Read a block of a variable behind the word "variable". */
static void read_variable(reader *r)
{
    sali_scan *scan = r->scan;
    sali_name_table states = { 0 };
    sali_token name = next_name(scan, ONE_NAME);
    sali_bayes_new_name(scan, &r->bayes.variables, &name, "variable");
    sali_scan_need_mark(scan, MARKS, '{');
    bool ended = false;
    while (scan->status == SAL_OK && !ended) {
        sali_token word = sali_scan_piece(scan, MARKS);
        if (sali_token_is(&word, "type") && states.count == 0) {
            read_type(r, &states);
        } else if (sali_token_is(&word, "property")) {
            skip_property(r);
        } else if (sali_piece_is(&word, '}')) {
            ended = true;
        } else {
            sali_scan_expected(scan, &word, "one type, a property or '}' in a variable");
        }
    }
    sali_bayes_add_states(&r->bayes, name.line, &states);
    sali_name_table_clear(&states);
}

/* ---- the scopes of tables */

/* Whether the text is one variable's name, blanks included. */
static bool is_variable(reader *r, const sali_token *name)
{
    return sali_name_table_find(&r->bayes.variables, name->text, name->size) >= 0;
}

/* Read "( child | parents )" or, as JavaBayes writes, "( child parents )". The child goes last into
 * the scope. */
static void read_scope(reader *r)
{
    sali_scan *scan = r->scan;
    sali_scan_need_mark(scan, MARKS, '(');
    sali_scan again = *scan;
    sali_token child = next_name(scan, ONE_NAME); /* up to a comma, a bar or ')' */
    if (!is_variable(r, &child)) {
        *scan = again;
        child = next_name(scan, BY_BLANKS);
    }
    int64_t v = sali_bayes_find(&r->bayes, &child, "a table");
    take_mark(scan, '|');
    again = *scan;
    sali_token parent = next_name(scan, ONE_NAME);
    separation by = parent.size == 0 || is_variable(r, &parent) ? BY_COMMAS : BY_BLANKS;
    *scan = again;
    while ((parent = next_name(scan, by)).size > 0) {
        int64_t number = sali_bayes_find(&r->bayes, &parent, "a parent");
        sali_bayes_add_to_scope(&r->bayes, parent.line, number);
    }
    sali_bayes_add_to_scope(&r->bayes, child.line, v);
    sali_scan_need_mark(scan, MARKS, ')');
}

/* ---- tables */

/* Read `n` numbers up to a semicolon. */
static void read_numbers(reader *r, int64_t line, int64_t n, double *p)
{
    sali_scan *scan = r->scan;
    int64_t found = 0;
    for (sali_token word; (word = next_name(scan, BY_BLANKS)).size > 0; found++) {
        double value = 0;
        if (sali_parse_double(word.text, word.size, &value) != SAL_OK) {
            sali_scan_expected(scan, &word, "a probability (a finite decimal number) or ';'");
        } else if (found < n) {
            p[found] = value;
        }
    }
    sali_scan_need_mark(scan, MARKS, ';');
    if (scan->status == SAL_OK && found != n) {
        sali_scan_fail(scan, line, "%lld numbers; the states ask for %lld", (long long)found,
                       (long long)n);
    }
}

/* Read the states of the parents of factor f behind "(", and ")". Returns the row that they
 * name. */
static int64_t read_configuration(reader *r, int64_t f)
{
    sali_scan *scan = r->scan;
    const sali_factor_graph *g = r->bayes.g;
    int64_t parents = g->scope_begin[f + 1] - 1 - g->scope_begin[f], row = 0, k = 0;
    separation by = separation_of(scan, parents);
    for (sali_token name; (name = next_name(scan, by)).size > 0; k++) {
        if (k >= parents) {
            sali_scan_fail(scan, name.line, "more states than the %lld parents",
                           (long long)parents);
            return 0;
        }
        int32_t v = g->scope[g->scope_begin[f] + k];
        int64_t state = sali_bayes_find_state(&r->bayes, v, &name);
        row = row * g->states[v] + state;
    }
    sali_scan_need_mark(scan, MARKS, ')');
    if (scan->status == SAL_OK && k < parents) {
        sali_scan_fail(scan, scan->line, "%lld states for %lld parents", (long long)k,
                       (long long)parents);
    }
    return scan->status == SAL_OK ? row : 0;
}

/* Read all entries of the last table, behind "table". */
static void read_whole_table(reader *r, int64_t line, double *p, int64_t entries)
{
    int64_t f = r->bayes.g->factors - 1;
    read_numbers(r, line, entries, p);
    if (sali_scan_grow(r->scan, (void **)&r->tables, &r->tables_room, r->n_tables + 1,
                       sizeof *r->tables)) {
        r->tables[r->n_tables++] = (whole_table){ f, line };
    }
}

/* Read one row of the last table, behind "(". */
static void read_row(reader *r, int64_t line, double *p, int32_t states)
{
    int64_t f = r->bayes.g->factors - 1, row = read_configuration(r, f);
    if (!isnan(p[row * states])) {
        sali_scan_fail(r->scan, line, "a second row for the same states of the parents");
    }
    read_numbers(r, line, states, p + row * states);
    sali_bayes_take_row(&r->bayes, line, f, row);
}

/* Give the rows that the block left out the default `row`, or fail if there is none. */
static void fill_rows(reader *r, int64_t line, int64_t default_line, const double *defaults,
                      double *p, int64_t entries, int32_t states)
{
    int64_t f = r->bayes.g->factors - 1;
    for (int64_t row = 0; r->scan->status == SAL_OK && row < entries / states; row++) {
        if (!isnan(p[row * states])) {
            continue;
        }
        if (default_line == 0) {
            sali_scan_fail(r->scan, line,
                           "no row for some states of the parents, and no default: %lld rows are "
                           "needed",
                           (long long)(entries / states));
        }
        memcpy(p + row * states, defaults, (size_t)states * sizeof *p);
        sali_bayes_take_row(&r->bayes, default_line, f, row);
    }
}

/* Read the body of a block of probabilities, whose table is made, up to "}". */
static void read_body(reader *r, int64_t line, double *p, int64_t entries, int32_t states)
{
    sali_scan *scan = r->scan;
    double *defaults = SALI_SCAN_ARRAY(scan, double, states);
    int64_t default_line = 0;
    bool ended = false, whole = false, rows = false;
    while (scan->status == SAL_OK && !ended) {
        sali_token word = sali_scan_piece(scan, MARKS);
        if (sali_token_is(&word, "table") && !whole && !rows) {
            read_whole_table(r, word.line, p, entries);
            whole = true;
        } else if (sali_piece_is(&word, '(') && !whole) {
            read_row(r, word.line, p, states);
            rows = true;
        } else if (sali_token_is(&word, "default") && !default_line) {
            default_line = word.line;
            read_numbers(r, word.line, states, defaults);
        } else if (sali_token_is(&word, "property")) {
            skip_property(r);
        } else if (sali_piece_is(&word, '}')) {
            ended = true;
        } else {
            sali_scan_expected(scan, &word,
                               "one table, rows '(states) numbers;', one default or '}'");
        }
    }
    if (scan->status == SAL_OK) {
        fill_rows(r, line, default_line, defaults, p, entries, states);
    }
    sali_free(defaults);
}

/* Read a block of probabilities behind the word "probability". */
static void read_probability(reader *r)
{
    int64_t line = r->scan->line;
    read_scope(r);
    sali_scan_need_mark(r->scan, MARKS, '{');
    int64_t entries = sali_bayes_close_scope(&r->bayes, line);
    int32_t states = entries ? sali_bayes_child_states(&r->bayes) : 0;
    double *p = sali_bayes_table(&r->bayes, entries);
    if (p) {
        read_body(r, line, p, entries, states);
    }
}

/* ---- the order of whole tables */

/* Whether the sums over the child's states are 1 but for rounding in the whole table t, the child
 * changing slowest or fastest. */
static bool table_sums(const reader *r, const whole_table *t, bool child_fastest)
{
    const sali_factor_graph *g = r->bayes.g;
    const double *p = g->log_table + g->table_begin[t->factor];
    int64_t entries = g->table_begin[t->factor + 1] - g->table_begin[t->factor];
    int64_t states = g->states[g->scope[g->scope_begin[t->factor + 1] - 1]];
    int64_t rows = entries / states;
    bool good = true;
    for (int64_t row = 0; good && row < rows; row++) {
        double sum = 0;
        for (int64_t k = 0; k < states; k++) {
            sum += child_fastest ? p[row * states + k] : p[k * rows + row];
        }
        good = fabs(sum - 1) <= SALI_ROW_ROUNDING;
    }
    return good;
}

/* The first whole table that does not fit the order; NULL: none. */
static const whole_table *find_misfit(const reader *r, bool child_fastest)
{
    for (int64_t k = 0; k < r->n_tables; k++) {
        if (!table_sums(r, &r->tables[k], child_fastest)) {
            return &r->tables[k];
        }
    }
    return NULL;
}

/* Bring a table whose child changes slowest into the order where it changes fastest. */
static void transpose(reader *r, int64_t f)
{
    sali_factor_graph *g = r->bayes.g;
    int64_t entries = g->table_begin[f + 1] - g->table_begin[f];
    int64_t states = g->states[g->scope[g->scope_begin[f + 1] - 1]], rows = entries / states;
    double *p = g->log_table + g->table_begin[f];
    double *copy = SALI_SCAN_ARRAY(r->scan, double, entries);
    for (int64_t i = 0; copy && i < entries; i++) {
        copy[i % rows * states + i / rows] = p[i];
    }
    if (copy) {
        memcpy(p, copy, (size_t)entries * sizeof *p);
    }
    sali_free(copy);
}

/* Take the rows of whole tables. In the format the child, the first variable, changes slowest. If
 * the sums are 1 in all tables when it changes fastest, and are not in the order of the format, the
 * tables are read so, with a remark. */
static void settle_tables(reader *r)
{
    bool fastest = false;
    if (r->scan->status == SAL_OK && find_misfit(r, false) && !find_misfit(r, true)) {
        fastest = true;
        r->scan->status = sali_remark_add(r->bayes.remark, true, r->scan->err,
                                          "its lists `table` are read with the child's states "
                                          "changing fastest, not slowest as in "
                                          "the format, because the probabilities sum to 1 only so");
    }
    for (int64_t k = 0; r->scan->status == SAL_OK && k < r->n_tables; k++) {
        if (!fastest) {
            transpose(r, r->tables[k].factor);
        }
        sali_bayes_take_rows(&r->bayes, r->tables[k].line, r->tables[k].factor);
    }
}

/* ---- the file */

/* Read the blocks that are called `name` by `read`, behind their names, and skip the others. */
static void read_blocks(reader *r, const char *name, void (*read)(reader *r))
{
    sali_scan *scan = r->scan;
    for (sali_token word; (word = sali_scan_piece(scan, MARKS)).size > 0;) {
        if (sali_token_is(&word, name)) {
            read(r);
        } else if (sali_token_is(&word, "network") || sali_token_is(&word, "variable") ||
                   sali_token_is(&word, "probability")) {
            sali_scan_skip_to(scan, MARKS, '{');
            sali_scan_skip_to(scan, MARKS, '}');
        } else {
            sali_scan_expected(scan, &word, "network, variable or probability");
        }
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .scan = scan };
    sali_scan again = *scan;
    sali_bayes_begin(&r.bayes, scan, out);
    need_word(scan, "network");
    sali_scan_skip_to(scan, MARKS, '{');
    sali_scan_skip_to(scan, MARKS, '}');
    read_blocks(&r, "variable", read_variable);
    if (scan->status == SAL_OK) {
        *scan = again;
        read_blocks(&r, "probability", read_probability);
    }
    settle_tables(&r);
    sali_bayes_end(&r.bayes);
    sali_free(r.tables);
    sali_bayes_clear(&r.bayes);
}

static bool recognise(sali_scan *scan)
{
    sali_token word = sali_scan_piece(scan, MARKS);
    if (!sali_token_is(&word, "network")) {
        return false;
    }
    next_name(scan, ONE_NAME);
    return take_mark(scan, '{');
}

const sali_format sali_format_bif = {
    .name = "bif",
    .doc = "Bayesian networks of bnlearn, pgmpy and JavaBayes (Interchange Format)",
    .suffixes = { ".bif" },
    .content = SALI_CONTENT_NETWORK,
    .comments = SALI_COMMENT_C | SALI_COMMENT_CPP,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = sali_bif_write,
};
