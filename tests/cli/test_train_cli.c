/* SPDX-License-Identifier: MIT */
/* saltus train as its users call it: killed at any moment and resumed, stopped by Ctrl-C or kill,
 * options and directories. */
#include "spawn_program.h"

#include <signal.h>
#include <stdbool.h>

enum { ROWS = 60, SIDE = 3, PIXELS = SIDE * SIDE };

static void write_pictures(void)
{
    char idx[16 + ROWS * PIXELS] = "\0\0\10\3\0\0\0\0\0\0\0\3\0\0\0\3";
    idx[7] = ROWS;
    for (int i = 0; i < ROWS * PIXELS; i++) {
        idx[16 + i] = (i * 11 / 3 + i / PIXELS) % 3 == 0 ? (char)255 : 0;
    }
    temp_write("p-idx3-ubyte", idx, sizeof idx);
}

/* The log without its three columns of seconds, which are never the same. */
static void read_log(const char *name, char *out)
{
    static char text[1 << 16];
    read_text(name, text, sizeof text);
    int column = 0;
    for (const char *c = text; *c; c++) {
        column = *c == '\n' ? 0 : *c == ',' ? column + 1 : column;
        if (column < 1 || column > 3) {
            *out++ = *c;
        }
    }
    *out = '\0';
}

static void same_files(const char *a, const char *b)
{
    static char one[1 << 16], other[1 << 16];
    size_t size = read_text(a, one, sizeof one);
    ck_assert_uint_eq(size, read_text(b, other, sizeof other));
    ck_assert_mem_eq(one, other, size);
}

static void same_results(const char *a, const char *b)
{
    static const char *const names[] = { "model.safetensors", "ema.safetensors", "samples.png",
                                         "persistent.png", NULL };
    static char one[1 << 16], other[1 << 16];
    char first[64], second[64];
    for (int k = 0; names[k]; k++) {
        snprintf(first, sizeof first, "%s/%s", a, names[k]);
        snprintf(second, sizeof second, "%s/%s", b, names[k]);
        same_files(first, second);
    }
    snprintf(first, sizeof first, "%s/log.csv", a);
    snprintf(second, sizeof second, "%s/log.csv", b);
    read_log(first, one);
    read_log(second, other);
    ck_assert_str_eq(one, other);
}

