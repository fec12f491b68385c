/* SPDX-License-Identifier: MIT */
/* Conversion of a file to another format. */
#include <string.h>
#include <sys/stat.h>

#include <saltus/program.h>
#include "core/alloc.h"
#include "core/error.h"
#include "core/specification.h"
#include "io/format.h"
#include "models/alphabet.h"
#include "models/sequences.h"
#include "models/structure/potts.h"
#include "models/structure/rbm_potts.h"
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

/* Find the terms of one and of two sites of an RBM, and remark that it has others. */
static sal_status read_rbm(const char *in, const sal_model *model, sali_content *content,
                           sal_error *err)
{
    sal_status status = sali_potts_of_rbm(model, &content->potts, err);
    status = status ? status
                    : sali_remark_add(&content->remark, true, err,
                                      "an RBM, of which the terms of one and of two sites are "
                                      "written, without those of three and more sites");
    return status ? status : sali_remark_prefix(&content->remark, in, err);
}

/* Open the model `in`, with all digits, and find its parameters as a Potts model. */
static sal_status read_potts(const char *in, sali_content *content, sal_error *err)
{
    sal_model *model = NULL;
    sal_status status = sal_model_open(in, SAL_F64, &model, err);
    content->kind = SALI_CONTENT_POTTS;
    if (status == SAL_OK) {
        status = sali_is_rbm_of_letters(model) ? read_rbm(in, model, content, err)
                                               : sali_potts_of_model(model, &content->potts, err);
        status = status ? sali_fail_prefix(err, status, "%s", in) : status;
    }
    sal_model_destroy(model);
    return status;
}

/* The gauge in which a model's parameters are written unless another one is asked for: zero-sum,
 * but the model's own where most couplings are 0, as sparse training leaves them, which another
 * gauge would fill. */
