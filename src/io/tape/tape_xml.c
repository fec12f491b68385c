/* SPDX-License-Identifier: MIT */
/* Reading saved tapes. The schema has checked which elements and attributes there are; the code
 * here checks their values. Every node goes through sali_record, and so through the shape rule of
 * its op. */
#include "io/format.h"
#include "io/tape/tape_xml.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/memory.h"
#include "core/name_table.h"
#include "core/number.h"
#include "core/text.h"
#include "io/checksum.h"
#include "io/tape/tape_xml_schema.h"

typedef struct tape_reader {
    sali_scan *scan;
    sal_tape *tape;
    sali_name_table parameters; /* the names used so far */
    bool has_state;
    int64_t elements; /* number of elements of all nodes so far */
} tape_reader;

/* ---- numbers */

/* A scanner of text of an element, its content or an attribute's value. The caller passes the
 * scanner's status on to the reader. */
static sali_scan scan_text(const tape_reader *r, const xmlNode *element, const char *text)
{
    int64_t size = text ? (int64_t)strlen(text) : 0;
    sali_scan scan = sali_scan_of(r->scan->name, text, size, 0, r->scan->err);
    scan.line = xmlGetLineNo(element);
    scan.status = r->scan->status;
    return scan;
}

/* Read a token as a number, "inf", "-inf" or "nan"; false if it is none of these. */
static bool parse_real(const sali_token *token, double *out)
{
    bool infinite = sali_token_is(token, "inf") || sali_token_is(token, "-inf");
    if (infinite || sali_token_is(token, "nan")) {
        *out = !infinite ? NAN : token->text[0] == '-' ? -INFINITY : INFINITY;
        return true;
    }
    return sali_parse_double(token->text, token->size, out) == SAL_OK;
}

/* A list of integers or of reals; the other pointer is NULL. */
typedef struct list {
    int64_t *ints;
    double *reals;
    int64_t count;
} list;

/* Read all words of a text as integers or, if `real`, as reals; the arrays belong to `memory`. */
static list parse_list(tape_reader *r, const xmlNode *element, const char *text, bool real,
                       sali_memory *memory)
{
    sali_scan scan = scan_text(r, element, text);
    list l = { .count = sali_scan_words(&scan) };
    l.ints = real ? NULL : SALI_TAKE(memory, int64_t, l.count);
    l.reals = real ? SALI_TAKE(memory, double, l.count) : NULL;
    sali_scan_granted(&scan, l.ints || l.reals);
    for (int64_t k = 0; scan.status == SAL_OK && k < l.count; k++) {
        sali_token word = sali_scan_token(&scan);
        if (real ? !parse_real(&word, &l.reals[k])
                 : sali_parse_int(word.text, word.size, &l.ints[k]) != SAL_OK) {
            sali_scan_expected(&scan, &word, real ? "a number" : "an integer");
        }
    }
    r->scan->status = scan.status;
    return l;
}

/* The numbers in an element; an empty list if `element` is NULL. */
static list read_list(tape_reader *r, const xmlNode *element, bool real, sali_memory *memory)
{
    xmlChar *text = element ? xmlNodeGetContent(element) : NULL;
    list l = { 0 };
    if (element && sali_scan_granted(r->scan, text)) {
        l = parse_list(r, element, (const char *)text, real, memory);
    }
    xmlFree(text);
    return l;
}

/* The value of an attribute, an integer from min to max. */
static int64_t read_int(tape_reader *r, const xmlNode *element, const char *attribute, int64_t min,
                        int64_t max)
{
    sali_scan scan = scan_text(r, element, sali_xml_value(element, attribute));
    int64_t value = sali_scan_int(&scan, attribute, min, max);
    r->scan->status = sali_scan_end(&scan);
    return value;
}

/* Pass on an error from another layer as an error of the file at this element. Returns whether
 * nothing has failed. */
static bool report_error(const tape_reader *r, const xmlNode *element, const sal_error *error)
{
    sali_scan_granted(r->scan, error->status != SAL_ERR_MEMORY);
    if (error->status != SAL_OK) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "%s", error->message);
    }
    return r->scan->status == SAL_OK;
}

/* ---- the space */

