/* SPDX-License-Identifier: MIT */
#include "io/xml.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlschemastypes.h>

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_report;
#else
typedef xmlError *xml_report;
#endif

/* State of a parser: how much it has read, and the scanner that receives its first failure. */
typedef struct xml_guard {
    sali_scan *scan;
    int64_t items;
    int depth;                       /* of a stream */
    const sali_xml_handler *handler; /* of a stream, or NULL */
} xml_guard;

/* libxml2 builds its tables of datatypes on first use, without a lock: build them here, under
 * one. */
static void prepare_types(void)
{
    xmlInitParser();
    xmlRelaxNGInitTypes();
    xmlSchemaInitTypes();
}

static void prepare_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_types);
}

/* Pass an error of libxml2 to the scanner `context`, as one line without control characters. */
static void take_report(void *context, xml_report report)
{
    sali_scan *scan = context;
    if (!report || report->level < XML_ERR_ERROR) {
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "%s", report->message ? report->message : "not acceptable");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) {
        text[--length] = '\0';
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~') {
            text[i] = '?';
        }
    }
    sali_scan_granted(scan, report->code != XML_ERR_NO_MEMORY);
    sali_scan_fail(scan, report->line, "%s", text);
}

/* ---- parsing: `context` is the parser's */

static void on_parse_error(void *context, xml_report report)
{
    take_report(((xml_guard *)((xmlParserCtxt *)context)->_private)->scan, report);
}

static void stop_parser(xmlParserCtxt *parser, const char *message)
{
    sali_scan_fail(((xml_guard *)parser->_private)->scan, xmlSAX2GetLineNumber(parser), "%s",
                   message);
    xmlStopParser(parser);
}

/* Whether the nesting depth and the number of namespaces are within bounds; stops the parser if
 * not. */
static bool is_bounded(xmlParserCtxt *parser, int depth)
{
    const int each = LIBXML_VERSION >= 21200 ? 1 : 2; /* what nsNr counts for a namespace */
    if (depth > SALI_XML_MAX_DEPTH) {
        stop_parser(parser, "elements are nested too deeply");
        return false;
    }
    if (parser->nsNr > each * SALI_XML_MAX_NAMESPACES) {
        stop_parser(parser, "too many namespaces");
        return false;
    }
    return true;
}

static void on_doctype(void *context, const xmlChar *name, const xmlChar *external,
                       const xmlChar *system)
{
    (void)name;
    (void)external;
    (void)system;
    stop_parser(context, "a DOCTYPE is not accepted; remove it");
}

/* Count the element and its attributes against the limits before libxml2 adds it to the
 * document. */
static void on_element(void *context, const xmlChar *name, const xmlChar *prefix,
                       const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                       int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    xml_guard *guard = ((xmlParserCtxt *)context)->_private;
    guard->items += 1 + n_attributes + n_namespaces;
    if (guard->items > SALI_XML_MAX_ITEMS) {
        stop_parser(context, "too many elements");
        return;
    }
    if (!is_bounded(context, ((xmlParserCtxt *)context)->nodeNr)) {
        return;
    }
    xmlSAX2StartElementNs(context, name, prefix, uri, n_namespaces, namespaces, n_attributes,
                          n_defaulted, attributes);
}

/* ---- streams */

/* Whether nothing has failed; stops the parser otherwise. */
static bool goes_on(xmlParserCtxt *parser)
{
    bool fine = ((xml_guard *)parser->_private)->scan->status == SAL_OK;
    if (!fine) {
        xmlStopParser(parser);
    }
    return fine;
}

/* Pass the opening tag of an element to the handler. */
static void on_stream_begin(void *context, const xmlChar *name, const xmlChar *prefix,
                            const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                            int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    (void)prefix;
    (void)n_namespaces;
    (void)namespaces;
    (void)n_defaulted;
    xmlParserCtxt *parser = context;
    xml_guard *guard = parser->_private;
    if (goes_on(parser) && is_bounded(parser, ++guard->depth)) {
        sali_xml_element element = { (const char *)name, (const char *)uri,
                                     xmlSAX2GetLineNumber(parser), n_attributes, attributes };
        guard->handler->begin(guard->handler->self, &element);
        goes_on(parser);
    }
}

/* Pass the closing tag of an element to the handler. */
static void on_stream_end(void *context, const xmlChar *name, const xmlChar *prefix,
                          const xmlChar *uri)
{
    (void)name;
    (void)prefix;
    (void)uri;
    xml_guard *guard = ((xmlParserCtxt *)context)->_private;
    if (goes_on(context)) {
        guard->depth--;
        guard->handler->end(guard->handler->self);
        goes_on(context);
    }
}

static void on_stream_text(void *context, const xmlChar *text, int size)
{
    xml_guard *guard = ((xmlParserCtxt *)context)->_private;
    if (goes_on(context)) {
        guard->handler->text(guard->handler->self, (const char *)text, size);
        goes_on(context);
    }
}

/* ---- both */

/* A parser that builds a document or, if the guard has a handler, calls that. NULL when out of
 * memory. */
