/* SPDX-License-Identifier: MIT */
/* Saved tapes: what is written reads back as the same formula, and everything else is refused. */
#define TEST_FORKS 0
#include "temp_dir.h"

#include <locale.h>
#include <math.h>

#include <saltus/io.h>
#include <saltus/program.h>

#include "alloc_fail.h"
#include "io/tape/tape_xml.h"
#include "model_equal.h"
#include "models/tape_model.h"
#include "op_cases.h"

/* ---- round trips */

/* Save a tape and read it back from the file. */
static sal_model *round_trip(const sal_model *model)
{
    sal_error err = { 0 };
    sal_model *copy = NULL;
    const char *path = temp_path("t.xml");
    ck_ok(sal_model_save(model, path, &err), &err);
    ck_ok(sal_model_open(path, 0, &copy, &err), &err);
    return copy;
}

/* The model of an op's case; parameters are numbers the op can take. */
static sal_model *case_model(const op_case *test, sal_dtype dtype)
{
    sal_error err = { 0 };
    sal_space *space = op_space();
    sal_tape *tape = sal_tape_create(space, dtype);
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(tape, op_record(tape, test), &model, &err), &err);
    int64_t size = sal_model_parameters_size(model);
    double *values = calloc((size_t)size + 1, sizeof *values);
    ck_assert_ptr_nonnull(values);
    const sali_op *op = sali_op_f64(test->op);
    for (int64_t i = 0; i < size; i++) {
        values[i] = op_number(i, op->test_low, op->test_high);
    }
    ck_ok(sal_model_set_params(model, NULL, values, &err), &err);
    free(values);
    sal_tape_destroy(tape);
    sal_space_destroy(space);
    return model;
}

START_TEST(every_op_round_trips)
{
    const op_case *test = &op_cases[_i / 2];
    sal_model *model = case_model(test, _i % 2 ? SAL_F32 : SAL_F64), *copy = round_trip(model);
    ck_models_equal(model, copy);
    sal_model_destroy(model);
    sal_model_destroy(copy);
}
END_TEST

/* A formula of many ops over a space with every kind of block. */
static sal_model *mixed_model(void)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    const sal_block blocks[] = {
        { .name = "bit", .kind = SAL_BINARY, .count = 3 },
        { .name = "spin.a", .kind = SAL_SPIN, .count = 4 },
        { .name = "grid", .kind = SAL_ORDINAL, .count = 2, .states = 5 },
        { .name = "own-grid",
          .kind = SAL_ORDINAL,
          .count = 3,
          .states = 3,
          .levels = (double[]){ -1.0 / 3, 0.1, 1e300 / 3e299 } },
        { .name = "label", .kind = SAL_CATEGORICAL, .count = 2, .states = 3 },
        { .name = "one", .kind = SAL_CATEGORICAL, .count = 1, .states = 1 },
        { .name = "count", .kind = SAL_COUNT, .count = 2 },
        { .name = "capped", .kind = SAL_COUNT, .count = 1, .cap = 7 },
    };
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        ck_ok(sal_space_add(space, &blocks[b], &err), &err);
    }
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_expr bit = sal_state_block(t, "bit"), spin = sal_state_block(t, "spin.a");
    sal_expr own = sal_state_block(t, "own-grid"), label = sal_state_block(t, "label");
    sal_expr J =
        sal_constant(t, ((double[]){ 1, 2, -0.1, 1e-300, 0, 5e-324, 3, 7, 0.3 }), SAL_SHAPE(3, 3));
    sal_expr w = sal_constant(t, ((double[]){ 0.1, -0.7 }), SAL_SHAPE(2));
    sal_expr T = sal_constant(t, ((double[]){ 0, -1, -INFINITY, 0.25, 1.0 / 7, 2 }), SAL_SHAPE(6));
    sal_expr W = sal_param(t, "layer/W", SAL_SHAPE(2, 3));
    sal_expr hidden = sal_tanh(sal_add(sal_matvec(W, own), sal_param(t, "b", SAL_SCALAR)));
    sal_expr f = sal_quad(bit, J);
    f = sal_add(f, sal_edges(spin, w, 2, ((int64_t[]){ 0, 1, 1, 3 })));
    f = sal_add(f, sal_table(t, T, 1, ((int64_t[]){ 0, 2 }), ((int64_t[]){ 1, 13 })));
    f = sal_sub(f, sal_sum(sal_square(hidden)));
    f = sal_add(f, sal_logsumexp(sal_logsumexp_axis(label, -1)));
    f = sal_add(f, sal_mean(sal_sigmoid(sal_slice(sal_state_block(t, "grid"), 0, 1, 1))));
    f = sal_add(
        f, sal_mul(sal_sum(sal_state_block(t, "count")), sal_mean(sal_state_block(t, "capped"))));
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(t, f, &model, &err), &err);
    const double params[] = { 0.1, 1.0 / 3, -2, 1e-17, 4, 5, -0.7 };
    ck_ok(sal_model_set_params(model, NULL, params, &err), &err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return model;
}

