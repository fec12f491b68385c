/* SPDX-License-Identifier: MIT */
#include "io/networks/xmlbif.h"

#include <math.h>
#include <string.h>

#include <libxml/hash.h>

#include "core/alloc.h"
#include "core/error.h"
#include "io/format.h"
#include "io/scan.h"
#include "io/xml.h"

typedef struct reader {
    const char *name;
    sal_error *err;
    sali_factor_graph g;
    xmlHashTable *variables; /* name -> variable + 1 */
    int64_t *last_use;       /* [variables]: factor + 1 whose scope has it */
    bool *defined;           /* [variables] */
    int64_t scope_room, table_room;
} reader;

/* Of any namespace: some programs give the format one. */
static bool is(const xmlNode *element, const char *name)
{
    return strcmp((const char *)element->name, name) == 0;
}

/* The child of that name; DATA when there is none, or several. */
static sal_status need_child(reader *r, const xmlNode *parent, const char *name, xmlNode **out)
{
    *out = NULL;
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)parent); e; e = xmlNextElementSibling(e)) {
        if (is(e, name) && *out) {
            return sali_xml_fail(r->name, e, r->err, "a second %s in a %s; expected one", name,
                                 (const char *)parent->name);
        }
        *out = is(e, name) ? e : *out;
    }
    return *out ? SAL_OK
                : sali_xml_fail(r->name, parent, r->err, "%s without a %s",
                                (const char *)parent->name, name);
}

/* DATA for a child whose name is not in the list, which ends with NULL. */
static sal_status check_children(reader *r, const xmlNode *parent, const char *const *names)
{
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)parent); e; e = xmlNextElementSibling(e)) {
        int k = 0;
        while (names[k] && !is(e, names[k])) {
            k++;
        }
        if (!names[k]) {
            char shown[SALI_SHOW_SIZE];
            return sali_xml_fail(
                r->name, e, r->err, "unexpected element %s in %s",
                sali_show((const char *)e->name, (int64_t)strlen((const char *)e->name), shown),
                (const char *)parent->name);
        }
    }
    return SAL_OK;
}

/* ---- names */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The text of an element without blanks around it, a copy; DATA when nothing is left. */
static sal_status read_name(reader *r, const xmlNode *element, char **out)
{
    xmlChar *content = xmlNodeGetContent(element);
    if (!content) {
        return sali_fail_memory(r->err);
    }
    char *begin = (char *)content, *end = begin + strlen(begin);
    while (is_blank(*begin)) {
        begin++;
    }
    while (end > begin && is_blank(end[-1])) {
        end--;
    }
    *end = '\0';
    sal_status status = SAL_OK;
    if (begin == end) {
        status =
            sali_xml_fail(r->name, element, r->err, "an empty %s", (const char *)element->name);
    } else if (!(*out = sali_strdup(begin))) {
        status = sali_fail_memory(r->err);
    }
    xmlFree(content);
    return status;
}

/* Keep a name in a table of them; DATA when it is there. */
static sal_status add_name(reader *r, const xmlNode *element, xmlHashTable *table, const char *name,
                           int64_t index)
{
    char shown[SALI_SHOW_SIZE];
    if (xmlHashLookup(table, BAD_CAST name)) {
        return sali_xml_fail(r->name, element, r->err, "a second %s named '%s'",
                             (const char *)element->name,
                             sali_show(name, (int64_t)strlen(name), shown));
    }
    return xmlHashAddEntry(table, BAD_CAST name, (void *)(intptr_t)(index + 1)) == 0
               ? SAL_OK
               : sali_fail_memory(r->err);
}

/* The variable that an element names. */
static sal_status find_variable(reader *r, const xmlNode *element, int64_t *v)
{
    char *name = NULL, shown[SALI_SHOW_SIZE];
    sal_status status = read_name(r, element, &name);
    if (status == SAL_OK) {
        *v = (intptr_t)xmlHashLookup(r->variables, BAD_CAST name) - 1;
        if (*v < 0) {
            status = sali_xml_fail(r->name, element, r->err, "%s names '%s', which is no VARIABLE",
                                   (const char *)element->name,
                                   sali_show(name, (int64_t)strlen(name), shown));
        }
    }
    sali_free(name);
    return status;
}

/* ---- variables */

