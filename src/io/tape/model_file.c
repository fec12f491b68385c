/* SPDX-License-Identifier: MIT */
/* Opening and saving models: choosing the reader for a file, and loading its parameters. */
#include <saltus/io.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/alloc.h"
#include "core/error.h"
#include "core/specification.h"
#include "core/text.h"
#include "io/format.h"
#include "io/tape/tape_xml.h"
#include "io/networks/uai.h"
#include "models/formula/formula.h"
#include "models/zoo/builtin.h"
#include "models/clamp.h"
#include "models/names.h"
#include "models/tape_model.h"

void sal_free(void *array)
{
    sali_free(array);
}

/* ---- networks */

/* Make a model of a network's factors; a network without any gets a constant one. The model takes
 * over the names. */
static sal_status build_network(sali_factor_graph *graph, sal_dtype dtype, sal_model **out,
                                sal_error *err)
{
    static const int64_t nothing_begin[] = { 0, 0 };
    static const double nothing[] = { 0.0 };
    int64_t length = graph->scope_begin[graph->factors];
    int64_t *scope = SALI_NEW_ARRAY(int64_t, length);
    if (!scope) {
        return sali_fail_memory(err);
    }
    for (int64_t k = 0; k < length; k++) {
        scope[k] = graph->scope[k];
    }
    bool empty = graph->factors == 0;
    sal_model *made = NULL;
    sal_status status =
        sal_model_from_factors(graph->variables, graph->states, empty ? 1 : graph->factors,
                               empty ? nothing_begin : graph->scope_begin, scope,
                               empty ? nothing : graph->log_table, dtype, &made, err);
    sali_free(scope);
    status = status ? status : sali_names_move(graph, made, err);
    return SALI_GIVE(status, made, out, sal_model_destroy);
}

/* ---- saved tapes */

/* The first `keep` characters of a path, followed by `end`; to be freed. NULL when out of
 * memory. */
static char *with_end(const char *path, size_t keep, const char *end)
{
    char *made = sali_alloc((int64_t)(keep + strlen(end)) + 1, 1);
    if (made) {
        memcpy(made, path, keep);
        strcpy(made + keep, end);
    }
    return made;
}

/* SAL_ERR_DATA if a file next to a model is a link that leads out of the directory, the first
 * `directory` characters of `path`. */
static sal_status check_below(const char *path, size_t directory, sal_error *err)
{
    char *below = with_end(path, directory, ".");
    char *real = below ? realpath(path, NULL) : NULL, *top = real ? realpath(below, NULL) : NULL;
    size_t length = top ? strlen(top) : 0;
    length -= length == 1; /* "/" */
    bool leaves = real && (!top || strncmp(real, top, length) != 0 || real[length] != '/');
    sal_status status = leaves ? sali_fail(err, SAL_ERR_DATA,
                                           "%s: is a link that leaves its directory; put the file "
                                           "itself there",
                                           path)
                               : SAL_OK;
    status = below ? status : sali_fail_memory(err);
    sali_free(below);
    free(real);
    free(top);
    return status;
}

/* Load the parameters of a model from `file` in the directory of `path`. */
static sal_status load_beside(sal_model *model, const char *path, const char *file, sal_error *err)
{
    const char *slash = strrchr(path, '/');
    const size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
    char *params = with_end(path, directory, file);
    sal_status status = params ? check_below(params, directory, err) : sali_fail_memory(err);
    status = status ? status : sal_model_load_params(model, params, err);
    sali_free(params);
    return status;
}

/* Make a model of a saved tape's text and load its parameters. */
static sal_status build_tape(const char *path, const sali_text *text, sal_dtype dtype,
                             sal_model **out, sal_error *err)
{
    sal_model *model = NULL;
    char *file = NULL;
    sal_status status =
        sali_tape_xml_parse(path, text->data, text->size, dtype, &model, &file, err);
    status = status || !file ? status : load_beside(model, path, file, err);
    sali_free(file);
    return SALI_GIVE(status, model, out, sal_model_destroy);
}

/* ---- opening */

/* Whether the path exists and is of this kind: S_IFREG for regular files, S_IFDIR for
 * directories. */
