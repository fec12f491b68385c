/* SPDX-License-Identifier: MIT */
#include "io/format.h"

#include <stdio.h>
#include <string.h>

#include <saltus/io.h>
#include <saltus/program.h>

#include "core/error.h"
#include "io/file.h"
#include "io/member.h"
#include "io/torch.h"
#include "io/unpack.h"
#include "models/conversion.h"

static const sali_format *const formats[] = {
#define SALI_FORMAT_ENTRY(name) &sali_format_##name,
    SALI_FORMAT_LIST(SALI_FORMAT_ENTRY)
#undef SALI_FORMAT_ENTRY
};

#define N_FORMATS ((int64_t)(sizeof formats / sizeof *formats))

const sali_format *sali_format_at(int64_t index)
{
    return index >= 0 && index < N_FORMATS ? formats[index] : NULL;
}

/* What the public list of formats reports about a format. */
static sal_format_info info_of(const sali_format *f)
{
    return (sal_format_info){ .name = f->name,
                              .doc = f->doc,
                              .content = sali_content_name(f->content),
                              .suffixes = f->suffixes,
                              .reads = f->parse,
                              .writes = f->write || f->content == SALI_CONTENT_TAPE,
                              .model = f->model };
}

/* Formats are listed by the kind of their content. */
bool sal_format_list(int64_t index, sal_format_info *info)
{
    for (int kind = SALI_CONTENT_NONE; index >= 0 && kind <= SALI_CONTENT_TAPE; kind++) {
        for (int64_t k = 0; k < N_FORMATS; k++) {
            if ((int)formats[k]->content == kind && index-- == 0) {
                *info = info_of(formats[k]);
                return true;
            }
        }
    }
    return false;
}

sal_status sal_format_find(const char *path, sal_format_info *info, sal_error *err)
{
    const sali_format *found = NULL;
    sal_status status = sali_format_find(path, SALI_CONTENT_NONE, &found, err);
    if (status == SAL_OK && !found) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s: no format of Saltus fits it", path);
    }
    if (status == SAL_OK) {
        *info = info_of(found);
    }
    return status;
}

/* List the formats of a kind, as "graphml (.graphml), dimacs (.col)"; with `written` only those
 * that can be written. */
static void list_names(sali_content_kind kind, bool written, char *text, size_t room)
{
    text[0] = '\0';
    for (int64_t k = 0; k < N_FORMATS; k++) {
        const sali_format *f = formats[k];
        size_t used = strlen(text);
        if ((kind == SALI_CONTENT_NONE || f->content == kind) && (!written || f->write)) {
            snprintf(text + used, room - used, "%s%s (%s)", used ? ", " : "", f->name,
                     f->suffixes[0] ? f->suffixes[0] : "any name");
        }
    }
}

sal_status sali_format_named(const char *name, const sali_format **out, sal_error *err)
{
    char names[600];
    for (int64_t k = 0; k < N_FORMATS; k++) {
        if (strcmp(formats[k]->name, name) == 0) {
            *out = formats[k];
            return SAL_OK;
        }
    }
    list_names(SALI_CONTENT_NONE, false, names, sizeof names);
    return sali_fail(err, SAL_ERR_NOT_FOUND, "there is no format '%.40s'; there are: %s", name,
                     names);
}

