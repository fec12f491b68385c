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

typedef struct int_list {
    int64_t *items;
    int64_t count, room;
} int_list;

typedef struct real_list {
    double *items;
    int64_t count, room;
} real_list;

/* Text that belongs to an element: its content, or an attribute's value. */
static void scan_text(const tape_reader *r, const xmlNode *element, const xmlChar *text,
                      sali_scan *scan)
{
    sali_scan_init(scan, r->name, text, text ? (int64_t)strlen((const char *)text) : 0, 0);
    scan->line = xmlGetLineNo(element);
}

static sal_status parse_ints(const tape_reader *r, const xmlNode *element, const xmlChar *text,
                             int_list *out)
{
    sali_scan scan;
    scan_text(r, element, text, &scan);
    for (;;) {
        sali_token token;
        sal_status status = sali_scan_token(&scan, &token, r->err);
        if (status != SAL_OK || token.size == 0) {
            return status;
        }
        if (sali_grow((void **)&out->items, &out->room, out->count + 1, sizeof *out->items) != 0) {
            return sali_fail_memory(r->err);
        }
        if (sali_parse_int(token.text, token.size, &out->items[out->count]) != SAL_OK) {
            return sali_scan_expected(&scan, &token, "an integer", r->err);
        }
        out->count++;
    }
}

static sal_status parse_real(const sali_token *token, double *out)
{
    if (sali_token_is(token, "inf") || sali_token_is(token, "-inf")) {
        *out = token->text[0] == '-' ? -INFINITY : INFINITY;
        return SAL_OK;
    }
    if (sali_token_is(token, "nan")) {
        *out = NAN;
        return SAL_OK;
    }
    return sali_parse_double(token->text, token->size, out);
}

static sal_status parse_reals(const tape_reader *r, const xmlNode *element, const xmlChar *text,
                              real_list *out)
{
    sali_scan scan;
    scan_text(r, element, text, &scan);
    for (;;) {
        sali_token token;
        sal_status status = sali_scan_token(&scan, &token, r->err);
        if (status != SAL_OK || token.size == 0) {
            return status;
        }
        if (sali_grow((void **)&out->items, &out->room, out->count + 1, sizeof *out->items) != 0) {
            return sali_fail_memory(r->err);
        }
        status = parse_real(&token, &out->items[out->count]);
        if (status != SAL_OK) {
            return status == SAL_ERR_MEMORY ? sali_fail_memory(r->err)
                                            : sali_scan_expected(&scan, &token, "a number", r->err);
        }
        out->count++;
    }
}

/* Numbers in an element; none if it is NULL. */
static sal_status read_ints(const tape_reader *r, const xmlNode *element, int_list *out)
{
    xmlChar *text = element ? xmlNodeGetContent(element) : NULL;
    if (element && !text) {
        return sali_fail_memory(r->err);
    }
    sal_status status = parse_ints(r, element, text, out);
    xmlFree(text);
    return status;
}

static sal_status read_reals(const tape_reader *r, const xmlNode *element, real_list *out)
{
    xmlChar *text = element ? xmlNodeGetContent(element) : NULL;
    if (element && !text) {
        return sali_fail_memory(r->err);
    }
    sal_status status = parse_reals(r, element, text, out);
    xmlFree(text);
    return status;
}

/* An attribute that is one integer. */
static sal_status read_int(const tape_reader *r, const xmlNode *element, const char *attribute,
                           int64_t min, int64_t max, int64_t *out)
{
    sali_scan scan;
    xmlChar *text = xmlGetNoNsProp(element, BAD_CAST attribute);
    scan_text(r, element, text, &scan);
    sal_status status = sali_scan_int(&scan, attribute, min, max, out, r->err);
    if (status == SAL_OK) {
        status = sali_scan_end(&scan, r->err);
    }
    xmlFree(text);
    return status;
}