static bool is_a(const char *path, mode_t kind)
{
    struct stat info;
    return stat(path, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

/* Make the model of a file's content: a tape, a network, or the format's own model. It may take
 * over the content's names. */
static sal_status build_content(const char *path, const sali_format *format, sali_content *content,
                                sal_dtype dtype, sal_model **model, sal_error *err)
{
    if (content->kind == SALI_CONTENT_TAPE) {
        return build_tape(path, &content->text, dtype, model, err);
    }
    if (content->kind == SALI_CONTENT_NETWORK && !format->model) {
        return build_network(&content->network, dtype ? dtype : SAL_F64, model, err);
    }
    if (format->model) {
        return sali_builtin_make(format->model, content, dtype, model, err);
    }
    return sali_fail(err, SAL_ERR_ARGUMENT,
                     "holds %s; say what model is made of it: NAME:file=PATH, with a NAME of "
                     "'saltus list models'",
                     sali_content_name(content->kind));
}

/* Put the reader's remark, which names the file, before the model's own. */
static sal_status take_remark(const char *path, sali_remark *remark, sal_model *model,
                              sal_error *err)
{
    sal_status status = sali_remark_move(remark, &model->remark, err);
    status = status ? status : sali_remark_prefix(remark, path, err);
    if (status == SAL_OK) {
        model->remark = *remark;
        *remark = (sali_remark){ 0 };
    }
    return status;
}

/* Prefix an error with the file's name, unless the message has it or memory ran out. */
static sal_status name_file(const char *path, sal_status status, sal_error *err)
{
    bool named = status == SAL_OK || status == SAL_ERR_MEMORY ||
                 (err && strncmp(err->message, path, strlen(path)) == 0);
    return named ? status : sali_fail_prefix(err, status, "%s", path);
}

/* Open the model that a file stands for. */
static sal_status open_file(const char *path, sal_dtype dtype, sal_model **model, sal_error *err)
{
    sali_content content = { 0 };
    const sali_format *format = NULL;
    sal_model *made = NULL;
    sal_status status = sali_content_read(path, NULL, SALI_CONTENT_NONE, &content, &format, err);
    status = status
                 ? status
                 : name_file(path, build_content(path, format, &content, dtype, &made, err), err);
    status = status ? status : take_remark(path, &content.remark, made, err);
    sali_content_free(&content);
    return SALI_GIVE(status, made, model, sal_model_destroy);
}

/* Open "name:file=PATH,..", where `rest` is the specification without the file. */
static sal_status open_named(const char *path, const char *rest, sal_dtype dtype, sal_model **model,
                             sal_error *err)
{
    const sali_builtin *builtin = NULL;
    sali_content content = { 0 };
    sal_model *made = NULL;
    sal_status status = sali_builtin_find(rest, &builtin, err);
    if (status == SAL_OK && !builtin->content) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "%s is not made of files", builtin->name);
    }
    char alphabet[SAL_ALPHABET_ROOM];
    sali_reading reading = { .alphabet = alphabet };
    status = status ? status : sali_builtin_vartype(rest, &reading.vartype, err);
    status = status ? status : sali_builtin_alphabet(rest, alphabet, err);
    status =
        status ? status
               : sali_content_read_as(path, NULL, builtin->content, &reading, &content, NULL, err);
    status = status ? status
                    : name_file(path, sali_builtin_make(rest, &content, dtype, &made, err), err);
    status = status ? status : take_remark(path, &content.remark, made, err);
    sali_content_free(&content);
    return SALI_GIVE(status, made, model, sal_model_destroy);
}

/* Open a ready-made model from its specification, with or without a file. */
static sal_status open_specification(const char *spec, sal_dtype dtype, sal_model **model,
                                     sal_error *err)
{
    char *rest = sali_strdup(spec), *path = NULL;
    sal_status status =
        rest ? sali_specification_take(rest, "file", &path, err) : sali_fail_memory(err);
    status = status ? status
                    : (path ? open_named(path, rest, dtype, model, err)
                            : sali_builtin_make(spec, NULL, dtype, model, err));
    sali_free(rest);
    sali_free(path);
    return status;
}

/* Whether a text that names no existing file was meant as a path: it has a '/' before its first
 * ':', or a format's suffix. */
static bool looks_like_path(const char *spec)
{
    const sali_format *format;
    size_t slash = strcspn(spec, "/");
    if (spec[slash] && slash < sali_specification_name(spec)) {
        return true;
    }
    for (int64_t k = 0; !strchr(spec, ':') && (format = sali_format_at(k)); k++) {
        if (sali_format_has_suffix(format, spec)) {
            return true;
        }
    }
    return false;
}

/* Write the path of file `name` in a directory; false if there is no such file. */
static bool find_file(const char *directory, const char *name, char path[4096])
{
    return snprintf(path, 4096, "%s/%s", directory, name) < 4096 && is_a(path, S_IFREG);
}

/* Open the model of a training's directory, with averaged parameters if there are any. */
static sal_status open_trained(const char *directory, const char *formula, sal_dtype dtype,
                               sal_model **model, sal_error *err)
{
    char averages[4096];
    sal_status status = open_file(formula, dtype, model, err);
    if (status == SAL_OK && find_file(directory, "denoising.json", averages)) {
        (*model)->conditional = sal_model_levels(*model) > 0;
    }
    return status == SAL_OK && find_file(directory, "ema.safetensors", averages)
               ? sal_model_load_params(*model, averages, err)
               : status;
}

/* Open a model by formula, training's directory, file or specification, tried in this order. A
 * directory without a training does not hide a ready-made model of the same name. */