static sal_status check_type(reader *r, const xmlNode *variable)
{
    char shown[SALI_SHOW_SIZE];
    const char *type = sali_xml_value(variable, "TYPE");
    return !type || strcmp(type, "nature") == 0
               ? SAL_OK
               : sali_xml_fail(r->name, variable, r->err,
                               "a VARIABLE of type '%s'; only TYPE=\"nature\" can be read: a "
                               "decision or utility has no probability",
                               sali_show(type, (int64_t)strlen(type), shown));
}

/* The states of variable v, unless there is no room in 31 bits for their number. */
static sal_status read_outcomes(reader *r, const xmlNode *variable, int64_t v)
{
    int64_t n = 0;
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)variable); e; e = xmlNextElementSibling(e)) {
        n += is(e, "OUTCOME");
    }
    if (n < 1) {
        return sali_xml_fail(r->name, variable, r->err, "a VARIABLE without an OUTCOME");
    }
    char **names = SALI_NEW_ARRAY(char *, n);
    xmlHashTable *table = xmlHashCreate(0);
    sal_status status = names && table ? SAL_OK : sali_fail_memory(r->err);
    r->g.states[v] = (int32_t)n; /* at most SALI_XML_MAX_ITEMS */
    r->g.state_names[v] = names;
    n = 0;
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)variable); e && status == SAL_OK;
         e = xmlNextElementSibling(e)) {
        if (is(e, "OUTCOME")) {
            status = read_name(r, e, &names[n]);
            status = status ? status : add_name(r, e, table, names[n], n);
            n++;
        }
    }
    xmlHashFree(table, NULL);
    return status;
}

static sal_status read_variable(reader *r, const xmlNode *variable, int64_t v)
{
    static const char *const children[] = { "NAME", "OUTCOME", "PROPERTY", NULL };
    xmlNode *name = NULL;
    sal_status status = check_children(r, variable, children);
    status = status ? status : check_type(r, variable);
    status = status ? status : need_child(r, variable, "NAME", &name);
    status = status ? status : read_name(r, name, &r->g.names[v]);
    status = status ? status : add_name(r, name, r->variables, r->g.names[v], v);
    return status ? status : read_outcomes(r, variable, v);
}

/* ---- definitions */

/* Append a variable to the scope of factor f, whose table has *entries so far. */
static sal_status add_to_scope(reader *r, const xmlNode *element, int64_t f, int64_t *entries)
{
    sali_factor_graph *g = &r->g;
    int64_t v = -1, at = g->scope_begin[f + 1];
    sal_status status = find_variable(r, element, &v);
    if (status != SAL_OK) {
        return status;
    }
    if (r->last_use[v] == f + 1) {
        return sali_xml_fail(r->name, element, r->err, "variable %lld is twice in a DEFINITION",
                             (long long)v);
    }
    r->last_use[v] = f + 1;
    if (sali_grow((void **)&g->scope, &r->scope_room, at + 1, sizeof *g->scope) != 0) {
        return sali_fail_memory(r->err);
    }
    g->scope[at] = (int32_t)v;
    g->scope_begin[f + 1] = at + 1;
    return __builtin_mul_overflow(*entries, g->states[v], entries)
               ? sali_xml_fail(r->name, element, r->err, "the table would have over 2^63 entries")
               : SAL_OK;
}

/* GIVEN in their order, then FOR: the child is last, and so varies fastest. */
static sal_status read_scope(reader *r, const xmlNode *definition, int64_t f, int64_t *entries)
{
    xmlNode *child = NULL;
    sal_status status = need_child(r, definition, "FOR", &child);
    r->g.scope_begin[f + 1] = r->g.scope_begin[f];
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)definition); e && status == SAL_OK;
         e = xmlNextElementSibling(e)) {
        status = is(e, "GIVEN") ? add_to_scope(r, e, f, entries) : SAL_OK;
    }
    status = status ? status : add_to_scope(r, child, f, entries);
    if (status != SAL_OK) {
        return status;
    }
    int32_t v = r->g.scope[r->g.scope_begin[f + 1] - 1];
    if (r->defined[v]) {
        return sali_xml_fail(r->name, definition, r->err, "a second DEFINITION for variable %d", v);
    }
    r->defined[v] = true;
    return SAL_OK;
}