START_TEST(mixed_formula_round_trips)
{
    sal_model *model = mixed_model(), *copy = round_trip(model), *again = round_trip(copy);
    ck_models_equal(model, copy);
    ck_models_equal(model, again);
    ck_assert_str_eq(sal_model_parameter(copy, 0, NULL), "layer/W");
    sal_model_destroy(model);
    sal_model_destroy(copy);
    sal_model_destroy(again);
}
END_TEST

START_TEST(every_builtin_round_trips)
{
    sal_error err = { 0 };
    sal_builtin_info info;
    for (int64_t k = 0; sal_builtin_list(k, &info); k++) {
        sal_model *model = NULL;
        if (info.needs_file) {
            continue;
        }
        ck_ok(sal_model_open(info.name, 0, &model, &err), &err);
        ck_assert_str_eq(sal_model_name(model), info.name);
        sal_model *copy = round_trip(model);
        ck_models_equal(model, copy);
        sal_model_destroy(model);
        sal_model_destroy(copy);
    }
}
END_TEST

/* The text of a model's file. */
static char *saved_text(const sal_model *model)
{
    sal_error err = { 0 };
    sali_bytes bytes = { 0 };
    const char *path = temp_path("s.xml");
    ck_ok(sal_model_save(model, path, &err), &err);
    ck_ok(sali_file_read(path, &bytes, &err), &err);
    return (char *)bytes.data;
}

/* A formula over blocks of which all are fixed: by their sum, or by how often labels occur. */
static sal_model *fixed_model(void)
{
    sal_error err = { 0 };
    sal_space *space = sal_space_create();
    const sal_block blocks[] = {
        { .name = "b", .kind = SAL_BINARY, .count = 5, .fixed_sum = true, .sum = 0 },
        { .name = "s", .kind = SAL_SPIN, .count = 3, .fixed_sum = true, .sum = -1 },
        { .name = "c", .kind = SAL_COUNT, .count = 4, .cap = 3, .fixed_sum = true, .sum = 7 },
        { .name = "l",
          .kind = SAL_CATEGORICAL,
          .count = 4,
          .states = 3,
          .labels = (int64_t[]){ 2, 0, 2 } },
    };
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        ck_ok(sal_space_add(space, &blocks[b], &err), &err);
    }
    ck_ok(sal_space_permutation(space, "p", 3, &err), &err);
    sal_tape *t = sal_tape_create(space, SAL_F64);
    sal_model *model = NULL;
    ck_ok(sal_model_from_tape(t, sal_sum(sal_square(sal_state(t))), &model, &err), &err);
    sal_tape_destroy(t);
    sal_space_destroy(space);
    return model;
}

START_TEST(fixed_sums_and_labels_round_trip)
{
    sal_model *model = fixed_model(), *copy = round_trip(model), *mixed = mixed_model();
    char *text = saved_text(copy), *free_text = saved_text(mixed);
    ck_models_equal(model, copy);
    ck_assert_ptr_nonnull(strstr(text, "kind=\"binary\" sum=\"0\"/>"));
    ck_assert_ptr_nonnull(strstr(text, "kind=\"spin\" sum=\"-1\"/>"));
    ck_assert_ptr_nonnull(strstr(text, "kind=\"count\" cap=\"3\" sum=\"7\"/>"));
    ck_assert_ptr_nonnull(strstr(text, "states=\"3\" labels=\"2 0 2\"/>"));
    ck_assert(!strstr(free_text, " sum=\"") && !strstr(free_text, "labels="));
    sal_free(text);
    sal_free(free_text);
    sal_model_destroy(model);
    sal_model_destroy(copy);
    sal_model_destroy(mixed);
}
END_TEST