/* An error of another layer, as one of the file. */
static sal_status blame(const tape_reader *r, const xmlNode *element, const sal_error *error)
{
    return error->status == SAL_ERR_MEMORY
               ? sali_fail_memory(r->err)
               : sali_xml_fail(r->name, element, r->err, "%s", error->message);
}

/* ---- the space */

static sal_kind kind_of(const xmlChar *text)
{
    const char *kind = (const char *)text;
    return !kind                          ? SAL_BINARY
           : strcmp(kind, "spin") == 0    ? SAL_SPIN
           : strcmp(kind, "ordinal") == 0 ? SAL_ORDINAL
           : strcmp(kind, "binary") == 0  ? SAL_BINARY
           : strcmp(kind, "count") == 0   ? SAL_COUNT
                                          : SAL_CATEGORICAL;
}

/* The numbers of a block: count, states, levels or cap. */
static sal_status read_block_sizes(const tape_reader *r, const xmlNode *element, sal_block *block,
                                   real_list *levels)
{
    sal_status status = read_int(r, element, "count", 1, SALI_TAPE_MAX_VARIABLES, &block->count);
    if (status == SAL_OK && block->kind == SAL_CATEGORICAL) {
        status = read_int(r, element, "states", 1, INT32_MAX, &block->states);
    }
    if (status == SAL_OK && block->kind == SAL_COUNT && xmlHasProp(element, BAD_CAST "cap")) {
        status = read_int(r, element, "cap", 1, INT32_MAX, &block->cap);
    }
    if (status == SAL_OK && block->kind == SAL_ORDINAL) {
        status = read_reals(r, xmlFirstElementChild((xmlNode *)element), levels);
        block->states = levels->count;
        block->levels = levels->items;
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
    real_list levels = { 0 };
    xmlChar *name = xmlGetNoNsProp(element, BAD_CAST "name");
    xmlChar *kind = xmlGetNoNsProp(element, BAD_CAST "kind");
    sal_block block = { .name = (const char *)name, .kind = kind_of(kind) };
    sal_status status = read_block_sizes(r, element, &block, &levels);
    if (status == SAL_OK && block.kind == SAL_ORDINAL && levels.count < 2) {
        status = sali_xml_fail(r->name, element, r->err, "%" PRId64 " levels; expected 2 or more",
                               levels.count);
    }
    if (status == SAL_OK) {
        status = add_block(r, element, space, &block);
    }
    xmlFree(name);
    xmlFree(kind);
    sali_free(levels.items);
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

/* A node's attributes as they stand in the file; NULL where absent. */
typedef struct node_text {
    xmlChar *op, *name, *shape, *in;
} node_text;

/* And as numbers. */
typedef struct node_lists {
    int_list in, shape, ints;
    real_list reals;
} node_lists;

static void get_texts(const xmlNode *element, node_text *text)
{
    text->op = xmlGetNoNsProp(element, BAD_CAST "op");
    text->name = xmlGetNoNsProp(element, BAD_CAST "name");
    text->shape = xmlGetNoNsProp(element, BAD_CAST "shape");
    text->in = xmlGetNoNsProp(element, BAD_CAST "in");
}

static void free_texts(node_text *text)
{
    xmlFree(text->op);
    xmlFree(text->name);
    xmlFree(text->shape);
    xmlFree(text->in);
}

static void free_lists(node_lists *lists)
{
    sali_free(lists->in.items);
    sali_free(lists->shape.items);
    sali_free(lists->ints.items);
    sali_free(lists->reals.items);
}

/* Copy text of the file into a message's buffer. */
static const char *show(const xmlChar *text, char out[SALI_SHOW_SIZE])
{
    const char *bytes = text ? (const char *)text : "";
    return sali_show(bytes, (int64_t)strlen(bytes), out);
}

static sal_status find_op(const tape_reader *r, const xmlNode *element, const xmlChar *name,
                          sali_op_id *out)
{
    char shown[SALI_SHOW_SIZE];
    if (name && sali_op_find((const char *)name, out)) {
        return SAL_OK;
    }
    return sali_xml_fail(r->name, element, r->err,
                         "there is no op '%s' (is the file of a newer saltus?)", show(name, shown));
}

static sal_status read_lists(const tape_reader *r, xmlNode *element, const node_text *text,
                             node_lists *lists)
{
    xmlNode *ints = xmlFirstElementChild(element), *reals = NULL;
    if (ints && sali_xml_is(ints, "ints")) {
        reals = xmlNextElementSibling(ints);
    } else {
        reals = ints;
        ints = NULL;
    }
    sal_status status = parse_ints(r, element, text->in, &lists->in);
    if (status == SAL_OK) {
        status = parse_ints(r, element, text->shape, &lists->shape);
    }
    if (status == SAL_OK) {
        status = read_ints(r, ints, &lists->ints);
    }
    return status == SAL_OK ? read_reals(r, reals, &lists->reals) : status;
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
    if (is_param && xmlHashLookup(r->parameters, text->name)) {
        return sali_xml_fail(r->name, element, r->err, "param: the name '%s' is taken",
                             show(text->name, shown));
    }
    if (is_param && xmlHashAddEntry(r->parameters, text->name, r) != 0) {
        return sali_fail_memory(r->err);
    }
    return SAL_OK;
}

/* Inputs are earlier nodes, as many as the op has. */
static sal_status check_inputs(const tape_reader *r, const xmlNode *element, sali_op_id op,
                               const int_list *in, sal_expr *exprs)
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
        if (in->items[k] < 0 || in->items[k] >= r->tape->n_nodes) {
            return sali_xml_fail(r->name, element, r->err,
                                 "%s: input %" PRId64 " of node %" PRId64 " is no earlier node",
                                 record->name, in->items[k], r->tape->n_nodes);
        }
        exprs[k] = (sal_expr){ .tape = r->tape, .node = (int32_t)in->items[k] };
    }
    return SAL_OK;
}

