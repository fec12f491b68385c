#include "program.h"

#include <stdio.h>
#include <string.h>

enum { USAGE = 64 };

static bool is_word(const program *p, const char *argument)
{
    for (const char *const *word = p->words; word && *word; word++) {
        if (strcmp(*word, argument) == 0) {
            return true;
        }
    }
    return false;
}

static void print_usage(const program *p, const char *name)
{
    fprintf(stderr, "usage: %s [--quick | --full] [--svg FIGURE.svg]", name);
    for (const char *const *word = p->words; word && *word; word++) {
        fprintf(stderr, " [%s]", *word);
    }
    fprintf(stderr, "%s\n", p->files ? " [FILE ..]" : "");
}

/* `svg`: the file of --svg, or NULL. False after a message on stderr. */
static bool read_arguments(int argc, char **argv, const program *p, arguments *a, const char **svg)
{
    *a = (arguments){ .size = USUAL };
    *svg = NULL;
    int k = 1;
    for (; k < argc && strncmp(argv[k], "--", 2) == 0; k++) {
        if (strcmp(argv[k], "--quick") == 0 || strcmp(argv[k], "--full") == 0) {
            a->size = argv[k][2] == 'q' ? QUICK : FULL;
        } else if (strcmp(argv[k], "--svg") == 0 && k + 1 < argc) {
            *svg = argv[++k];
        } else {
            break;
        }
    }
    a->files = argv + k;
    bool known = true;
    for (; known && k < argc; k++) {
        known = is_word(p, argv[k]) || (p->files && argv[k][0] != '-');
    }
    if (!known) {
        print_usage(p, argv[0]);
    }
    return known;
}

int program_main(int argc, char **argv, const program *p)
{
    arguments a;
    const char *svg;
    sal_figure *figure = NULL;
    sal_error err = { 0 };
    if (!read_arguments(argc, argv, p, &a, &svg)) {
        return USAGE;
    }
    const sal_figure_options o = { .title = p->title,
                                   .caption = p->caption,
                                   .columns = p->columns,
                                   .panel_width = p->panel_width };
    sal_status status = svg ? sal_figure_create(&o, &figure, &err) : SAL_OK;
    status = status ? status : p->run(&a, figure, &err);
    status = status || !svg ? status : sal_figure_write(figure, svg, &err);
    if (status != SAL_OK) {
        fprintf(stderr, "%s\n", status == SAL_ERR_MEMORY ? "out of memory" : err.message);
    }
    sal_figure_destroy(figure);
    return status != SAL_OK;
}

bool arguments_want(const arguments *a, const char *name)
{
    bool wanted = !a->files[0];
    for (char **file = a->files; *file; file++) {
        wanted = wanted || strcmp(*file, name) == 0;
    }
    return wanted;
}

/* SPDX-License-Identifier: MIT */