START_TEST(numbers_do_not_depend_on_the_locale)
{
    sal_model *model = mixed_model();
    char *plain = saved_text(model);
    const char *names[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR" };
    int k = 0;
    while (k < 4 && !setlocale(LC_ALL, names[k])) {
        k++;
    }
    if (k == 4) {
        test_skipped("no locale with a decimal comma is installed");
    }
    char *comma = saved_text(model);
    ck_assert_str_eq(plain, comma);
    ck_assert_ptr_nonnull(strstr(plain, "0.14285714285714285"));
    ck_assert_ptr_nonnull(strstr(plain, "-inf"));
    sal_model *copy = round_trip(model);
    ck_models_equal(model, copy);
    setlocale(LC_ALL, "C");
    sal_free(plain);
    sal_free(comma);
    sal_model_destroy(model);
    sal_model_destroy(copy);
}
END_TEST

/* ---- reading from memory */

#define TAPE(space, nodes, output)                                                     \
    "<saltus-tape version='1' dtype='f64'>\n<space>" space "</space>\n<nodes>\n" nodes \
    "</nodes>\n" output "</saltus-tape>\n"
#define BITS "<block name='x' count='3' kind='binary'/>"
#define STATE_NODE "<node op='state'/>\n"
#define SUM(k) "<node op='sum' in='" k "'><ints>-1</ints></node>\n"
#define OUTPUT(k) "<output node='" k "'/>"
/* After the state, node 1: a node with these attributes and this content; node 2: its sum. */
#define NODE(attributes, content) \
    TAPE(BITS, STATE_NODE "<node " attributes ">" content "</node>\n" SUM("1"), OUTPUT("2"))
#define SPACE(blocks) TAPE(blocks, STATE_NODE SUM("0"), OUTPUT("1"))
#define ROOT(attributes)                                   \
    "<saltus-tape dtype='f64' " attributes "><space>" BITS \
    "</space><nodes>" STATE_NODE SUM("0") "</nodes>" OUTPUT("1") "</saltus-tape>"

static const char good[] = NODE("op='mul' in='0 0'", "");

static sal_status parse_text(const char *text, sal_model **model, sal_error *err)
{
    char *params = NULL;
    sal_status status =
        sali_tape_xml_parse("f", text, (int64_t)strlen(text), 0, model, &params, err);
    sal_free(params);
    return status;
}

START_TEST(hand_written_tape_is_read)
{
    static const char text[] =
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\n<?pi x?><!-- by hand -->\n<saltus-tape version='1' "
        "dtype='f32' params='p q.safetensors'><space>\n" BITS "</space><nodes>" STATE_NODE
        "<node op='constant' shape=' 3&#10;'><reals>1 <!-- a comment -->\n+2.50<![CDATA[ "
        "-3E-1]]></reals></node><node in='0 1' op='dot'/></nodes><output node='2'/></saltus-tape>";
    sal_error err = { 0 };
    sal_model *model = NULL;
    char *params = NULL;
    ck_ok(sali_tape_xml_parse("f", text, sizeof text - 1, 0, &model, &params, &err), &err);
    ck_assert_str_eq(params, "p q.safetensors");
    ck_assert(sal_model_dtype(model) == SAL_F32 && sal_model_is_multilinear(model));
    const int32_t codes[] = { 1, 0, 1, 1, 1, 0 };
    double f[2];
    ck_ok(sal_model_evaluate(model, 2, codes, f, NULL, NULL, &err), &err);
    ck_assert_double_eq_tol(f[0], 0.7, 1e-6);
    ck_assert_double_eq_tol(f[1], 3.5, 1e-6);
    sal_model_destroy(model);
    sal_free(params);
}
END_TEST

START_TEST(type_can_be_chosen)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    char *params = NULL;
    ck_ok(sali_tape_xml_parse("f", good, sizeof good - 1, SAL_F32, &model, &params, &err), &err);
    ck_assert(sal_model_dtype(model) == SAL_F32 && !params);
    sal_model_destroy(model);
}
END_TEST

