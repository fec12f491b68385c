/* SPDX-License-Identifier: MIT */
/* Reading XMLBIF. Variables are in the order of their VARIABLE elements, factors in that of the
 * DEFINITIONs. Every variable is of nature and has one DEFINITION, and no variable is its own
 * ancestor; a row that sums to 1 but for rounding is divided by its sum. A DOCTYPE is skipped
 * (sali_xml_parse_doctype); namespaces and PROPERTY elements are ignored. */
#include "io/networks/xmlbif.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/name_table.h"
#include "io/format.h"
#include "io/xml.h"

typedef struct reader {
    sali_scan *scan;
    sali_factor_graph *g;
    sali_name_table variables; /* the network takes over the names at the end */
    int64_t *last_use;         /* [variables]: 1 + the last factor whose scope has it */
    bool *defined;             /* [variables] */
    int64_t scope_room, table_room;
} reader;

/* Whether the element has this name, in any namespace: some programs give the format one. */
static bool has_name(const xmlNode *element, const char *name)
{
    return strcmp((const char *)element->name, name) == 0;
}

/* The next child called `name` after `child`, the first one if `child` is NULL; NULL: no more. */
static xmlNode *next_child(const xmlNode *parent, xmlNode *child, const char *name)
{
    do {
        child = child ? xmlNextElementSibling(child) : xmlFirstElementChild((xmlNode *)parent);
    } while (child && !has_name(child, name));
    return child;
}

static int64_t count_children(const xmlNode *parent, const char *name)
{
    int64_t n = 0;
    for (xmlNode *e = NULL; (e = next_child(parent, e, name));) {
        n++;
    }
    return n;
}

/* The only child called `name`; fails if there is none, or several. */
static xmlNode *need_child(reader *r, const xmlNode *parent, const char *name)
{
    xmlNode *child = next_child(parent, NULL, name);
    xmlNode *second = child ? next_child(parent, child, name) : NULL;
    if (!child) {
        sali_scan_fail(r->scan, xmlGetLineNo(parent), "%s without a %s", (const char *)parent->name,
                       name);
    } else if (second) {
        sali_scan_fail(r->scan, xmlGetLineNo(second), "a second %s in a %s; expected one", name,
                       (const char *)parent->name);
    }
    return child;
}

/* Fails if a child's name is not in the list `names`, which ends with NULL. */
static void check_children(reader *r, const xmlNode *parent, const char *const *names)
{
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)parent); e; e = xmlNextElementSibling(e)) {
        int k = 0;
        while (names[k] && !has_name(e, names[k])) {
            k++;
        }
        if (!names[k]) {
            char shown[SALI_SHOW_SIZE];
            sali_scan_fail(r->scan, xmlGetLineNo(e), "unexpected element %s in %s",
                           sali_show((const char *)e->name, -1, shown), (const char *)parent->name);
        }
    }
}

/* ---- names */

/* The number in `names` of an element's text without surrounding blanks. If `new`, the name must be
 * new and is added, else it must be known. -1 after a failure. */
static int64_t read_name(reader *r, const xmlNode *element, sali_name_table *names, bool new)
{
    char shown[SALI_SHOW_SIZE];
    xmlChar *content = r->scan->status == SAL_OK ? xmlNodeGetContent(element) : NULL;
    if (!sali_scan_granted(r->scan, content)) {
        return -1;
    }
    const char *text = (const char *)content;
    sali_token name = sali_token_trim(text, text + strlen(text), 0);
    int64_t number = sali_name_table_find(names, name.text, name.size);
    const char *what = (const char *)element->name;
    long line = xmlGetLineNo(element);
    if (name.size == 0) {
        sali_scan_fail(r->scan, line, "an empty %s", what);
    } else if (new &&number >= 0) {
        sali_scan_fail(r->scan, line, "a second %s named '%s'", what,
                       sali_show(name.text, name.size, shown));
    } else if (new) {
        number = sali_name_table_put(names, name.text, name.size);
        sali_scan_granted(r->scan, number >= 0);
    } else if (number < 0) {
        sali_scan_fail(r->scan, line, "%s names '%s', which is no VARIABLE", what,
                       sali_show(name.text, name.size, shown));
    }
    xmlFree(content);
    return r->scan->status == SAL_OK ? number : -1;
}

/* ---- variables */

/* Read the name and outcomes of variable v from its VARIABLE element. */
static void read_variable(reader *r, const xmlNode *variable, int64_t v)
{
    static const char *const children[] = { "NAME", "OUTCOME", "PROPERTY", NULL };
    sali_name_table outcomes = { 0 };
    const char *type = sali_xml_value(variable, "TYPE");
    check_children(r, variable, children);
    if (type && strcmp(type, "nature") != 0) {
        char shown[SALI_SHOW_SIZE];
        sali_scan_fail(r->scan, xmlGetLineNo(variable),
                       "a VARIABLE of type '%s'; only TYPE=\"nature\" can be read: a decision or "
                       "utility has no probability",
                       sali_show(type, -1, shown));
    }
    read_name(r, need_child(r, variable, "NAME"), &r->variables, true);
    for (xmlNode *e = NULL; (e = next_child(variable, e, "OUTCOME"));) {
        read_name(r, e, &outcomes, true);
    }
    if (outcomes.count == 0) {
        sali_scan_fail(r->scan, xmlGetLineNo(variable), "a VARIABLE without an OUTCOME");
    }
    r->g->states[v] = (int32_t)outcomes.count; /* at most SALI_XML_MAX_ITEMS */
    r->g->state_names[v] = sali_name_table_take(&outcomes);
}

