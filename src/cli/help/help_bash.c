/* SPDX-License-Identifier: MIT */
/* The completion for Bash: completion.bash, with the words for every place filled in. */
#include <ctype.h>
#include <string.h>

#include "cli/completion.h"
#include "cli/help/help.h"

static void print_models(void)
{
    sal_builtin_info info;
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        printf(" %s", info.name);
    }
}

static void print_samplers(void)
{
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        printf(" %s%s%s", info.name, info.alias ? " " : "", info.alias ? info.alias : "");
    }
}

static void print_formats(void)
{
    sal_format_info format;
    for (int64_t k = 0; sal_format_list(k, &format); k++) {
        printf(" %s", format.name);
    }
}

static void print_commands(void)
{
    const cli_page *page;
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        printf(" %s", page->command->name);
    }
}

/* Print the words of "adapt|auto|X" or "top|bottom|FILE" that are in small letters, and FILES for a
 * file. */
static void print_choices(const char *text)
{
    fputs(strstr(text, "FILE") ? " FILES" : "", stdout);
    while (*text) {
        size_t length = strcspn(text, "|");
        if (!isupper((unsigned char)text[0])) {
            printf(" %.*s", (int)length, text);
        }
        text += length + (text[length] == '|');
    }
}

/* Print what may take the place of "MODEL", "FILE.npy" or "f32|f64", a word in the help of an
 * option or command; `otherwise` if it has no meaning here. */
static void print_meaning(const char *meta, size_t length, const char *otherwise)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, meta);
    if (strcmp(word, "MODEL") == 0 || strcmp(word, "ARCH") == 0) {
        fputs(" SPECIFICATION FILES", stdout);
        print_models();
    } else if (strcmp(word, "COMMAND") == 0) {
        print_commands();
    } else if (strcmp(word, "WHAT") == 0) {
        fputs(" samplers models ops formats figures", stdout);
    } else if (strcmp(word, "FORMAT") == 0) {
        print_formats();
    } else if (strncmp(word, "A,B", 3) == 0) {
        fputs(" LIST", stdout);
        print_samplers();
    } else if (strchr(word, '|')) {
        print_choices(word);
    } else if (strncmp(word, "FILE", 4) == 0 || strcmp(word, "DIR") == 0) {
        fputs(" FILES", stdout);
    } else {
        fputs(otherwise, stdout);
    }
}

/* Print the completion of an option's value; nothing if it has none, or is a number. */
static void print_option_values(const cli_command *command, const cli_option *o)
{
    sal_option_info info;
    const char *meta = o->meta ? o->meta : "";
    if (cli_option_info(o, &info)
            ? info.kind != SAL_OPTION_TEXT && info.kind != SAL_OPTION_WORD && !strchr(meta, '|')
            : o->kind != CLI_TEXT) {
        return; /* no value, or a number */
    }
    printf("    '%s --%s') echo", command->name, o->name);
    if (strcmp(o->name, "sampler") == 0) {
        fputs(" SPECIFICATION", stdout);
        print_samplers();
    } else {
        print_meaning(meta, strlen(meta), "");
    }
    puts(" ;;");
}

/* Print the completion of a command's arguments. IN and OUT, TEXT and REF are files; an argument in
 * brackets is optional. */
#define SEVERAL 16 /* words of "FILE..." that are completed */
static void print_arguments(const cli_command *command)
{
    const char *argument = command->arguments;
    for (int k = 1; *argument; k++) {
        size_t length = strcspn(argument, " ");
        bool several = length > 3 && strncmp(argument + length - 3, "...", 3) == 0;
        bool optional = *argument == '[';
        size_t around = several ? 3 : optional ? 2 : 0;
        printf("    '%s %d') echo", command->name, k);
        print_meaning(argument + optional, length - around, " FILES");
        puts(" ;;");
        if (!several || k == SEVERAL) {
            argument += length + (argument[length] == ' ');
        }
    }
}

/* Print the completion of everything after a command: its options, flags, values and arguments. */
static void print_places(const cli_command *command, const cli_option *options)
{
    for (int flags = 0; flags < 2; flags++) {
        printf("    '%s %s') echo", command->name, flags ? "flags" : "options");
        for (const cli_option *o = options; o->name; o++) {
            if (!flags || o->kind == CLI_FLAG || (o->kind == CLI_LIBRARY && !o->meta)) {
                printf(" --%s", o->name);
            }
        }
        puts(" --help ;;");
    }
    for (const cli_option *o = options; o->name; o++) {
        print_option_values(command, o);
    }
    print_arguments(command);
}

/* Print the names of a model's or sampler's settings, each with '='. */
static void print_settings(const char *name, const char *alias, const sal_setting *settings,
                           bool file)
{
    printf("    'settings %s'%s%s%s) echo", name, alias ? " | 'settings " : "", alias ? alias : "",
           alias ? "'" : "");
    for (const sal_setting *s = settings; s && s->name; s++) {
        printf(" %s=", s->name);
    }
    puts(file ? " file= ;;" : " ;;");
}

/* Print the completion of commands, of all that follows them, and of settings. */
static void print_all_places(void)
{
    const cli_page *page;
    sal_builtin_info model;
    sal_sampler_info sampler;
    fputs("    commands) echo", stdout);
    print_commands();
    puts(" --help --version ;;");
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        cli_help_by(print_places, page);
    }
    for (int64_t k = 0; sal_builtin_list(k, &model); k++) {
        print_settings(model.name, NULL, model.settings, model.file != NULL);
    }
    for (int64_t k = 0; sal_sampler_list(k, &sampler); k++) {
        print_settings(sampler.name, sampler.alias, sampler.settings, false);
    }
}

void cli_bash_completion(void)
{
    static const char script[] = CLI_COMPLETION, mark[] = "@places@\n";
    const char *place = strstr(script, mark);
    printf("%.*s", (int)(place - script), script);
    print_all_places();
    fputs(place + strlen(mark), stdout);
}
