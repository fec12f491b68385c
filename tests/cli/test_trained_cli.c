/* SPDX-License-Identifier: MIT */
/* The program on data and trained models, as its users call it: train, evaluate, inpaint. */
#include "cli_helpers.h"

#include <saltus/saltus.h>
#include "io/arrays/npy.h"

/* "LABEL 1:1 WIDTH:1", four rows of a libsvm file. */
static void write_sparse(const char *name, int width)
{
    char text[256];
    int n = snprintf(text, sizeof text, "1 1:1 %d:1\n2 2:1\n1 1:1 2:1\n2 3:1\n", width);
    temp_write(name, text, (size_t)n);
}

/* Rows are as long as the model's states, or else as the longer of training and test data. */
START_TEST(zeros_that_libsvm_leaves_out_come_back)
{
    write_sparse("narrow.svm", 13);
    write_sparse("wide.svm", 16);
    temp_write("narrow.csv", "1,0,0\n0,1,0\n0,0,1\n1,1,1\n", 24);
    const char *options = "--iterations 4 --batch 2 --fresh 0 --overwrite --out run";
    ck_refused(65, "expected pictures", "train rbm --data narrow.svm %s", options);
    ck_run("train rbm --data narrow.svm --test wide.svm %s", options);
    ck_run("train rbm:visible=16 --data narrow.svm --columns-from 1 %s", options);
    ck_run("train ising:side=4 --data narrow.svm --columns-from 1 --kind codes %s", options);
    ck_run("train rbm --data wide.svm --test narrow.svm %s", options);
    ck_run("train run --data narrow.svm %s",
           "--columns-from 1 --iterations 4 --batch 2 --fresh 0 --out again");
    ck_run("evaluate run --data narrow.svm --columns-from 1 --fresh 0");
    ck_run("inpaint run --data narrow.svm --columns-from 1 --mask top --steps 4 --out picture.png");
    ck_refused(64, "rows of 3 numbers; the model has 16",
               "evaluate run --kind codes --data narrow.csv");
    ck_refused(64, "rows of 16 numbers; the model has 9", "train rbm:visible=9 --data wide.svm %s",
               options);
}
END_TEST

static double exact_log_z(const char *model)
{
    ck_run("exact %s --json", model);
    json_t *json = json_out(), *z = json_object_get(json, "log_z");
    ck_assert_msg(json_is_number(z), "%s", out);
    const double value = json_number_value(z);
    json_decref(json);
    return value;
}

/* Its directory, or the formula in it. */
START_TEST(a_training_is_a_model_wherever_one_is_given)
{
    static const char *const given[] = { "run", "run/model.xml" };
    write_sparse("data.svm", 9);
    ck_run("train rbm:hidden=3 --data data.svm --batch 2 --iterations 4 --fresh 0 --out run");
    const double log_z = exact_log_z("run");
    for (int k = 0; k < 2; k++) {
        ck_run("convert %s copy.xml", given[k]);
        ck_assert_double_eq(exact_log_z("copy.xml"), log_z);
        remove(temp_path("copy.xml"));
        remove(temp_path("copy.safetensors"));
        ck_refused(64, "that ends in .xml", "convert %s copy.uai", given[k]);
    }
}
END_TEST

