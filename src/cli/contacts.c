/* saltus contacts: pairs of sites of a Potts model by the strength of their coupling. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "io/file.h"
#include "models/alphabet.h"
#include "models/zoo/contacts.h"

typedef struct options {
    const char *params, *dtype, *out;
    int64_t top, separation;
    bool json;
} options;

/* One categorical block and couplings "J" of its one-hot; CLI_DATA after a message. */
static int check_model(const sal_model *model)
{
    const sal_space *space = sal_model_space(model);
    const sal_block *block = sal_space_block(space, 0);
    int64_t N = sal_space_width(space);
    sal_shape shape;
    const char *name;
    for (int64_t k = 0; (name = sal_model_parameter(model, k, &shape)); k++) {
        if (strcmp(name, "J") == 0 && shape.rank == 2 && shape.dim[0] == N && shape.dim[1] == N &&
            sal_space_blocks(space) == 1 && block->kind == SAL_CATEGORICAL && block->count > 1) {
            return CLI_OK;
        }
    }
    return cli_fail(SAL_ERR_DATA,
                    &(sal_error){ .message = "the model has no couplings of sites; expected a "
                                             "parameter J over the states of categorical "
                                             "variables, as of potts-alignment" });
}

/* Whether the states are the letters of an alphabet, of which the first is the gap. */
static bool has_gaps(const sal_block *block)
{
    return block->states == sali_alphabet_states(SAL_ALPHABET_PROTEIN) ||
           block->states == sali_alphabet_states(SAL_ALPHABET_RNA);
}

/* The ranking of a model's sites; in an alignment's alphabet gaps do not count. */
static sal_status rank(const sal_model *model, sali_contact **contacts, sal_error *err)
{
    const sal_block *block = sal_space_block(sal_model_space(model), 0);
    size_t N = (size_t)(block->count * block->states), sites = (size_t)block->count;
    double *J = malloc(N * N * sizeof *J);
    *contacts = malloc(sites * (sites - 1) / 2 * sizeof **contacts);
    sal_status status = J && *contacts ? sal_model_get_params(model, "J", J, err) : SAL_ERR_MEMORY;
    if (status == SAL_OK) {
        status = sali_contacts(block->count, block->states, has_gaps(block), J, *contacts, err);
    }
    free(J);
    return status;
}

/* Keep the pairs that are asked for, the strongest first; their number. */
static int64_t choose(const options *o, int64_t pairs, sali_contact *contacts)
{
    int64_t n = 0;
    for (int64_t p = 0; p < pairs && n < o->top; p++) {
        if (contacts[p].j - contacts[p].i >= o->separation) {
            contacts[n++] = contacts[p];
        }
    }
    return n;
}

/* Sites count from 1, as positions of proteins do. */
static sal_status write_list(const char *path, int64_t n, const sali_contact *contacts,
                             sal_error *err)
{
    char line[128];
    sali_output out = { 0 };
    sal_status status = sali_output_open(path, &out, err);
    status = status ? status : sali_output_write(&out, "i,j,score,norm\n", 15, err);
    for (int64_t p = 0; p < n && status == SAL_OK; p++) {
        int size =
            snprintf(line, sizeof line, "%lld,%lld,%.9g,%.9g\n", (long long)contacts[p].i + 1,
                     (long long)contacts[p].j + 1, contacts[p].score, contacts[p].norm);
        status = sali_output_write(&out, line, size, err);
    }
    status = status ? status : sali_output_commit(&out, err);
    sali_output_discard(&out);
    return status;
}

static int print_json(const sal_model *model, int64_t n, const sali_contact *contacts)
{
    json_t *list = json_array();
    for (int64_t p = 0; p < n; p++) {
        json_t *pair = json_pack("{s:I, s:I}", "i", (json_int_t)contacts[p].i + 1, "j",
                                 (json_int_t)contacts[p].j + 1);
        cli_json_number(pair, "score", contacts[p].score);
        cli_json_number(pair, "norm", contacts[p].norm);
        json_array_append_new(list, pair);
    }
    return cli_json_print(
        json_pack("{s:o, s:I, s:o}", "model", cli_json_text(sal_model_name(model)), "sites",
                  (json_int_t)sal_space_variables(sal_model_space(model)), "contacts", list));
}

static int tell(const options *o, const sal_model *model)
{
    sali_contact *contacts = NULL;
    sal_error err = { 0 };
    int64_t sites = sal_space_variables(sal_model_space(model)), n = 0;
    sal_status status = rank(model, &contacts, &err);
    if (status == SAL_OK) {
        n = choose(o, sites * (sites - 1) / 2, contacts);
        status = o->out ? write_list(o->out, n, contacts, &err) : SAL_OK;
    }
    int code = status == SAL_OK ? CLI_OK : cli_fail(status, &err);
    code = code == CLI_OK && o->json ? print_json(model, n, contacts) : code;
    free(contacts);
    return code;
}

static int run_contacts(const cli_command *command, int argc, char **argv)
{
    options o = { .top = INT64_MAX, .separation = 1 };
    const cli_option table[] = {
        { "out", CLI_TEXT, &o.out, "FILE.csv", "the list: i,j,score,norm, sites from 1" },
        { "top", CLI_INT, &o.top, "N", "so many pairs at most [all]" },
        { "separation", CLI_INT, &o.separation, "N", "pairs with j - i of at least N [1]" },
        { "params", CLI_TEXT, &o.params, "FILE", "parameters (.safetensors)" },
        { "dtype", CLI_TEXT, &o.dtype, "f32|f64", "type of the computation [the model's]" },
        { "json", CLI_FLAG, &o.json, NULL, "print the list as one JSON object" },
        { 0 },
    };
    const char *specification = "";
    sal_model *model = NULL;
    int code = cli_parse(command, argc, argv, table, 1, &specification);
    if (code == CLI_OK && !o.out && !o.json) {
        code = cli_usage("contacts: --out FILE.csv or --json is needed");
    }
    if (code == CLI_OK && (o.top < 1 || o.separation < 1)) {
        code = cli_usage("contacts: --top and --separation must be 1 or more");
    }
    code = code ? code : cli_check_output(o.out);
    code = code ? code : cli_open(specification, o.dtype, o.params, &model);
    code = code ? code : check_model(model);
    code = code ? code : tell(&o, model);
    sal_model_destroy(model);
    return code;
}

const cli_command cli_contacts = { "contacts", "MODEL",
                                   "sites of a Potts model by the strength of their coupling",
                                   run_contacts };