static sal_status open_any(const char *spec, sal_dtype dtype, sal_model **model, sal_error *err)
{
    char formula[4096];
    if (sali_formula_is(spec)) {
        return sali_formula_open(spec, dtype, model, err);
    }
    if (find_file(spec, "model.xml", formula)) {
        return open_trained(spec, formula, dtype, model, err);
    }
    sal_status status = is_a(spec, S_IFREG) || looks_like_path(spec)
                            ? open_file(spec, dtype, model, err)
                            : open_specification(spec, dtype, model, err);
    return status == SAL_ERR_NOT_FOUND && is_a(spec, S_IFDIR)
               ? sali_fail(err, status,
                           "%s: the directory has no model.xml, which 'saltus train' writes", spec)
               : status;
}

sal_status sal_model_open(const char *spec, sal_dtype dtype, sal_model **model, sal_error *err)
{
    if (!spec || !model || (dtype && dtype != SAL_F32 && dtype != SAL_F64)) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "sal_model_open: expected a path or name, a place for the model, and a "
                         "dtype of 0, SAL_F32 or SAL_F64");
    }
    sal_model *made = NULL;
    sal_status status = open_any(spec, dtype, &made, err);
    status = status ? status : sal_model_set_name(made, spec, err);
    return SALI_GIVE(status, made, model, sal_model_destroy);
}

/* ---- saving */

/* SAL_OK if the model is made from a tape and the path is a plain name ending in .xml. */
static sal_status check_savable(const sal_model *model, const char *path, sal_error *err)
{
    if (!model || !path) {
        return sali_fail(err, SAL_ERR_ARGUMENT, "sal_model_save: the model or the path is NULL");
    }
    if (sali_clamp_inner(model) != model) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: a clamped model cannot be saved; save the model that it clamps",
                         model->name);
    }
    if (!sali_model_tape(model)) {
        return sali_fail(err, SAL_ERR_UNSUPPORTED,
                         "%s: only models made from a tape can be saved, and this one is not",
                         model->name);
    }
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    bool good = sali_has_suffix(file, ".xml") && xmlCheckUTF8(BAD_CAST file) &&
                !strchr(file, '\\') && !strstr(file, "..");
    for (const char *c = file; good && *c; c++) {
        good = (unsigned char)*c >= ' ' && *c != 127;
    }
    if (!good) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "%s: expected a file name in UTF-8 that ends in .xml, without '..', "
                         "backslash or control characters",
                         path);
    }
    return SAL_OK;
}

sal_status sal_model_save(const sal_model *model, const char *path_xml, sal_error *err)
{
    sal_status status = check_savable(model, path_xml, err);
    if (status != SAL_OK) {
        return status;
    }
    const sali_program *program = sali_model_tape(model)->program;
    char *path = with_end(path_xml, strlen(path_xml) - strlen(".xml"), ".safetensors");
    if (!path) {
        return sali_fail_memory(err);
    }
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    bool has_params = program->n_parameters > 0;
    sali_text_output xml;
    sali_text_open(&xml, path_xml, true, err);
    sali_tape_xml_write(&xml, program, has_params ? file : NULL);
    sali_text_sync(&xml); /* parameters are replaced only if the formula can be */
    if (xml.status == SAL_OK && has_params) {
        xml.status = sal_model_save_params(model, path, err);
    }
    sali_free(path);
    return sali_text_close(&xml);
}

/* ---- evidence */

sal_status sal_model_evidence(const char *path, const sal_model *model, int64_t sample, int64_t *n,
                              int64_t **variables, int32_t **codes, char **remark, sal_error *err)
{
    sali_remark said = { 0 };
    const sal_space *space = model->space;
    const int64_t V = space->n_variables;
    int32_t *states = SALI_NEW_ARRAY(int32_t, V), *observed = SALI_NEW_ARRAY(int32_t, V);
    int64_t *found = SALI_NEW_ARRAY(int64_t, V), count = 0;
    sal_status status = states && observed && found ? SAL_OK : sali_fail_memory(err);
    for (int64_t v = 0; status == SAL_OK && v < V; v++) {
        states[v] = sali_last_code(&space->variables[v]) + 1;
    }
    if (status == SAL_OK) {
        sali_factor_graph graph = { .variables = V, .states = states };
        status = sali_uai_read_evidence(path, &graph, sample, observed, &said, err);
        status = status ? status : sali_remark_prefix(&said, path, err);
    }
    for (int64_t v = 0; status == SAL_OK && v < V; v++) {
        if (observed[v] >= 0) {
            observed[count] = observed[v];
            found[count++] = v;
        }
    }
    sali_free(states);
    if (status == SAL_OK) {
        *n = count;
    }
    if (status == SAL_OK && remark) {
        *remark = said.text;
        said.text = NULL;
    }
    sali_remark_free(&said);
    (void)SALI_GIVE(status, found, variables, sali_free);
    return SALI_GIVE(status, observed, codes, sali_free);
}