START_TEST(train_writes_a_model_that_sample_reads)
{
    char log[4096];
    ck_run("train rbm:hidden=16 --data digits --iterations 40 --report 20 --batch 20 --buffer 60 "
           "--out run --json");
    json_decref(json_out());
    read_all(temp_path("run/log.csv"), log, sizeof log);
    ck_assert_ptr_nonnull(strstr(log, "mmd"));
    ck_assert_ptr_nonnull(strstr(log, "\n40,"));
    ck_run("sample run/model.xml --chains 4 --draws 20 --json");
    json_t *object = json_out();
    ck_assert_int_eq(json_integer_value(json_object_get(object, "variables")), 256);
    json_decref(object);
    ck_run("check run/model.xml --program");
    ck_assert_ptr_nonnull(strstr(out, " block-gibbs "));
    ck_run("sample run --sampler block-gibbs --chains 4 --draws 20 --json"); /* its layers */
    json_decref(json_out());
    ck_run("train mlp:hidden=4,base=1,units=0 --data digits --iterations 2 --out run --overwrite");
    ck_run("check run/model.xml");
    ck_assert_ptr_nonnull(strstr(out, "variables    256"));
    temp_remove(temp_path("run"));
    ck_refused(66, "none.gz", "train rbm --data none.gz --out run");
    ck_refused(64, "--data", "train rbm --out run");
    ck_refused(64, "--data digits: rows of 256 numbers; the model has 16",
               "train rbm:visible=16 --data digits --out run");
    ck_refused(64, "the model has 100", "train ising --data digits --out run");
    temp_write("text.idx", "not pictures", 12);
    ck_refused(65, "text.idx", "train rbm --data text.idx --out run");
}
END_TEST

/* The whole way, and that the same options give the same figures for any number of threads. */
START_TEST(evaluate_reads_what_train_wrote)
{
    static const char *const keys[] = { "log_z",           "log_z_error",
                                        "log_z_jackknife", "effective_chains",
                                        "log_likelihood",  "log_likelihood_error" };
    static char first[sizeof out];
    const char *options = "--data digits --chains 12 --temperatures 12 --json";
    ck_run("train rbm:hidden=3 --data digits --out run --iterations 20 --steps 2 --threads 1");
    ck_run("evaluate run %s --threads 1", options);
    strcpy(first, out);
    json_t *object = json_out();
    for (int way = 0; way < 2; way++) {
        const json_t *part = json_object_get(object, way ? "reverse" : "forward");
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
            ck_assert_msg(json_is_number(json_object_get(part, keys[k])), "%s", keys[k]);
        }
    }
    ck_assert_str_eq(json_string_value(json_object_get(object, "reverse_from")), "test");
    ck_assert(json_is_number(json_object_get(object, "independent_log_likelihood")));
    ck_assert_ptr_null(json_object_get(object, "mmd"));
    json_decref(object);
    ck_run("evaluate run %s --threads 2", options);
    ck_assert_str_eq(out, first);
    ck_run("evaluate run --sampler block-gibbs %s", options);
    json_decref(json_out());
    ck_run("evaluate run/model.xml --params run/model.safetensors %s", options);
    ck_run("sample run/model.xml --sampler gwg --chains 4 --draws 5 --warmup 20 --out draws.npy");
    ck_run("evaluate run %s --samples draws.npy", options);
    object = json_out();
    ck_assert_str_eq(json_string_value(json_object_get(object, "reverse_from")), "samples");
    ck_assert(json_number_value(json_object_get(object, "mmd")) > 0);
    json_decref(object);
    temp_write("run/ema.safetensors", "no tensors", 10); /* is preferred to the model's own */
    ck_refused(65, "ema.safetensors", "evaluate run %s", options);
}
END_TEST

