/* SPDX-License-Identifier: MIT */
/* Conversion of a file to another format. */
#include <sys/stat.h>

#include <saltus/program.h>
#include "core/error.h"
#include "io/format.h"
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

static sal_status find_format(const char *name, const sali_format **format, sal_error *err)
{
    return name && sali_format_named(name, format, err) != SAL_OK ? SAL_ERR_ARGUMENT : SAL_OK;
}

/* Read `in` into *content: a random graph of a specification, or a file. */
static sal_status read_content(const char *in, const char *from, const sali_format *reader,
                               sal_columns_from columns_from, sali_content *content, sal_error *err)
{
    const sali_reading reading = { .columns_from = columns_from, .asks = true };
    struct stat there;
    if (!from && stat(in, &there) != 0 && sali_builtin_has_graph(in)) {
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

sal_status sal_convert(const char *in, const char *from, const char *out, const char *to,
                       sal_columns_from columns_from, char **remark, sal_error *err)
{
    const sali_format *reader = NULL, *writer = NULL;
    struct stat there;
    sali_content content = { 0 };
    sal_status status = find_format(from, &reader, err);
    status = status ? status : find_format(to, &writer, err);
    if (status == SAL_OK && !from && !to && stat(in, &there) == 0 && S_ISDIR(there.st_mode)) {
        status = sali_columns_check(in, columns_from, &content, err);
        status = status ? status : save_model(in, out, err);
    } else {
        status = status ? status : read_content(in, from, reader, columns_from, &content, err);
        status = status ? status : sali_columns_check(in, columns_from, &content, err);
        if (status == SAL_OK) {
            status = !to && content.kind == SALI_CONTENT_TAPE
                         ? save_model(in, out, err)
                         : sali_content_write(out, writer, &content, err);
        }
    }
    if (status == SAL_OK && remark) {
        *remark = content.remark.warns ? content.remark.text : NULL;
        content.remark.text = *remark ? NULL : content.remark.text;
    }
    sali_content_free(&content);
    return status;
}
