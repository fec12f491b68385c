/* SPDX-License-Identifier: MIT */
/* Reading back XML that was written, by XPath expressions. */
#ifndef XPATH_H
#define XPATH_H

#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include "test.h"

static xmlDoc *document;

/* The value of an XPath expression; elements of SVG are in the namespace "s", of pages in "h". */
static xmlXPathObject *evaluate(const char *expression)
{
    xmlXPathContext *context = xmlXPathNewContext(document);
    xmlXPathRegisterNs(context, BAD_CAST "h", BAD_CAST "http://www.w3.org/1999/xhtml");
    xmlXPathRegisterNs(context, BAD_CAST "s", BAD_CAST "http://www.w3.org/2000/svg");
    xmlXPathObject *value = xmlXPathEvalExpression(BAD_CAST expression, context);
    ck_assert_msg(value != NULL, "bad expression %s", expression);
    xmlXPathFreeContext(context);
    return value;
}

static double number(const char *expression)
{
    xmlXPathObject *value = evaluate(expression);
    double out = xmlXPathCastToNumber(value);
    xmlXPathFreeObject(value);
    return out;
}

/* Good until the next call. */
static const char *string(const char *expression)
{
    static char text[100000];
    xmlXPathObject *value = evaluate(expression);
    xmlChar *out = xmlXPathCastToString(value);
    snprintf(text, sizeof text, "%s", (const char *)out);
    xmlFree(out);
    xmlXPathFreeObject(value);
    return text;
}

#endif