/* A denoising chain is trained, sampled from scratch and bounded; what it has not is refused. */
START_TEST(denoising_chains_are_drawn_and_bounded)
{
    static char first[sizeof out];
    const char *bound = "evaluate run --data digits --rows 12 --temperatures 300 --fresh 0 --json";
    ck_run("train strided-conv:height=16,width=16,channels=2,units=3,levels=4 --data digits "
           "--iterations 12 --report 4 --fresh 60 --batch 40 --out run");
    ck_assert_msg(strstr(out, "f(data) - f(samples)"), "%s", out);
    ck_assert_msg(strstr(out, "mean f of level 0"), "%s", out);
    ck_assert_msg(strstr(out, "MMD to as many samples with twice the steps"), "%s", out);
    ck_assert(access(temp_path("run/denoising.json"), R_OK) == 0);
    ck_run("sample run --chains 4 --draws 5 --out draws.npy --threads 1");
    ck_assert_msg(strstr(out, "4 of the training's denoising chain"), "%s", out);
    strcpy(first, out);
    ck_run("sample run --chains 4 --draws 5 --steps-per-level 4 --out pictures.png");
    ck_run("%s --threads 1", bound);
    strcpy(first, out);
    ck_run("%s --threads 2", bound);
    ck_assert_str_eq(out, first);
    json_t *object = json_out();
    const double upper = json_number_value(json_object_get(object, "bound_forward"));
    ck_assert(isfinite(upper) && upper < 0);
    ck_assert_int_eq(json_integer_value(json_object_get(object, "bound_rows")), 12);
    json_decref(object);
    ck_refused(64, "--chains does not go with the bound", "%s --chains 5", bound);
    ck_refused(64, "is a denoising chain", "exact run");
    ck_refused(64, "is a denoising chain", "sample run --ladder no");
    ck_refused(64, "is a denoising chain", "sample run --tempering 4");
    ck_refused(64, "inpaint: run is a denoising chain",
               "inpaint run --data digits --mask top --out o.png");
    ck_refused(64, "value: run is a denoising chain", "value run --state draws.npy --codes");
    ck_refused(
        64, "they go with objective denoising",
        "train strided-conv:height=16,width=16,levels=2 --objective cd --data digits --out cd");
}
END_TEST

/* Short chains of this model disagree, R-hat of f 1.25; they are drawn once more, and mostly tell:
 * of a few seeds one must, whatever the bits of this machine's arithmetic are. */
START_TEST(chains_that_disagree_are_drawn_longer)
{
    ck_run("train rbm:hidden=48 --data digits --objective pcd --sampler gwg --steps 20 "
           "--iterations 330 --learning-rate 0.003 --seed 4 --fresh 0 --out run");
    bool told = false;
    for (int seed = 0; seed < 5 && !told; seed++) {
        ck_run("evaluate run --data digits --fresh 100 --temperatures 20 --json --seed %d", seed);
        json_t *object = json_out(), *verdict = json_object_get(object, "verdict");
        told = json_number_value(json_object_get(verdict, "rhat")) < SAL_RHAT_LIMIT;
        ck_assert_str_eq(json_string_value(json_object_get(verdict, "verdict")),
                         told ? "unlike" : "unknown");
        json_decref(object);
    }
    ck_assert(told);
}
END_TEST

START_TEST(evaluate_refuses_bad_options)
{
    ck_refused(64, "--data FILE (or digits) is needed", "evaluate rbm:visible=256");
    ck_refused(64, "--schedule cubic: expected linear|sigmoid|geometric",
               "evaluate rbm:visible=256 --data digits --schedule cubic");
    ck_refused(64, "--base mean: expected data or uniform",
               "evaluate rbm:visible=256 --data digits --base mean");
    ck_refused(64, "an integer from 1 to", "evaluate rbm:visible=256 --data digits --chains 0");
    ck_refused(64, "--data digits: rows of 256 numbers; the model has 16",
               "evaluate ising:side=4 --data digits");
    ck_refused(64, "importance weights", "evaluate rbm:visible=256 --data digits --sampler dula");
    ck_refused(66, "the directory has no model.xml", "evaluate . --data digits");
    ck_run("sample ising:side=4 --draws 10 --out draws.npy");
    ck_refused(65, "--samples draws.npy: expected two states or more of 256 codes each",
               "evaluate rbm:visible=256 --data digits --samples draws.npy");
}
END_TEST