static void setup(void)
{
    temp_dir_make();
    write_pictures();
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Fresh samples are few, and so are their steps. */
#define COMMAND                                                                           \
    "train rbm:hidden=3 --data p-idx3-ubyte --batch 5 --buffer 20 --steps 2 --report 10 " \
    "--checkpoint 1 --restart 0.02 --averaging 0.9 --seed 3 --fresh 50 --threads "

static bool has_checkpoint(void)
{
    return access(temp_path("parts/checkpoint.json"), F_OK) == 0;
}

START_TEST(killed_at_any_moment_it_goes_on_with_the_same_bits)
{
    static const char *const samplers[] = { "gwg", "ncg", "gibbs:scan=adaptive", "block-gibbs" };
    char command[400];
    int midway = 0, runs = 0;
    bool done = false;
    double begin = seconds();
    srand(1u + (unsigned)_i);
    snprintf(command, sizeof command, COMMAND "1 --iterations 300 --out whole --sampler %s",
             samplers[_i]);
    succeeds(command);
    long whole = (long)(1e6 * (seconds() - begin));
    while (!done) {
        snprintf(command, sizeof command,
                 COMMAND "%d --iterations 300 --out parts --resume --sampler %s", 1 + runs % 2,
                 samplers[_i]);
        pid_t pid = start(command);
        for (int k = 0; midway == 0 && k < 10000 && !has_checkpoint(); k++) {
            pause_for(1000); /* the first two fall midway, however fast the machine is */
        }
        if (++runs < 40) {
            pause_for(midway < 2 ? 1000 : whole / 40 + rand() % (whole / 8));
            kill(pid, SIGKILL);
        }
        int code = finish(pid);
        ck_assert_msg(code == 0 || code == -SIGKILL, "exit %d", code);
        done = code == 0;
        midway += !done && has_checkpoint();
    }
    ck_assert_int_ge(midway, 2);
    same_results("whole", "parts");
}
END_TEST

START_TEST(an_interrupt_saves_what_there_is)
{
    static const int signals[] = { SIGINT, SIGTERM };
    char text[2048];
    const char *command = COMMAND "1 --iterations 1000000 --out parts";
    pid_t pid = start(command);
    for (int k = 0; k < 600 && access(temp_path("parts/log.csv"), F_OK) != 0; k++) {
        pause_for(100000);
    }
    kill(pid, signals[_i]);
    ck_assert_int_eq(finish(pid), 0);
    read_text("stderr.txt", text, sizeof text);
    long long iteration = 0;
    ck_assert_int_eq(sscanf(text, "saltus: stopped after %lld iterations; --resume", &iteration),
                     1);
    ck_assert_int_ge(iteration, 10);
    char more[400];
    snprintf(more, sizeof more, COMMAND "1 --out %s --iterations %lld %s", "parts", iteration + 7,
             "--resume");
    succeeds(more);
    snprintf(more, sizeof more, COMMAND "1 --out whole --iterations %lld", iteration + 7);
    succeeds(more);
    same_files("whole/model.safetensors", "parts/model.safetensors");
}
END_TEST

/* A directory that something else was trained into: nothing of that stays with --overwrite. */
START_TEST(other_trainings_in_the_directory)
{
    succeeds(COMMAND "1 --iterations 20 --out whole");
    succeeds(COMMAND "1 --iterations 30 --out parts --sampler ncg");
    fails(65, "momentum 0.9",
          COMMAND "1 --iterations 20 --out parts --sampler ncg --resume --momentum 0.5");
    succeeds(COMMAND "1 --iterations 20 --out parts --overwrite");
    same_results("whole", "parts");
    temp_write("parts/checkpoint.json", "no JSON", 7);
    fails(65, "expected a checkpoint", COMMAND "1 --iterations 20 --out parts --resume");
    succeeds(COMMAND "1 --iterations 20 --out parts --overwrite");
    same_results("whole", "parts");
    /* Lines behind a NUL byte would be lost. */
    temp_write("parts/log.csv", "iteration,seconds\n3,1\n\0\n4,2\n", 28);
    fails(65, "parts/log.csv: expected text, found a NUL byte",
          COMMAND "1 --iterations 20 --out parts --resume");
    /* A log without a checkpoint has nothing to say of what is trained anew. */
    temp_write("parts/log.csv", "iteration,seconds\n3,1\n", 22);
    remove(temp_path("parts/checkpoint.json"));
    succeeds(COMMAND "1 --iterations 20 --out parts --resume");
    same_results("whole", "parts");
    succeeds(COMMAND "1 --iterations 20 --out parts --resume"); /* nothing is left to do */
    same_results("whole", "parts");
}
END_TEST

/* Hours of training are not lost to a command that was typed twice. */
START_TEST(an_earlier_training_is_replaced_only_on_request)
{
    static char before[1 << 16], after[1 << 16];
    const char *command = "train rbm:hidden=3 --data p-idx3-ubyte --batch 5 --iterations 4 "
                          "--fresh 0 --averaging 0.9 --out parts";
    char again[300];
    succeeds(command);
    size_t size = read_text("parts/log.csv", before, sizeof before);
    fails(64,
          "--out parts holds an earlier training (model.xml, model.safetensors, log.csv, "
          "checkpoint.json); give --resume to go on with it, or --overwrite to replace it",
          command);
    ck_assert_uint_eq(size, read_text("parts/log.csv", after, sizeof after));
    ck_assert_mem_eq(before, after, size);
    snprintf(again, sizeof again, "%s --resume", command);
    succeeds(again);
    snprintf(again, sizeof again, "%s --resume --overwrite", command);
    fails(64, "give --resume or --overwrite, not both", again);
    snprintf(again, sizeof again, "%s --overwrite --averaging 0", command);
    temp_write("parts/notes.txt", "mine", 4);
    succeeds(again); /* averages of the earlier one would be opened as the model's */
    ck_assert_int_ne(access(temp_path("parts/ema.safetensors"), F_OK), 0);
    ck_assert_int_eq(access(temp_path("parts/notes.txt"), F_OK), 0);
    static const char *const files[] = { "checkpoint.json", "model.xml", "model.safetensors" };
    for (int k = 0; k < 3; k++) { /* what a training died of */
        char path[64];
        snprintf(path, sizeof path, "parts/%s", files[k]);
        remove(temp_path(path));
    }
    fails(64, "holds an earlier training (log.csv)", command);
    remove(temp_path("parts/log.csv"));
    succeeds(command);
}
END_TEST

#define LADDER                                                                            \
    "train rbm:hidden=3 --data p-idx3-ubyte --objective ptt --batch 5 --steps 2 --fresh " \
    "20 --report 10 --threads 1 --out parts --optimiser adam --rate-cooldown 0 "

/* Levels that another sampler made serve the new one, also in a ladder that is opened again. */
START_TEST(a_ladder_goes_on_with_another_sampler)
{
    static char text[1 << 14];
    succeeds(LADDER "--sampler ncg --learning-rate 0.1 --iterations 60");
    succeeds(LADDER "--sampler gibbs --learning-rate 0.05 --iterations 90 --resume");
    read_text("stderr.txt", text, sizeof text);
    ck_assert_msg(strstr(text, "resumed at iteration 60 with learning rate 0.05 instead of 0.1, "
                               "sampler \"gibbs\" instead of \"ncg\"\n"),
                  "%s", text);
    read_text("parts/ladder/ladder.json", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\"sampler\": \"gibbs\""));
    succeeds("sample parts --ladder yes --chains 4 --draws 10");
    succeeds(LADDER "--sampler ncg --learning-rate 0.05 --iterations 120 --resume");
    succeeds("sample parts --ladder yes --chains 4 --draws 10");
}
END_TEST

/* The advice after a divergence can be followed. */
START_TEST(a_training_that_diverged_goes_on_with_a_smaller_rate)
{
    static char text[1 << 14];
    fails(65, "diverged",
          COMMAND "1 --out parts --iterations 400 --learning-rate 5 --largest-difference 20");
    ck_assert_int_eq(access(temp_path("parts/checkpoint.json"), F_OK), 0);
    succeeds(COMMAND "1 --out parts --iterations 400 --learning-rate 1e-5 --resume --steps 3");
    read_text("stderr.txt", text, sizeof text);
    const char *line = strstr(text, "saltus: resumed at iteration ");
    ck_assert_msg(line && strstr(line, " with learning rate 1e-5 instead of 5.0, steps 3 instead "
                                       "of 2\n"),
                  "%s", text);
    read_text("parts/checkpoint.json", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\"resumes\": ["));
}
END_TEST