START_TEST(nan_and_infinities_are_read)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    const char *text = NODE("op='constant' shape='2 2'", "<reals>inf -inf nan -0</reals>");
    ck_ok(parse_text(text, &model, &err), &err);
    const sali_program *program = sali_model_tape(model)->program;
    const double *reals = program->nodes[0].reals;
    ck_assert(reals[0] == INFINITY && reals[1] == -INFINITY && isnan(reals[2]));
    ck_assert(reals[3] == 0 && signbit(reals[3]));
    sal_model_destroy(model);
}
END_TEST

START_TEST(a_million_numbers_are_read_fast)
{
    enum { N = 1000000 };
    char *text = malloc((size_t)N * 24 + 1000);
    ck_assert_ptr_nonnull(text);
    size_t used = (size_t)sprintf(text,
                                  "<saltus-tape version='1' dtype='f64'><space>%s</space>"
                                  "<nodes><node op='constant' shape='%d'><reals>",
                                  BITS, N);
    for (int i = 0; i < N; i++) {
        used += (size_t)sprintf(text + used, "%.17g\n", sin(i));
    }
    sprintf(text + used, "</reals></node>%s</nodes>%s</saltus-tape>", SUM("0"), OUTPUT("1"));
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_ok(parse_text(text, &model, &err), &err);
    ck_assert(sali_model_tape(model)->program->nodes[0].reals[N - 1] == sin(N - 1));
    sal_model_destroy(model);
    free(text);
}
END_TEST

/* ---- refusals */

#define BLOCK(attributes) "<block " attributes "/>"

