/* SPDX-License-Identifier: MIT */
/* Conversion of a file to another format. */
#include <string.h>
#include <sys/stat.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/specification.h"
#include "io/format.h"
#include "models/structure/potts.h"
#include "models/zoo/alignment_rows.h"
#include "models/zoo/builtin.h"

/* Open the model `in` and save it as `out`. From a training's directory this takes the averaged
 * parameters. */
static sal_status save_model(const char *in, const char *out, sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(in, 0, &model, err);
    status = status ? status : sal_model_save(model, out, err);
    sal_model_destroy(model);
    return status;
}

/* Whether `out` is to be written as parameters of a Potts model. */
static bool is_potts(const char *out, const sali_format *writer)
{
    bool potts = writer && writer->content == SALI_CONTENT_POTTS;
    const sali_format *f;
    for (int64_t k = 0; !writer && !potts && (f = sali_format_at(k)); k++) {
        potts = f->content == SALI_CONTENT_POTTS && f->write && sali_format_has_suffix(f, out);
    }
    return potts;
}

/* Open the model `in`, with all digits, and find its parameters as a Potts model. */
static sal_status read_potts(const char *in, sali_content *content, sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(in, SAL_F64, &model, err);
    content->kind = SALI_CONTENT_POTTS;
    if (status == SAL_OK) {
        status = sali_potts_of_model(model, &content->potts, err);
        status = status ? sali_fail_prefix(err, status, "%s", in) : status;
    }
    sal_model_destroy(model);
    return status;
}

/* Change the gauge of the content; fails for content that has none. */
static sal_status set_gauge(const char *in, sal_gauge gauge, sali_content *content, sal_error *err)
{
    if (content->kind != SALI_CONTENT_POTTS) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "a gauge is for parameters of Potts models; %s holds %s, and the new file "
                         "is of no such format (.dat, .raw, .model)",
                         in, sali_content_name(content->kind));
    }
    sal_status status = sali_potts_set_gauge(&content->potts, gauge, err);
    return status ? sali_fail_prefix(err, status, "%s", in) : status;
}

static sal_status find_format(const char *name, const sali_format **format, sal_error *err)
{
    return name && sali_format_named(name, format, err) != SAL_OK ? SAL_ERR_ARGUMENT : SAL_OK;
}

/* Read the file of a specification "ising:file=PATH,vartype=spin". */
static sal_status read_named(const char *in, sali_content *content, sal_error *err)
{
    char *rest = sali_strdup(in), *path = NULL;
    sali_reading reading = { 0 };
    sal_status status =
        rest ? sali_specification_take(rest, "file", &path, err) : sali_fail_memory(err);
    status =
        status || path ? status : sali_fail(err, SAL_ERR_ARGUMENT, "%s: expected file=PATH", in);
    status = status ? status : sali_builtin_vartype(rest, &reading.vartype, err);
    status =
        status ? status
               : sali_content_read_as(path, NULL, SALI_CONTENT_GRAPH, &reading, content, NULL, err);
    status = status ? status : sali_remark_prefix(&content->remark, path, err);
    sali_free(rest);
    sali_free(path);
    return status;
}

/* Whether a text that is no file's path has a model of graphs and a file, and so says what the
 * numbers of the file are. */
static bool is_named(const char *in)
{
    const sali_builtin *b;
    return strstr(in, "file=") && sali_builtin_find(in, &b, NULL) == SAL_OK &&
           b->content == SALI_CONTENT_GRAPH;
}

/* Read `in` into *content: a random graph of a specification, a file and what it holds, or a
 * file. */
static sal_status read_content(const char *in, const char *from, const sali_format *reader,
                               sal_columns_from columns_from, sali_content *content, sal_error *err)
{
    const sali_reading reading = { .columns_from = columns_from, .asks = true };
    struct stat there;
    bool file = from || stat(in, &there) == 0;
    if (!file && is_named(in)) {
        return read_named(in, content, err);
    }
    if (!file && sali_builtin_has_graph(in)) {
        content->kind = SALI_CONTENT_GRAPH;
        return sali_builtin_graph(in, &content->graph, err);
    }
    sal_status status =
        sali_content_read_as(in, reader, SALI_CONTENT_NONE, &reading, content, NULL, err);
    if (status == SAL_OK && content->kind == SALI_CONTENT_ALIGNMENT) {
        status = sali_alignment_remark(&content->alignment, &content->remark, err);
    }
    return status ? status : sali_remark_prefix(&content->remark, in, err);
}

/* Write the content; what the writer drops or changes comes after the remark on the reading. */
static sal_status write_content(const char *out, const sali_format *writer, sali_content *content,
                                sal_error *err)
{
    sali_remark changed = { 0 };
    sal_status status = sali_content_write_as(out, writer, content, &changed, err);
    status = status ? status : sali_remark_prefix(&changed, out, err);
    status = status ? status : sali_remark_move(&content->remark, &changed, err);
    sali_remark_free(&changed);
    return status;
}

sal_status sal_convert(const char *in, const char *from, const char *out, const char *to,
                       sal_columns_from columns_from, sal_gauge gauge, char **remark,
                       sal_error *err)
{
    const sali_format *reader = NULL, *writer = NULL;
    struct stat there;
    sali_content content = { 0 };
    sal_status status = find_format(from, &reader, err);
    status = status ? status : find_format(to, &writer, err);
    if (status == SAL_OK && ((int)gauge < 0 || gauge > SAL_GAUGE_LATTICE_GAS)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "gauge %d; expected a value of the header",
                           (int)gauge);
    }
    const bool directory = !from && stat(in, &there) == 0 && S_ISDIR(there.st_mode);
    if (status == SAL_OK && !directory) {
        status = read_content(in, from, reader, columns_from, &content, err);
    }
    status = status ? status : sali_columns_check(in, columns_from, &content, err);
    bool model = directory || content.kind == SALI_CONTENT_TAPE;
    if (status == SAL_OK && model && is_potts(out, writer)) {
        sali_content_free(&content);
        gauge = gauge ? gauge : SAL_GAUGE_ZERO_SUM;
        status = read_potts(in, &content, err);
        model = false;
    }
    if (status == SAL_OK && gauge) {
        status = set_gauge(in, gauge, &content, err);
    }
    if (status == SAL_OK) {
        status =
            model && !to ? save_model(in, out, err) : write_content(out, writer, &content, err);
    }
    if (status == SAL_OK && remark) {
        *remark = content.remark.warns ? content.remark.text : NULL;
        content.remark.text = *remark ? NULL : content.remark.text;
    }
    sali_content_free(&content);
    return status;
}