/* Add a block to the space, within the limits of a file. */
static void add_block(const tape_reader *r, const xmlNode *element, sal_space *space,
                      const sal_block *block)
{
    int64_t width = block->kind == SAL_CATEGORICAL ? block->count * block->states : block->count;
    sal_error error = { 0 };
    if (space->n_blocks >= SALI_TAPE_MAX_BLOCKS ||
        space->n_variables + block->count > SALI_TAPE_MAX_VARIABLES ||
        space->width + width > SALI_TAPE_MAX_ELEMENTS) {
        sali_scan_fail(r->scan, xmlGetLineNo(element),
                       "the space is too large; expected at most %" PRId64 " blocks, %" PRId64
                       " variables and %" PRId64 " reals",
                       SALI_TAPE_MAX_BLOCKS, SALI_TAPE_MAX_VARIABLES, SALI_TAPE_MAX_ELEMENTS);
    } else if (r->scan->status == SAL_OK) {
        sal_space_add(space, block, &error);
        report_error(r, element, &error);
    }
}

/* Read the attributes of a <block> by which it fixes its sum or how often each label occurs. */
static void read_fixed(tape_reader *r, const xmlNode *element, sal_block *block,
                       sali_memory *memory)
{
    const char *labels = sali_xml_value(element, "labels");
    block->fixed_sum = sali_xml_value(element, "sum") != NULL;
    if (block->fixed_sum) { /* whether a state has the sum, the space checks */
        block->sum = read_int(r, element, "sum", -SALI_TAPE_MAX_VARIABLES,
                              SALI_TAPE_MAX_VARIABLES * SALI_TAPE_MAX_ELEMENTS);
    }
    if (labels) {
        list numbers = parse_list(r, element, labels, false, memory);
        block->labels = numbers.ints;
        if (numbers.count != block->states) {
            sali_scan_fail(r->scan, xmlGetLineNo(element),
                           "labels: %" PRId64 " numbers; expected one for each of %" PRId64
                           " states",
                           numbers.count, block->states);
        }
    }
}

/* Read a <block> with its attributes and levels, and add it to the space. */
static void read_block(tape_reader *r, const xmlNode *element, sal_space *space)
{
    sali_memory memory = { 0 };
    sal_block block = { .name = sali_xml_value(element, "name"), .kind = SAL_COUNT };
    block.letters = sali_xml_value(element, "letters");
    const char *kind = sali_xml_value(element, "kind");
    while (block.kind > SAL_BINARY && strcmp(kind, sali_kind_name(block.kind)) != 0) {
        block.kind--;
    }
    block.count = read_int(r, element, "count", 1, SALI_TAPE_MAX_VARIABLES);
    if (block.kind == SAL_CATEGORICAL) {
        block.states = read_int(r, element, "states", 1, INT32_MAX);
    } else if (block.kind == SAL_COUNT && sali_xml_value(element, "cap")) {
        block.cap = read_int(r, element, "cap", 1, INT32_MAX);
    } else if (block.kind == SAL_ORDINAL) {
        list levels = read_list(r, xmlFirstElementChild((xmlNode *)element), true, &memory);
        block.states = levels.count;
        block.levels = levels.reals;
        if (levels.count < 2) {
            sali_scan_fail(r->scan, xmlGetLineNo(element), "%" PRId64 " levels; expected 2 or more",
                           levels.count);
        }
    }
    read_fixed(r, element, &block, &memory);
    add_block(r, element, space, &block);
    sali_memory_free(&memory);
}

/* Make the tape over the space that the element describes. */
static void read_space(tape_reader *r, xmlNode *element, sal_dtype dtype)
{
    sal_space *space = sal_space_create();
    sali_scan_granted(r->scan, space);
    for (xmlNode *block = xmlFirstElementChild(element); block && r->scan->status == SAL_OK;
         block = xmlNextElementSibling(block)) {
        read_block(r, block, space);
    }
    if (r->scan->status == SAL_OK) {
        r->tape = sal_tape_create(space, dtype);
        sali_scan_granted(r->scan, r->tape);
    }
    sal_space_destroy(space);
}

/* ---- nodes */

/* A node's attributes as in the file, NULL if absent, and its lists of numbers. */
typedef struct node_text {
    const char *name, *shape;
    list in, sizes, ints, reals;
} node_text;