static sal_status get_shape(const tape_reader *r, const xmlNode *element, const int_list *list,
                            sal_shape *out)
{
    if (list->count > SAL_MAX_RANK) {
        return sali_xml_fail(r->name, element, r->err,
                             "a shape of %" PRId64 " sizes; expected at most %d", list->count,
                             SAL_MAX_RANK);
    }
    *out = (sal_shape){ .rank = (int32_t)list->count };
    for (int64_t k = 0; k < list->count; k++) {
        out->dim[k] = list->items[k];
    }
    return SAL_OK;
}

static sal_status record(tape_reader *r, const xmlNode *element, sali_op_id op,
                         const node_text *text, const node_lists *lists, sal_expr *in)
{
    sal_shape shape;
    sal_status status = check_inputs(r, element, op, &lists->in, in);
    if (status == SAL_OK) {
        status = get_shape(r, element, &lists->shape, &shape);
    }
    if (status != SAL_OK) {
        return status;
    }
    sal_expr made = sali_record(r->tape, &(sali_recipe){ .op = op,
                                                         .n_in = (int32_t)lists->in.count,
                                                         .in = in,
                                                         .n_ints = lists->ints.count,
                                                         .ints = lists->ints.items,
                                                         .n_reals = lists->reals.count,
                                                         .reals = lists->reals.items,
                                                         .name = (const char *)text->name,
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
    node_text text;
    node_lists lists = { 0 };
    sali_op_id op = SALI_OP_state;
    get_texts(element, &text);
    sal_status status = find_op(r, element, text.op, &op);
    if (status == SAL_OK) {
        status = check_leaf(r, element, op, &text);
    }
    if (status == SAL_OK) {
        status = read_lists(r, element, &text, &lists);
    }
    if (status == SAL_OK) {
        sal_expr *in = SALI_NEW_ARRAY(sal_expr, lists.in.count);
        status = in ? record(r, element, op, &text, &lists, in) : sali_fail_memory(r->err);
        sali_free(in);
    }
    free_lists(&lists);
    free_texts(&text);
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
    static const char suffix[] = ".safetensors";
    xmlChar *text = xmlGetNoNsProp(root, BAD_CAST "params");
    const char *file = (const char *)text;
    if (!file) {
        return SAL_OK;
    }
    sal_status status = SAL_OK;
    char shown[SALI_SHOW_SIZE];
    size_t length = strlen(file), end = sizeof suffix - 1;
    if (strchr(file, '/') || strchr(file, '\\') || strstr(file, "..") || length <= end ||
        strcmp(file + length - end, suffix) != 0) {
        status = sali_xml_fail(r->name, root, r->err,
                               "params='%s'; expected the plain name of a .safetensors file in "
                               "the same directory, without '..'",
                               show(text, shown));
    } else {
        *out = sali_strdup(file);
        status = *out ? SAL_OK : sali_fail_memory(r->err);
    }
    xmlFree(text);
    return status;
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
                             show(root->name, shown), SALI_TAPE_ROOT);
    }
    sal_status status = SAL_OK;
    xmlChar *version = xmlGetNoNsProp(root, BAD_CAST "version");
    if (version && strcmp((const char *)version, "1") != 0) {
        status = sali_xml_fail(name, root, err, "version '%s' of the format; this saltus reads 1",
                               show(version, shown));
    }
    xmlFree(version);
    if (status == SAL_OK) {
        status = check_parts(name, root, err);
    }
    return status == SAL_OK ? sali_xml_validate(name, document, SALI_TAPE_SCHEMA, err) : status;
}