/* A net of bits goes on from its RBM, which is trained first, in a directory of its own; stopped in
 * either, it goes on to the same bits. */
START_TEST(a_net_goes_on_from_its_rbm)
{
#define NET                                                                                   \
    "train mlp:hidden=4,layers=1,units=3 --data p-idx3-ubyte --iterations 20 --checkpoint 5 " \
    "--seed 3 --threads 1 --fresh 0 --out "
    static char text[1 << 16];
    succeeds(NET "whole");
    read_text("stderr.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "first rbm:hidden=3, whose ladder the net goes on from"));
    succeeds("exact whole/first");
    succeeds(NET "parts --time 1s");
    for (int k = 0; k < 50 && access(temp_path("parts/model.safetensors"), F_OK) != 0; k++) {
        succeeds(NET "parts --resume --time 1s");
    }
    succeeds(NET "parts --resume");
    same_files("whole/model.safetensors", "parts/model.safetensors");
    same_files("whole/first/model.safetensors", "parts/first/model.safetensors");
    fails(64, "earlier training", NET "whole");
    succeeds(NET "whole --overwrite --json");
    read_text("stdout.txt", text, sizeof text);
    ck_assert_int_eq(text[0], '{');
    ck_assert(!strstr(text, "}\n{"));

    succeeds("train mlp:hidden=4,layers=1,units=3 --data p-idx3-ubyte --iterations 20 --seed 3 "
             "--threads 1 --fresh 0 --from whole/first --out again");
    read_text("again/log.csv", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\n20,"));
    fails(64, "--from goes with --objective ptt",
          "train mlp:hidden=4,units=3 --objective pcd --data p-idx3-ubyte --from whole/first --out "
          "b");
    ck_assert_int_ne(access(temp_path("b"), F_OK), 0);
    fails(66, "nowhere", "train mlp:hidden=4,units=3 --data p-idx3-ubyte --from nowhere --out b");
    fails(64, "nothing", NET "wrong --fixed nothing");
    ck_assert_int_ne(access(temp_path("wrong/first"), F_OK), 0); /* not after the first stage */
    fails(64, "hiden", "train mlp:hiden=4,units=3 --data p-idx3-ubyte --out wrong");
    ck_assert_int_ne(access(temp_path("wrong/first"), F_OK), 0); /* not after the first stage */
    fails(64, "no parameter W",
          "train mlp:hidden=4,units=2 --data p-idx3-ubyte --from whole/first --out b");
}
END_TEST

START_TEST(options_of_training_are_checked)
{
    const char *data = "train rbm:hidden=3 --data p-idx3-ubyte --out parts ";
    const struct {
        int code;
        const char *text, *options;
    } cases[] = {
        { 64, "expected an integer from 1 to 2147483647, or -1", "--steps 0" },
        { 64, "expected an integer of 1 or more", "--iterations 0" },
        { 64, "expected an integer from 1 to", "--batch 0" },
        { 64, "expected an integer of 1 or more", "--report 0" },
        { 64, "expected a number above 0", "--learning-rate 0" },
        { 64, "expected a number above 0", "--epsilon 0" },
        { 64, "expected a number above 0", "--largest-difference 0" },
        { 64, "buffer.restart goes with persistent chains", "--objective cd --restart 0.1" },
        { 64, "--objective cdk: expected pcd|cd|pseudo-likelihood|ptt", "--objective cdk" },
        { 64, "--optimiser rms: expected adam|adamw|sgd", "--optimiser rms" },
        { 64, "--rate-schedule x: expected constant|cosine|exponential", "--rate-schedule x" },
        { 64, "--buffer-start x: expected mean|uniform|data", "--buffer-start x" },
        { 64, "--checkpoint -2: expected an integer of 1 or more", "--checkpoint -2" },
        { 64, "--restart 1.5: expected a number from 0 to 1", "--restart 1.5" },
        { 64, "l1 needs the names of couplings", "--l1 0.1" },
        { 64, "no parameter is called 'K'", "--fixed K" },
        { 64, "which gwg does not take", "--data-covariance" },
        { 64, "--kind rows: expected pictures|codes|draws|alignment", "--kind rows" },
        { 64, "expected f32 or f64", "--dtype f16" },
        { 64, "--fresh must be 0 to", "--fresh -1" },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char command[300];
        snprintf(command, sizeof command, "%s%s", data, cases[k].options);
        fails(cases[k].code, cases[k].text, command);
    }
    fails(74, "p-idx3-ubyte", "train rbm:hidden=3 --data p-idx3-ubyte --out p-idx3-ubyte");
    fails(74, "none/out", "train rbm:hidden=3 --data p-idx3-ubyte --out none/out");
}
END_TEST

/* Such as what a training leaves that was killed before its first report. */
START_TEST(a_directory_does_not_hide_a_ready_made_model)
{
    ck_assert_int_eq(mkdir(temp_path("rbm"), 0700), 0);
    succeeds("train rbm --data p-idx3-ubyte --batch 10 --iterations 2 --fresh 0 --out rbm");
    ck_assert_int_eq(access(temp_path("rbm/ladder/ladder.json"), F_OK), 0); /* what suits it */
    fails(64, "holds an earlier training",
          "train rbm --data p-idx3-ubyte --iterations 2 --fresh 0 --out rbm");
}
END_TEST

/* A 0 that is given is one: not the default. */
START_TEST(zeros_are_taken_at_their_word)
{
    static const char *const runs[][3] = {
        { "--optimiser sgd --momentum 0.9", "--optimiser sgd --momentum 0",
          "--optimiser sgd --momentum -1" },
        { "--epsilon 1", "--epsilon 1 --beta2 0", "--epsilon 1 --beta2 -1" },
    };
    static char usual[1 << 12], zero[1 << 12], none[1 << 12];
    for (int k = 0; k < 2; k++) {
        char *const texts[] = { usual, zero, none };
        size_t size = 0;
        for (int i = 0; i < 3; i++) {
            char command[300];
            snprintf(command, sizeof command, COMMAND "1 --iterations 5 --out whole --overwrite %s",
                     runs[k][i]);
            succeeds(command);
            size = read_text("whole/model.safetensors", texts[i], sizeof usual);
        }
        ck_assert_mem_ne(usual, zero, size);
        ck_assert_mem_eq(zero, none, size);
    }
}
END_TEST

/* JSON is UTF-8, paths need not be. */
START_TEST(paths_of_any_bytes_are_taken)
{
    const char
        graph[] = "9 2\n1 2 1\n8 9 1\n",
        *command =
            "train ising:file=g\377.gset --data p-idx3-ubyte --out whole --iterations 2 --batch 5 "
            "--buffer 5 --steps 1 --json";
    char text[4096];
    temp_write("g\377.gset", graph, sizeof graph - 1);
    succeeds(command);
    read_text("stdout.txt", text, sizeof text);
    ck_assert_msg(strstr(text, "file=g\357\277\275.gset") != NULL, "%s", text);
    succeeds("exact ising:file=g\377.gset --json");
}
END_TEST

/* Draws of other models than nets of pictures; and what does not fit. */
START_TEST(draws_and_codes_are_data_too)
{
    char text[4096];
    succeeds("sample ising:side=4,theta=0.1 --chains 8 --draws 50 --out d.npy");
    succeeds("train ising:side=4,theta=0.1 --data d.npy --kind draws --out parts --batch 20 "
             "--iterations 1 --learning-rate 1e-9 --steps 4");
    succeeds("exact parts"); /* training started at theta = 0, where log Z is 16 log 2 */
    read_text("stdout.txt", text, sizeof text);
    ck_assert_msg(strstr(text, "11.09035"), "%s", text);
    succeeds("train ising:side=4,theta=0.1 --data d.npy --kind draws --out parts --batch 20 "
             "--iterations 1 --learning-rate 1e-9 --steps 4 --resume");
    read_text("stdout.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "nothing left to do"));
    for (int weight = 1; weight <= 2; weight++) { /* the same file with other constants */
        char graph[512] = "16 16\n";
        for (int k = 0; k < 16; k++) {
            size_t used = strlen(graph);
            snprintf(graph + used, sizeof graph - used, "%d %d %d\n", k + 1, (k + 1) % 16 + 1,
                     weight);
        }
        temp_write("g.gset", graph, strlen(graph));
        const char *command = "train ising:file=g.gset --data d.npy --kind draws --out ring "
                              "--batch 20 --iterations 2 --steps 4 --resume";
        if (weight == 1) {
            succeeds(command);
        } else {
            fails(65, "structure", command);
        }
    }
    succeeds("train parts --data d.npy --kind draws --out again --batch 20 --iterations 2");
    succeeds("sample potts:side=3,states=4 --chains 4 --draws 20 --out e.npy");
    fails(64, "code 3; expected 0 to 2",
          "train categorical:dim=9,states=3 --data e.npy --kind draws --out parts");
    succeeds("train categorical:dim=9,states=4 --data e.npy --kind draws --out again --overwrite "
             "--batch 20 --iterations 3 --objective pseudo-likelihood");
    fails(64, "no --test, --kind", "train rbm --data digits --kind codes --out parts");
}
END_TEST

/* Words of options mean what they say. */
START_TEST(objectives_and_optimisers_by_name)
{
    char text[4096];
    succeeds("train rbm:hidden=3 --data p-idx3-ubyte --out parts --batch 5 --iterations 4 "
             "--objective pseudo-likelihood --optimiser sgd --momentum -1");
    read_text("stdout.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "log pseudo-likelihood"));
    ck_assert_ptr_null(strstr(text, "persistent.png"));
    ck_assert_int_ne(access(temp_path("parts/persistent.png"), F_OK), 0);
    succeeds(
        "train rbm:hidden=3 --data p-idx3-ubyte --out parts --batch 5 --iterations 4 --overwrite "
        "--objective cd --optimiser adamw --weight-decay 0.1 --averaging 0.5");
    read_text("stdout.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "samples.png, verdict.json, ema.safetensors"));
    read_text("parts/checkpoint.json", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\"objective\": \"cd\""));
    ck_assert_ptr_nonnull(strstr(text, "\"optimiser\": \"adamw\""));
}
END_TEST

/* 32 sequences of 6 sites, in pairs that differ at one site: 16 clusters at 80%. */
static void write_rna(void)
{
    char text[1000];
    size_t n = 0;
    for (int r = 0; r < 32; r++) {
        int a = r / 2 % 4, b = r / 8;
        const int codes[] = {
            1 + a, 1 + b, 1 + (a + b) % 4, 1 + (a + 2 * b) % 4, 1 + (a + 3 * b) % 4, r % 2 ? 0 : 3
        };
        n += (size_t)sprintf(text + n, ">s%d\n", r);
        for (int i = 0; i < 6; i++) {
            text[n++] = "-ACGU"[codes[i]];
        }
        text[n++] = '\n';
    }
    temp_write("rna.fa", text, n);
}

static bool printed(const char *what)
{
    char text[4096];
    read_text("stdout.txt", text, sizeof text);
    return strstr(text, what) != NULL;
}

#define RNA "train potts-alignment:file=rna.fa --out parts --batch 10 --buffer 20 --steps 5 "

/* The alignment of the model is the data; rows alike are held out or stay together, and share their
 * weight. */
START_TEST(a_model_of_an_alignment_needs_no_other_data)
{
    static char text[1 << 14], log[1 << 14];
    write_rna();
    succeeds(RNA "--iterations 4 --report 2");
    ck_assert(printed("alignment: 30 sequences of 6 sites (rna), 15.0 effective; 2 held out (of 16 "
                      "clusters at 80% identity)\n"));
    ck_assert(printed("  Pearson "));
    read_text("parts/log.csv", log, sizeof log);
    ck_assert_ptr_nonnull(strstr(log, ",log_likelihood,pearson,density\n2,"));
    succeeds(RNA "--iterations 4 --data rna.fa --json --resume");
    succeeds(RNA "--iterations 4 --identity 0 --test-identity 0 --overwrite");
    ck_assert(printed("29 sequences of 6 sites (rna), 29.0 effective; 3 held out\n"));
    succeeds(RNA "--iterations 4 --test-identity 0.1 --overwrite"); /* one cluster */
    ck_assert(printed("29 sequences of 6 sites (rna), 14.5 effective; 3 held out\n"));
    read_text("stderr.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "nearly all of the 32 rows are of one cluster, of 1 in all; "
                                       "a random tenth is held out\n"));
    succeeds("train potts-alignment:file=rna.fa,alphabet=protein --out parts --batch 10 --buffer "
             "20 --iterations 2 --overwrite");
    ck_assert(printed("(protein)"));
    succeeds(RNA "--iterations 2 --test rna.fa --overwrite");
    ck_assert(printed("32 sequences of 6 sites (rna), 16.0 effective; 32 held out\n"));
    fails(64,
          "--data rna.fa: the 21 letters of the alphabet protein; the model's variables have 5 "
          "states",
          RNA "--alphabet protein");
    fails(64, "alphabet=x; expected auto, protein, rna, dna or", RNA "--alphabet x");
    fails(64, "--test-identity 2; expected a number from 0 to 1", RNA "--test-identity 2");
    fails(64, "train: --data FILE (or digits) is needed", RNA "--kind codes");
    fails(64, "train: --data FILE (or digits) is needed", "train rbm --out parts");
    fails(64, "--test-identity goes with alignments",
          "train rbm:hidden=3 --data p-idx3-ubyte --out parts --test-identity 0.8");
    fails(64, "identity, alphabet, unknown and duplicates are for alignments",
          "train rbm:hidden=3 --data p-idx3-ubyte --out parts --identity 0.8");
    fails(64, "no --test, --kind", "train rbm --data digits --out parts --identity 0.8");
}
END_TEST

/* Write temp_path("dna.fa"): 24 sequences of 5 bases. */
static void write_dna(void)
{
    char text[1000];
    size_t n = 0;
    for (int r = 0; r < 24; r++) {
        n += (size_t)sprintf(text + n, ">s%d\n%c%c%c%c%c\n", r, "ACGT"[r % 4], "ACGT"[r / 4 % 4],
                             "ACGT"[r / 2 % 4], "ACGT"[(r + r / 4) % 4], "-T"[r / 12]);
    }
    temp_write("dna.fa", text, n);
}

/* The letters of an RBM are those of its data or of its specification, and stay with the model that
 * is saved. */
START_TEST(an_rbm_of_letters_keeps_the_letters)
{
    static char text[1 << 14];
    static const char *const same[] = { "", ",states=5", ",states=5,visible=5", ",alphabet=auto",
                                        ",alphabet=dna" };
    write_dna();
    for (int k = 0; k < 5; k++) {
        char command[300];
        snprintf(command, sizeof command,
                 "train rbm:kind=categorical,hidden=2%s --data dna.fa --out dna --kind alignment "
                 "--batch 10 --reservoir 50 --iterations 2 --fresh 0 --overwrite",
                 same[k]);
        succeeds(command);
        read_text("dna/model.xml", text, sizeof text);
        ck_assert_ptr_nonnull(strstr(text, "letters=\"-ACGT\""));
    }
    succeeds("sample dna --draws 20 --chains 2 --seed 1 --out new.fasta");
    read_text("new.fasta", text, sizeof text);
    ck_assert_ptr_nonnull(strpbrk(text, "T"));
    ck_assert_ptr_null(strpbrk(text, "U"));
    succeeds("train rbm:kind=categorical,hidden=2,alphabet=ACGT --data dna.fa --out four --batch 5 "
             "--reservoir 50 --iterations 2 --fresh 0");
    ck_assert(printed("sequences of 5 sites (ACGT)"));
    succeeds("sample rbm:visible=5,hidden=2,kind=categorical,alphabet=-HP --draws 20 --out hp.aln");
    read_text("hp.aln", text, sizeof text);
    ck_assert_uint_eq(strspn(text, "-HP\n"), strlen(text));
    fails(64, "the 5 letters of the alphabet dna; the model's variables have 21 states, -ACDEF",
          "train rbm:kind=categorical,alphabet=protein --data dna.fa --alphabet dna --out no");
    fails(64, "the 21 letters of the alphabet protein; the model's variables have 5 states, -ACGT",
          "evaluate dna --data dna.fa --kind alignment --alphabet protein");
}
END_TEST

/* An RBM of letters takes its sites and its alphabet from the alignment, whose sequences have
 * weights; its draws are sequences. An RBM of greys takes its levels from the pictures. */
START_TEST(an_rbm_of_letters_needs_only_the_alignment)
{
    static char text[1 << 14];
    write_rna();
    succeeds("train rbm:kind=categorical,hidden=4 --data rna.fa --out letters --batch 10 "
             "--reservoir 50 --iterations 4 --report 2 --fresh 20");
    ck_assert(printed("alignment: 30 sequences of 6 sites (rna), 15.0 effective; 2 held out"));
    ck_assert(printed("  Pearson "));
    succeeds("sample letters --draws 3 --chains 2 --out new.fasta");
    read_text("new.fasta", text, sizeof text);
    ck_assert_int_eq(strncmp(text, ">chain1_draw1\n", 14), 0);
    ck_assert_uint_eq(strspn(text + 14, "-ACGU"), 6);
    succeeds("exact letters");
    ck_assert(printed("6 variables"));
    succeeds("convert letters letters.dat");
    read_text("stderr.txt", text, sizeof text);
    ck_assert_str_eq(text,
                     "saltus: letters: an RBM, of which the terms of one and of two sites are "
                     "written, without those of three and more sites\n");
    succeeds("exact letters.dat");
    succeeds("train rbm:kind=categorical,states=5,hidden=4 --data rna.fa --kind alignment --out "
             "five --batch 10 --iterations 2 --fresh 0 --objective pcd --sampler block-gibbs");
    succeeds("train rbm:kind=categorical,states=5,hidden=4,hidden_kind=drelu --data rna.fa --kind "
             "alignment --out drelu --batch 10 --iterations 2 --fresh 0 --reservoir 20");
    succeeds("convert drelu drelu.dat");
    succeeds("exact drelu.dat");
    fails(64, "the 5 letters of the alphabet rna; the model's variables have 21 states",
          "train rbm:kind=categorical,states=21 --data rna.fa --kind alignment --out six");
    succeeds("train rbm:kind=ordinal,states=3,hidden=3,hidden_kind=gaussian --data p-idx3-ubyte "
             "--out greys --batch 5 --reservoir 20 --iterations 4 --fresh 20");
    succeeds("train rbm:kind=ordinal,hidden=3,hidden_kind=spin --levels 4 --data p-idx3-ubyte "
             "--out more --batch 5 --iterations 2 --fresh 0");
    succeeds("check more");
    ck_assert(printed("variables    9, embedding of 9 reals"));
}
END_TEST

/* Training stops at the first report where the pairs agree so well, and goes on from there. */
START_TEST(training_stops_at_a_pearson_correlation)
{
    static char text[1 << 14];
    write_rna();
    succeeds(RNA "--iterations 2000 --report 5 --learning-rate 0.02 --pearson 0.3");
    read_text("stdout.txt", text, sizeof text);
    const char *line = strstr(text, "stopped after ");
    ck_assert_msg(line != NULL, "%s", text);
    long long iterations = 0;
    double pearson = 0;
    ck_assert_int_eq(sscanf(line, "stopped after %lld iterations: the Pearson correlation is %lf",
                            &iterations, &pearson),
                     2);
    ck_assert(iterations % 5 == 0 && iterations < 2000 && pearson >= 0.3);
    read_text("parts/checkpoint.json", text, sizeof text);
    char want[64];
    snprintf(want, sizeof want, "\"iteration\": %lld", iterations);
    ck_assert_msg(strstr(text, want) != NULL, "%s", text);
    succeeds("train potts-alignment:file=rna.fa --out parts --overwrite"); /* as suggested */
    ck_assert(printed("and --pearson 0.95\n"));
    fails(64, "--pearson 1: expected a number from 0 to below 1", RNA "--pearson 1");
    fails(64, "which objective pseudo-likelihood does not have",
          "train potts-alignment:file=rna.fa --out parts --overwrite --batch 10 --pearson 0.9 "
          "--objective pseudo-likelihood");
}
END_TEST

/* What is suggested stays beside an option that goes with it. */
START_TEST(suggestions_stay_beside_what_is_given)
{
    static const struct {
        const char *given, *sampler;
        int batch;
    } cases[] = { { "--buffer 100", "gibbs", 100 },
                  { "--objective pcd --batch 90", "gibbs", 90 },
                  { "--sampler gwg --buffer 80 --steps 2", "gwg", 80 } };
    static char text[1 << 14];
    write_rna();
    for (int k = 0; k < 3; k++) {
        char line[64];
        snprintf(text, sizeof text,
                 "train potts-alignment:file=rna.fa --out parts --overwrite --fresh 0 "
                 "--iterations 2 %s",
                 cases[k].given);
        succeeds(text);
        read_text("parts/checkpoint.json", text, sizeof text);
        ck_assert(strstr(text, "\"optimiser\": \"sgd\"") && strstr(text, ": 0.04"));
        snprintf(line, sizeof line, "\"sampler\": \"%s\"", cases[k].sampler);
        ck_assert_msg(strstr(text, line) != NULL, "%s: %s", line, text);
        snprintf(line, sizeof line, "\"batch\": %d,", cases[k].batch);
        ck_assert_msg(strstr(text, line) != NULL, "%s: %s", line, text);
    }
}
END_TEST

#define SPARSE "train potts-alignment:file=rna.fa --out parts --overwrite --fresh 0 --report 5 "

/* The percentage of active couplings in the last line but one. */
static double active_percent(void)
{
    static char text[1 << 14];
    read_text("stdout.txt", text, sizeof text);
    const char *line = strstr(text, "of the couplings ");
    double percent = 0;
    ck_assert_msg(line && sscanf(line, "of the couplings %lf%% are active", &percent) == 1, "%s",
                  text);
    return percent;
}

/* The number of couplings in what `convert` makes of the model. */
static int converted_couplings(void)
{
    static char text[1 << 15];
    int couplings = 0;
    succeeds("convert parts p.dat");
    read_text("p.dat", text, sizeof text);
    for (const char *at = text; (at = strstr(at, "J ")); at++) {
        couplings++;
    }
    return couplings;
}

/* Both ways to few couplings end at a correlation; reports, the last line and JSON tell the
 * density, and parameters are written without what is not active. There are 375 couplings. */
START_TEST(couplings_are_activated_and_removed)
{
    static char text[1 << 14];
    write_rna();
    succeeds(SPARSE "--sparsity activate --sparsity-every 5 --sparsity-share 0.01 --pearson 0.6 "
                    "--learning-rate 0.5 --iterations 400");
    ck_assert(printed("  density 0.0") && printed("and --pearson 0.6\n"));
    const double percent = active_percent();
    const int couplings = converted_couplings();
    ck_assert_msg(percent > 0 && percent < 20, "%g%%", percent);
    ck_assert_msg(couplings > 0 && couplings <= percent * 3.75 + 0.1, "%d", couplings);
    read_text("parts/log.csv", text, sizeof text);
    ck_assert(strstr(text, ",density\n5,") && !strstr(text, "nan\n"));
    succeeds(SPARSE "--sparsity decimate --density 0.2 --sparsity-share 0.3 --pearson 0.4");
    ck_assert(printed("and --pearson 0.4\n"));
    ck_assert_double_eq(active_percent(), 20);
    ck_assert_int_eq(converted_couplings(), 75);
    succeeds(SPARSE "--iterations 3 --sparsity activate --json");
    read_text("stdout.txt", text, sizeof text);
    ck_assert_msg(strstr(text, "\"density\": 0.0") != NULL, "%s", text);
    fails(64, "sparsity decimate changes the model between updates: it goes with objective pcd",
          SPARSE "--objective ptt --batch 10 --sparsity decimate");
    fails(64, "sparsity.density goes with a method of sparsity", SPARSE "--density 0.1");
}
END_TEST

/* The log tells the rate of each report. */
START_TEST(the_learning_rate_falls_as_scheduled)
{
    static const char *const schedules[] = { "constant", "cosine", "exponential" };
    static const double last[] = { 0.001, 0.001 * 0.0244717, 0.001 * 0.0158489 }; /* t / T = 0.9 */
    static char text[1 << 14];
    char command[400];
    snprintf(command, sizeof command,
             COMMAND "1 --out parts --overwrite --fresh 0 --iterations 10 --rate-schedule %s",
             schedules[_i]);
    succeeds(command);
    read_text("parts/log.csv", text, sizeof text);
    const char *column = strrchr(text, '\n') - 1;
    while (*column != '\n') {
        column--;
    }
    for (int k = 0; k < 13; k++) {
        column = strchr(column, ',') + 1;
    }
    ck_assert_double_eq_tol(strtod(column, NULL), last[_i], 1e-8);
}
END_TEST

/* Samples from scratch, at the end only; and none where none are wanted. */
START_TEST(training_ends_with_a_verdict)
{
    static char text[1 << 14];
    succeeds(COMMAND "1 --iterations 20 --out whole");
    read_text("stdout.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "fresh samples"));
    ck_assert(strstr(text, "\nCannot tell: ") || strstr(text, "\nThe model's own samples are NOT"));
    read_text("whole/verdict.json", text, sizeof text);
    ck_assert(strstr(text, "\"verdict\": \"unknown\"") || strstr(text, "\"verdict\": \"unlike\""));
    ck_assert_ptr_nonnull(strstr(text, "\"sentence\": \""));
    ck_assert_ptr_nonnull(strstr(text, "\"persistent_rows\": 20"));
    ck_assert_ptr_nonnull(strstr(text, "\"bennett\": null"));
    succeeds(COMMAND "2 --iterations 20 --out parts");
    same_files("whole/verdict.json", "parts/verdict.json");
    /* What was cut off at its end is made up for, and what is of an earlier training is no more. */
    remove(temp_path("parts/verdict.json"));
    remove(temp_path("parts/samples.png"));
    succeeds(COMMAND "1 --iterations 20 --out parts --resume");
    same_files("whole/verdict.json", "parts/verdict.json");
    same_files("whole/samples.png", "parts/samples.png");
    succeeds(COMMAND "1 --iterations 20 --out parts --fresh 0 --overwrite");
    ck_assert_int_ne(access(temp_path("parts/verdict.json"), F_OK), 0);
    ck_assert_int_ne(access(temp_path("parts/samples.png"), F_OK), 0);
    ck_assert_int_eq(access(temp_path("parts/persistent.png"), F_OK), 0);
}
END_TEST

/* The training rows themselves are held out, which is nearer than chance; then white pictures. */
START_TEST(a_baseline_of_no_difference_is_below_noise)
{
    const char *const tests[] = { "p-idx3-ubyte", "white-idx3-ubyte" };
    char command[400], text[4096], log[4096], white[16 + 4 * PIXELS];
    memcpy(white, "\0\0\10\3\0\0\0\4\0\0\0\3\0\0\0\3", 16);
    memset(white + 16, 255, sizeof white - 16);
    white[16] = 0; /* files of one grey are refused */
    temp_write("white-idx3-ubyte", white, sizeof white);
    for (int k = 0; k < 2; k++) {
        snprintf(command, sizeof command,
                 COMMAND "1 --iterations 10 --out parts --overwrite "
                         "--test %s",
                 tests[k]);
        succeeds(command);
        read_text("stdout.txt", text, sizeof text);
        ck_assert_msg(strstr(text, k ? "(train-test 0." : "(train-test below noise)"), "%s", text);
        /* the figures of the log are numbers: its columns 12 and 13 */
        double mmd, baseline;
        read_text("parts/log.csv", log, sizeof log);
        const char *line = strstr(log, "\n10,");
        for (int column = 0; line && column < 11; column++) {
            line = strchr(line + 1, ',');
        }
        ck_assert_int_eq(line ? sscanf(line, ",%lf,%lf,", &mmd, &baseline) : 0, 2);
        ck_assert(k ? baseline > 0.1 : baseline == 0);
    }
}
END_TEST

/* Not samples that draw on the training's chains: those are the data, and the model is none. */
START_TEST(the_verdict_is_on_the_model_not_on_the_chains)
{
    static char text[1 << 14];
    succeeds("train rbm:hidden=3 --data digits --out parts --iterations 1 --buffer-start data "
             "--steps 1 --batch 1 --learning-rate 1e-9");
    read_text("parts/verdict.json", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "\"verdict\": \"unlike\""));
    read_text("stdout.txt", text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "NOT like the data: their covariances"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("train_cli");
    TCase *tcase = tcase_create("train_cli");
    tcase_add_checked_fixture(tcase, setup, temp_dir_remove);
    tcase_add_loop_test(tcase, killed_at_any_moment_it_goes_on_with_the_same_bits, 0, 4);
    tcase_add_loop_test(tcase, an_interrupt_saves_what_there_is, 0, 2);
    tcase_add_test(tcase, other_trainings_in_the_directory);
    tcase_add_test(tcase, an_earlier_training_is_replaced_only_on_request);
    tcase_add_test(tcase, a_training_that_diverged_goes_on_with_a_smaller_rate);
    tcase_add_test(tcase, a_ladder_goes_on_with_another_sampler);
    tcase_add_test(tcase, a_net_goes_on_from_its_rbm);
    tcase_add_test(tcase, options_of_training_are_checked);
    tcase_add_test(tcase, a_directory_does_not_hide_a_ready_made_model);
    tcase_add_test(tcase, paths_of_any_bytes_are_taken);
    tcase_add_test(tcase, zeros_are_taken_at_their_word);
    tcase_add_test(tcase, draws_and_codes_are_data_too);
    tcase_add_test(tcase, objectives_and_optimisers_by_name);
    tcase_add_test(tcase, a_model_of_an_alignment_needs_no_other_data);
    tcase_add_test(tcase, an_rbm_of_letters_needs_only_the_alignment);
    tcase_add_test(tcase, an_rbm_of_letters_keeps_the_letters);
    tcase_add_test(tcase, training_stops_at_a_pearson_correlation);
    tcase_add_test(tcase, suggestions_stay_beside_what_is_given);
    tcase_add_test(tcase, couplings_are_activated_and_removed);
    tcase_add_loop_test(tcase, the_learning_rate_falls_as_scheduled, 0, 3);
    tcase_add_test(tcase, training_ends_with_a_verdict);
    tcase_add_test(tcase, a_baseline_of_no_difference_is_below_noise);
    tcase_add_test(tcase, the_verdict_is_on_the_model_not_on_the_chains);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
