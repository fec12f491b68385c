/* SPDX-License-Identifier: MIT */
/* Reading saved tapes. The schema has checked which elements and attributes there are; here are
 * their values. Every node goes through sali_record, and so through the shape rule of its op. */
#include "io/format.h"
#include "io/tape/tape_xml.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <libxml/hash.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/number.h"
#include "core/text.h"
#include "io/scan.h"
#include "io/tape/tape_xml_schema.h"

typedef struct tape_reader {
    const char *name;
    sal_tape *tape;
    xmlHashTable *parameters; /* the names that are taken */
    bool has_state;
    int64_t elements; /* of all nodes so far */
    sal_error *err;
} tape_reader;

/* ---- lists of numbers */

/* `ints` or `reals` is NULL. */
typedef struct list {
    int64_t *ints;
    double *reals;
    int64_t count, room;
} list;

/* Text that belongs to an element: its content, or an attribute's value. */
static sali_scan scan_text(const tape_reader *r, const xmlNode *element, const char *text)
{
    sali_scan scan;
    sali_scan_init(&scan, r->name, text, text ? (int64_t)strlen(text) : 0, 0);
    scan.line = xmlGetLineNo(element);
    return scan;
}

static sal_status parse_real(const sali_token *token, double *out)
{
    bool infinite = sali_token_is(token, "inf") || sali_token_is(token, "-inf");
    if (infinite || sali_token_is(token, "nan")) {
        *out = !infinite ? NAN : token->text[0] == '-' ? -INFINITY : INFINITY;
        return SAL_OK;
    }
    return sali_parse_double(token->text, token->size, out);
}

static sal_status parse_list(const tape_reader *r, const xmlNode *element, const char *text,
                             bool real, list *out)
{
    sali_scan scan = scan_text(r, element, text);
    for (;; out->count++) {
        sali_token token;
        sal_status status = sali_scan_token(&scan, &token, r->err);
        if (status != SAL_OK || token.size == 0) {
            return status;
        }
        void **items = real ? (void **)&out->reals : (void **)&out->ints;
        if (sali_grow(items, &out->room, out->count + 1, sizeof(double)) != 0) {
            return sali_fail_memory(r->err);
        }
        status = real ? parse_real(&token, &out->reals[out->count])
                      : sali_parse_int(token.text, token.size, &out->ints[out->count]);
        if (status != SAL_OK) {
            return status == SAL_ERR_MEMORY
                       ? sali_fail_memory(r->err)
                       : sali_scan_expected(&scan, &token, real ? "a number" : "an integer",
                                            r->err);
        }
    }
}

/* Numbers in an element; none if it is NULL. */
static sal_status read_list(const tape_reader *r, const xmlNode *element, bool real, list *out)
{
    xmlChar *text = element ? xmlNodeGetContent(element) : NULL;
    sal_status status = element && !text ? sali_fail_memory(r->err)
                                         : parse_list(r, element, (const char *)text, real, out);
    xmlFree(text);
    return status;
}

static void free_list(list *l)
{
    sali_free(l->ints);
    sali_free(l->reals);
}

/* An attribute that is one integer. */
static sal_status read_int(const tape_reader *r, const xmlNode *element, const char *attribute,
                           int64_t min, int64_t max, int64_t *out)
{
    sali_scan scan = scan_text(r, element, sali_xml_value(element, attribute));
    sal_status status = sali_scan_int(&scan, attribute, min, max, out, r->err);
    return status ? status : sali_scan_end(&scan, r->err);
}

/* An error of another layer, as one of the file. */
static sal_status blame(const tape_reader *r, const xmlNode *element, const sal_error *error)
{
    return error->status == SAL_ERR_MEMORY
               ? sali_fail_memory(r->err)
               : sali_xml_fail(r->name, element, r->err, "%s", error->message);
}

/* ---- the space */