static const struct {
    const char *text, *message;
} bad[] = {
    /* not XML, or not a tape */
    { "", "f:1: " },
    { " ", "f:1: " },
    { "hello", "f:1: " },
    { "\x89PNG\r\n\x1a\n", "f:1: " },
    { "<saltus-tape", "f:1: " },
    { "<saltus-tape version='1' dtype='f64'>", "f:1: " },
    { "<a/><b/>", "f:1: " },
    { "<?xml version='1.0' encoding='UTF-8'?>\n<a>\xff\xfe</a>", "f:2: " },
    { "<BIF VERSION='0.3'/>", "f:1: the root element is <BIF>; expected <saltus-tape>" },
    { "<x:saltus-tape xmlns:x='urn:x' version='1'/>", "the root element" },
    { "<saltus-tape xmlns='urn:x' version='1'/>", "the root element" },
    { "<saltus-tape version='1'>&undefined;</saltus-tape>", "undefined" },
    { ROOT("version='2'"), "version '2' of the format" },
    { ROOT(""), "f:1: " },
    { "<saltus-tape dtype='f16' version='1'><space/><nodes/><output/></saltus-tape>", "f:1: " },
    { ROOT("version='1' colour='red'"), "colour" },
    { "<saltus-tape version='1' dtype='f16'/>", "f:1: <space> is missing" },
    { "<saltus-tape version='1' dtype='f64'><nodes/></saltus-tape>", "f:1: <space> is missing" },
    /* DOCTYPE, whatever is in it */
    { "<!DOCTYPE saltus-tape>\n<saltus-tape/>", "f:1: a DOCTYPE is not accepted" },
    { "<!DOCTYPE a SYSTEM 'http://127.0.0.1/a.dtd'><a/>", "f:1: a DOCTYPE is not accepted" },
    { "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><a>&e;</a>", "a DOCTYPE" },
    { "<!DOCTYPE a [<!ENTITY % e SYSTEM 'file:///etc/passwd'> %e;]><a/>", "a DOCTYPE" },
    { "\n<!DOCTYPE a [\n<!ENTITY l 'lol'>\n<!ENTITY l1 '&l;&l;&l;&l;&l;&l;&l;&l;&l;&l;'>\n"
      "<!ENTITY l2 '&l1;&l1;&l1;&l1;&l1;&l1;&l1;&l1;&l1;&l1;'>\n"
      "<!ENTITY l3 '&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;&l2;'>]>\n<a>&l3;</a>",
      "a DOCTYPE" },
    /* structure */
    { TAPE("", STATE_NODE SUM("0"), OUTPUT("1")), "f:2: " },
    { TAPE(BITS, "", OUTPUT("0")), "f:3: " },
    { TAPE(BITS, STATE_NODE SUM("0"), ""), "f:1: <output> is missing" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("1") OUTPUT("1")), "output" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("1") "text"), "f:1: " },
    { TAPE(BITS, STATE_NODE "<edge/>" SUM("0"), OUTPUT("1")), "edge" },
    { TAPE(BITS, "garbage" STATE_NODE SUM("0"), OUTPUT("1")), "f:" },
    { TAPE(BITS, "<node/>", OUTPUT("0")), "f:4: " },
    { NODE("op='exp' in='0' colour='red'", ""), "f:5: " },
    { NODE("op='exp' in='0'", "<reals/><ints/>"), "f:5: " },
    { NODE("op='exp' in='0'", "<ints><b/></ints>"), "f:5: " },
    { NODE("op='exp' op='exp' in='0'", ""), "op redefined" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("2")), "node (an integer, 0 to 1), found '2'" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("-1")), "f:" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("1e0")), "f:" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("1 1")), "f:" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("99999999999999999999")), "f:" },
    { TAPE(BITS, STATE_NODE SUM("0"), OUTPUT("0")), "f has shape [3]; expected a scalar" },
    /* blocks */
    { SPACE(BLOCK("count='1' kind='spin'")), "f:2: " },
    { SPACE(BLOCK("name='' count='1' kind='spin'")), "f:2: a block needs a name" },
    { SPACE(BLOCK("name='a b' count='1' kind='spin'")), "f:2: a block needs a name" },
    { SPACE(BITS BITS), "f:2: block 'x': the name is taken" },
    { SPACE(BLOCK("name='x' count='0' kind='spin'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='-3' kind='spin'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='x' kind='spin'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1000000000000' kind='spin'")), "f:2: expected count" },
    { SPACE(BLOCK("name='x' count='99999999999999999999' kind='spin'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='colour'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='spin' states='2'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='categorical'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='categorical' states='0'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='categorical' states='2000000'")), "2000000 states" },
    { SPACE(BLOCK("name='x' count='8000000' kind='categorical' states='2000000000'")),
      "f:2: the space is too large" },
    { SPACE(BLOCK("name='x' count='1' kind='count' cap='0'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='count' cap='-1'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='count' cap='2000000'")),
      "f:2: block 'x': cap 2000000" },
    { SPACE(BLOCK("name='x' count='1' kind='count' states='3'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='spin' cap='3'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='1' kind='ordinal'")), "f:2: " },
    { SPACE("<block name='x' count='1' kind='ordinal'><levels/></block>"), "f:2: 0 levels" },
    { SPACE("<block name='x' count='1' kind='ordinal'><levels>1</levels></block>"), "1 levels" },
    { SPACE("<block name='x' count='1' kind='ordinal'><levels>1 1</levels></block>"), "level 1" },
    { SPACE("<block name='x' count='1' kind='ordinal'><levels>1 nan</levels></block>"), "finite" },
    { SPACE("<block name='x' count='1' kind='ordinal'><levels>1\ninf</levels></block>"), "finite" },
    { SPACE("<block name='x' count='1' kind='ordinal'><levels>1\n2x</levels></block>"),
      "f:3: expected a number, found '2x'" },
    { SPACE("<block name='x' count='1' kind='spin'><levels>1 2</levels></block>"), "f:2: " },
    /* fixed sums and labels */
    { SPACE(BLOCK("name='x' count='3' kind='binary' sum='4'")),
      "f:2: block 'x': no state has the sum 4; expected 0 to 3" },
    { SPACE(BLOCK("name='x' count='3' kind='binary' sum='-1'")), "f:2: block 'x': no state" },
    { SPACE(BLOCK("name='x' count='3' kind='spin' sum='2'")), "f:2: block 'x': no state" },
    { SPACE(BLOCK("name='x' count='3' kind='spin' sum='-5'")), "f:2: block 'x': no state" },
    { SPACE(BLOCK("name='x' count='3' kind='spin' sum=''")), "f:2: " },
    { SPACE(BLOCK("name='x' count='3' kind='spin' sum='1.5'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='3' kind='spin' sum='99999999999999999999'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='3' kind='spin' sum='9000000000000000000'")),
      "f:2: expected sum" },
    { SPACE(BLOCK("name='x' count='3' kind='count' sum='3'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='3' kind='count' cap='2' sum='7'")), "f:2: block 'x': no state" },
    { SPACE(BLOCK("name='x' count='3' kind='categorical' states='2' sum='1'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='3' kind='binary' labels='1 2'")), "f:2: " },
    { SPACE(BLOCK("name='x' count='3' kind='categorical' states='2' labels=''")),
      "f:2: labels: 0 numbers; expected one for each of 2 states" },
    { SPACE(BLOCK("name='x' count='3' kind='categorical' states='2' labels='1 1 1'")),
      "f:2: labels: 3 numbers" },
    { SPACE(BLOCK("name='x' count='3' kind='categorical' states='2' labels='1 1'")),
      "f:2: block 'x': the numbers of its labels sum to 2" },
    { SPACE(BLOCK("name='x' count='3' kind='categorical' states='2' labels='4 -1'")),
      "f:2: block 'x': label 0 occurs 4 times" },
    { SPACE(BLOCK("name='x' count='3' kind='categorical' states='2' labels='1 x'")),
      "f:2: expected an integer, found 'x'" },
    /* nodes */
    { NODE("op='explode' in='0'", ""), "f:5: there is no op 'explode'" },
    { NODE("op='' in='0'", ""), "f:5: there is no op ''" },
    { NODE("op='a&#10;b' in='0'", ""), "f:5: there is no op 'a?b'" },
    { NODE("op='exp'", ""), "f:5: exp: 0 inputs; expected 1" },
    { NODE("op='exp' in='0 0'", ""), "f:5: exp: 2 inputs; expected 1" },
    { NODE("op='add' in='0 0 0 0 0 0 0 0 0 0 0 0'", ""), "f:5: add: 12 inputs; expected 2" },
    { NODE("op='exp' in='1'", ""), "f:5: exp: input 1 of node 1 is no earlier node" },
    { NODE("op='exp' in='2'", ""), "f:5: exp: input 2 of node 1 is no earlier node" },
    { NODE("op='exp' in='-1'", ""), "f:5: exp: input -1 of node 1 is no earlier node" },
    { NODE("op='exp' in='4294967296'", ""), "is no earlier node" },
    { NODE("op='exp' in='99999999999999999999'", ""), "f:5: expected an integer" },
    { NODE("op='exp' in='0.5'", ""), "f:5: expected an integer, found '0.5'" },
    { NODE("op='exp' in='x'", ""), "f:5: expected an integer, found 'x'" },
    { NODE("op='state'", ""), "f:5: state: a tape has one" },
    { NODE("op='exp' in='0' name='p'", ""), "f:5: exp: expected neither" },
    { NODE("op='exp' in='0' shape='3'", ""), "f:5: exp: expected neither" },
    { NODE("op='param' name='p'", ""), "f:5: param: expected a name and a shape" },
    { NODE("op='param' shape='3'", ""), "f:5: param: expected a name and a shape" },
    { NODE("op='param' name='' shape='3'", ""), "f:5: param: a name of letters" },
    { NODE("op='param' name='p' shape='3'", "<reals>1</reals>"), "f:5: param: 0 integer" },
    { NODE("op='param' name='p' shape='0'", ""), "f:5: " },
    { NODE("op='param' name='p' shape='-3'", ""), "f:5: " },
    { NODE("op='param' name='p' shape='3 x'", ""), "f:5: expected an integer, found 'x'" },
    { NODE("op='param' name='p' shape='1 1 1 1 1'", ""), "f:5: a shape of 5 sizes" },
    { NODE("op='param' name='p' shape='9223372036854775807 2'", ""), "f:5: " },
    { NODE("op='param' name='p' shape='1000000000000'", ""), "f:5: " },
    { NODE("op='param' name='p' shape='2000000000'", ""), "f:5: the formula is too large" },
    { TAPE(
          BITS,
          "<node op='param' name='p' shape='3'/>\n<node op='param' name='p' shape='3'/>\n" SUM("0"),
          OUTPUT("2")),
      "f:5: param: the name 'p' is taken" },
    { NODE("op='constant' shape='3' name='c'", "<reals>1 2 3</reals>"), "f:5: constant: expected" },
    { NODE("op='constant'", "<reals>1 2 3</reals>"), "f:5: constant: expected a shape" },
    { NODE("op='constant' shape='3'", ""), "f:5: constant: 0 integer and 0 real" },
    { NODE("op='constant' shape='3'", "<reals>1 2</reals>"), "f:5: constant: 0 integer and 2" },
    { NODE("op='constant' shape='3'", "<reals>1 2 3 4</reals>"), "f:5: constant" },
    { NODE("op='constant' shape='3'", "<reals>1\n2\n3,5</reals>"), "f:7: expected a number" },
    { NODE("op='constant' shape='3'", "<reals>1 2 0x3</reals>"), "expected a number, found '0x3'" },
    { NODE("op='constant' shape='3'", "<reals>1 2 1e999</reals>"), "expected a number" },
    { NODE("op='constant' shape='3'", "<reals>1 2 infinity</reals>"), "expected a number" },
    { NODE("op='constant' shape='3'", "<ints>1 2 3</ints>"), "f:5: constant: 3 integer" },
    { NODE("op='constant' shape='1000000000'", "<reals>1</reals>"), "f:5: constant" },
    /* attributes and shapes: the ops' own rules */
    { NODE("op='exp' in='0'", "<ints>1</ints>"), "f:5: exp: 1 integer" },
    { NODE("op='scale' in='0'", ""), "f:5: scale: 0 integer and 0 real" },
    { NODE("op='sum' in='0'", "<ints>1</ints>"), "f:5: sum: shape [3]" },
    { NODE("op='sum' in='0'", "<ints>-9223372036854775808</ints>"), "f:5: sum" },
    { NODE("op='sum' in='0'", "<ints>1.5</ints>"), "f:5: expected an integer, found '1.5'" },
    { NODE("op='reshape' in='0'", "<ints>4</ints>"), "f:5: reshape" },
    { NODE("op='reshape' in='0'", "<ints>-1 -3</ints>"), "f:5: reshape" },
    { NODE("op='reshape' in='0'", "<ints>4294967296 4294967296 3</ints>"), "f:5: reshape" },
    { NODE("op='slice' in='0'", "<ints>0 9223372036854775807 2</ints>"), "f:5: slice" },
    { NODE("op='edges' in='0 0'", "<ints>0 1 1 2 2 3</ints>"), "f:5: edges" },
    { NODE("op='table' in='0 0'", "<ints>1 1 0</ints>"), "f:5: table" },
    { NODE("op='matvec' in='0 0'", ""), "f:5: matvec: shapes [3] and [3]" },
    { TAPE(BITS, STATE_NODE "<node op='param' name='J' shape='3 3'/><node op='quad' in='0 1'/>",
           OUTPUT("2")),
      "f:5: quad: input 1 is no symmetrise node" },
    /* files of parameters: only neighbours */
    { ROOT("version='1' params=''"), "f:1: params=''" },
    { ROOT("version='1' params='../p.safetensors'"), "params='../p.safetensors'; expected" },
    { ROOT("version='1' params='/etc/p.safetensors'"), "expected the plain name" },
    { ROOT("version='1' params='a/p.safetensors'"), "expected the plain name" },
    { ROOT("version='1' params='a\\p.safetensors'"), "expected the plain name" },
    { ROOT("version='1' params='..'"), "expected the plain name" },
    { ROOT("version='1' params='.safetensors'"), "expected the plain name" },
    { ROOT("version='1' params='passwd'"), "expected the plain name" },
    { ROOT("version='1' params='&#10;ok.safetensors'"), "expected the plain name" },
    { ROOT("version='1' params='o&#9;k.safetensors'"), "expected the plain name" },
    { ROOT("version='1' params='&#127;ok.safetensors'"), "expected the plain name" },
};

