/* SPDX-License-Identifier: MIT */
/* A tape model's formula, as recorded and as it runs, for people to read. */
#include <inttypes.h>
#include <string.h>

#include <saltus/program.h>
#include "ad/passes.h"
#include "ad/workspace.h"
#include "core/error.h"
#include "models/tape_model.h"

#define CHAINS 32 /* chains of a shard, for which memory is printed */
#define WIDTH 40  /* most bytes of a text in a column */

static const char *degree_name(sali_degree degree)
{
    switch (degree) {
    case SALI_CONSTANT:
        return "constant";
    case SALI_COORDINATES:
        return "coordinates";
    case SALI_AFFINE:
        return "affine";
    case SALI_MULTILINEAR:
        return "multilinear";
    case SALI_GENERAL:
        return "general";
    }
    return "";
}

/* How often a node is computed. */
static const char *when_computed(const sali_node *node)
{
    if (node->n_in == 0) {
        return node->varying ? "given" : "fixed";
    }
    return node->varying ? "varies" : "hoisted";
}

/* Write the numbers of the inputs into text [WIDTH], the first few and ".." if there are many. */
static void list_inputs(const sali_node *node, char *text)
{
    strcpy(text, node->n_in == 0 ? "-" : "");
    for (int32_t k = 0; k < node->n_in; k++) {
        size_t used = strlen(text);
        if (used > WIDTH / 2) {
            snprintf(text + used, WIDTH - used, " ..");
            return;
        }
        snprintf(text + used, WIDTH - used, k ? " %" PRId32 : "%" PRId32, node->in[k]);
    }
}

/* Print a line for node i. `run` is the number of the fused run that the node is part of; -1: the
 * node runs by itself. */
static void print_node(FILE *out, int32_t i, const sali_node *node, sali_degree degree, int32_t run,
                       bool is_output)
{
    char inputs[WIDTH], shape[SALI_SHAPE_TEXT], number[16] = "-";
    const char *name = node->name ? node->name : is_output ? "= f" : "";
    list_inputs(node, inputs);
    if (run >= 0) {
        snprintf(number, sizeof number, "%" PRId32, run);
    }
    fprintf(out, "%5" PRId32 "  %-12s %-10s %-16s %-8s %-4s ", i, sali_op_f64(node->op)->name,
            inputs, sali_shape_text(&node->shape, shape), when_computed(node), number);
    fprintf(out, name[0] ? "%-12s %s\n" : "%s\n", degree_name(degree), name);
}

static void print_heading(FILE *out, const char *title, int32_t n)
{
    fprintf(out, "\n%s, %" PRId32 " nodes\n", title, n);
    fprintf(out, "%5s  %-12s %-10s %-16s %-8s %-4s %-12s %s\n", "node", "op", "inputs", "shape",
            "when", "run", "degree", "name");
}

static int32_t shared_run(const sali_program *program, int32_t i)
{
    int32_t run = program->fusion.run[i];
    return run >= 0 && program->fusion.runs[run].tile < INT64_MAX ? run : -1;
}

/* Print the names of all passes, each followed by ":off" if the pass is off in `set`. */
static void print_passes(FILE *out, uint32_t set)
{
    fprintf(out, "passes      ");
    const sali_pass *pass;
    for (int64_t k = 0; (pass = sali_pass_at(k)); k++) {
        fprintf(out, " %s%s", pass->name, sali_pass_is_on(pass, set) ? "" : ":off");
    }
    fputc('\n', out);
}

/* Print the bytes of a workspace of CHAINS chains for `wants`, with shared buffers and without;
 * `what` is the label of the line. */
static sal_status print_buffers(FILE *out, const sali_tape_model *tape, const char *what,
                                unsigned wants, sal_error *err)
{
    sali_workspace *ws = NULL;
    sal_status status = sali_workspace_create(tape->program, tape->params, CHAINS, wants, &ws, err);
    if (status == SAL_OK) {
        int64_t apart, bytes = sali_workspace_bytes(ws, &apart);
        fprintf(out,
                "memory       %-9s %" PRId64 " bytes for %d chains; %" PRId64
                " with nothing shared\n",
                what, bytes, CHAINS, apart);
    }
    sali_workspace_destroy(ws);
    return status;
}

sal_status sal_model_print_program(const sal_model *model, FILE *stream, sal_error *err)
{
    const sali_tape_model *tape = sali_model_tape(model);
    if (!tape) {
        fprintf(stream, "program      none: the model is no tape\n");
        return SAL_OK;
    }
    const sali_program *program = tape->program;
    const sali_listing *recorded = &program->recorded;
    print_heading(stream, "as recorded", recorded->n_nodes);
    for (int32_t i = 0; i < recorded->n_nodes; i++) {
        print_node(stream, i, &recorded->nodes[i], recorded->degree[i], -1, i == recorded->output);
    }
    print_heading(stream, "as it runs", program->n_nodes);
    for (int32_t i = 0; i < program->n_nodes; i++) {
        print_node(stream, i, &program->nodes[i], program->steps[i].degree, shared_run(program, i),
                   i == program->output);
    }
    fputc('\n', stream);
    print_passes(stream, program->passes);
    sal_status status = print_buffers(stream, tape, "value", 0, err);
    status =
        status ? status : print_buffers(stream, tape, "gradient", SALI_WANT_STATE_GRADIENT, err);
    return status                                  ? status
           : fflush(stream) != 0 || ferror(stream) ? sali_fail(err, SAL_ERR_IO, "cannot print: %m")
                                                   : SAL_OK;
}

int64_t sali_model_operations(const sal_model *model, const char *op)
{
    const sali_tape_model *tape = sali_model_tape(model);
    int64_t count = 0;
    for (int32_t i = 0; tape && op && i < tape->program->n_nodes; i++) {
        count += strcmp(sali_op_f64(tape->program->nodes[i].op)->name, op) == 0;
    }
    return count;
}
