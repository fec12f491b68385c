/* SPDX-License-Identifier: MIT */
/* XML documents from strangers, read by libxml2 so that a hostile one can do nothing but fail: no
 * DOCTYPE, hence no entities and nothing external; no network; bounded size, elements and depth;
 * nothing printed. */
#ifndef SALI_XML_H
#define SALI_XML_H

#include <stdbool.h>
#include <stdint.h>

#include <libxml/tree.h>

#include <saltus/status.h>

/* What a file may hold: far above any model here, and within what libxml2 can count. */
#define SALI_XML_MAX_SIZE ((int64_t)1 << 29)

/* Elements and attributes together. */
#define SALI_XML_MAX_ITEMS ((int64_t)1 << 22)

/* Elements in one another; libxml2 may search all of them for a namespace at each. */
#define SALI_XML_MAX_DEPTH 100

/* Namespaces declared around an element; libxml2 searches all of them at each. */
#define SALI_XML_MAX_NAMESPACES 64

/* Attributes of one element; libxml2 compares all pairs of them. */
#define SALI_XML_MAX_ATTRIBUTES 256

/* DATA when a tag may have more attributes than that. The parsers below ask it. */
sal_status sali_xml_check_tags(const char *name, const char *text, int64_t size, sal_error *err);

/* Read a document in UTF-8 from memory; `name` is for messages. Comments and processing
 * instructions are dropped; free the document by xmlFreeDoc. Returns:   DATA with name:line when it
 * is not well-formed, has a DOCTYPE or is too large; MEMORY. On failure *out is untouched. */
sal_status sali_xml_parse(const char *name, const void *text, int64_t size, xmlDoc **out,
                          sal_error *err);

/* The same, but a DOCTYPE is skipped if it only declares elements and attributes. No default of an
 * attribute comes from it. DATA also for one that declares anything else or names another file. */
sal_status sali_xml_parse_doctype(const char *name, const void *text, int64_t size, xmlDoc **out,
                                  sal_error *err);

/* Is this, without a prefix, the name of the root element, as far as the first characters of what
 * may be XML tell? */
bool sali_xml_root_is(const char *text, int64_t size, const char *name);

/* Check a document against a RELAX NG schema. DATA with file:line of the first difference. */
sal_status sali_xml_validate(const char *name, xmlDoc *document, const char *schema,
                             sal_error *err);

/* ---- documents too large to be kept: handed over as they are read */

/* The beginning of an element; good during the call. */
typedef struct sali_xml_element {
    const char *name;      /* without a prefix */
    const char *namespace; /* or NULL */
    int64_t line;
    int n_attributes;
    const xmlChar **attributes; /* see sali_xml_attribute */
} sali_xml_element;

/* Where the pieces go. A status other than SAL_OK, with a message, ends the reading. */
typedef struct sali_xml_handler {
    void *self;
    sal_status (*begin)(void *self, const sali_xml_element *element, sal_error *err);
    sal_status (*end)(void *self, sal_error *err);
    sal_status (*text)(void *self, const char *text, int64_t size, sal_error *err); /* a part */
} sali_xml_handler;

/* Read a document from memory under the rules of sali_xml_parse, but for the number of elements.
 * Returns:   those of sali_xml_parse and of the handler. */
sal_status sali_xml_stream(const char *name, const void *text, int64_t size,
                           const sali_xml_handler *handler, sal_error *err);

/* The value of an attribute without a prefix, `size` characters without a NUL; NULL if the element
 * has none of that name. */
const char *sali_xml_attribute(const sali_xml_element *element, const char *name, int64_t *size);

/* ---- */

/* Is this the element's name? */
int sali_xml_is(const xmlNode *element, const char *name);

/* The value of an attribute without a prefix, the document's own; NULL: the element has none. */
const char *sali_xml_value(const xmlNode *element, const char *attribute);

/* DATA with "name:line: message", the line being the element's. */
sal_status sali_xml_fail(const char *name, const xmlNode *element, sal_error *err,
                         const char *format, ...) __attribute__((format(printf, 4, 5), cold));

#endif