START_TEST(inpaint_fills_in_what_is_hidden)
{
    uint8_t mask[256] = { 0 };
    sal_error err = { 0 };
    static char first[1 << 16];
    ck_run("train rbm:hidden=4 --data digits --iterations 3 --steps 2 --out run");
    saltus("inpaint run --data digits --mask top --out a.png --first 3 --steps 20 --samples 2");
    if (strstr(errors, "without libpng")) {
        test_skipped("built without libpng");
        return;
    }
    ck_assert_str_eq(errors, "");
    ck_assert_ptr_nonnull(strstr(out, "3 pictures, 2 samples of each, 128 of 256 pixels hidden"));
    remove(temp_path("a.png"));
    const char *again = "inpaint run --data digits --mask center --out a.png --rows 5,0,5 "
                        "--steps 20 --json --threads %d";
    for (int threads = 1; threads < 3; threads++) {
        ck_run(again, threads);
        ck_assert(threads == 1 || strcmp(out, first) == 0);
        strcpy(first, out);
    }
    json_t *object = json_out(), *rows = json_object_get(object, "rows");
    ck_assert_int_eq(json_integer_value(json_object_get(object, "hidden")), 64);
    ck_assert_int_eq(json_integer_value(json_array_get(rows, 0)), 5);
    ck_assert_int_eq(json_integer_value(json_array_get(rows, 1)), 0);
    ck_assert_uint_eq(json_array_size(rows), 3);
    double agreement = json_real_value(json_object_get(object, "agreement"));
    ck_assert(agreement > 0 && agreement < 1);
    json_decref(object);
    ck_assert_int_eq(access(temp_path("a.png"), R_OK), 0);
    mask[3] = mask[200] = 1;
    ck_ok(sali_npy_write(temp_path("m.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ 16, 16 }, mask, &err),
          &err);
    ck_run("inpaint run/model.xml --data digits --mask m.npy --out a.png --steps 20");
    ck_assert_ptr_nonnull(strstr(out, "8 samples of each, 2 of 256 pixels hidden"));
    /* Rows may be asked for more often than the file has any. */
    ck_ok(sali_npy_write(temp_path("one.npy"), SALI_DTYPE_U8, 3, (int64_t[]){ 1, 16, 16 }, mask,
                         &err),
          &err);
    ck_run("inpaint run/model.xml --data one.npy --mask top --out a.png --steps 20 --rows 0,0,0");
    ck_assert_ptr_nonnull(strstr(out, "3 pictures, 8 samples of each"));
    /* Averaged parameters, where a training wrote them, stand for the model's: these are none. */
    temp_write("run/ema.safetensors", "none", 4);
    ck_refused(65, "ema.safetensors", "inpaint run --data digits --mask top --out a.png");
    mask[0] = 2;
    sali_npy_write(temp_path("m.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ 16, 16 }, mask, NULL);
    ck_refused(65, "element 0 is 2",
               "inpaint run/model.xml --data digits --mask m.npy --out b.png");
    sali_npy_write(temp_path("m.npy"), SALI_DTYPE_U8, 1, (int64_t[]){ 16 }, mask, NULL);
    ck_refused(65, "a mask of 16 x 16",
               "inpaint run/model.xml --data digits --mask m.npy --out b.png");
    ck_refused(64, "from 0 to 999",
               "inpaint run/model.xml --data digits --mask top --out b.png --rows 0,1000");
    ck_refused(64, "--mask and --out", "inpaint run/model.xml --data digits --out b.png");
    ck_refused(64, "256 pixels and", "inpaint ising:side=4 --data digits --mask top --out b.png");
    ck_refused(64, "b.jpg: expected a file name that ends in .png",
               "inpaint run --data digits --mask top --out b.jpg");
    ck_refused(64, "not the levels of a pixel",
               "inpaint poisson:dim=256 --data digits --mask top --out b.png");
    ck_refused(64, "--samples 0: expected an integer of 1 or more",
               "inpaint run --data digits --mask top --out b.png --samples 0");
    ck_assert_int_ne(access(temp_path("b.png"), F_OK), 0);
}
END_TEST

/* A number of the JSON that a command prints with this option. */
static double json_number_of(const char *key, const char *command, const char *option)
{
    ck_run("%s %s", command, option);
    json_t *object = json_out(), *number = json_object_get(object, key);
    ck_assert_msg(json_is_number(number), "%s", out);
    const double value = json_number_value(number);
    json_decref(object);
    return value;
}

/* Pictures of eight greys that are no squares, the whole way. */
START_TEST(grey_pictures_keep_their_shape_and_levels)
{
    enum { ROWS = 40, HEIGHT = 28, WIDTH = 20 };
    static uint8_t greys[ROWS * HEIGHT * WIDTH];
    sal_error err = { 0 };
    int sides[2];
    for (int i = 0; i < ROWS * HEIGHT * WIDTH; i++) { /* lighter downwards, by row */
        greys[i] = (uint8_t)(i / WIDTH % HEIGHT * 255 / (HEIGHT - 1) * (1 + i % 3) / 3);
    }
    ck_ok(sali_npy_write(temp_path("grey.npy"), SALI_DTYPE_U8, 3,
                         (int64_t[]){ ROWS, HEIGHT, WIDTH }, greys, &err),
          &err);
    const char *net = "conv:height=28,width=20,channels=1,project=2,states=8";
    ck_run("train %s --data grey.npy --iterations 2 --batch 4 --fresh 20 --out run --json", net);
    json_t *object = json_out(), *verdict = json_object_get(object, "verdict");
    ck_assert(json_is_object(verdict)); /* of categorical pixels too */
    json_decref(object);
    ck_run("sample run --chains 2 --draws 10 --out draws.npy");
    if (saltus("sample run --chains 2 --draws 10 --shape 28x20 --out a.png") != 0) {
        ck_assert_ptr_nonnull(strstr(errors, "libpng"));
        return;
    }
    png_sides("a.png", sides);
    ck_assert(sides[0] == 2 * (2 * HEIGHT + 1) + 1 && sides[1] == 10 * (2 * WIDTH + 1) + 1);
    png_sides("run/samples.png", sides);
    ck_assert(sides[0] % (2 * HEIGHT + 1) == 1 && sides[1] == 10 * (2 * WIDTH + 1) + 1);
    ck_run("inpaint run --data grey.npy --mask bottom --first 2 --samples 3 --steps 4 --out b.png");
    ck_assert_ptr_nonnull(strstr(out, "280 of 560 pixels hidden"));
    png_sides("b.png", sides);
    ck_assert(sides[0] == 2 * (2 * HEIGHT + 1) + 1 && sides[1] == 6 * (2 * WIDTH + 1) + 1);
    const char *key = "independent_log_likelihood";
    const char *judge = "evaluate run --data grey.npy --fresh 0 --chains 4 --temperatures 4 --json";
    ck_assert_double_eq(json_number_of(key, judge, ""), json_number_of(key, judge, "--levels 8"));
    ck_assert_double_ne(json_number_of(key, judge, ""), json_number_of(key, judge, "--levels 2"));
    ck_refused(64, "--dynamic draws black and white pixels; they have 8 grey levels",
               "evaluate run --data grey.npy --levels 8 --dynamic");
    ck_refused(64, "--levels 8: the model's pixels have 4 states",
               "train conv:height=28,width=20,channels=1,states=4 --data grey.npy --levels 8 "
               "--iterations 2 --batch 4 --out other");
    /* A net that is made for its data takes its states from its settings. */
    const char *mlp = "train mlp:hidden=2,states=8 --data grey.npy --iterations 2 --batch 4 "
                      "--fresh 0 --overwrite --out m --json";
    key = "mmd_train_test";
    ck_assert_double_eq(json_number_of(key, mlp, ""), json_number_of(key, mlp, "--levels 8"));
    ck_refused(64, "--levels 3: the model's pixels have 8 states", "%s --levels 3", mlp);
}
END_TEST

/* The sides of a net are those of its pictures: of rows without sides, and of pictures of others.
 */
START_TEST(pictures_have_the_sides_of_the_net)
{
    enum { ROWS = 12, PIXELS = 8 * 12 };
    static uint8_t greys[ROWS * PIXELS];
    sal_error err = { 0 };
    for (int i = 0; i < ROWS * PIXELS; i++) {
        greys[i] = (uint8_t)(i * 37 % 256);
    }
    ck_ok(sali_npy_write(temp_path("rows.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ ROWS, PIXELS },
                         greys, &err),
          &err);
    ck_ok(sali_npy_write(temp_path("high.npy"), SALI_DTYPE_U8, 3, (int64_t[]){ ROWS, 12, 8 }, greys,
                         &err),
          &err);
    const char *net = "train conv:height=8,width=12,channels=1,units=0 --iterations 2 --batch 4 "
                      "--fresh 0 --overwrite --out n";
    ck_run("%s --data rows.npy", net);
    ck_run("%s --data rows.npy --shape 8x12", net);
    ck_refused(65, "12 x 8", "%s --data high.npy", net);
    ck_refused(64, "--shape 12x8: the model's pictures are 8x12", "%s --data rows.npy --shape 12x8",
               net);
    /* Ordinal pixels have no base distribution, and train without one. */
    ck_run("train conv:height=8,width=12,channels=1,kind=ordinal,states=4 --data rows.npy "
           "--iterations 2 --batch 4 --fresh 0 --out o");
}
END_TEST

/* What a training's log says of its last iteration, but for the seconds that it took: equal for
 * equal pictures. */
static void train_on(const char *data, char *line, size_t room)
{
    char text[4096];
    int begin = 0;
    ck_run("train rbm:hidden=3 --data %s --out run --iterations 3 --steps 2 --batch 5 --threads 1",
           data);
    read_all(temp_path("run/log.csv"), text, sizeof text);
    sscanf(text, "%*[^\n] %*d,%*f,%*f,%*f,%n", &begin);
    ck_assert_int_gt(begin, 0);
    snprintf(line, room, "%s", text + begin);
    temp_remove(temp_path("run"));
}

/* Labels that count from 1 are the model's states, in the test data too, where one is missing. */
START_TEST(labels_from_1_are_the_states_of_a_model)
{
    enum { ROWS = 12, SITES = 16 };
    static uint8_t labels[ROWS * SITES];
    sal_error err = { 0 };
    for (int i = 0; i < ROWS * SITES; i++) {
        labels[i] = (uint8_t)(1 + i * 7 % 4);
    }
    ck_ok(sali_npy_write(temp_path("lab-train.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ ROWS, SITES },
                         labels, &err),
          &err);
    for (int i = 0; i < ROWS * SITES; i++) {
        labels[i] = labels[i] == 3 ? 1 : labels[i];
    }
    ck_ok(sali_npy_write(temp_path("lab-test.npy"), SALI_DTYPE_U8, 2, (int64_t[]){ ROWS, SITES },
                         labels, &err),
          &err);
    ck_assert_int_eq(saltus("train potts-dense:dim=16,states=4 --data lab-train.npy --out labelled "
                            "--iterations 3 --steps 1 --batch 4 --fresh 0 --json"),
                     0);
    json_t *object = json_out();
    const json_t *remarks = json_object_get(object, "remarks");
    ck_assert_int_eq((int)json_array_size(remarks), 1); /* the test data are read alike */
    ck_assert_ptr_nonnull(strstr(json_string_value(json_array_get(remarks, 0)),
                                 "lab-train.npy: the values are the whole numbers from 1 to 4, as "
                                 "many as there are levels: taken for labels"));
    ck_assert_ptr_null(json_object_get(object, "greys"));
    ck_assert_int_eq((int)json_integer_value(json_object_get(object, "test_rows")), ROWS);
    json_decref(object);
}
END_TEST

/* What was found or guessed is printed on stderr, and is in the JSON output. */
START_TEST(what_a_file_was_taken_for_is_said)
{
    static const char *const said[] = { "saltus: d.csv: line 1 (0, .., 8) counts the columns",
                                        "; greys from 0 to 16, the largest value" };
    FILE *csv = fopen(temp_path("d.csv"), "w");
    ck_assert_ptr_nonnull(csv);
    fprintf(csv, "0,1,2,3,4,5,6,7,8\n");
    for (int r = 0; r < 10; r++) {
        for (int k = 0; k < 9; k++) {
            fprintf(csv, "%d%s", (r * 71 + k * 113 + r * k * 37) % 17, k < 8 ? "," : "\n");
        }
    }
    fclose(csv);
    const char *train = "train rbm:hidden=3 --data d.csv --out run --overwrite --iterations 3 "
                        "--batch 5 --fresh 0";
    ck_assert_int_eq(saltus("%s", train), 0);
    ck_assert_msg(strstr(out, "pictures: 8 of 3 x 3, greys from 0 to 16; 2 held out"), "%s", out);
    for (int k = 0; k < 2; k++) {
        ck_assert_msg(strstr(errors, said[k]), "%s", errors);
    }
    ck_assert_int_eq(saltus("%s --json", train), 0);
    json_t *object = json_out(), *remarks = json_object_get(object, "remarks");
    const json_t *greys = json_object_get(object, "greys");
    ck_assert_uint_eq(json_array_size(remarks), 1);
    const char *remark = json_string_value(json_array_get(remarks, 0));
    ck_assert_msg(strncmp(remark, said[0] + 8, strlen(said[0] + 8)) == 0, "%s", remark);
    ck_assert_msg(strstr(remark, said[1]), "%s", remark);
    ck_assert_double_eq(json_number_value(json_array_get(greys, 1)), 16);
    json_decref(object);
    temp_write("y.csv", "0\n0.5\n-1.25\n", 12);
    temp_write("y0.csv", "0.5\n-1.25\n", 10);
    ck_assert_int_eq(saltus("exact hmm:file=y.csv --json"), 0);
    ck_assert_msg(strstr(errors, "y.csv: line 1 (0) counts the columns"), "%s", errors);
    object = json_out();
    ck_assert_uint_eq(json_array_size(json_object_get(object, "remarks")), 1);
    const double log_z = json_number_value(json_object_get(object, "log_z"));
    json_decref(object);
    ck_assert_double_eq(exact_log_z("hmm:file=y0.csv"), log_z);
    FILE *kaggle = fopen(temp_path("l.csv"), "w"); /* what the file itself says is no warning */
    ck_assert_ptr_nonnull(kaggle);
    fprintf(kaggle, "label,a,b,c,d\n");
    for (int r = 0; r < 10; r++) {
        fprintf(kaggle, "%d,0,255,%d,0\n", r, r % 2 * 255);
    }
    fclose(kaggle);
    ck_run("train rbm:hidden=3 --data l.csv --out run --overwrite --iterations 3 --batch 5 "
           "--fresh 0");
    ck_assert_msg(strstr(out,
                         "file             l.csv: line 1 (label, .., d) is a heading; the first "
                         "column has the labels\n"
                         "pictures: 8 of 2 x 2, greys from 0 to 255; 2 held out"),
                  "%s", out);
    ck_refused(64, "--columns-from '2'", "train rbm --data d.csv --columns-from 2 --out run");
    temp_write("k.csv", "0,0,0,0\n0,0,0,0\n", 16);
    ck_refused(65, "k.csv: every value is 0", "train rbm --data k.csv --out run");
}
END_TEST

/* One set of 3 x 3 pictures with values of bytes, from -1 to 1 and from 0 to 1. */
START_TEST(pictures_are_read_from_every_array_format)
{
    char idx[16 + 90] = "\0\0\10\3\0\0\0\12\0\0\0\3\0\0\0\3", first[500], line[500];
    FILE *svm = fopen(temp_path("p.svm"), "w"), *csv = fopen(temp_path("p.csv"), "w");
    ck_assert(svm && csv);
    for (int r = 0; r < 10; r++) {
        fprintf(svm, "%d", r % 3);
        for (int k = 0; k < 9; k++) {
            int grey = (r * 71 + k * 113 + r * k * 37) % 256;
            idx[16 + 9 * r + k] = (char)grey;
            fprintf(svm, " %d:%.6f", k + 1, grey / 127.5 - 1);
            fprintf(csv, "%.6f%s", grey / 255., k < 8 ? "," : "\n");
        }
        fprintf(svm, "\n");
    }
    fclose(svm);
    fclose(csv);
    temp_write("p-idx3-ubyte", idx, sizeof idx);
    train_on("p-idx3-ubyte", first, sizeof first);
    ck_run("convert p-idx3-ubyte p.npy");
    ck_assert_int_eq(saltus("convert p.svm q-idx2-ubyte"), 0);
    ck_assert_msg(strstr(errors, "p.svm: columns are counted from 1"), "%s", errors);
    static const char *const others[] = { "p.npy", "p.svm", "p.csv", "q-idx2-ubyte", NULL };
    for (int k = 0; others[k]; k++) {
        train_on(others[k], line, sizeof line);
        ck_assert_str_eq(line, first);
    }
    temp_write("r.csv", "1 2 3\n4 5 6\n", 12);
    ck_refused(
        65,
        "r.csv: 2 dimensions, the last of 3; expected pictures: three dimensions, or rows with "
        "a square number of columns. If",
        "train rbm --data r.csv --out run");
    ck_refused(64, "as in 20x16", "train rbm --data r.csv --shape 3 --out run");
    ck_refused(64, "--shape, --levels", "train rbm --data digits --shape 16x16 --out run");
    ck_refused(65, "r.csv: 2 dimensions, the last of 3; expected pictures of 3 x 3",
               "train rbm --data p.svm --test r.csv --out run");
    temp_write("u.svm", "1 1:1 4:0.5\n2 2:1\n", 18); /* zeros at the end are left out */
    train_on("p.svm --test u.svm", line, sizeof line);
    temp_write("s.csv", "1 2 3 -4\n4 5 6 7\n", 17);
    ck_refused(65, "s.csv: values from -4 to 7; expected greys from -1 to 1, or from 0",
               "train rbm --data s.csv --out run");
    temp_write("t.uai", chain_uai, sizeof chain_uai - 1);
    ck_refused(64, "t.uai: not recognised as an array", "train rbm --data t.uai --out run");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trained_cli");
    TCase *tcase = tcase_create("trained_cli");
    tcase_add_checked_fixture(tcase, temp_dir_make, temp_dir_remove);
    tcase_add_test(tcase, zeros_that_libsvm_leaves_out_come_back);
    tcase_add_test(tcase, a_training_is_a_model_wherever_one_is_given);
    tcase_add_test(tcase, train_writes_a_model_that_sample_reads);
    tcase_add_test(tcase, evaluate_reads_what_train_wrote);
    tcase_add_test(tcase, denoising_chains_are_drawn_and_bounded);
    tcase_add_test(tcase, chains_that_disagree_are_drawn_longer);
    tcase_add_test(tcase, evaluate_refuses_bad_options);
    tcase_add_test(tcase, inpaint_fills_in_what_is_hidden);
    tcase_add_test(tcase, grey_pictures_keep_their_shape_and_levels);
    tcase_add_test(tcase, pictures_have_the_sides_of_the_net);
    tcase_add_test(tcase, labels_from_1_are_the_states_of_a_model);
    tcase_add_test(tcase, what_a_file_was_taken_for_is_said);
    tcase_add_test(tcase, pictures_are_read_from_every_array_format);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
