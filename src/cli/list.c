/* saltus list: what there is. */
#include <string.h>

#include "ad/op.h"
#include "cli/cli.h"

static void list_samplers(void)
{
    sal_sampler_info info;
    for (int64_t k = 0; sal_sampler_list(k, &info); k++) {
        printf("%-12s %s\n", info.name, info.doc);
        if (info.alias) {
            printf("             also called %s\n", info.alias);
        }
        if (info.parameters[0]) {
            printf("             %s\n", info.parameters);
        }
        printf("             exact: %s; gradient: %s; kinds: %s\n             %s\n",
               info.exact ? "yes" : "no", info.needs_gradient ? "needed" : "not needed", info.kinds,
               info.source);
    }
}

static void list_models(void)
{
    sal_builtin_info info;
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        printf("%-12s %s\n             %s\n             %s\n", info.name, info.doc, info.parameters,
               info.source);
    }
    puts("FILE.uai     a Markov or Bayesian network; with --evidence FILE.uai.evid\n"
         "FILE.xml     a saved tape");
}

static void list_ops(void)
{
    for (int k = 0; k < SALI_OP_COUNT; k++) {
        const sali_op *op = sali_op_f64((sali_op_id)k);
        printf("%-11s %s\n", op->name, op->doc);
    }
}

static void list_formats(void)
{
    puts("uai          Markov and Bayesian networks (read), evidence (read)\n"
         "xml          saved tapes, with their parameters in safetensors (read, write)\n"
         "safetensors  parameters (read, write)\n"
         "npy          states, draws, values (read, write)\n"
         "idx, idx.gz  images (read)\n"
         "png          sheets of samples (write)\n"
         "json         marginals, summaries (write)");
}

static int run_list(const cli_command *command, int argc, char **argv)
{
    const cli_option none[] = { { 0 } };
    const char *what = NULL;
    int code = cli_parse(command, argc, argv, none, 1, &what);
    if (code != CLI_OK) {
        return code;
    }
    if (strcmp(what, "samplers") == 0) {
        list_samplers();
    } else if (strcmp(what, "models") == 0) {
        list_models();
    } else if (strcmp(what, "ops") == 0) {
        list_ops();
    } else if (strcmp(what, "formats") == 0) {
        list_formats();
    } else {
        return cli_usage("list %s: expected samplers, models, ops or formats", what);
    }
    return CLI_OK;
}

const cli_command cli_list = { "list", "WHAT", "samplers, models, ops or formats", run_list };
