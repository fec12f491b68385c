/* SPDX-License-Identifier: MIT */
/* Bayesian networks in the NET language of Hugin, as Hugin, bnlearn, pgmpy and UnBBayes write it.
 * Variables are in the order of their nodes, factors in that of the potentials. Attributes other
 * than states, labels and data are ignored. Rows of weights, as Hugin and UnBBayes allow, are
 * divided by their sums. */
#include "io/networks/hugin.h"

#include <string.h>

#include "core/alloc.h"
#include "core/number.h"
#include "io/format.h"
#include "io/networks/bayes.h"

#define MARKS "{}()|=;"

typedef struct reader {
    sali_scan *scan;
    sali_bayes bayes;
    char **labels; /* [variables]: the name that a node's label gives, or NULL */
    int64_t labels_room, n_labels;
    int64_t unnamed, expressions; /* nodes without names of states; tables with an expression */
} reader;

/* ---- pieces */

/* A text without the quotes around it. */
static sali_token unquoted(sali_token text)
{
    return text.size > 1 && *text.text == '"'
               ? sali_token_trim(text.text + 1, text.text + text.size - 1, text.line)
               : text;
}

/* ---- nodes */

/* Read "( "yes" "no" );" as states. Empty names are taken for s0, s1, .. if all are empty. */
static void read_states(reader *r, sali_name_table *states)
{
    sali_scan *scan = r->scan;
    int64_t empty = 0;
    sali_scan_need_mark(scan, MARKS, '(');
    for (sali_token piece; scan->status == SAL_OK;) {
        piece = sali_scan_piece(scan, MARKS);
        if (sali_piece_is(&piece, ')')) {
            break;
        }
        if (piece.size == 0 || (piece.size == 1 && strchr(MARKS, *piece.text))) {
            sali_scan_expected(scan, &piece, "a state in double quotes or ')'");
        }
        sali_token name = unquoted(piece);
        char number[SALI_BAYES_NAME_SIZE];
        if (name.size == 0 && states->count == empty) {
            int size = snprintf(number, sizeof number, "s%lld", (long long)empty++);
            name = (sali_token){ number, size, piece.line };
        } else if (empty > 0 || name.size == 0) {
            sali_scan_fail(scan, piece.line, "some states have names, and others have none");
        }
        sali_bayes_new_name(scan, states, &name, "state");
    }
    r->unnamed += empty > 0;
    sali_scan_need_mark(scan, MARKS, ';');
}

/* Keep the label as the name of variable v, if the node's identifier `name` stands for that
 * name. */
static void take_label(reader *r, int64_t v, const sali_token *name, sali_token label)
{
    char *copy = label.size ? sali_scan_copy(r->scan, label.text, label.size) : NULL;
    char *identifier = copy ? sali_hugin_identifier(copy) : NULL;
    bool fits = identifier && (int64_t)strlen(identifier) == name->size &&
                memcmp(identifier, name->text, (size_t)name->size) == 0 &&
                (int64_t)strlen(copy) == label.size && sali_bayes_is_name(copy);
    if (copy && sali_scan_granted(r->scan, identifier) && fits) {
        sali_free(r->labels[v]);
        r->labels[v] = copy;
        copy = NULL;
    }
    sali_free(identifier);
    sali_free(copy);
}

/* Read an attribute of a node behind its name `word`. */
static void read_attribute(reader *r, int64_t v, const sali_token *name, const sali_token *word,
                           sali_name_table *states)
{
    sali_scan *scan = r->scan;
    sali_scan_need_mark(scan, MARKS, '=');
    if (sali_token_is(word, "states") && states->count == 0) {
        read_states(r, states);
    } else if (sali_token_is(word, "label")) {
        take_label(r, v, name, unquoted(sali_scan_piece(scan, MARKS)));
        sali_scan_skip_to(scan, MARKS, ';');
    } else if (sali_token_is(word, "states")) {
        sali_scan_fail(scan, word->line, "a second list of states");
    } else {
        sali_scan_skip_to(scan, MARKS, ';');
    }
}

/* Read a node behind the word "node". */
static void read_node(reader *r)
{
    sali_scan *scan = r->scan;
    sali_name_table states = { 0 };
    sali_token name = sali_scan_piece(scan, MARKS);
    if (name.size == 1 && strchr(MARKS, *name.text)) {
        sali_scan_expected(scan, &name, "the name of a node");
    }
    name = unquoted(name);
    int64_t v = sali_bayes_new_name(scan, &r->bayes.variables, &name, "node");
    sali_scan_need_mark(scan, MARKS, '{');
    if (sali_scan_grow(scan, (void **)&r->labels, &r->labels_room, v + 1, sizeof *r->labels)) {
        r->labels[r->n_labels++] = NULL;
    }
    while (scan->status == SAL_OK) {
        sali_token word = sali_scan_piece(scan, MARKS);
        if (sali_piece_is(&word, '}')) {
            break;
        }
        if (word.size == 0 || (word.size == 1 && strchr(MARKS, *word.text))) {
            sali_scan_expected(scan, &word, "an attribute or '}' in a node");
        }
        read_attribute(r, v, &name, &word, &states);
    }
    sali_bayes_add_states(&r->bayes, name.line, &states);
    sali_name_table_clear(&states);
}

