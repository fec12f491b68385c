/* SPDX-License-Identifier: MIT */
#include "io/xml.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/relaxng.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlschemastypes.h>

#include "core/error.h"

#if LIBXML_VERSION >= 21200
typedef const xmlError *xml_report;
#else
typedef xmlError *xml_report;
#endif

/* What a parser or validator found first, and what it has read. */
typedef struct xml_guard {
    const char *name;
    int64_t items;
    int depth;                       /* of a stream */
    const sali_xml_handler *handler; /* of a stream, or NULL */
    sal_status status;
    sal_error error;
} xml_guard;

/* libxml2 makes its tables of datatypes when they are first needed, without a lock of its own. */
static void prepare(void)
{
    xmlInitParser();
    xmlRelaxNGInitTypes();
    xmlSchemaInitTypes();
}

static void prepare_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

/* Keep the first failure, on one line and without control characters. */
static void guard_fail(xml_guard *guard, sal_status status, int line, const char *message)
{
    if (guard->status != SAL_OK) {
        return;
    }
    char text[512];
    snprintf(text, sizeof text, "%s", message ? message : "not acceptable");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) {
        text[--length] = '\0';
    }
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)text[i] < ' ' || (unsigned char)text[i] > '~') {
            text[i] = '?';
        }
    }
    guard->status = sali_fail(&guard->error, status, "%s:%d: %s", guard->name, line, text);
}

static void take_report(void *guard, xml_report report)
{
    if (report && report->level >= XML_ERR_ERROR) {
        guard_fail(guard, report->code == XML_ERR_NO_MEMORY ? SAL_ERR_MEMORY : SAL_ERR_DATA,
                   report->line, report->message);
    }
}

/* ---- parsing: `context` is the parser's */

static void on_parse_error(void *context, xml_report report)
{
    take_report(((xmlParserCtxt *)context)->_private, report);
}

static void stop(xmlParserCtxt *parser, const char *message)
{
    guard_fail(parser->_private, SAL_ERR_DATA, xmlSAX2GetLineNumber(parser), message);
    xmlStopParser(parser);
}

/* Elements in one another and namespaces around them are bounded. */
static bool is_bounded(xmlParserCtxt *parser, int depth)
{
    const int each = LIBXML_VERSION >= 21200 ? 1 : 2; /* what nsNr counts for a namespace */
    if (depth > SALI_XML_MAX_DEPTH) {
        stop(parser, "elements are nested too deeply");
        return false;
    }
    if (parser->nsNr > each * SALI_XML_MAX_NAMESPACES) {
        stop(parser, "too many namespaces");
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
    stop(context, "a DOCTYPE is not accepted; remove it");
}

static void on_element(void *context, const xmlChar *name, const xmlChar *prefix,
                       const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
                       int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    xml_guard *guard = ((xmlParserCtxt *)context)->_private;
    guard->items += 1 + n_attributes + n_namespaces;
    if (guard->items > SALI_XML_MAX_ITEMS) {
        stop(context, "too many elements");
        return;
    }
    if (!is_bounded(context, ((xmlParserCtxt *)context)->nodeNr)) {
        return;
    }
    xmlSAX2StartElementNs(context, name, prefix, uri, n_namespaces, namespaces, n_attributes,
                          n_defaulted, attributes);
}

/* ---- streams */

/* Keep the handler's verdict. */
static void judge(xmlParserCtxt *parser, sal_status status, const sal_error *error)
{
    xml_guard *guard = parser->_private;
    if (status != SAL_OK && guard->status == SAL_OK) {
        guard->status = status;
        guard->error = *error;
        xmlStopParser(parser);
    }
}

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
    if (guard->status != SAL_OK) {
        return;
    }
    if (!is_bounded(parser, ++guard->depth)) {
        return;
    }
    sali_xml_element element = { (const char *)name, (const char *)uri,
                                 xmlSAX2GetLineNumber(parser), n_attributes, attributes };
    sal_error error = { 0 };
    judge(parser, guard->handler->begin(guard->handler->self, &element, &error), &error);
}

static void on_stream_end(void *context, const xmlChar *name, const xmlChar *prefix,
                          const xmlChar *uri)
{
    (void)name;
    (void)prefix;
    (void)uri;
    xmlParserCtxt *parser = context;
    xml_guard *guard = parser->_private;
    if (guard->status == SAL_OK) {
        sal_error error = { 0 };
        guard->depth--;
        judge(parser, guard->handler->end(guard->handler->self, &error), &error);
    }
}

