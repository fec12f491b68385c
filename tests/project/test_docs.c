/* SPDX-License-Identifier: MIT */
/* docs/models.md and docs/formats.md name every model, setting and format, with their defaults and
 * ranges. */
#include "io/file.h"
#include "io/format.h"
#include "models/zoo/builtin.h"
#include "test.h"

/* A page of the documentation; fails where it is not there. */
static sali_bytes page(const char *name)
{
    char path[4096];
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    snprintf(path, sizeof path, SALTUS_SOURCE_DIR "/docs/%s", name);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    return bytes;
}

/* "whole, 1 to 100", or the choices. */
static void range(const sal_setting *s, char *text, size_t room)
{
    if (!s->choices) {
        snprintf(text, room, "%s%.10g to %.10g", s->whole ? "whole, " : "", s->low, s->high);
        return;
    }
    text[0] = '\0';
    for (int k = 0; s->choices[k]; k++) {
        size_t used = strlen(text);
        snprintf(text + used, room - used, "%s`%s`", k ? ", " : "", s->choices[k]);
    }
}

/* The row of a setting, up to its meaning. */
static void row(const sal_setting *s, char *text, size_t room)
{
    char usual[64], values[256];
    range(s, values, sizeof values);
    snprintf(usual, sizeof usual, "%.10g", s->standard);
    snprintf(text, room, "\n| `%s` | %s | %s |", s->name,
             s->choices ? s->choices[(int)s->standard] : usual, values);
}

/* The text between a model's heading and the next one, in memory of its own. */
static char *section(const char *text, const char *name)
{
    char heading[128];
    snprintf(heading, sizeof heading, "\n## %s\n", name);
    const char *begin = strstr(text, heading);
    ck_assert_msg(begin != NULL, "docs/models.md has no section '%s'", name);
    const char *end = strstr(begin + strlen(heading), "\n## ");
    return strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

static void check_model(const char *text, const sali_builtin *model)
{
    char *own = section(text, model->name);
    for (int k = 0; k < SAL_SETTINGS && model->settings[k].name; k++) {
        char want[512];
        row(&model->settings[k], want, sizeof want);
        ck_assert_msg(strstr(own, want) != NULL, "docs/models.md, section '%s', lacks the row %s",
                      model->name, want + 1);
    }
    ck_assert_msg(!model->content || strstr(own, sali_content_name(model->content)),
                  "docs/models.md, section '%s', lacks its kind of file, %s", model->name,
                  sali_content_name(model->content));
    free(own);
}

START_TEST(every_model_and_setting_is_described)
{
    sali_bytes bytes = page("models.md");
#define CHECK(name) check_model((const char *)bytes.data, &sali_builtin_##name);
    SALI_BUILTIN_LIST(CHECK)
#undef CHECK
    sali_bytes_free(&bytes);
}
END_TEST

/* In the table "| `name` | kind | read | written | suffixes |"; and a section of its own. */
START_TEST(every_format_and_suffix_is_described)
{
    sali_bytes bytes = page("formats.md");
    const sali_format *f;
    for (int64_t k = 0; (f = sali_format_at(k)); k++) {
        bool tape = f->content == SALI_CONTENT_TAPE;
        const char *kind = strchr(sali_content_name(f->content), ' ');
        char want[512], heading[128];
        int used = snprintf(want, sizeof want, "\n| `%s` |%s | %s | %s | ", f->name, kind,
                            f->parse || tape ? "yes" : "no", f->write || tape ? "yes" : "no");
        for (int i = 0; i < SALI_FORMAT_SUFFIXES && f->suffixes[i]; i++) {
            used += snprintf(want + used, sizeof want - (size_t)used, "%s%s", i ? ", " : "",
                             f->suffixes[i]);
        }
        snprintf(want + used, sizeof want - (size_t)used, " |");
        ck_assert_msg(strstr((const char *)bytes.data, want) != NULL,
                      "docs/formats.md lacks the row %s", want + 1);
        snprintf(heading, sizeof heading, "\n### %s\n", f->name);
        ck_assert_msg(strstr((const char *)bytes.data, heading) != NULL,
                      "docs/formats.md lacks a section on %s", f->name);
    }
    sali_bytes_free(&bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("docs");
    TCase *all = tcase_create("docs");
    tcase_add_test(all, every_model_and_setting_is_described);
    tcase_add_test(all, every_format_and_suffix_is_described);
    suite_add_tcase(suite, all);
    return test_main(suite);
}
