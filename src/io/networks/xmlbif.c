/* SPDX-License-Identifier: MIT */
/* Reading XMLBIF. Variables are in the order of their VARIABLE elements, factors in that of the
 * DEFINITIONs. Every variable is of nature. A DOCTYPE is skipped (sali_xml_parse_doctype);
 * namespaces and PROPERTY elements are ignored. */
#include "io/networks/xmlbif.h"

#include <string.h>

#include "io/format.h"
#include "io/networks/bayes.h"
#include "io/xml.h"

typedef struct reader {
    sali_scan *scan;
    sali_bayes bayes;
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

/* The text of an element, without surrounding blanks, as a name. *content is to be freed. */
static sali_token name_in(reader *r, const xmlNode *element, xmlChar **content)
{
    *content = r->scan->status == SAL_OK ? xmlNodeGetContent(element) : NULL;
    if (!sali_scan_granted(r->scan, *content)) {
        return (sali_token){ .text = "" };
    }
    const char *text = (const char *)*content;
    return sali_token_trim(text, text + strlen(text), xmlGetLineNo(element));
}

/* Add the name in an element to `names`. */
static void read_new_name(reader *r, const xmlNode *element, sali_name_table *names)
{
    xmlChar *content = NULL;
    sali_token name = name_in(r, element, &content);
    if (content) {
        sali_bayes_new_name(r->scan, names, &name, (const char *)element->name);
        xmlFree(content);
    }
}

/* Add the variable that an element names to the scope of the next table. */
static void read_member(reader *r, const xmlNode *element)
{
    xmlChar *content = NULL;
    sali_token name = name_in(r, element, &content);
    if (content) {
        int64_t v = sali_bayes_find(&r->bayes, &name, (const char *)element->name);
        sali_bayes_add_to_scope(&r->bayes, name.line, v);
        xmlFree(content);
    }
}

/* ---- variables */

/* Read the name and outcomes of a variable from its VARIABLE element. */
static void read_variable(reader *r, const xmlNode *variable)
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
    read_new_name(r, need_child(r, variable, "NAME"), &r->bayes.variables);
    for (xmlNode *e = NULL; (e = next_child(variable, e, "OUTCOME"));) {
        read_new_name(r, e, &outcomes);
    }
    sali_bayes_add_states(&r->bayes, xmlGetLineNo(variable), &outcomes);
    sali_name_table_clear(&outcomes);
}

/* ---- definitions */

/* Read a scope: the GIVENs in their order, then FOR, so that the child is last and changes fastest.
 * Returns the number of entries of the table. */
static int64_t read_scope(reader *r, const xmlNode *definition)
{
    xmlNode *child = need_child(r, definition, "FOR");
    for (xmlNode *e = NULL; (e = next_child(definition, e, "GIVEN"));) {
        read_member(r, e);
    }
    read_member(r, child);
    return sali_bayes_close_scope(&r->bayes, xmlGetLineNo(definition));
}

/* Read the table of the scope that was read last, which must have `entries` entries. */
static void read_table(reader *r, const xmlNode *table, int64_t entries)
{
    xmlChar *text = xmlNodeGetContent(table);
    if (!sali_scan_granted(r->scan, text)) {
        xmlFree(text);
        return;
    }
    sali_scan scan = sali_scan_of(r->scan->name, text, (int64_t)xmlStrlen(text), 0, r->scan->err);
    long line = scan.line = xmlGetLineNo(table);
    int64_t words = sali_scan_words(&scan);
    if (words != entries) {
        sali_scan_fail(r->scan, line, "a TABLE of %lld entries; FOR and GIVEN ask for %lld",
                       (long long)words, (long long)entries);
    }
    double *p = sali_bayes_table(&r->bayes, entries);
    for (int64_t i = 0; p && i < entries; i++) {
        p[i] = sali_scan_double(&scan, "an entry of a TABLE");
    }
    r->scan->status = r->scan->status ? r->scan->status : scan.status;
    sali_bayes_take_rows(&r->bayes, line, r->bayes.g->factors - 1);
    xmlFree(text);
}

/* Read a table and its scope from a DEFINITION element. */
static void read_definition(reader *r, const xmlNode *definition)
{
    static const char *const children[] = { "FOR", "GIVEN", "TABLE", "PROPERTY", NULL };
    check_children(r, definition, children);
    int64_t entries = read_scope(r, definition);
    xmlNode *table = need_child(r, definition, "TABLE");
    if (r->scan->status == SAL_OK) {
        read_table(r, table, entries);
    }
}

/* ---- the network */

/* Fails unless there are as many DEFINITIONs as variables: as a second table of a variable is
 * refused, every variable then has one. */
static void check_parts(reader *r, const xmlNode *network)
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
}

/* Read all variables, then all definitions. */
static void read_network(reader *r, const xmlNode *network)
{
    check_parts(r, network);
    for (xmlNode *e = NULL;
         r->scan->status == SAL_OK && (e = next_child(network, e, "VARIABLE"));) {
        read_variable(r, e);
    }
    for (xmlNode *e = NULL;
         r->scan->status == SAL_OK && (e = next_child(network, e, "DEFINITION"));) {
        read_definition(r, e);
    }
    sali_bayes_end(&r->bayes);
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
    reader r = { .scan = scan };
    xmlDoc *document = sali_xml_parse_doctype(scan);
    const xmlNode *network = document ? find_network(&r, xmlDocGetRootElement(document)) : NULL;
    sali_bayes_begin(&r.bayes, scan, out);
    if (scan->status == SAL_OK) {
        read_network(&r, network);
    }
    sali_bayes_clear(&r.bayes);
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