START_TEST(bad_tape_is_refused)
{
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(parse_text(bad[_i].text, &model, &err), SAL_ERR_DATA, &err, bad[_i].message);
    ck_assert(strncmp(err.message, "f:", 2) == 0);
    ck_assert_ptr_null(model);
}
END_TEST

/* Sums of a state and a parameter of many elements, each as large as allowed. */
START_TEST(total_size_is_bounded)
{
    char text[4000] = "<saltus-tape version='1' dtype='f32'><space>" BITS "</space><nodes>"
                      "<node op='param' name='p' shape='30000000'/>\n";
    for (int k = 0; k < 10; k++) {
        char node[64];
        sprintf(node, "<node op='exp' in='%d'/>\n", k);
        strcat(text, node);
    }
    strcat(text, SUM("10") "</nodes>" OUTPUT("11") "</saltus-tape>");
    sal_error err = { 0 };
    sal_model *model = NULL;
    ck_fails(parse_text(text, &model, &err), SAL_ERR_DATA, &err, "f:5: the formula is too large");
}
END_TEST

START_TEST(deep_and_many_elements_are_refused)
{
    enum { N = 5000000 };
    char *text = malloc(4 * (size_t)N + 100);
    ck_assert_ptr_nonnull(text);
    sal_error err = { 0 };
    sal_model *model = NULL;
    for (int k = 0; k < N; k++) {
        memcpy(text + 3 * (size_t)k, "<a>", 4);
    }
    ck_fails(parse_text(text, &model, &err), SAL_ERR_DATA, &err, "nested too deeply");
    strcpy(text, "<a>");
    for (int k = 0; k < N; k++) {
        memcpy(text + 3 + 4 * (size_t)k, "<b/>", 5);
    }
    ck_fails(parse_text(text, &model, &err), SAL_ERR_DATA, &err, "too many elements");
    char *end = text + sprintf(text, "<a");
    for (int k = 0; k < 150; k++) {
        end += sprintf(end, " xmlns:n%d='u'", k);
    }
    strcpy(end, "/>");
    ck_fails(parse_text(text, &model, &err), SAL_ERR_DATA, &err, "too many namespaces");
    free(text);
}
END_TEST