/* The numbers of a block: count, states, levels or cap. */
static sal_status read_block_sizes(const tape_reader *r, const xmlNode *element, sal_block *block,
                                   list *levels)
{
    sal_status status = read_int(r, element, "count", 1, SALI_TAPE_MAX_VARIABLES, &block->count);
    if (status == SAL_OK && block->kind == SAL_CATEGORICAL) {
        status = read_int(r, element, "states", 1, INT32_MAX, &block->states);
    }
    if (status == SAL_OK && block->kind == SAL_COUNT && sali_xml_value(element, "cap")) {
        status = read_int(r, element, "cap", 1, INT32_MAX, &block->cap);
    }
    if (status == SAL_OK && block->kind == SAL_ORDINAL) {
        status = read_list(r, xmlFirstElementChild((xmlNode *)element), true, levels);
        block->states = levels->count;
        block->levels = levels->reals;
    }
    return status;
}

static sal_status add_block(const tape_reader *r, const xmlNode *element, sal_space *space,
                            const sal_block *block)
{
    int64_t width = block->kind == SAL_CATEGORICAL ? block->count * block->states : block->count;
    if (space->n_blocks >= SALI_TAPE_MAX_BLOCKS ||
        space->n_variables + block->count > SALI_TAPE_MAX_VARIABLES ||
        space->width + width > SALI_TAPE_MAX_ELEMENTS) {
        return sali_xml_fail(r->name, element, r->err,
                             "the space is too large; expected at most %" PRId64 " blocks, %" PRId64
                             " variables and %" PRId64 " reals",
                             SALI_TAPE_MAX_BLOCKS, SALI_TAPE_MAX_VARIABLES, SALI_TAPE_MAX_ELEMENTS);
    }
    sal_error error = { 0 };
    return sal_space_add(space, block, &error) == SAL_OK ? SAL_OK : blame(r, element, &error);
}

static sal_status read_block(const tape_reader *r, const xmlNode *element, sal_space *space)
{
    list levels = { 0 };
    sal_block block = { .name = sali_xml_value(element, "name"), .kind = SAL_COUNT };
    const char *kind = sali_xml_value(element, "kind");
    while (block.kind > SAL_BINARY && strcmp(kind, sali_kind_name(block.kind)) != 0) {
        block.kind--;
    }
    sal_status status = read_block_sizes(r, element, &block, &levels);
    if (status == SAL_OK && block.kind == SAL_ORDINAL && levels.count < 2) {
        status = sali_xml_fail(r->name, element, r->err, "%" PRId64 " levels; expected 2 or more",
                               levels.count);
    }
    status = status ? status : add_block(r, element, space, &block);
    free_list(&levels);
    return status;
}

/* The tape over the space that the element describes. */
static sal_status read_space(tape_reader *r, xmlNode *element, sal_dtype dtype)
{
    sal_space *space = sal_space_create();
    sal_status status = space ? SAL_OK : sali_fail_memory(r->err);
    for (xmlNode *block = xmlFirstElementChild(element); block && status == SAL_OK;
         block = xmlNextElementSibling(block)) {
        status = read_block(r, block, space);
    }
    if (status == SAL_OK) {
        r->tape = sal_tape_create(space, dtype);
        status = r->tape ? SAL_OK : sali_fail_memory(r->err);
    }
    sal_space_destroy(space);
    return status;
}

/* ---- nodes */

/* A node's attributes as they stand in the file, NULL where absent, and its numbers. */
typedef struct node_text {
    const char *name, *shape;
    list in, sizes, ints, reals;
} node_text;

/* Copy text of the file into a message's buffer. */
static const char *show(const char *text, char out[SALI_SHOW_SIZE])
{
    return sali_show(text ? text : "", text ? (int64_t)strlen(text) : 0, out);
}

static sal_status find_op(const tape_reader *r, const xmlNode *element, sali_op_id *out)
{
    const char *name = sali_xml_value(element, "op");
    char shown[SALI_SHOW_SIZE];
    if (name && sali_op_find(name, out)) {
        return SAL_OK;
    }
    return sali_xml_fail(r->name, element, r->err,
                         "there is no op '%s' (is the file of a newer saltus?)", show(name, shown));
}