/* The op that a node names; fails if there is none. */
static sali_op_id find_op(const tape_reader *r, const xmlNode *element)
{
    sali_op_id op = SALI_OP_state;
    const char *name = sali_xml_value(element, "op");
    char shown[SALI_SHOW_SIZE];
    if (!name || !sali_op_find(name, &op)) {
        sali_scan_fail(r->scan, xmlGetLineNo(element),
                       "there is no op '%s' (is the file of a newer saltus?)",
                       sali_show(name ? name : "", -1, shown));
    }
    return op;
}

/* Read all lists of numbers of a node: inputs, shape, integers and reals. */
static void read_lists(tape_reader *r, xmlNode *element, node_text *text, sali_memory *memory)
{
    xmlNode *first = xmlFirstElementChild(element);
    xmlNode *ints = first && sali_xml_is(first, "ints") ? first : NULL;
    xmlNode *reals = ints ? xmlNextElementSibling(ints) : first;
    text->in = parse_list(r, element, sali_xml_value(element, "in"), false, memory);
    text->sizes = parse_list(r, element, text->shape, false, memory);
    text->ints = read_list(r, ints, false, memory);
    text->reals = read_list(r, reals, true, memory);
}

/* Check that only leaves have names and shapes, that there is one state, and that names of
 * parameters differ. */
static void check_leaf(tape_reader *r, const xmlNode *element, sali_op_id op, const node_text *text)
{
    const char *name = sali_op_f64(op)->name;
    char shown[SALI_SHOW_SIZE];
    bool is_param = op == SALI_OP_param, needs_shape = is_param || op == SALI_OP_constant;
    if ((text->name != NULL) != is_param || (text->shape != NULL) != needs_shape) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "%s: expected %s", name,
                       is_param      ? "a name and a shape"
                       : needs_shape ? "a shape and no name"
                                     : "neither a name nor a shape");
    }
    if (op == SALI_OP_state && r->has_state) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "state: a tape has one; use that node");
    }
    r->has_state |= op == SALI_OP_state;
    if (is_param && text->name && r->scan->status == SAL_OK) {
        int64_t taken = r->parameters.count, size = (int64_t)strlen(text->name);
        int64_t number = sali_name_table_put(&r->parameters, text->name, size);
        if (sali_scan_granted(r->scan, number >= 0) && number < taken) {
            sali_scan_fail(r->scan, xmlGetLineNo(element), "param: the name '%s' is taken",
                           sali_show(text->name, size, shown));
        }
    }
}

/* Check that inputs are earlier nodes, as many as the op takes, and write them to exprs. */
static void check_inputs(const tape_reader *r, const xmlNode *element, sali_op_id op,
                         const list *in, sal_expr *exprs)
{
    const sali_op *record = sali_op_f64(op);
    if (!sali_arity_fits(record, in->count) && record->arity == SALI_VARIADIC) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "%s: no inputs; expected at least one",
                       record->name);
    } else if (!sali_arity_fits(record, in->count)) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "%s: %" PRId64 " inputs; expected %d",
                       record->name, in->count, record->arity);
    }
    for (int64_t k = 0; r->scan->status == SAL_OK && k < in->count; k++) {
        if (in->ints[k] < 0 || in->ints[k] >= r->tape->n_nodes) {
            sali_scan_fail(r->scan, xmlGetLineNo(element),
                           "%s: input %" PRId64 " of node %" PRId64 " is no earlier node",
                           record->name, in->ints[k], r->tape->n_nodes);
        }
        exprs[k] = (sal_expr){ .tape = r->tape, .node = (int32_t)in->ints[k] };
    }
}

/* A shape from a list of sizes; fails if there are too many. */
static sal_shape get_shape(const tape_reader *r, const xmlNode *element, const list *sizes)
{
    sal_shape shape = { .rank = (int32_t)sizes->count };
    if (sizes->count > SAL_MAX_RANK) {
        sali_scan_fail(r->scan, xmlGetLineNo(element),
                       "a shape of %" PRId64 " sizes; expected at most %d", sizes->count,
                       SAL_MAX_RANK);
    }
    for (int64_t k = 0; r->scan->status == SAL_OK && k < sizes->count; k++) {
        shape.dim[k] = sizes->ints[k];
    }
    return shape;
}

