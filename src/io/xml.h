/* SPDX-License-Identifier: MIT */
/* XML documents from untrusted sources, read by libxml2 so that a hostile document can only fail:
 * no DOCTYPE, hence no entities and nothing external; no network; bounded size, elements and depth;
 * nothing printed. */
#ifndef SALI_XML_H
#define SALI_XML_H

#include <libxml/tree.h>

#include "io/scan.h"

/* What a file may hold: far above any model here, and within what libxml2 can count. */
#define SALI_XML_MAX_SIZE ((int64_t)1 << 29)

/* Elements and attributes together. */
#define SALI_XML_MAX_ITEMS ((int64_t)1 << 22)

/* Nesting depth of elements; libxml2 may search all ancestors for a namespace at each element. */
#define SALI_XML_MAX_DEPTH 100

/* Namespaces in scope at an element; libxml2 searches all of them at each element. */
#define SALI_XML_MAX_NAMESPACES 64

/* Attributes of one element; libxml2 compares all pairs of them. */
#define SALI_XML_MAX_ATTRIBUTES 256

/* The functions below read all of a scanner's text, and fail with DATA, with name:line, or MEMORY.
 */

/* Fails if a tag may have more attributes than SALI_XML_MAX_ATTRIBUTES. The parsers below call
 * it. */
void sali_xml_check_tags(sali_scan *scan);

/* Read a document in UTF-8. Comments and processing instructions are dropped; free the document by
 * xmlFreeDoc. Fails, and returns NULL, if the document is not well-formed, has a DOCTYPE or is too
 * large. */
xmlDoc *sali_xml_parse(sali_scan *scan);

/* As sali_xml_parse, but a DOCTYPE that only declares elements and attributes is skipped. Its
 * default values of attributes are ignored. Fails for a DOCTYPE that declares anything else or
 * names another file. */
xmlDoc *sali_xml_parse_doctype(sali_scan *scan);

/* Whether the root element has this name, apart from a prefix; judged from the first characters,
 * which may turn out not to be XML. */
bool sali_xml_root_is(const sali_scan *scan, const char *name);

/* Check a document against a RELAX NG schema; fails at the line of the first violation. */
void sali_xml_validate(sali_scan *scan, xmlDoc *document, const char *schema);

/* ---- documents too large to be kept: handed over as they are read */

/* The opening tag of an element; valid during the call. */
typedef struct sali_xml_element {
    const char *name;      /* without a prefix */
    const char *namespace; /* or NULL */
    int64_t line;
    int n_attributes;
    const xmlChar **attributes; /* see sali_xml_attribute */
} sali_xml_element;

/* Called for the pieces of a document. A failure of the scanner ends the reading. */
typedef struct sali_xml_handler {
    void *self;
    void (*begin)(void *self, const sali_xml_element *element);
    void (*end)(void *self);
    void (*text)(void *self, const char *text, int64_t size); /* a part of the text of an element */
} sali_xml_handler;

/* Read a document under the rules of sali_xml_parse, but for the number of elements. */
void sali_xml_stream(sali_scan *scan, const sali_xml_handler *handler);

/* The value of an attribute without a prefix, `size` characters without a NUL; NULL if the element
 * has none of that name. */
const char *sali_xml_attribute(const sali_xml_element *element, const char *name, int64_t *size);

/* ---- */

/* Whether the element has this name and no namespace. */
int sali_xml_is(const xmlNode *element, const char *name);

/* The value of an attribute without a prefix, owned by the document; NULL: the element has none. */
const char *sali_xml_value(const xmlNode *element, const char *attribute);

#endif