static void on_stream_text(void *context, const xmlChar *text, int size)
{
    xmlParserCtxt *parser = context;
    xml_guard *guard = parser->_private;
    if (guard->status == SAL_OK) {
        sal_error error = { 0 };
        judge(parser, guard->handler->text(guard->handler->self, (const char *)text, size, &error),
              &error);
    }
}

/* ---- both */

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

/* Into *out, or to a handler. */
static sal_status parse(const char *name, const void *text, int64_t size,
                        const sali_xml_handler *handler, xmlDoc **out, sal_error *err)
{
    if (size > SALI_XML_MAX_SIZE) {
        return sali_fail(err, SAL_ERR_DATA, "%s: %lld bytes; XML of at most %lld is read", name,
                         (long long)size, (long long)SALI_XML_MAX_SIZE);
    }
    text = size > 0 ? text : "";
    sal_status status = sali_xml_check_tags(name, text, size, err);
    if (status != SAL_OK) {
        return status;
    }
    prepare_once();
    xml_guard guard = { .name = name, .handler = handler };
    xmlParserCtxt *parser = make_parser(&guard);
    if (!parser) {
        return sali_fail_memory(err);
    }
    /* HUGE allows long lists of numbers; what else it allows needs a DOCTYPE. NOENT puts '&' for
     * "&amp;" in attributes; without a DOCTYPE there are no other entities. */
    int options = XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_BIG_LINES | XML_PARSE_NOCDATA |
                  XML_PARSE_NOENT;
#if LIBXML_VERSION >= 21300
    options |= XML_PARSE_NO_XXE;
#endif
    xmlDoc *document = xmlCtxtReadMemory(parser, text, (int)size, NULL, "UTF-8", options);
    if (!parser->wellFormed || (out && !xmlDocGetRootElement(document))) {
        guard_fail(&guard, SAL_ERR_DATA, 1, "not an XML document");
    }
    xmlFreeParserCtxt(parser);
    if (guard.status != SAL_OK || !out) {
        xmlFreeDoc(document);
    } else {
        *out = document;
    }
    if (guard.status != SAL_OK && err) {
        *err = guard.error;
    }
    return guard.status;
}

sal_status sali_xml_parse(const char *name, const void *text, int64_t size, xmlDoc **out,
                          sal_error *err)
{
    return parse(name, text, size, NULL, out, err);
}

sal_status sali_xml_stream(const char *name, const void *text, int64_t size,
                           const sali_xml_handler *handler, sal_error *err)
{
    return parse(name, text, size, handler, NULL, err);
}

/* libxml2 gives five pointers each: name, prefix, namespace, the value's begin and end. */
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

static xmlRelaxNG *compile_schema(const char *text, xml_guard *guard)
{
    xmlRelaxNGParserCtxt *compiler = xmlRelaxNGNewMemParserCtxt(text, (int)strlen(text));
    if (!compiler) {
        return NULL;
    }
    xmlRelaxNGSetParserStructuredErrors(compiler, (xmlStructuredErrorFunc)take_report, guard);
    xmlRelaxNG *schema = xmlRelaxNGParse(compiler);
    xmlRelaxNGFreeParserCtxt(compiler);
    return schema;
}

sal_status sali_xml_validate(const char *name, xmlDoc *document, const char *schema_text,
                             sal_error *err)
{
    prepare_once();
    xml_guard guard = { .name = name };
    xmlRelaxNG *schema = compile_schema(schema_text, &guard);
    xmlRelaxNGValidCtxt *validator = schema ? xmlRelaxNGNewValidCtxt(schema) : NULL;
    int result = -1;
    if (validator) {
        xmlRelaxNGSetValidStructuredErrors(validator, (xmlStructuredErrorFunc)take_report, &guard);
        result = xmlRelaxNGValidateDoc(validator, document);
    }
    xmlRelaxNGFreeValidCtxt(validator);
    xmlRelaxNGFree(schema);
    if (result < 0) {
        return sali_fail_memory(err);
    }
    if (result > 0) {
        guard_fail(&guard, SAL_ERR_DATA, 1, "the document does not fit the schema");
        if (err) {
            *err = guard.error;
        }
        return guard.status;
    }
    return SAL_OK;
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

sal_status sali_xml_fail(const char *name, const xmlNode *element, sal_error *err,
                         const char *format, ...)
{
    char message[SAL_ERROR_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return sali_fail(err, SAL_ERR_DATA, "%s:%ld: %s", name, xmlGetLineNo(element), message);
}