/* ---- definitions */

/* Append the variable that `element` names to the scope of factor f; *entries is multiplied by its
 * number of states. */
static void add_to_scope(reader *r, const xmlNode *element, int64_t f, int64_t *entries)
{
    sali_factor_graph *g = r->g;
    int64_t v = read_name(r, element, &r->variables, false), at = g->scope_begin[f + 1];
    if (v < 0 ||
        !sali_scan_grow(r->scan, (void **)&g->scope, &r->scope_room, at + 1, sizeof *g->scope)) {
        return;
    }
    if (r->last_use[v] == f + 1) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "variable %lld is twice in a DEFINITION",
                       (long long)v);
    }
    r->last_use[v] = f + 1;
    g->scope[at] = (int32_t)v;
    g->scope_begin[f + 1] = at + 1;
    if (__builtin_mul_overflow(*entries, g->states[v], entries)) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "the table would have over 2^63 entries");
    }
}

/* Read the scope of factor f: the GIVENs in their order, then FOR, so that the child is last and
 * changes fastest. Returns the number of entries of the table. */
static int64_t read_scope(reader *r, const xmlNode *definition, int64_t f)
{
    int64_t entries = 1;
    sali_factor_graph *g = r->g;
    xmlNode *child = need_child(r, definition, "FOR");
    g->scope_begin[f + 1] = g->scope_begin[f];
    for (xmlNode *e = NULL; (e = next_child(definition, e, "GIVEN"));) {
        add_to_scope(r, e, f, &entries);
    }
    add_to_scope(r, child, f, &entries);
    if (r->scan->status == SAL_OK) {
        int32_t v = g->scope[g->scope_begin[f + 1] - 1];
        if (r->defined[v]) {
            sali_scan_fail(r->scan, xmlGetLineNo(definition), "a second DEFINITION for variable %d",
                           v);
        }
        r->defined[v] = true;
    }
    return entries;
}

/* Turn the probabilities p [states] of one row into logarithms, divided by their sum where it is 1
 * up to rounding; fails if the sum is not 1. */
static void take_row(reader *r, long line, int64_t row, int32_t states, double *p)
{
    double sum = 0;
    for (int32_t k = 0; k < states; k++) {
        if (p[k] < 0) {
            sali_scan_fail(r->scan, line, "row %lld of a TABLE holds %g", (long long)row, p[k]);
        }
        sum += p[k];
    }
    if (!(fabs(sum - 1) <= SALI_XMLBIF_ROUNDING)) {
        sali_scan_fail(r->scan, line,
                       "row %lld of a TABLE sums to %.6g; expected 1 (the variable of FOR varies "
                       "fastest)",
                       (long long)row, sum);
    }
    /* A sum that differs by rounding in double is left alone: then files read back bit for bit. */
    double scale = fabs(sum - 1) < 1e-12 ? 1 : sum;
    for (int32_t k = 0; k < states; k++) {
        p[k] = p[k] > 0 ? log(p[k] / scale) : -INFINITY;
    }
}

/* Read the table of factor f, which must have `entries` entries, and store its logarithms. */
static void read_table(reader *r, const xmlNode *table, int64_t f, int64_t entries)
{
    sali_factor_graph *g = r->g;
    xmlChar *text = xmlNodeGetContent(table);
    if (!sali_scan_granted(r->scan, text)) {
        xmlFree(text);
        return;
    }
    int64_t begin = g->table_begin[f];
    int32_t states = g->states[g->scope[g->scope_begin[f + 1] - 1]];
    sali_scan scan = sali_scan_of(r->scan->name, text, (int64_t)xmlStrlen(text), 0, r->scan->err);
    long line = scan.line = xmlGetLineNo(table);
    int64_t words = sali_scan_words(&scan);
    if (words != entries) {
        sali_scan_fail(&scan, line, "a TABLE of %lld entries; FOR and GIVEN ask for %lld",
                       (long long)words, (long long)entries);
    }
    if (scan.status == SAL_OK && sali_scan_grow(&scan, (void **)&g->log_table, &r->table_room,
                                                begin + entries, sizeof(double))) {
        for (double *p = g->log_table + begin, *end = p + entries; p < end; p++) {
            *p = sali_scan_double(&scan, "an entry of a TABLE");
        }
        g->table_begin[f + 1] = begin + entries;
    }
    r->scan->status = scan.status;
    for (int64_t row = 0; row < entries / states && r->scan->status == SAL_OK; row++) {
        take_row(r, line, row, states, g->log_table + begin + row * states);
    }
    xmlFree(text);
}