/* Probabilities of one row to their logarithms. */
static sal_status take_row(reader *r, const xmlNode *table, int64_t row, int32_t states, double *p)
{
    double sum = 0;
    for (int32_t k = 0; k < states; k++) {
        if (p[k] < 0) {
            return sali_xml_fail(r->name, table, r->err, "row %lld of a TABLE holds %g",
                                 (long long)row, p[k]);
        }
        sum += p[k];
    }
    if (!(fabs(sum - 1) <= SALI_XMLBIF_ROUNDING)) {
        return sali_xml_fail(r->name, table, r->err,
                             "row %lld of a TABLE sums to %.6g; expected 1 (the variable of FOR "
                             "varies fastest)",
                             (long long)row, sum);
    }
    /* A sum that differs by rounding in double is left alone: then files read back bit for bit. */
    double scale = fabs(sum - 1) < 1e-12 ? 1 : sum;
    for (int32_t k = 0; k < states; k++) {
        p[k] = p[k] > 0 ? log(p[k] / scale) : -INFINITY;
    }
    return SAL_OK;
}

/* The table of factor f: rows over the states of the variable that is FOR, each divided by its sum
 * where that is 1 but for rounding. */
static sal_status read_rows(reader *r, const xmlNode *table, const char *text, int64_t f,
                            int64_t entries)
{
    sali_factor_graph *g = &r->g;
    int64_t begin = g->table_begin[f];
    int32_t states = g->states[g->scope[g->scope_begin[f + 1] - 1]];
    sali_scan scan;
    sali_scan_init(&scan, r->name, text, (int64_t)strlen(text), 0);
    scan.line = xmlGetLineNo(table);
    int64_t words;
    sali_scan_words(&scan, &words, NULL);
    if (words != entries) {
        return sali_xml_fail(r->name, table, r->err,
                             "a TABLE of %lld entries; FOR and GIVEN ask for %lld",
                             (long long)words, (long long)entries);
    }
    if (sali_grow((void **)&g->log_table, &r->table_room, begin + entries, sizeof(double)) != 0) {
        return sali_fail_memory(r->err);
    }
    double *p = g->log_table + begin;
    sal_status status = SAL_OK;
    for (int64_t k = 0; k < entries && status == SAL_OK; k++) {
        status = sali_scan_double(&scan, "an entry of a TABLE", &p[k], r->err);
    }
    for (int64_t row = 0; row < entries / states && status == SAL_OK; row++) {
        status = take_row(r, table, row, states, p + row * states);
    }
    g->table_begin[f + 1] = begin + entries;
    return status;
}

static sal_status read_table(reader *r, const xmlNode *table, int64_t f, int64_t entries)
{
    xmlChar *text = xmlNodeGetContent(table);
    sal_status status =
        text ? read_rows(r, table, (const char *)text, f, entries) : sali_fail_memory(r->err);
    xmlFree(text);
    return status;
}

static sal_status read_definition(reader *r, const xmlNode *definition, int64_t f)
{
    static const char *const children[] = { "FOR", "GIVEN", "TABLE", "PROPERTY", NULL };
    int64_t entries = 1;
    xmlNode *table = NULL;
    sal_status status = check_children(r, definition, children);
    status = status ? status : read_scope(r, definition, f, &entries);
    status = status ? status : need_child(r, definition, "TABLE", &table);
    return status ? status : read_table(r, table, f, entries);
}

/* ---- the network */

static sal_status allocate(reader *r)
{
    sali_factor_graph *g = &r->g;
    int64_t n = g->variables;
    g->states = SALI_NEW_ARRAY(int32_t, n);
    g->names = SALI_NEW_ARRAY(char *, n);
    g->state_names = g->states ? SALI_NEW_ARRAY(char **, n) : NULL; /* freed by states */
    g->scope_begin = SALI_NEW_ARRAY(int64_t, n + 1);
    g->table_begin = SALI_NEW_ARRAY(int64_t, n + 1);
    r->last_use = SALI_NEW_ARRAY(int64_t, n);
    r->defined = SALI_NEW_ARRAY(bool, n);
    r->variables = xmlHashCreate(0);
    return g->states && g->names && g->state_names && g->scope_begin && g->table_begin &&
                   r->last_use && r->defined && r->variables
               ? SAL_OK
               : sali_fail_memory(r->err);
}