static sal_dtype dtype_of(const xmlNode *root)
{
    xmlChar *text = xmlGetNoNsProp(root, BAD_CAST "dtype");
    sal_dtype dtype = text && strcmp((const char *)text, "f32") == 0 ? SAL_F32 : SAL_F64;
    xmlFree(text);
    return dtype;
}

sal_status sali_tape_xml_build(const char *name, xmlDoc *document, sal_dtype dtype,
                               sal_model **model, char **params, sal_error *err)
{
    sal_status status = check_root(name, document, err);
    if (status != SAL_OK) {
        return status;
    }
    xmlNode *root = xmlDocGetRootElement(document), *space = xmlFirstElementChild(root);
    xmlNode *nodes = xmlNextElementSibling(space), *output = xmlNextElementSibling(nodes);
    sal_model *made = NULL;
    char *file = NULL;
    tape_reader r = { .name = name, .parameters = xmlHashCreate(0), .err = err };
    status = r.parameters ? read_params(&r, root, &file) : sali_fail_memory(err);
    if (status == SAL_OK) {
        status = read_space(&r, space, dtype ? dtype : dtype_of(root));
    }
    if (status == SAL_OK) {
        status = read_nodes(&r, nodes);
    }
    if (status == SAL_OK) {
        status = read_output(&r, output, &made);
    }
    if (status == SAL_OK) {
        status = sal_model_set_name(made, name, err);
    }
    sal_tape_destroy(r.tape);
    xmlHashFree(r.parameters, NULL);
    if (status != SAL_OK) {
        sal_model_destroy(made);
        sali_free(file);
        return status;
    }
    *model = made;
    *params = file;
    return SAL_OK;
}

sal_status sali_tape_xml_parse(const char *name, const void *text, int64_t size, sal_dtype dtype,
                               sal_model **model, char **params, sal_error *err)
{
    xmlDoc *document = NULL;
    sal_status status = sali_xml_parse(name, text, size, &document, err);
    if (status == SAL_OK) {
        status = sali_tape_xml_build(name, document, dtype, model, params, err);
    }
    xmlFreeDoc(document);
    return status;
}

/* ---- the record */

/* Any XML is for this reader, unless another recognises it. */
const sali_format sali_format_tape = {
    .name = "tape",
    .doc = "saved tapes; their parameters are beside them in safetensors",
    .suffixes = { ".xml" },
    .content = SALI_CONTENT_TAPE,
};