/* Record the node on the tape, and check the tape's size against the limits. */
static void record_node(tape_reader *r, const xmlNode *element, sali_op_id op,
                        const node_text *text, sali_memory *memory)
{
    sal_expr *in = SALI_TAKE(memory, sal_expr, text->in.count);
    if (sali_scan_granted(r->scan, in)) {
        check_inputs(r, element, op, &text->in, in);
    }
    sal_shape shape = get_shape(r, element, &text->sizes);
    if (r->scan->status != SAL_OK) {
        return;
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
    sal_tape_check(r->tape, &error);
    if (!report_error(r, element, &error)) {
        return;
    }
    shape = sal_expr_shape(made);
    r->elements += sali_shape_size(&shape);
    if (r->tape->n_nodes > SALI_TAPE_MAX_NODES || r->elements > SALI_TAPE_MAX_ELEMENTS) {
        sali_scan_fail(r->scan, xmlGetLineNo(element),
                       "the formula is too large; expected at most %" PRId64 " nodes and %" PRId64
                       " elements in all",
                       SALI_TAPE_MAX_NODES, SALI_TAPE_MAX_ELEMENTS);
    }
}

/* Read a <node> and record it. */
static void read_node(tape_reader *r, xmlNode *element)
{
    sali_memory memory = { 0 };
    node_text text = { .name = sali_xml_value(element, "name"),
                       .shape = sali_xml_value(element, "shape") };
    sali_op_id op = find_op(r, element);
    check_leaf(r, element, op, &text);
    read_lists(r, element, &text, &memory);
    record_node(r, element, op, &text, &memory);
    sali_memory_free(&memory);
}

/* ---- the document */

/* Make the model whose f is the node that <output> names; f must be a scalar. */
static void read_output(tape_reader *r, const xmlNode *element, sal_model **model)
{
    int64_t node = read_int(r, element, "node", 0, r->tape->n_nodes - 1);
    if (r->scan->status != SAL_OK) {
        return;
    }
    sal_expr f = { .tape = r->tape, .node = (int32_t)node };
    sal_shape shape = sal_expr_shape(f);
    char text[SALI_SHAPE_TEXT];
    sal_error error = { 0 };
    if (sali_shape_size(&shape) != 1) {
        sali_scan_fail(r->scan, xmlGetLineNo(element), "f has shape %s; expected a scalar",
                       sali_shape_text(&shape, text));
        return;
    }
    sal_model_from_tape(r->tape, f, model, &error);
    if (report_error(r, element, &error)) {
        r->scan->status = sal_model_set_name(*model, r->scan->name, r->scan->err);
    }
}

/* The name of the file of parameters, to be freed; NULL if there is none. It must be in the same
 * directory: a file from a stranger must not make this program read others. */
static char *read_params(const tape_reader *r, const xmlNode *root)
{
    const char *file = sali_xml_value(root, "params");
    char shown[SALI_SHOW_SIZE];
    if (!file) {
        return NULL;
    }
    bool plain = !strpbrk(file, "/\\") && !strstr(file, "..");
    for (const char *c = file; plain && *c; c++) {
        plain = (unsigned char)*c >= ' ' && *c != '\x7f';
    }
    if (!plain || !sali_has_suffix(file, ".safetensors")) {
        sali_scan_fail(r->scan, xmlGetLineNo(root),
                       "params='%s'; expected the plain name of a .safetensors file in the same "
                       "directory, without '..'",
                       sali_show(file, -1, shown));
    }
    char *copy = sali_strdup(file);
    sali_scan_granted(r->scan, copy);
    return copy;
}

/* Check that the document is a tape of a known version with all its parts, then validate it. The
 * schema's own messages would be less clear. */
static void check_root(sali_scan *scan, xmlDoc *document)
{
    static const char *const parts[] = { "space", "nodes", "output" };
    xmlNode *root = xmlDocGetRootElement(document);
    char shown[SALI_SHOW_SIZE];
    const char *version = sali_xml_value(root, "version");
    if (!sali_xml_is(root, SALI_TAPE_ROOT)) {
        sali_scan_fail(scan, xmlGetLineNo(root), "the root element is <%s>; expected <%s>",
                       sali_show((const char *)root->name, -1, shown), SALI_TAPE_ROOT);
    } else if (version && strcmp(version, "1") != 0) {
        sali_scan_fail(scan, xmlGetLineNo(root), "version '%s' of the format; this saltus reads 1",
                       sali_show(version, -1, shown));
    }
    xmlNode *part = xmlFirstElementChild(root);
    for (size_t k = 0; scan->status == SAL_OK && k < sizeof parts / sizeof *parts; k++) {
        if (!part || !sali_xml_is(part, parts[k])) {
            sali_scan_fail(scan, xmlGetLineNo(part ? part : root),
                           "<%s> is missing; expected <space>, <nodes>, <output>", parts[k]);
            return;
        }
        part = xmlNextElementSibling(part);
    }
    if (scan->status == SAL_OK) {
        sali_xml_validate(scan, document, SALI_TAPE_SCHEMA);
    }
}

/* Fails unless the bytes before the comment with the checksum, the last line, have it. */
static void check_sum(sali_scan *scan)
{
    const char *mark = scan->end;
    const int64_t length = (int64_t)strlen(SALI_TAPE_CHECKSUM);
    char found[SALI_CHECKSUM_TEXT];
    while (mark > scan->begin && mark[-1] != '<') {
        mark--;
    }
    if (mark == scan->begin || scan->end - --mark < length + 16 ||
        memcmp(mark, SALI_TAPE_CHECKSUM, (size_t)length) != 0) {
        return;
    }
    sali_checksum_text(sali_checksum(SALI_CHECKSUM_START, scan->begin, mark - scan->begin), found);
    if (memcmp(mark + length, found, 16) != 0) {
        sali_scan_refuse(scan, "the file is damaged: it is not what was written. Take another copy "
                               "(if you changed it on purpose, remove its last line)");
    }
}

/* Make the model of a valid document; dtype 0: the document's. */
static void read_document(tape_reader *r, xmlNode *root, sal_dtype dtype, sal_model **model)
{
    xmlNode *space = xmlFirstElementChild(root);
    xmlNode *nodes = xmlNextElementSibling(space), *output = xmlNextElementSibling(nodes);
    dtype = dtype ? dtype : strcmp(sali_xml_value(root, "dtype"), "f32") == 0 ? SAL_F32 : SAL_F64;
    read_space(r, space, dtype);
    for (xmlNode *node = xmlFirstElementChild(nodes); node && r->scan->status == SAL_OK;
         node = xmlNextElementSibling(node)) {
        read_node(r, node);
    }
    if (r->scan->status == SAL_OK) {
        read_output(r, output, model);
    }
}

sal_status sali_tape_xml_parse(const char *name, const void *text, int64_t size, sal_dtype dtype,
                               sal_model **model, char **params, sal_error *err)
{
    sal_model *made = NULL;
    char *file = NULL;
    sali_scan scan = sali_scan_of(name, text, size, 0, err);
    tape_reader r = { .scan = &scan };
    check_sum(&scan);
    xmlDoc *document = scan.status == SAL_OK ? sali_xml_parse(&scan) : NULL;
    if (document) {
        check_root(&scan, document);
    }
    if (scan.status == SAL_OK) {
        file = read_params(&r, xmlDocGetRootElement(document));
        read_document(&r, xmlDocGetRootElement(document), dtype, &made);
    }
    sal_tape_destroy(r.tape);
    sali_name_table_clear(&r.parameters);
    xmlFreeDoc(document);
    (void)SALI_GIVE(scan.status, file, params, sali_free);
    return SALI_GIVE(scan.status, made, model, sal_model_destroy);
}

/* ---- the record */

/* Keep a copy of the text, from which sali_tape_xml_parse makes a model. */
static void parse(sali_scan *scan, sali_content *out)
{
    int64_t size = scan->end - scan->begin;
    out->text = (sali_text){ .data = sali_memdup(scan->begin, size + 1, 1), .size = size };
    sali_scan_granted(scan, out->text.data);
}

/* The fallback for XML files that no other reader recognises. */
const sali_format sali_format_tape = {
    .name = "tape",
    .doc = "saved tapes; their parameters are beside them in safetensors",
    .suffixes = { ".xml" },
    .content = SALI_CONTENT_TAPE,
    .parse = parse,
};
