/* SPDX-License-Identifier: MIT */
/* saltus list ops --format markdown: the operations of formulas as the page docs/ops.md. */
#include "cli/cli.h"

/* Print the inputs that must not depend on the state, "2, 3", and end the cell of the table. */
static void print_fixed_inputs(const sal_op_info *op)
{
    bool any = false;
    for (int k = 0; k < 32; k++) {
        if (op->fixed >> k & 1) {
            printf("%s%d", any ? ", " : " ", k + 1);
            any = true;
        }
    }
    fputs(" |", stdout);
}

/* Print an operation as a row of the table. */
static void print_row(const sal_op_info *op)
{
    printf("| `%s` | `", op->name);
    for (const char *c = op->doc; *c; c++) {
        printf(*c == '|' ? "\\%c" : "%c", *c); /* a bar ends a cell */
    }
    fputs("` |", stdout);
    if (op->inputs < 0) {
        fputs(" any |", stdout);
    } else {
        printf(" %d |", (int)op->inputs);
    }
    print_fixed_inputs(op);
    printf(" %s | %s |\n", op->degree, op->changes ? "yes" : "");
}

void cli_list_ops_markdown(void)
{
    puts(
        "# Operations of formulas\n"
        "\n"
        "Made from the operations' records by `saltus list ops --format markdown`. In C an\n"
        "operation NAME is the macro `sal_NAME` of `<saltus/ad.h>`, which says more of shapes,\n"
        "derivatives and costs; over one axis it is `sal_NAME_axis`; `symmetrise` is\n"
        "recorded where it is needed. In a saved tape it is a node with that `op`\n"
        "([formats.md](formats.md)).\n"
        "\n"
        "- *fixed*: inputs that must not depend on the state, counted from 1.\n"
        "- *degree*: of the result in the state. Where it stays multilinear to the end, exact\n"
        "  differences of f are read off its gradient (`saltus check MODEL` says so).\n"
        "- *changes*: whether the value follows changes of single variables. An operation without\n"
        "  such a rule is evaluated anew for the chain.\n"
        "\n"
        "| name | value | inputs | fixed | degree | changes |\n"
        "|---|---|---|---|---|---|");
    sal_op_info op;
    for (int64_t k = 0; sal_op_list(k, &op); k++) {
        print_row(&op);
    }
}