bool sali_format_has_suffix(const sali_format *format, const char *path)
{
    const size_t length = sali_unpacked_length(path);
    for (int k = 0; k < SALI_FORMAT_SUFFIXES && format->suffixes[k]; k++) {
        size_t n = strlen(format->suffixes[k]);
        if (length > n && strncmp(path + length - n, format->suffixes[k], n) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- reading */

static bool is_telling(const sali_format *f)
{
    return f->root || f->recognise;
}

/* Whether the format that the content looks like is preferred to the one that the suffix names.
 * Rows of numbers are an array, but may as well be a graph, network or alignment without its
 * heading. */
static bool tells_more(const sali_format *looks, const sali_format *named)
{
    return looks && !(named && looks->content == SALI_CONTENT_ARRAY && !looks->has_heading &&
                      named->content != SALI_CONTENT_ARRAY);
}

/* The format of a file: by a heading, or by suffix and content together; else by what the content
 * looks like; else by the suffix alone, preferring a format that has nothing to be recognised by
 * (its reader will then report what is wrong). NULL if none fits. */
static const sali_format *recognise_format(const char *path, const sali_bytes *bytes,
                                           sali_content_kind kind)
{
    const sali_format *named = NULL, *looks = NULL;
    for (int64_t k = 0; k < N_FORMATS; k++) {
        const sali_format *f = formats[k];
        if ((kind != SALI_CONTENT_NONE && f->content != kind) || !f->parse) {
            continue;
        }
        bool suffix = sali_format_has_suffix(f, path),
             content = sali_format_recognises(f, bytes->data, bytes->size);
        if (content && (suffix || f->has_heading)) {
            return f;
        }
        named = suffix && (!named || (is_telling(named) && !is_telling(f))) ? f : named;
        looks = looks ? looks : content && !f->needs_suffix ? f : NULL;
    }
    return tells_more(looks, named) ? looks : named;
}

sal_status sali_format_find(const char *path, sali_content_kind kind, const sali_format **found,
                            sal_error *err)
{
    sali_bytes bytes = { 0 };
    sali_member member = { 0 };
    sal_status status = sali_member_split(path, &member, err);
    status = status ? status : sali_file_read_unpacked(member.file, SALI_UNPACK_MAX, &bytes, err);
    if (status == SAL_OK) {
        *found = recognise_format(member.file, &bytes, kind);
        sali_bytes_free(&bytes);
    }
    sali_member_free(&member);
    return status;
}

/* Whether bytes are a safetensors file: the length of a header, then JSON. */
static bool has_parameters(const sali_bytes *bytes)
{
    uint64_t header = 0;
    for (int k = 7; bytes->size > 8 && k >= 0; k--) {
        header = header << 8 | bytes->data[k];
    }
    return header > 0 && header <= (uint64_t)bytes->size - 8 && bytes->data[8] == '{';
}

/* Make the weights of a graph an energy of the variables that the caller names, or check that they
 * are. */
static sal_status apply_vartype(const char *path, sali_vartype vartype, sali_graph *graph,
                                sal_error *err)
{
    if (graph->vartype != SALI_VARTYPE_NONE && graph->vartype != vartype) {
        return sali_fail(err, SAL_ERR_DATA, "%s: holds an energy of %s, and vartype=%s was given",
                         path, graph->vartype == SALI_VARTYPE_SPIN ? "spins" : "binary variables",
                         vartype == SALI_VARTYPE_SPIN ? "spin" : "binary");
    }
    graph->vartype = vartype;
    return SAL_OK;
}

/* As read_content, of a whole file. */
static sal_status read_file(const char *path, const sali_format *format, sali_content_kind kind,
                            const sali_reading *reading, sali_content *out,
                            const sali_format **found, sal_error *err)
{
    sali_bytes bytes = { 0 };
    sal_status status = sali_file_read_unpacked(path, SALI_UNPACK_MAX, &bytes, err);
    if (status != SAL_OK) {
        return status;
    }
    if (!format) {
        status = sali_refuse_torch(path, bytes.data, bytes.size, err);
        format = status == SAL_OK ? recognise_format(path, &bytes, kind) : NULL;
    }
    if (status != SAL_OK) { /* reported already */
    } else if (!format && has_parameters(&bytes)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s: a safetensors file, which holds parameters of a model; name the "
                           "model, and give the file as its parameters (--params FILE)",
                           path);
    } else if (!format) {
        char names[600];
        list_names(kind, false, names, sizeof names);
        status = sali_fail(err, SAL_ERR_ARGUMENT, "%s: not recognised%s%s; expected one of: %s",
                           path, kind ? " as " : "", kind ? sali_content_name(kind) : "", names);
    } else if (reading->member && !format->has_members) {
        status = sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s: of format %s, whose files hold one thing; what follows the name of "
                           "the file after ':' has no meaning",
                           path, format->name);
    } else {
        status = sali_format_parse_as(format, path, (const char *)bytes.data, bytes.size, reading,
                                      out, err);
        if (status == SAL_OK && reading && reading->vartype && out->kind == SALI_CONTENT_GRAPH) {
            status = apply_vartype(path, reading->vartype, &out->graph, err);
        }
    }
    sali_bytes_free(&bytes);
    *found = format;
    return status;
}

/* As sali_content_read, but numbers may be infinite or NaN, and *found is set in any case. */
static sal_status read_content(const char *path, const sali_format *format, sali_content_kind kind,
                               const sali_reading *reading, sali_content *out,
                               const sali_format **found, sal_error *err)
{
    sali_member member = { 0 };
    sali_reading with = reading ? *reading : (sali_reading){ 0 };
    sal_status status = sali_member_split(path, &member, err);
    if (status == SAL_OK) {
        with.member = member.text ? &member : NULL;
        status = read_file(member.file, format, kind, &with, out, found, err);
    }
    sali_member_free(&member);
    return status;
}

sal_status sali_content_read(const char *path, const sali_format *format, sali_content_kind kind,
                             sali_content *out, const sali_format **found, sal_error *err)
{
    return sali_content_read_as(path, format, kind, NULL, out, found, err);
}

sal_status sali_content_read_as(const char *path, const sali_format *format, sali_content_kind kind,
                                const sali_reading *reading, sali_content *out,
                                const sali_format **found, sal_error *err)
{
    sali_content content = { 0 };
    const sali_format *used = NULL;
    sal_status status = read_content(path, format, kind, reading, &content, &used, err);
    if (status == SAL_OK && content.kind == SALI_CONTENT_ARRAY) {
        status = sali_array_check(path, &content.array, err);
    }
    if (status != SAL_OK) {
        sali_content_free(&content);
        return status;
    }
    if (found) {
        *found = used;
    }
    *out = content;
    return SAL_OK;
}

sal_status sali_columns_check(const char *path, sal_columns_from columns_from,
                              const sali_content *content, sal_error *err)
{
    if ((int)columns_from < 0 || columns_from > SAL_COLUMNS_FROM_1) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "columns_from %d; expected a value of the header",
                         (int)columns_from);
    }
    return !columns_from || content->columns.from
               ? SAL_OK
               : sali_fail(err, SAL_ERR_ARGUMENT,
                           "%s: no libsvm file, and only such files count their columns from 0 or "
                           "from 1 (--columns-from)",
                           path);
}

