/* SPDX-License-Identifier: MIT */
/* Lists of samplers, models, ops, formats and options, as JSON. */
#include <stdio.h>
#include <string.h>

#include <saltus/flat.h>
#include <saltus/io.h>
#include <saltus/program.h>
#include "core/error.h"
#include "core/space.h"
#include "core/specification.h"
#include "flat/json.h"
#include "run/results/figures.h"

#define SETTINGS 512 /* room for the text of all settings */

/* The settings with their defaults, "side=10, theta=0.2"; null without settings. */
static json_t *settings_text(const sal_setting *settings)
{
    char text[SETTINGS] = "";
    size_t used = 0;
    for (const sal_setting *s = settings; s && s->name && used < SETTINGS; s++) {
        const char *word = sali_setting_word(s, s->standard);
        char number[32];
        snprintf(number, sizeof number, "%g", s->standard);
        used += (size_t)snprintf(text + used, SETTINGS - used, "%s%s=%s", used ? ", " : "", s->name,
                                 word ? word : number);
    }
    return sali_flat_text(text);
}

/* An array of the kinds of variables that a sampler moves; "capped-count": counts must have a
 * cap; "fixed-sums": it keeps to fixed sums, and perhaps labels, of these. */
static json_t *kinds_of(const sal_sampler_info *info)
{
    json_t *list = json_array();
    for (sal_kind kind = SAL_BINARY; kind <= SAL_COUNT; kind++) {
        const bool capped = kind == SAL_COUNT && !(info->kinds & SAL_MOVES_UNBOUNDED);
        if (info->kinds & 1u << kind) {
            json_array_append_new(list,
                                  json_string(capped ? "capped-count" : sali_kind_name(kind)));
        }
    }
    if (info->kinds & SAL_MOVES_FIXED) {
        json_array_append_new(list, json_string("fixed-sums"));
    }
    return list;
}

/* An array with an object for each sampler. */
static json_t *list_samplers(void)
{
    json_t *list = json_array();
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:b, s:o, s:o}", "name", info.name, "alias",
                      sali_flat_text(info.alias), "doc", sali_json_text(info.doc), "settings",
                      settings_text(info.settings), "exact", info.exact, "needs_gradient",
                      info.needs_gradient, "has_step_size", info.has_step_size, "kinds",
                      kinds_of(&info), "source", sali_json_text(info.source)));
    }
    return list;
}

/* An array with an object for each ready-made model. */
static json_t *list_models(void)
{
    json_t *list = json_array();
    sal_builtin_info info;
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:b, s:o}", "name", info.name, "doc",
                            sali_json_text(info.doc), "settings", settings_text(info.settings),
                            "file", sali_flat_text(info.file), "needs_file", info.needs_file,
                            "source", sali_json_text(info.source)));
    }
    return list;
}

/* An array with an object for each op. `inputs` is null for ops of any number of inputs; `fixed`
 * lists the inputs, counted from 1, that must not depend on the state. */
static json_t *list_ops(void)
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
                                              sali_json_text(op.doc), "inputs",
                                              op.inputs < 0 ? json_null() : json_integer(op.inputs),
                                              "fixed", fixed, "changes", op.changes));
    }
    return list;
}

/* An array with an object for each format of files. */
static json_t *list_formats(void)
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
                                              suffixes, "doc", sali_json_text(format.doc), "model",
                                              sali_flat_text(format.model)));
    }
    return list;
}

/* An array with an object for each option of the structs of options; `of` names the struct. */
static json_t *list_options(void)
{
    static const struct {
        sal_options which;
        const char *of;
    } structs[] = {
        { SAL_OPTIONS_RUN, "run" },     { SAL_OPTIONS_TRAIN, "train" },
        { SAL_OPTIONS_AIS, "ais" },     { SAL_OPTIONS_INPAINT, "inpaint" },
        { SAL_OPTIONS_EXACT, "exact" }, { SAL_OPTIONS_DATA, "data" },
        { SAL_OPTIONS_LOG_Z, "log_z" },
    };
    static const char *const kinds[] = {
        [SAL_OPTION_FLAG] = "flag",  [SAL_OPTION_WHOLE] = "whole", [SAL_OPTION_INT] = "whole",
        [SAL_OPTION_SEED] = "whole", [SAL_OPTION_REAL] = "real",   [SAL_OPTION_WORD] = "word",
        [SAL_OPTION_TEXT] = "text",
    };
    json_t *list = json_array();
    sal_option_info o;
    for (size_t s = 0; s < sizeof structs / sizeof *structs; s++) {
        for (int64_t k = 0; sal_option_list(sal_option_table_of(structs[s].which), k, &o); k++) {
            if (o.doc) { /* else it is another form of the option before */
                json_array_append_new(
                    list,
                    json_pack("{s:s, s:s, s:s, s:o, s:o, s:o}", "of", structs[s].of, "name", o.name,
                              "kind", kinds[o.kind], "values", sali_flat_text(o.values), "usual",
                              sali_flat_text(o.usual), "doc", sali_json_text(o.doc)));
            }
        }
    }
    return list;
}

/* An array with an object for each figure of a run's summary as JSON. `field` names it in
 * sal_run_summary; null if no field has it. */
static json_t *list_figures(void)
{
    json_t *list = json_array();
    const sali_figure *f;
    for (int64_t k = 0; (f = sali_figure_at(k)); k++) {
        if (f->key) {
            json_array_append_new(
                list, json_pack("{s:s, s:o, s:o, s:o, s:s}", "name", f->key, "field",
                                sali_flat_text(f->field), "unit", sali_flat_text(f->unit), "when",
                                sali_flat_text(sali_figure_condition(f)), "doc", f->doc));
        }
    }
    return list;
}

sal_status sal_flat_list(const char *what, char **json, sal_error *err)
{
    static const struct {
        const char *name;
        json_t *(*list)(void);
    } lists[] = { { "samplers", list_samplers }, { "models", list_models },
                  { "ops", list_ops },           { "formats", list_formats },
                  { "options", list_options },   { "figures", list_figures } };
    for (size_t k = 0; what && k < sizeof lists / sizeof *lists; k++) {
        if (strcmp(what, lists[k].name) == 0) {
            return sali_flat_give(lists[k].list(), json, err);
        }
    }
    return sali_fail(
        err, SAL_ERR_NOT_FOUND,
        "there is no list '%.60s'; there are: samplers, models, ops, formats, options, "
        "figures",
        what ? what : "");
}
