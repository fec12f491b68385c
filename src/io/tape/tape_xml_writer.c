/* SPDX-License-Identifier: MIT */
/* Writing saved tapes. */
#include <inttypes.h>

#include "core/error.h"
#include "io/tape/tape_xml.h"

/* A line of numbers ends once it has this many characters. */
#define LINE_WIDTH 90

/* SAL_ERR_UNSUPPORTED once the text is too long for the reader. */
static void check_size(sali_text_output *w)
{
    if (w->size > SALI_XML_MAX_SIZE && w->status == SAL_OK) {
        w->status = sali_fail(w->err, SAL_ERR_UNSUPPORTED,
                              "%s: the constants make more than %" PRId64
                              " bytes of XML; make them parameters",
                              w->out.path, SALI_XML_MAX_SIZE);
    }
}

/* Write an element with n numbers: `ints`, or `reals` if `ints` is NULL. */
static void put_list(sali_text_output *w, const char *element, int64_t n, const int64_t *ints,
                     const double *reals)
{
    sali_put(w, "      <%s>", element);
    int64_t line = w->size;
    for (int64_t i = 0; i < n && w->status == SAL_OK; i++) {
        bool full = w->size - line >= LINE_WIDTH;
        if (i > 0) {
            sali_put_raw(w, full ? "\n" : " ");
            line = full ? w->size : line;
        }
        if (ints) {
            sali_put(w, "%lld", (long long)ints[i]);
        } else if (reals) {
            sali_put(w, "%g", reals[i]);
        }
        check_size(w);
    }
    sali_put(w, "</%s>\n", element);
}

/* Write the fixed sum of a block, or how often each label occurs and what letters the labels are.
 */
static void put_fixed(sali_text_output *w, const sal_block *block)
{
    if (block->fixed_sum) {
        sali_put(w, " sum=\"%lld\"", (long long)block->sum);
    }
    for (int64_t k = 0; block->labels && k < block->states && w->status == SAL_OK; k++) {
        sali_put(w, k == 0 ? " labels=\"%lld" : " %lld", (long long)block->labels[k]);
        check_size(w);
    }
    sali_put_raw(w, block->labels ? "\"" : "");
    if (block->letters) {
        sali_put(w, " letters=\"%s\"", block->letters);
    }
}

/* Write a block of the space with its levels, states or cap. */
static void put_block(sali_text_output *w, const sal_block *block)
{
    sali_put(w, "    <block name=\"%s\" count=\"%lld\" kind=\"%s\"", block->name,
             (long long)block->count, sali_kind_name(block->kind));
    if (block->kind == SAL_ORDINAL) {
        sali_put_raw(w, ">\n");
        put_list(w, "levels", block->states, NULL, block->levels);
        sali_put_raw(w, "    </block>\n");
        return;
    }
    if (block->kind == SAL_CATEGORICAL) {
        sali_put(w, " states=\"%lld\"", (long long)block->states);
    } else if (block->kind == SAL_COUNT && block->cap > 0) {
        sali_put(w, " cap=\"%lld\"", (long long)block->cap);
    }
    put_fixed(w, block);
    sali_put_raw(w, "/>\n");
}

/* Write a node with its inputs, name, shape and numbers. */
static void put_node(sali_text_output *w, const sali_node *node)
{
    sali_put(w, "    <node op=\"%s\"", sali_op_f64(node->op)->name);
    for (int32_t k = 0; k < node->n_in; k++) {
        sali_put(w, k == 0 ? " in=\"%d" : " %d", node->in[k]);
    }
    sali_put_raw(w, node->n_in > 0 ? "\"" : "");
    if (node->name) {
        sali_put(w, " name=\"%s\"", node->name);
    }
    if (node->op == SALI_OP_param || node->op == SALI_OP_constant) {
        sali_put_raw(w, " shape=\"");
        for (int32_t i = 0; i < node->shape.rank; i++) {
            sali_put(w, i == 0 ? "%lld" : " %lld", (long long)node->shape.dim[i]);
        }
        sali_put_raw(w, "\"");
    }
    if (node->n_ints == 0 && node->n_reals == 0) {
        sali_put_raw(w, "/>\n");
        return;
    }
    sali_put_raw(w, ">\n");
    if (node->n_ints > 0) {
        put_list(w, "ints", node->n_ints, node->ints, NULL);
    }
    if (node->n_reals > 0) {
        put_list(w, "reals", node->n_reals, NULL, node->reals);
    }
    sali_put_raw(w, "    </node>\n");
}

/* SAL_ERR_UNSUPPORTED if the program exceeds the reader's limits: what is saved can be opened. */
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

void sali_tape_xml_write(sali_text_output *w, const sali_program *program, const char *params)
{
    const sal_space *space = program->space;
    char checksum[SALI_CHECKSUM_TEXT];
    w->sums = true;
    w->status = w->status ? w->status : check_sizes(w->out.path, program, w->err);
    sali_put(w,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<" SALI_TAPE_ROOT " version=\"1\" dtype=\"%s\"",
             program->dtype == SAL_F32 ? "f32" : "f64");
    if (params) {
        sali_put(w, " params=\"%s\"", params);
    }
    sali_put_raw(w, ">\n  <space>\n");
    for (int64_t b = 0; b < space->n_blocks && w->status == SAL_OK; b++) {
        put_block(w, &space->blocks[b]);
    }
    sali_put_raw(w, "  </space>\n  <nodes>\n");
    for (int32_t i = 0; i < program->n_nodes && w->status == SAL_OK; i++) {
        put_node(w, &program->nodes[i]);
    }
    sali_put(w, "  </nodes>\n  <output node=\"%d\"/>\n</" SALI_TAPE_ROOT ">\n", program->output);
    sali_checksum_text(sali_text_checksum(w), checksum);
    sali_put(w, SALI_TAPE_CHECKSUM "%s -->\n", checksum);
}