sal_status sal_array_read(const char *path, sal_columns_from columns_from, sal_array *array,
                          sal_error *err)
{
    sali_content content = { 0 };
    const sali_format *used = NULL;
    const sali_reading reading = { .columns_from = columns_from };
    sal_status status =
        read_content(path, NULL, SALI_CONTENT_ARRAY, &reading, &content, &used, err);
    status = status ? status : sali_columns_check(path, columns_from, &content, err);
    status = status ? status : sali_remark_prefix(&content.remark, path, err);
    if (status == SAL_OK) {
        *array = content.array;
        array->remark = content.remark.text;
        array->warns = content.remark.warns;
        content = (sali_content){ 0 };
    }
    sali_content_free(&content);
    return status;
}

/* ---- writing */

/* The format that a path's suffix names and that can write: content of `kind`, or, if `converted`,
 * content that `kind` converts to; NULL if there is none. */
static const sali_format *writer_by_suffix(const char *path, sali_content_kind kind, bool converted)
{
    for (int64_t k = 0; k < N_FORMATS; k++) {
        const sali_format *f = formats[k];
        bool fits = converted ? sali_content_converts(kind, f->content) : f->content == kind;
        if (fits && f->write && sali_format_has_suffix(f, path)) {
            return f;
        }
    }
    return NULL;
}

/* Convert the content to the kind of `format`, and write that. */
static sal_status write_converted(const char *path, const sali_format *format,
                                  const sali_content *content, sali_remark *remark, sal_error *err)
{
    sali_content converted = { 0 };
    sal_status status = sali_content_convert(content, format->content, &converted, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "%s", path);
    }
    status = sali_format_write_as(format, path, &converted, remark, err);
    sali_content_free(&converted);
    return status;
}

sal_status sali_content_write(const char *path, const sali_format *format,
                              const sali_content *content, sal_error *err)
{
    return sali_content_write_as(path, format, content, NULL, err);
}

sal_status sali_content_write_as(const char *path, const sali_format *format,
                                 const sali_content *content, sali_remark *remark, sal_error *err)
{
    format = format ? format : writer_by_suffix(path, content->kind, false);
    format = format ? format : writer_by_suffix(path, content->kind, true);
    if (format && format->write && format->content == content->kind) {
        return sali_format_write_as(format, path, content, remark, err);
    }
    if (format && format->write && sali_content_converts(content->kind, format->content)) {
        return write_converted(path, format, content, remark, err);
    }
    char names[600];
    const char *what = sali_content_name(content->kind);
    list_names(content->kind, true, names, sizeof names);
    return names[0]
               ? sali_fail(err, SAL_ERR_ARGUMENT, "%s: %s can be written as: %s", path, what, names)
               : sali_fail(err, SAL_ERR_ARGUMENT, "%s: %s has no other format", path, what);
}