static sal_status read_lists(const tape_reader *r, xmlNode *element, node_text *text)
{
    xmlNode *first = xmlFirstElementChild(element);
    xmlNode *ints = first && sali_xml_is(first, "ints") ? first : NULL;
    xmlNode *reals = ints ? xmlNextElementSibling(ints) : first;
    sal_status status = parse_list(r, element, sali_xml_value(element, "in"), false, &text->in);
    status = status ? status : parse_list(r, element, text->shape, false, &text->sizes);
    status = status ? status : read_list(r, ints, false, &text->ints);
    return status ? status : read_list(r, reals, true, &text->reals);
}

/* Names and shapes are for leaves; there is one state, and a parameter's name is its own. */
static sal_status check_leaf(tape_reader *r, const xmlNode *element, sali_op_id op,
                             const node_text *text)
{
    const char *name = sali_op_f64(op)->name;
    char shown[SALI_SHOW_SIZE];
    bool is_param = op == SALI_OP_param, needs_shape = is_param || op == SALI_OP_constant;
    if ((text->name != NULL) != is_param || (text->shape != NULL) != needs_shape) {
        return sali_xml_fail(r->name, element, r->err, "%s: expected %s", name,
                             is_param      ? "a name and a shape"
                             : needs_shape ? "a shape and no name"
                                           : "neither a name nor a shape");
    }
    if (op == SALI_OP_state && r->has_state) {
        return sali_xml_fail(r->name, element, r->err, "state: a tape has one; use that node");
    }
    r->has_state |= op == SALI_OP_state;
    if (is_param && xmlHashLookup(r->parameters, BAD_CAST text->name)) {
        return sali_xml_fail(r->name, element, r->err, "param: the name '%s' is taken",
                             show(text->name, shown));
    }
    if (is_param && xmlHashAddEntry(r->parameters, BAD_CAST text->name, r) != 0) {
        return sali_fail_memory(r->err);
    }
    return SAL_OK;
}

/* Inputs are earlier nodes, as many as the op has. */
static sal_status check_inputs(const tape_reader *r, const xmlNode *element, sali_op_id op,
                               const list *in, sal_expr *exprs)
{
    const sali_op *record = sali_op_f64(op);
    if (!sali_arity_fits(record, in->count)) {
        return record->arity == SALI_VARIADIC
                   ? sali_xml_fail(r->name, element, r->err, "%s: no inputs; expected at least one",
                                   record->name)
                   : sali_xml_fail(r->name, element, r->err, "%s: %" PRId64 " inputs; expected %d",
                                   record->name, in->count, record->arity);
    }
    for (int64_t k = 0; k < in->count; k++) {
        if (in->ints[k] < 0 || in->ints[k] >= r->tape->n_nodes) {
            return sali_xml_fail(r->name, element, r->err,
                                 "%s: input %" PRId64 " of node %" PRId64 " is no earlier node",
                                 record->name, in->ints[k], r->tape->n_nodes);
        }
        exprs[k] = (sal_expr){ .tape = r->tape, .node = (int32_t)in->ints[k] };
    }
    return SAL_OK;
}

static sal_status get_shape(const tape_reader *r, const xmlNode *element, const list *sizes,
                            sal_shape *out)
{
    if (sizes->count > SAL_MAX_RANK) {
        return sali_xml_fail(r->name, element, r->err,
                             "a shape of %" PRId64 " sizes; expected at most %d", sizes->count,
                             SAL_MAX_RANK);
    }
    *out = (sal_shape){ .rank = (int32_t)sizes->count };
    for (int64_t k = 0; k < sizes->count; k++) {
        out->dim[k] = sizes->ints[k];
    }
    return SAL_OK;
}

