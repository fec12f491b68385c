/* Writing saved tapes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <libxml/xmlwriter.h>

#include "core/error.h"
#include "core/number.h"
#include "io/tape/tape_xml.h"

/* Characters in a line of numbers before the next line begins. */
#define LINE_WIDTH 90

/* The writer puts its bytes into `out`. Calls after a failure do nothing. */
typedef struct tape_writer {
    xmlTextWriter *xml;
    sali_output *out;
    int64_t bytes;
    sal_status status;
    sal_error *err;
} tape_writer;

/* libxml2 reports what this returns below zero on the standard error, so failures are kept aside.
 */
static int sink(void *context, const char *data, int size)
{
    tape_writer *w = context;
    w->bytes += size;
    if (w->status == SAL_OK && w->bytes > SALI_XML_MAX_SIZE) {
        w->status = sali_fail(w->err, SAL_ERR_UNSUPPORTED,
                              "%s: the constants make more than %" PRId64 " bytes of XML; make "
                              "them parameters",
                              w->out->path, SALI_XML_MAX_SIZE);
    }
    if (w->status == SAL_OK) {
        w->status = sali_output_write(w->out, data, size, w->err);
    }
    return size;
}

/* The result of a call of libxml2: only memory can fail. */
static void took(tape_writer *w, int result)
{
    if (result < 0 && w->status == SAL_OK) {
        w->status = sali_fail_memory(w->err);
    }
}

static void start(tape_writer *w, const char *element)
{
    took(w, xmlTextWriterStartElement(w->xml, BAD_CAST element));
}

static void end(tape_writer *w)
{
    took(w, xmlTextWriterEndElement(w->xml));
}

static void put_text(tape_writer *w, const char *attribute, const char *value)
{
    took(w, xmlTextWriterWriteAttribute(w->xml, BAD_CAST attribute, BAD_CAST value));
}

static void put_int(tape_writer *w, const char *attribute, int64_t value)
{
    char text[SALI_NUMBER_SIZE];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_text(w, attribute, text);
}

/* ---- lists of numbers */

static sal_status format_real(double x, char out[SALI_NUMBER_SIZE])
{
    if (isfinite(x)) {
        return sali_format_double(x, out);
    }
    strcpy(out, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
    return SAL_OK;
}

/* An element with numbers: `ints`, or `reals` if that is NULL. */
static void put_list(tape_writer *w, const char *element, int64_t n, const int64_t *ints,
                     const double *reals)
{
    char line[LINE_WIDTH + 2 * SALI_NUMBER_SIZE], number[SALI_NUMBER_SIZE];
    size_t used = 0;
    start(w, element);
    for (int64_t i = 0; i < n && w->status == SAL_OK; i++) {
        if (ints) {
            snprintf(number, sizeof number, "%" PRId64, ints[i]);
        } else if (format_real(reals[i], number) != SAL_OK) {
            w->status = sali_fail_memory(w->err);
        }
        int added = snprintf(line + used, sizeof line - used, used ? " %s" : "%s", number);
        used += (size_t)added;
        if (used >= LINE_WIDTH || i == n - 1) {
            strcpy(line + used, i == n - 1 ? "" : "\n");
            took(w, xmlTextWriterWriteString(w->xml, BAD_CAST line));
            used = 0;
        }
    }
    end(w);
}

/* ---- the document */

static const char *kind_name(sal_kind kind)
{
    switch (kind) {
    case SAL_BINARY:
        return "binary";
    case SAL_SPIN:
        return "spin";
    case SAL_ORDINAL:
        return "ordinal";
    case SAL_CATEGORICAL:
        return "categorical";
    case SAL_COUNT:
        return "count";
    }
    return "";
}

static void put_block(tape_writer *w, const sal_block *block)
{
    start(w, "block");
    put_text(w, "name", block->name);
    put_int(w, "count", block->count);
    put_text(w, "kind", kind_name(block->kind));
    if (block->kind == SAL_CATEGORICAL) {
        put_int(w, "states", block->states);
    } else if (block->kind == SAL_ORDINAL) {
        put_list(w, "levels", block->states, NULL, block->levels);
    } else if (block->kind == SAL_COUNT && block->cap > 0) {
        put_int(w, "cap", block->cap);
    }
    end(w);
}

static void put_shape(tape_writer *w, const sal_shape *shape)
{
    char text[SAL_MAX_RANK * SALI_NUMBER_SIZE] = "";
    for (int32_t i = 0; i < shape->rank; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, i ? " %" PRId64 : "%" PRId64, shape->dim[i]);
    }
    put_text(w, "shape", text);
}