static xmlParserCtxt *make_parser(xml_guard *guard)
{
    xmlParserCtxt *parser = xmlNewParserCtxt();
    if (parser) {
        xmlSAXHandler *sax = parser->sax;
        parser->_private = guard;
        sax->serror = on_parse_error;
        sax->internalSubset = on_doctype;
        sax->startElementNs = on_element;
        sax->comment = NULL;
        sax->processingInstruction = NULL;
        if (guard->handler) {
            sax->startElementNs = on_stream_begin;
            sax->endElementNs = on_stream_end;
            sax->characters = sax->ignorableWhitespace = on_stream_text;
        }
    }
    return parser;
}

/* Parse the scanner's text. Returns the document; NULL after a failure, or if a handler received
 * it. */
static xmlDoc *parse_text(sali_scan *scan, const sali_xml_handler *handler)
{
    const int64_t size = scan->end - scan->begin;
    if (size > SALI_XML_MAX_SIZE) {
        sali_scan_refuse(scan, "%lld bytes; XML of at most %lld is read", (long long)size,
                         (long long)SALI_XML_MAX_SIZE);
    } else {
        sali_xml_check_tags(scan);
    }
    prepare_once();
    xml_guard guard = { .scan = scan, .handler = handler };
    xmlParserCtxt *parser = scan->status == SAL_OK ? make_parser(&guard) : NULL;
    if (!sali_scan_granted(scan, parser)) {
        return NULL;
    }
    /* HUGE allows long lists of numbers; what else it allows needs a DOCTYPE. NOENT puts '&' for
     * "&amp;" in attributes; without a DOCTYPE there are no other entities. */
    int options = XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES | XML_PARSE_NOCDATA |
                  XML_PARSE_NOENT;
#if LIBXML_VERSION >= 21300
    options |= XML_PARSE_NO_XXE;
#endif
    xmlDoc *document = xmlCtxtReadMemory(parser, scan->begin, (int)size, NULL, "UTF-8", options);
    if (!parser->wellFormed || (!handler && !xmlDocGetRootElement(document))) {
        sali_scan_fail(scan, 1, "not an XML document");
    }
    xmlFreeParserCtxt(parser);
    if (scan->status == SAL_OK && !handler) {
        return document;
    }
    xmlFreeDoc(document);
    return NULL;
}

xmlDoc *sali_xml_parse(sali_scan *scan)
{
    return parse_text(scan, NULL);
}

void sali_xml_stream(sali_scan *scan, const sali_xml_handler *handler)
{
    parse_text(scan, handler);
}

/* In libxml2's list, an attribute is five pointers: name, prefix, namespace, begin and end of the
 * value. */
const char *sali_xml_attribute(const sali_xml_element *element, const char *name, int64_t *size)
{
    for (int k = 0; k < element->n_attributes; k++) {
        const xmlChar **a = &element->attributes[5 * k];
        if (!a[1] && strcmp((const char *)a[0], name) == 0) {
            *size = a[4] - a[3];
            return (const char *)a[3];
        }
    }
    return NULL;
}

/* ---- validation */

/* Compile a RELAX NG schema; NULL when out of memory or if the schema is wrong. */
static xmlRelaxNG *compile_schema(const char *text, sali_scan *scan)
{
    xmlRelaxNGParserCtxt *compiler = xmlRelaxNGNewMemParserCtxt(text, (int)strlen(text));
    if (!compiler) {
        return NULL;
    }
    xmlRelaxNGSetParserStructuredErrors(compiler, (xmlStructuredErrorFunc)take_report, scan);
    xmlRelaxNG *schema = xmlRelaxNGParse(compiler);
    xmlRelaxNGFreeParserCtxt(compiler);
    return schema;
}

void sali_xml_validate(sali_scan *scan, xmlDoc *document, const char *schema_text)
{
    prepare_once();
    xmlRelaxNG *schema = compile_schema(schema_text, scan);
    xmlRelaxNGValidCtxt *validator = schema ? xmlRelaxNGNewValidCtxt(schema) : NULL;
    int result = -1;
    if (validator) {
        xmlRelaxNGSetValidStructuredErrors(validator, (xmlStructuredErrorFunc)take_report, scan);
        result = xmlRelaxNGValidateDoc(validator, document);
    }
    xmlRelaxNGFreeValidCtxt(validator);
    xmlRelaxNGFree(schema);
    if (sali_scan_granted(scan, result >= 0) && result > 0) {
        sali_scan_fail(scan, 1, "the document does not fit the schema");
    }
}

/* ---- */

int sali_xml_is(const xmlNode *element, const char *name)
{
    return !element->ns && strcmp((const char *)element->name, name) == 0;
}

const char *sali_xml_value(const xmlNode *element, const char *attribute)
{
    const xmlAttr *found = xmlHasNsProp(element, BAD_CAST attribute, NULL);
    return !found                                        ? NULL
           : found->children && found->children->content ? (const char *)found->children->content
                                                         : "";
}