static sal_status record(tape_reader *r, const xmlNode *element, sali_op_id op,
                         const node_text *text, sal_expr *in)
{
    sal_shape shape;
    sal_status status = in ? check_inputs(r, element, op, &text->in, in) : sali_fail_memory(r->err);
    status = status ? status : get_shape(r, element, &text->sizes, &shape);
    if (status != SAL_OK) {
        return status;
    }
    sal_expr made = sali_record(r->tape, &(sali_node_spec){ .op = op,
                                                            .n_in = (int32_t)text->in.count,
                                                            .in = in,
                                                            .n_ints = text->ints.count,
                                                            .ints = text->ints.ints,
                                                            .n_reals = text->reals.count,
                                                            .reals = text->reals.reals,
                                                            .name = text->name,
                                                            .shape = text->shape ? &shape : NULL });
    sal_error error = { 0 };
    if (sal_tape_check(r->tape, &error) != SAL_OK) {
        return blame(r, element, &error);
    }
    shape = sal_expr_shape(made);
    r->elements += sali_shape_size(&shape);
    if (r->tape->n_nodes > SALI_TAPE_MAX_NODES || r->elements > SALI_TAPE_MAX_ELEMENTS) {
        return sali_xml_fail(r->name, element, r->err,
                             "the formula is too large; expected at most %" PRId64
                             " nodes and %" PRId64 " elements in all",
                             SALI_TAPE_MAX_NODES, SALI_TAPE_MAX_ELEMENTS);
    }
    return SAL_OK;
}

static sal_status read_node(tape_reader *r, xmlNode *element)
{
    node_text text = { .name = sali_xml_value(element, "name"),
                       .shape = sali_xml_value(element, "shape") };
    sali_op_id op = SALI_OP_state;
    sal_status status = find_op(r, element, &op);
    status = status ? status : check_leaf(r, element, op, &text);
    status = status ? status : read_lists(r, element, &text);
    if (status == SAL_OK) {
        sal_expr *in = SALI_NEW_ARRAY(sal_expr, text.in.count);
        status = record(r, element, op, &text, in);
        sali_free(in);
    }
    free_list(&text.in);
    free_list(&text.sizes);
    free_list(&text.ints);
    free_list(&text.reals);
    return status;
}

static sal_status read_nodes(tape_reader *r, xmlNode *element)
{
    sal_status status = SAL_OK;
    for (xmlNode *node = xmlFirstElementChild(element); node && status == SAL_OK;
         node = xmlNextElementSibling(node)) {
        status = read_node(r, node);
    }
    return status;
}

/* ---- the document */

static sal_status read_output(const tape_reader *r, const xmlNode *element, sal_model **model)
{
    int64_t node = 0;
    sal_status status = read_int(r, element, "node", 0, r->tape->n_nodes - 1, &node);
    if (status != SAL_OK) {
        return status;
    }
    sal_expr f = { .tape = r->tape, .node = (int32_t)node };
    sal_shape shape = sal_expr_shape(f);
    char text[SALI_SHAPE_TEXT];
    if (sali_shape_size(&shape) != 1) {
        return sali_xml_fail(r->name, element, r->err, "f has shape %s; expected a scalar",
                             sali_shape_text(&shape, text));
    }
    sal_error error = { 0 };
    return sal_model_from_tape(r->tape, f, model, &error) == SAL_OK ? SAL_OK
                                                                    : blame(r, element, &error);
}

/* A file of parameters must be a neighbour: a file from a stranger shall not read other ones. */
static sal_status read_params(const tape_reader *r, const xmlNode *root, char **out)
{
    const char *file = sali_xml_value(root, "params");
    char shown[SALI_SHOW_SIZE];
    if (!file) {
        return SAL_OK;
    }
    if (strchr(file, '/') || strchr(file, '\\') || strstr(file, "..") ||
        !sali_has_suffix(file, ".safetensors")) {
        return sali_xml_fail(r->name, root, r->err,
                             "params='%s'; expected the plain name of a .safetensors file in "
                             "the same directory, without '..'",
                             show(file, shown));
    }
    *out = sali_strdup(file);
    return *out ? SAL_OK : sali_fail_memory(r->err);
}

