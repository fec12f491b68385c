/* SPDX-License-Identifier: MIT */
/* saltus list WHAT --json. */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/list/list.h"

/* A text, or null. */
static json_t *text_or_null(const char *text)
{
    return text && text[0] ? cli_json_text(text) : json_null();
}

/* The kinds of variables that a sampler moves. */
static json_t *kinds_of(const sal_sampler_info *info)
{
    json_t *list = json_array();
    for (sal_kind kind = SAL_BINARY; kind <= SAL_COUNT; kind++) {
        const char *word = cli_moved_kind(info, kind);
        if (word) {
            json_array_append_new(list, json_string(word));
        }
    }
    return list;
}

json_t *cli_samplers_json(void)
{
    json_t *list = json_array();
    sal_sampler_info info;
    char settings[CLI_SETTINGS];
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        cli_settings_text(info.settings, settings);
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:o, s:o}", "name", info.name, "alias",
                            text_or_null(info.alias), "doc", cli_json_text(info.doc), "settings",
                            text_or_null(settings), "exact", info.exact, "needs_gradient",
                            info.needs_gradient, "kinds", kinds_of(&info), "source",
                            cli_json_text(info.source)));
    }
    return list;
}

json_t *cli_models_json(void)
{
    json_t *list = json_array();
    sal_builtin_info info;
    char settings[CLI_SETTINGS];
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        cli_settings_text(info.settings, settings);
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", info.name, "doc",
                                        cli_json_text(info.doc), "settings", text_or_null(settings),
                                        "file", text_or_null(info.file), "needs_file",
                                        info.needs_file, "source", cli_json_text(info.source)));
    }
    return list;
}

/* `inputs` is null for ops of any number; `fixed` lists those, from 1, that must not depend on the
 * state. */
json_t *cli_ops_json(void)
{
    json_t *list = json_array();
    sal_op_info op;
    for (int64_t i = 0; sal_op_list(i, &op); i++) {
        json_t *fixed = json_array();
        for (int k = 0; k < 32; k++) {
            if (op.fixed >> k & 1) {
                json_array_append_new(fixed, json_integer(k + 1));
            }
        }
        json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:b}", "name", op.name, "doc",
                                              cli_json_text(op.doc), "inputs",
                                              op.inputs < 0 ? json_null() : json_integer(op.inputs),
                                              "fixed", fixed, "changes", op.changes));
    }
    return list;
}

json_t *cli_formats_json(void)
{
    json_t *list = json_array();
    sal_format_info format;
    for (int64_t k = 0; sal_format_list(k, &format); k++) {
        json_t *suffixes = json_array();
        for (int i = 0; format.suffixes[i]; i++) {
            json_array_append_new(suffixes, json_string(format.suffixes[i]));
        }
        json_array_append_new(list, json_pack("{s:s, s:s, s:b, s:b, s:o, s:o, s:o}", "name",
                                              format.name, "content", format.content, "reads",
                                              format.reads, "writes", format.writes, "suffixes",
                                              suffixes, "doc", cli_json_text(format.doc), "model",
                                              text_or_null(format.model)));
    }
    return list;
}