static sal_status parse_bytes(const void *bytes, int64_t size, sal_error *err)
{
    sal_model *model = NULL;
    char *params = NULL;
    sal_status status = sali_tape_xml_parse("mem", bytes, size, 0, &model, &params, err);
    sal_model_destroy(model);
    sal_free(params);
    return status;
}

START_TEST(every_cut_and_turned_bit_is_harmless)
{
    temp_sweep(parse_bytes, good, sizeof good - 1);
}
END_TEST

START_TEST(every_cut_is_refused)
{
    sal_error err = { 0 };
    for (int64_t n = 0; n < (int64_t)sizeof good - 2; n++) { /* the last byte is a newline */
        ck_fails(parse_bytes(good, n, &err), SAL_ERR_DATA, &err, "mem:");
    }
    ck_ok(parse_bytes(good, sizeof good - 1, &err), &err);
}
END_TEST

START_TEST(allocation_failures_are_survived)
{
    static const char text[] = TAPE(
        BITS "<block name='g' count='2' kind='ordinal'><levels>1 2</levels></block>"
             "<block name='l' count='2' kind='categorical' states='2' labels='1 1'/>",
        STATE_NODE "<node op='param' name='p' shape='9'/><node op='dot' in='0 1'/>", OUTPUT("2"));
    sal_model *model = NULL;
    ck_alloc_sweep(parse_text(text, &model, NULL), (sal_model_destroy(model), model = NULL));
    sal_model *models[] = { mixed_model(), fixed_model() };
    const char *path = temp_path("m.xml");
    for (int k = 0; k < 2; k++) {
        ck_alloc_sweep(sal_model_save(models[k], path, NULL), (void)0);
        sal_model_destroy(models[k]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tape_xml");
    TCase *tc = tcase_create("tape_xml");
    tcase_add_checked_fixture(tc, temp_dir_make, temp_dir_remove);
    tcase_add_loop_test(tc, every_op_round_trips, 0, 2 * OP_CASES);
    tcase_add_test(tc, mixed_formula_round_trips);
    tcase_add_test(tc, fixed_sums_and_labels_round_trip);
    tcase_add_test(tc, every_builtin_round_trips);
    tcase_add_test(tc, numbers_do_not_depend_on_the_locale);
    tcase_add_test(tc, hand_written_tape_is_read);
    tcase_add_test(tc, type_can_be_chosen);
    tcase_add_test(tc, nan_and_infinities_are_read);
    tcase_add_test(tc, a_million_numbers_are_read_fast);
    tcase_add_loop_test(tc, bad_tape_is_refused, 0, (int)(sizeof bad / sizeof *bad));
    tcase_add_test(tc, total_size_is_bounded);
    tcase_add_test(tc, deep_and_many_elements_are_refused);
    tcase_add_test(tc, every_cut_and_turned_bit_is_harmless);
    tcase_add_test(tc, every_cut_is_refused);
    tcase_add_test(tc, allocation_failures_are_survived);
    suite_add_tcase(suite, tc);
    return test_main(suite);
}