/* Read factor f, scope and table, from its DEFINITION element. */
static void read_definition(reader *r, const xmlNode *definition, int64_t f)
{
    static const char *const children[] = { "FOR", "GIVEN", "TABLE", "PROPERTY", NULL };
    check_children(r, definition, children);
    int64_t entries = read_scope(r, definition, f);
    xmlNode *table = need_child(r, definition, "TABLE");
    if (r->scan->status == SAL_OK) {
        read_table(r, table, f, entries);
    }
}

/* ---- the network */

/* Allocate the arrays of a network of n variables and n factors. */
static void allocate_network(reader *r, int64_t n)
{
    sali_factor_graph *g = r->g;
    g->variables = g->factors = n;
    g->states = SALI_SCAN_ARRAY(r->scan, int32_t, n);
    g->state_names = SALI_SCAN_ARRAY(r->scan, char **, n); /* freeing them needs `states` */
    g->scope_begin = SALI_SCAN_ARRAY(r->scan, int64_t, n + 1);
    g->table_begin = SALI_SCAN_ARRAY(r->scan, int64_t, n + 1);
    r->last_use = SALI_SCAN_ARRAY(r->scan, int64_t, n);
    r->defined = SALI_SCAN_ARRAY(r->scan, bool, n);
}

/* The number of variables, which must be that of the DEFINITIONs: as read_scope refuses a second
 * DEFINITION of a variable, every variable then has one. */
static int64_t count_parts(reader *r, const xmlNode *network)
{
    static const char *const children[] = { "NAME", "PROPERTY", "VARIABLE", "DEFINITION", NULL };
    int64_t variables = count_children(network, "VARIABLE");
    int64_t definitions = count_children(network, "DEFINITION");
    check_children(r, network, children);
    if (variables < 1) {
        sali_scan_fail(r->scan, xmlGetLineNo(network), "a NETWORK without a VARIABLE");
    }
    if (variables != definitions) {
        sali_scan_fail(r->scan, xmlGetLineNo(network),
                       "%lld VARIABLE and %lld DEFINITION elements; expected one DEFINITION for "
                       "each VARIABLE",
                       (long long)variables, (long long)definitions);
    }
    return variables;
}

/* Fails if a variable is its own ancestor. */
static void check_order(reader *r, const xmlNode *network)
{
    int64_t v = -1;
    char shown[SALI_SHOW_SIZE];
    r->scan->status = sali_factor_graph_cycle(r->g, &v, r->scan->err);
    if (v >= 0 && v < r->variables.count) {
        sali_scan_fail(r->scan, xmlGetLineNo(network), "a cycle of GIVENs leads to variable '%s'",
                       sali_show(r->variables.names[v], -1, shown));
    }
}

/* Read all variables, then all definitions. */
static void read_network(reader *r, const xmlNode *network)
{
    int64_t v = 0, f = 0;
    allocate_network(r, count_parts(r, network));
    for (xmlNode *e = NULL;
         r->scan->status == SAL_OK && (e = next_child(network, e, "VARIABLE"));) {
        read_variable(r, e, v++);
    }
    for (xmlNode *e = NULL;
         r->scan->status == SAL_OK && (e = next_child(network, e, "DEFINITION"));) {
        read_definition(r, e, f++);
    }
    if (r->scan->status == SAL_OK) {
        check_order(r, network);
    }
}

static const xmlNode *find_network(reader *r, const xmlNode *root)
{
    static const char *const children[] = { "NETWORK", NULL };
    const char *version = sali_xml_value(root, "VERSION");
    if (!has_name(root, "BIF")) {
        sali_scan_fail(r->scan, xmlGetLineNo(root), "the root element is not BIF, as in XMLBIF");
    }
    if (!version || strcmp(version, "0.3") != 0) {
        sali_scan_fail(r->scan, xmlGetLineNo(root), "expected <BIF VERSION=\"0.3\">");
    }
    check_children(r, root, children);
    return need_child(r, root, "NETWORK");
}

/* Read the document into out->network; an error leaves a partial network, which the caller
 * frees. */
static void parse(sali_scan *scan, sali_content *out)
{
    reader r = { .scan = scan, .g = &out->network };
    xmlDoc *document = sali_xml_parse_doctype(scan);
    const xmlNode *network = document ? find_network(&r, xmlDocGetRootElement(document)) : NULL;
    if (scan->status == SAL_OK) {
        r.g->kind = SALI_FACTOR_BAYES;
        read_network(&r, network);
    }
    if (scan->status == SAL_OK) {
        r.g->names = sali_name_table_take(&r.variables);
    }
    sali_name_table_clear(&r.variables);
    sali_free(r.last_use);
    sali_free(r.defined);
    xmlFreeDoc(document);
}

const sali_format sali_format_xmlbif = {
    .name = "xmlbif",
    .doc = "Bayesian networks in the XML Interchange Format 0.3",
    .suffixes = { ".xmlbif", ".bif.xml", ".xml" },
    .content = SALI_CONTENT_NETWORK,
    .root = "BIF",
    .has_heading = true,
    .parse = parse,
    .write = sali_xmlbif_write,
};