/* The message of libxml2 for a part that is missing would not name it. */
static sal_status check_parts(const char *name, xmlNode *root, sal_error *err)
{
    static const char *const parts[] = { "space", "nodes", "output" };
    const xmlNode *part = xmlFirstElementChild(root);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (!part || !sali_xml_is(part, parts[k])) {
            return sali_xml_fail(name, part ? part : root, err,
                                 "<%s> is missing; expected <space>, <nodes>, <output>", parts[k]);
        }
        part = xmlNextElementSibling((xmlNode *)part);
    }
    return SAL_OK;
}

/* Is it a tape, and of a version that is known? The schema's own message would be less clear. */
static sal_status check_root(const char *name, xmlDoc *document, sal_error *err)
{
    xmlNode *root = xmlDocGetRootElement(document);
    char shown[SALI_SHOW_SIZE];
    if (!sali_xml_is(root, SALI_TAPE_ROOT)) {
        return sali_xml_fail(name, root, err, "the root element is <%s>; expected <%s>",
                             show((const char *)root->name, shown), SALI_TAPE_ROOT);
    }
    const char *version = sali_xml_value(root, "version");
    if (version && strcmp(version, "1") != 0) {
        return sali_xml_fail(name, root, err, "version '%s' of the format; this saltus reads 1",
                             show(version, shown));
    }
    sal_status status = check_parts(name, root, err);
    return status ? status : sali_xml_validate(name, document, SALI_TAPE_SCHEMA, err);
}

/* dtype 0: the document's. */
static sal_status read_document(tape_reader *r, xmlDoc *document, sal_dtype dtype,
                                sal_model **model, char **params)
{
    sal_status status = check_root(r->name, document, r->err);
    if (status != SAL_OK) {
        return status;
    }
    xmlNode *root = xmlDocGetRootElement(document), *space = xmlFirstElementChild(root);
    xmlNode *nodes = xmlNextElementSibling(space), *output = xmlNextElementSibling(nodes);
    dtype = dtype ? dtype : strcmp(sali_xml_value(root, "dtype"), "f32") == 0 ? SAL_F32 : SAL_F64;
    status = read_params(r, root, params);
    status = status ? status : read_space(r, space, dtype);
    status = status ? status : read_nodes(r, nodes);
    status = status ? status : read_output(r, output, model);
    return status ? status : sal_model_set_name(*model, r->name, r->err);
}

sal_status sali_tape_xml_parse(const char *name, const void *text, int64_t size, sal_dtype dtype,
                               sal_model **model, char **params, sal_error *err)
{
    xmlDoc *document = NULL;
    sal_model *made = NULL;
    char *file = NULL;
    tape_reader r = { .name = name, .parameters = xmlHashCreate(0), .err = err };
    sal_status status =
        r.parameters ? sali_xml_parse(name, text, size, &document, err) : sali_fail_memory(err);
    status = status ? status : read_document(&r, document, dtype, &made, &file);
    sal_tape_destroy(r.tape);
    xmlHashFree(r.parameters, NULL);
    xmlFreeDoc(document);
    if (status != SAL_OK) {
        sal_model_destroy(made);
        sali_free(file);
        return status;
    }
    *model = made;
    *params = file;
    return SAL_OK;
}

/* ---- the record */

/* The text, of which sali_tape_xml_parse makes a model. */
static sal_status parse(const char *name, const char *data, int64_t size, sali_content *out,
                        sal_error *err)
{
    (void)name;
    out->text = (sali_text){ .data = sali_memdup(data, size + 1, 1), .size = size };
    return out->text.data ? SAL_OK : sali_fail_memory(err);
}

/* Any XML is for this reader, unless another recognises it. */
const sali_format sali_format_tape = {
    .name = "tape",
    .doc = "saved tapes; their parameters are beside them in safetensors",
    .suffixes = { ".xml" },
    .content = SALI_CONTENT_TAPE,
    .parse = parse,
};