/* ---- potentials */

/* Read "( child | parents )". The child goes last into the scope. */
static void read_scope(reader *r)
{
    sali_scan *scan = r->scan;
    sali_scan_need_mark(scan, MARKS, '(');
    sali_token child = unquoted(sali_scan_piece(scan, MARKS));
    int64_t v = sali_bayes_find(&r->bayes, &child, "a potential");
    sali_token piece = sali_scan_piece(scan, MARKS);
    if (!sali_piece_is(&piece, '|') && !sali_piece_is(&piece, ')')) {
        sali_scan_expected(scan, &piece,
                           "'|' or ')', as a potential of one variable given its parents can be "
                           "read, and no joint one");
    }
    while (scan->status == SAL_OK && !sali_piece_is(&piece, ')')) {
        piece = sali_scan_piece(scan, MARKS);
        if (scan->status == SAL_OK && !sali_piece_is(&piece, ')')) {
            sali_token parent = unquoted(piece);
            int64_t number = sali_bayes_find(&r->bayes, &parent, "a parent");
            sali_bayes_add_to_scope(&r->bayes, parent.line, number);
        }
    }
    sali_bayes_add_to_scope(&r->bayes, child.line, v);
}

/* Read the nested lists of `entries` numbers behind "data =", and ";". A list of numbers ends where
 * the child's states do. */
static void read_data(reader *r, int64_t line, double *p, int64_t entries, int32_t states)
{
    sali_scan *scan = r->scan;
    int64_t depth = 0, found = 0;
    for (bool ended = false; scan->status == SAL_OK && !ended;) {
        sali_token piece = sali_scan_piece(scan, MARKS);
        double value = 0;
        if (sali_piece_is(&piece, '(')) {
            depth++;
        } else if (sali_piece_is(&piece, ')') && depth > 0 && found % states == 0) {
            depth--;
        } else if (sali_piece_is(&piece, ')') && depth > 0) {
            sali_scan_fail(scan, piece.line,
                           "')' behind %lld numbers; each list has those of the %d states of one "
                           "variable",
                           (long long)found, states);
        } else if (sali_piece_is(&piece, ';') && depth == 0) {
            ended = true;
        } else if (sali_token_is(&piece, "...")) {
            sali_scan_fail(scan, piece.line,
                           "'...' for numbers that are not there; pgmpy leaves them out of tables "
                           "with over 1000: write the network as .bif there");
        } else if (depth == 0 || sali_parse_double(piece.text, piece.size, &value) != SAL_OK) {
            sali_scan_expected(scan, &piece,
                               depth ? "a probability (a finite decimal number), '(' or ')'"
                                     : "'(' or ';'");
        } else if (found++ < entries) {
            p[found - 1] = value;
        }
    }
    if (scan->status == SAL_OK && found != entries) {
        sali_scan_fail(scan, line, "data of %lld numbers; the states ask for %lld",
                       (long long)found, (long long)entries);
    }
}

/* Read the attributes of a potential up to "}". Returns whether there were data. */
static bool read_body(reader *r, double *p, int64_t entries, int32_t states)
{
    sali_scan *scan = r->scan;
    bool data = false;
    while (scan->status == SAL_OK) {
        sali_token word = sali_scan_piece(scan, MARKS);
        if (sali_piece_is(&word, '}')) {
            break;
        }
        if (word.size == 0 || (word.size == 1 && strchr(MARKS, *word.text))) {
            sali_scan_expected(scan, &word, "an attribute or '}' in a potential");
        }
        sali_scan_need_mark(scan, MARKS, '=');
        if (sali_token_is(&word, "data") && data) {
            sali_scan_fail(scan, word.line, "a second data in a potential");
        } else if (sali_token_is(&word, "data")) {
            read_data(r, word.line, p, entries, states);
            data = true;
        } else {
            r->expressions += sali_token_is(&word, "model_data");
            sali_scan_skip_to(scan, MARKS, ';');
        }
    }
    return data;
}