static sal_gauge usual_gauge(const sali_potts *p)
{
    const int64_t q = p->states, N = p->sites * q;
    int64_t zeros = 0;
    for (int64_t k = 0; k < N; k++) {
        for (int64_t l = 0; l < k / q * q; l++) {
            zeros += p->J[k * N + l] == 0;
        }
    }
    return 4 * zeros > N * (N - q) ? SAL_GAUGE_AS_IS : SAL_GAUGE_ZERO_SUM;
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

/* A conversion under way. */
typedef struct conversion {
    const char *in, *out;
    sal_convert_options options;
    const sali_format *reader, *writer; /* those that the options name; NULL: none */
    char letters[SAL_ALPHABET_ROOM];    /* of the alphabet that the options name; "": none */
    bool directory;                     /* `in` is the directory of a training */
    sali_content content;
} conversion;

/* Check the options, and find what they name. */
static sal_status check_options(conversion *c, sal_error *err)
{
    const sal_convert_options *o = &c->options;
    struct stat there;
    sal_status status = find_format(o->from, &c->reader, err);
    status = status ? status : find_format(o->to, &c->writer, err);
    status = status ? status : sali_alphabet_parse(o->alphabet, c->letters, err);
    if (status == SAL_OK && ((int)o->gauge < 0 || o->gauge > SAL_GAUGE_LATTICE_GAS)) {
        status = sali_fail(err, SAL_ERR_ARGUMENT, "gauge %d; expected a value of the header",
                           (int)o->gauge);
    }
    c->directory = !o->from && stat(c->in, &there) == 0 && S_ISDIR(there.st_mode);
    return status;
}

/* Read `in`: a random graph of a specification, a file and what it holds, or a file. */
static sal_status read_content(conversion *c, sal_error *err)
{
    const sali_reading reading = { .columns_from = c->options.columns_from,
                                   .alphabet = c->letters,
                                   .asks = true };
    struct stat there;
    const bool file = c->options.from || stat(c->in, &there) == 0;
    sali_content *content = &c->content;
    if (!file && is_named(c->in)) {
        return read_named(c->in, content, err);
    }
    if (!file && sali_builtin_has_graph(c->in)) {
        content->kind = SALI_CONTENT_GRAPH;
        return sali_builtin_graph(c->in, &content->graph, err);
    }
    sal_status status =
        sali_content_read_as(c->in, c->reader, SALI_CONTENT_NONE, &reading, content, NULL, err);
    if (status == SAL_OK && content->kind == SALI_CONTENT_ALIGNMENT) {
        status = sali_alignment_remark(&content->alignment, &content->remark, err);
    }
    return status ? status : sali_remark_prefix(&content->remark, c->in, err);
}

/* Make sequences of draws if an alphabet is given; fails for other content than has letters. */
static sal_status take_letters(conversion *c, sal_error *err)
{
    sali_content sequences = { 0 };
    const sali_content_kind kind = c->content.kind;
    if (!c->letters[0] || kind == SALI_CONTENT_ALIGNMENT || kind == SALI_CONTENT_POTTS) {
        return SAL_OK;
    }
    if (kind != SALI_CONTENT_ARRAY) {
        return sali_fail(err, SAL_ERR_ARGUMENT,
                         "an alphabet is for sequences, draws and parameters of Potts models; %s "
                         "holds %s",
                         c->in, sali_content_name(kind));
    }
    sal_status status = sali_sequences_of_array(&c->content.array, c->letters, &sequences, err);
    if (status != SAL_OK) {
        return sali_fail_prefix(err, status, "%s", c->in);
    }
    sequences.remark = c->content.remark;
    c->content.remark = (sali_remark){ 0 };
    sali_content_free(&c->content);
    c->content = sequences;
    return SAL_OK;
}

/* Read `in`, with what the options say of it. The content stays empty for a training's
 * directory. */
static sal_status read_input(conversion *c, sal_error *err)
{
    sal_status status = c->directory ? SAL_OK : read_content(c, err);
    status = status ? status : sali_columns_check(c->in, c->options.columns_from, &c->content, err);
    return status ? status : take_letters(c, err);
}

/* Write the content; what the writer drops or changes comes after the remark on the reading. */
static sal_status write_content(conversion *c, sal_error *err)
{
    sali_remark changed = { 0 };
    sal_status status = sali_content_write_as(c->out, c->writer, &c->content, &changed, err);
    status = status ? status : sali_remark_prefix(&changed, c->out, err);
    status = status ? status : sali_remark_move(&c->content.remark, &changed, err);
    sali_remark_free(&changed);
    return status;
}

/* Write `out`: a model as a model, or as parameters of a Potts model; or other content, in another
 * gauge if one is asked for. */
static sal_status write_output(conversion *c, sal_error *err)
{
    const bool model = c->directory || c->content.kind == SALI_CONTENT_TAPE;
    const bool parameters = model && is_potts(c->out, c->writer);
    sal_gauge gauge = c->options.gauge;
    sal_status status = SAL_OK;
    if (parameters) {
        sali_content_free(&c->content);
        status = read_potts(c->in, &c->content, err);
        gauge = gauge || status ? gauge : usual_gauge(&c->content.potts);
    }
    if (status == SAL_OK && gauge) {
        status = set_gauge(c->in, gauge, &c->content, err);
    }
    if (status != SAL_OK) {
        return status;
    }
    return model && !parameters && !c->options.to ? save_model(c->in, c->out, err)
                                                  : write_content(c, err);
}

sal_status sal_convert(const char *in, const char *out, const sal_convert_options *options,
                       char **remark, sal_error *err)
{
    conversion c = { .in = in, .out = out };
    c.options = options ? *options : c.options;
    sal_status status = check_options(&c, err);
    status = status ? status : read_input(&c, err);
    status = status ? status : write_output(&c, err);
    if (status == SAL_OK && remark) {
        sali_remark *all = &c.content.remark;
        *remark = all->warns ? all->text : NULL;
        all->text = *remark ? NULL : all->text;
    }
    sali_content_free(&c.content);
    return status;
}