static void put_inputs(tape_writer *w, const sali_node *node)
{
    char text[256] = "";
    for (int32_t k = 0; k < node->n_in; k++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, k ? " %d" : "%d", node->in[k]);
    }
    put_text(w, "in", text);
}

static void put_node(tape_writer *w, const sali_node *node)
{
    start(w, "node");
    put_text(w, "op", sali_op_f64(node->op)->name);
    if (node->n_in > 0) {
        put_inputs(w, node);
    }
    if (node->name) {
        put_text(w, "name", node->name);
    }
    if (node->op == SALI_OP_param || node->op == SALI_OP_constant) {
        put_shape(w, &node->shape);
    }
    if (node->n_ints > 0) {
        put_list(w, "ints", node->n_ints, node->ints, NULL);
    }
    if (node->n_reals > 0) {
        put_list(w, "reals", node->n_reals, NULL, node->reals);
    }
    end(w);
}

static void put_program(tape_writer *w, const sali_program *program, const char *params)
{
    const sal_space *space = program->space;
    took(w, xmlTextWriterSetIndent(w->xml, 1));
    took(w, xmlTextWriterSetIndentString(w->xml, BAD_CAST "  "));
    took(w, xmlTextWriterStartDocument(w->xml, NULL, "UTF-8", NULL));
    start(w, SALI_TAPE_ROOT);
    put_text(w, "version", "1");
    put_text(w, "dtype", program->dtype == SAL_F32 ? "f32" : "f64");
    if (params) {
        put_text(w, "params", params);
    }
    start(w, "space");
    for (int64_t b = 0; b < space->n_blocks && w->status == SAL_OK; b++) {
        put_block(w, &space->blocks[b]);
    }
    end(w);
    start(w, "nodes");
    for (int32_t i = 0; i < program->n_nodes && w->status == SAL_OK; i++) {
        put_node(w, &program->nodes[i]);
    }
    end(w);
    start(w, "output");
    put_int(w, "node", program->output);
    end(w);
    took(w, xmlTextWriterEndDocument(w->xml));
}

/* The reader's limits, so that what is saved can be opened. */
static sal_status check_sizes(const char *path, const sali_program *program, sal_error *err)
{
    const sal_space *space = program->space;
    int64_t elements = 0;
    for (int32_t i = 0; i < program->n_nodes; i++) {
        elements += program->steps[i].size;
    }
    const struct {
        const char *what;
        int64_t size, limit;
    } checks[] = {
        { "blocks", space->n_blocks, SALI_TAPE_MAX_BLOCKS },
        { "variables", space->n_variables, SALI_TAPE_MAX_VARIABLES },
        { "nodes", program->n_nodes, SALI_TAPE_MAX_NODES },
        { "elements in all nodes", elements, SALI_TAPE_MAX_ELEMENTS },
    };
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
        if (checks[k].size > checks[k].limit) {
            return sali_fail(err, SAL_ERR_UNSUPPORTED,
                             "%s: the model has %" PRId64 " %s; a file holds at most %" PRId64,
                             path, checks[k].size, checks[k].what, checks[k].limit);
        }
    }
    return SAL_OK;
}

sal_status sali_tape_xml_write(sali_output *out, const sali_program *program, const char *params,
                               sal_error *err)
{
    sal_status status = check_sizes(out->path, program, err);
    if (status != SAL_OK) {
        return status;
    }
    tape_writer w = { .out = out, .err = err };
    xmlOutputBuffer *buffer = xmlOutputBufferCreateIO(sink, NULL, &w, NULL);
    w.xml = buffer ? xmlNewTextWriter(buffer) : NULL;
    if (!w.xml) {
        xmlOutputBufferClose(buffer);
        return sali_fail_memory(err);
    }
    put_program(&w, program, params);
    xmlFreeTextWriter(w.xml); /* writes what is left, and closes the buffer */
    return w.status;
}