static sal_status count_parts(reader *r, const xmlNode *network)
{
    static const char *const children[] = { "NAME", "PROPERTY", "VARIABLE", "DEFINITION", NULL };
    sal_status status = check_children(r, network, children);
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)network); e; e = xmlNextElementSibling(e)) {
        r->g.variables += is(e, "VARIABLE");
        r->g.factors += is(e, "DEFINITION");
    }
    if (status == SAL_OK && r->g.variables < 1) {
        return sali_xml_fail(r->name, network, r->err, "a NETWORK without a VARIABLE");
    }
    /* With one DEFINITION at most for each, every variable has one. */
    if (status == SAL_OK && r->g.factors != r->g.variables) {
        return sali_xml_fail(r->name, network, r->err,
                             "%lld VARIABLE and %lld DEFINITION elements; expected one DEFINITION "
                             "for each VARIABLE",
                             (long long)r->g.variables, (long long)r->g.factors);
    }
    return status;
}

static sal_status check_order(reader *r, const xmlNode *network)
{
    int64_t v = -1;
    char shown[SALI_SHOW_SIZE];
    sal_status status = sali_factor_graph_cycle(&r->g, &v, r->err);
    return status || v < 0
               ? status
               : sali_xml_fail(r->name, network, r->err, "a cycle of GIVENs leads to variable '%s'",
                               sali_show(r->g.names[v], (int64_t)strlen(r->g.names[v]), shown));
}

static sal_status read_network(reader *r, const xmlNode *network)
{
    sal_status status = count_parts(r, network);
    status = status ? status : allocate(r);
    int64_t v = 0, f = 0;
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)network); e && status == SAL_OK;
         e = xmlNextElementSibling(e)) {
        status = is(e, "VARIABLE") ? read_variable(r, e, v++) : SAL_OK;
    }
    for (xmlNode *e = xmlFirstElementChild((xmlNode *)network); e && status == SAL_OK;
         e = xmlNextElementSibling(e)) {
        status = is(e, "DEFINITION") ? read_definition(r, e, f++) : SAL_OK;
    }
    return status ? status : check_order(r, network);
}

static sal_status find_network(reader *r, xmlDoc *document, xmlNode **network)
{
    static const char *const children[] = { "NETWORK", NULL };
    xmlNode *root = xmlDocGetRootElement(document);
    if (!is(root, "BIF")) {
        return sali_xml_fail(r->name, root, r->err, "the root element is not BIF, as in XMLBIF");
    }
    const char *version = sali_xml_value(root, "VERSION");
    if (!version || strcmp(version, "0.3") != 0) {
        return sali_xml_fail(r->name, root, r->err, "expected <BIF VERSION=\"0.3\">");
    }
    sal_status status = check_children(r, root, children);
    return status ? status : need_child(r, root, "NETWORK", network);
}

sal_status sali_xmlbif_parse(const char *name, const void *text, int64_t size,
                             sali_factor_graph *out, sal_error *err)
{
    xmlDoc *document = NULL;
    xmlNode *network = NULL;
    reader r = { .name = name, .err = err, .g = { .kind = SALI_FACTOR_BAYES } };
    sal_status status = sali_xml_parse_doctype(name, text, size, &document, err);
    status = status ? status : find_network(&r, document, &network);
    status = status ? status : read_network(&r, network);
    xmlHashFree(r.variables, NULL);
    sali_free(r.last_use);
    sali_free(r.defined);
    xmlFreeDoc(document);
    if (status != SAL_OK) {
        sali_factor_graph_free(&r.g);
        return status;
    }
    *out = r.g;
    return SAL_OK;
}

/* ---- the record */

static bool looks_like_xmlbif(const char *data, int64_t size)
{
    return sali_xml_root_is(data, size, "BIF");
}

static sal_status parse_content(const char *name, const char *data, int64_t size, sali_content *out,
                                sal_error *err)
{
    return sali_xmlbif_parse(name, data, size, &out->network, err);
}

static sal_status write_content(const char *path, const sali_content *content, sal_error *err)
{
    return sali_xmlbif_write(path, &content->network, err);
}

const sali_format sali_format_xmlbif = {
    .name = "xmlbif",
    .doc = "Bayesian networks in the XML Interchange Format 0.3",
    .suffixes = { ".xmlbif", ".bif.xml", ".xml" },
    .content = SALI_CONTENT_NETWORK,
    .recognise = looks_like_xmlbif,
    .has_heading = true,
    .parse = parse_content,
    .write = write_content,
};