/* Read a potential behind the word "potential". */
static void read_potential(reader *r)
{
    int64_t line = r->scan->line;
    read_scope(r);
    sali_scan_need_mark(r->scan, MARKS, '{');
    int64_t entries = sali_bayes_close_scope(&r->bayes, line);
    int32_t states = entries ? sali_bayes_child_states(&r->bayes) : 0;
    double *p = sali_bayes_table(&r->bayes, entries);
    if (p && !read_body(r, p, entries, states)) {
        sali_scan_fail(r->scan, line,
                       "a potential without data; its table cannot be made of an expression or by "
                       "default");
    }
    sali_bayes_take_rows(&r->bayes, line, r->bayes.g->factors - 1);
}

/* ---- the file */

/* Fails for a block that is no node or potential of a Bayesian network. */
static void refuse_block(sali_scan *scan, const sali_token *word)
{
    static const struct {
        const char *word, *why;
    } blocks[] = {
        { "continuous", "a continuous node; sampled spaces are discrete" },
        { "utility", "a utility node, which has no probability" },
        { "decision", "a decision node, which has no probability" },
        { "function", "a function node, which has no probability" },
        { "class", "a class of nodes (object-oriented); save the network as a flat one" },
        { "object_class", "a class of nodes (object-oriented); save the network as a flat one" },
        { "*Vertices", "a graph of Pajek, no network of Hugin; such graphs cannot be read" },
    };
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
        if (sali_token_is(word, blocks[k].word)) {
            sali_scan_fail(scan, word->line, "%s", blocks[k].why);
        }
    }
    sali_scan_expected(scan, word, "net, node or potential");
}

/* Read the blocks that are called `name` by `read`, behind their names, and skip the others. */
static void read_blocks(reader *r, const char *name, void (*read)(reader *r))
{
    sali_scan *scan = r->scan;
    for (sali_token word; (word = sali_scan_piece(scan, MARKS)).size > 0;) {
        if (sali_token_is(&word, "discrete")) {
            word = sali_scan_piece(scan, MARKS);
        }
        if (sali_token_is(&word, name)) {
            read(r);
        } else if (sali_token_is(&word, "net") || sali_token_is(&word, "node") ||
                   sali_token_is(&word, "potential")) {
            sali_scan_skip_to(scan, MARKS, '{');
            sali_scan_skip_to(scan, MARKS, '}');
        } else {
            refuse_block(scan, &word);
        }
    }
}

/* Call variables by the labels that were kept, and remark what was ignored. */
static void end_network(reader *r)
{
    sali_scan *scan = r->scan;
    sali_bayes_end(&r->bayes);
    for (int64_t v = 0; scan->status == SAL_OK && v < r->n_labels; v++) {
        if (r->labels[v]) {
            sali_free(r->bayes.g->names[v]);
            r->bayes.g->names[v] = r->labels[v];
            r->labels[v] = NULL;
        }
    }
    if (scan->status == SAL_OK && r->unnamed) {
        scan->status = sali_remark_add(r->bayes.remark, false, scan->err,
                                       "the states of %lld of its nodes have no names, and are "
                                       "called s0, s1, ..",
                                       (long long)r->unnamed);
    }
    if (scan->status == SAL_OK && r->expressions) {
        scan->status = sali_remark_add(r->bayes.remark, true, scan->err,
                                       "%lld of its tables also have an expression (model_data), "
                                       "which is ignored; their data are read",
                                       (long long)r->expressions);
    }
}

static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .scan = scan };
    sali_scan again = *scan;
    sali_bayes_begin(&r.bayes, scan, out);
    r.bayes.weights = true; /* Hugin writes rows of ones for tables that nobody filled in */
    read_blocks(&r, "node", read_node);
    if (scan->status == SAL_OK) {
        *scan = again;
        read_blocks(&r, "potential", read_potential);
    }
    end_network(&r);
    sali_names_free(r.labels, r.n_labels);
    sali_bayes_clear(&r.bayes);
}

static bool recognise(sali_scan *scan)
{
    sali_token word = sali_scan_piece(scan, MARKS), next = sali_scan_piece(scan, MARKS);
    if (sali_token_is(&word, "net")) {
        return sali_piece_is(&next, '{');
    }
    sali_token brace = sali_scan_piece(scan, MARKS);
    return (sali_token_is(&word, "node") && sali_piece_is(&brace, '{')) ||
           (sali_token_is(&word, "class") && sali_piece_is(&brace, '{'));
}

const sali_format sali_format_hugin = {
    .name = "hugin",
    .doc = "Bayesian networks of Hugin, bnlearn and pgmpy (NET)",
    .suffixes = { ".net", ".hugin" },
    .content = SALI_CONTENT_NETWORK,
    .comments = SALI_COMMENT_PERCENT,
    .recognise = recognise,
    .has_heading = true,
    .parse = parse,
    .write = sali_hugin_write,
};
