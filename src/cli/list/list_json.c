/* saltus list WHAT --json. */
#include <string.h>

#include "ad/op.h"
#include "cli/cli.h"
#include "cli/list/list.h"
#include "io/format.h"
#include "io/json_text.h"

/* A text, or null. */
static json_t *text_or_null(const char *text)
{
    return text && text[0] ? sali_json_text(text) : json_null();
}

/* The words of a text that blanks set apart. */
static json_t *words_of(const char *text)
{
    json_t *list = json_array();
    while (*text) {
        size_t length = strcspn(text, " ");
        json_array_append_new(list, json_stringn(text, length));
        text += length + strspn(text + length, " ");
    }
    return list;
}

json_t *cli_samplers_json(void)
{
    json_t *list = json_array();
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "name", info.name, "alias",
                            text_or_null(info.alias), "doc", sali_json_text(info.doc), "settings",
                            text_or_null(info.parameters), "exact", info.exact, "needs_gradient",
                            info.needs_gradient, "kinds", words_of(info.kinds), "source",
                            sali_json_text(info.source)));
    }
    return list;
}

json_t *cli_models_json(void)
{
    json_t *list = json_array();
    sal_builtin_info info;
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", info.name, "doc",
                            sali_json_text(info.doc), "settings", text_or_null(info.parameters),
                            "file", text_or_null(info.file), "needs_file", info.needs_file,
                            "source", sali_json_text(info.source)));
    }
    return list;
}

/* `inputs` is null for ops of any number; `fixed` lists those, from 1, that must not depend on the
 * state. */
json_t *cli_ops_json(void)
{
    json_t *list = json_array();
    for (int id = 0; id < SALI_OP_COUNT; id++) {
        const sali_op *op = sali_op_f64((sali_op_id)id);
        json_t *fixed = json_array();
        for (int k = 0; k < 32; k++) {
            if (op->param_inputs >> k & 1) {
                json_array_append_new(fixed, json_integer(k + 1));
            }
        }
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:b}", "name", op->name, "doc", sali_json_text(op->doc),
                      "inputs", op->arity == SALI_VARIADIC ? json_null() : json_integer(op->arity),
                      "fixed", fixed, "changes", op->change != NULL));
    }
    return list;
}

json_t *cli_formats_json(void)
{
    json_t *list = json_array();
    const sali_format *f;
    for (int64_t k = 0; (f = sali_format_list(k)); k++) {
        bool tape = f->content == SALI_CONTENT_TAPE;
        json_t *suffixes = json_array();
        for (int i = 0; i < SALI_FORMAT_SUFFIXES && f->suffixes[i]; i++) {
            json_array_append_new(suffixes, json_string(f->suffixes[i]));
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "name",
                                              f->name, "content", sali_content_name(f->content),
                                              "reads", f->parse || tape, "writes", f->write || tape,
                                              "suffixes", suffixes, "doc", sali_json_text(f->doc),
                                              "model", text_or_null(f->model)));
    }
    return list;
}
