/* SPDX-License-Identifier: MIT */
/* The commands: what `saltus help` and the man pages print of each, besides its table of
 * options. */
#include <string.h>

#include "cli/help/help.h"

#define MODEL                                                                                    \
    "MODEL is a ready-made one with its settings, such as ising:side=10,theta=0.2 (see 'saltus " \
    "list models'); a file: a network, a graph, a Potts model, a saved tape (see 'saltus list "  \
    "formats'); a "                                                                              \
    "directory that train wrote; or a formula of your own, by --formula."

const char cli_program_description[] =
    "Saltus samples from probability distributions over discrete variables, known up to a "
    "constant, by Markov chains that use gradients to propose good moves, and fits energy-based "
    "models with them. f is the logarithm of the unnormalised probability.\n\n" MODEL "\n\n"
    "The same seed gives the same results bit by bit, for any number of threads. Options are "
    "written --name value or --name=value. Results go to standard output, messages and progress "
    "to standard error.";

const cli_exit_code cli_exit_codes[] = {
    { CLI_OK, "done, or help was printed" },
    { CLI_USAGE, "the call has a mistake, or a sampler cannot serve the model" },
    { CLI_DATA, "the content of a file, or a model, is not acceptable" },
    { CLI_NO_INPUT, "a file or a name does not exist" },
    { CLI_FAULT, "out of memory, stopped before there was a result, or a fault of the program" },
    { CLI_IO, "a file cannot be read or written" },
    { 0, NULL },
};

static const cli_page pages[] = {
    { &cli_sample,
      CLI_GROUP_SAMPLE,
      "Runs several chains from random starts and prints how well they mixed: the effective sample "
      "size (ESS) says how many independent draws they are worth; R-hat near 1 says that the "
      "chains agree. Where they do not, a line says so; do not use the averages then.\n\n" MODEL
      "\n\n"
      "Step sizes are adapted in warm-up unless you give them. Chains that stay in different modes "
      "need --tempering. Ctrl-C (also SIGTERM, SIGUSR1 and SIGHUP), or --time, ends the run; the "
      "draws made "
      "until then are written.\n\n"
      "A run whose draws go to --out FILE.nc can be resumed, also after a crash (then from "
      "FILE.nc.draws): --resume FILE.nc takes the options of that run from the file and gives "
      "the same draws as if the run had never stopped. You may leave out MODEL. To extend a run, "
      "give a larger --draws, the number in all. Options that differ from the file's are refused.",
      { { "The spins of a lattice, their draws written as (chains, draws, variables):",
          "saltus sample ising:side=10,theta=0.15 --sampler ncg --draws 2000 --out draws.npy" },
        { "Marginals of a network given evidence:",
          "saltus sample BN_1.uai --evidence BN_1.uai.evid --marginals marginals.json" },
        { "A large cut of a graph, by cooling:",
          "saltus sample max-cut:file=G1 --anneal --sampler pafs --draws 5000 --best cut.npy" },
        { "Chains that cross between modes:",
          "saltus sample Grids_11.uai --sampler gibbs --tempering 24 --warmup 200000" },
        { "Run for a minute now and the rest later:",
          "saltus sample ising:side=50 --thin 2500 --draws 10000 --time 60s --out run.nc; "
          "saltus sample --resume run.nc" } } },
    { &cli_logz,
      CLI_GROUP_SAMPLE,
      "Estimates log Z of a model too large for 'saltus exact', by ladders of levels between "
      "independent variables and the model: states are exchanged between neighbours, and the "
      "ratios of their constants add up (Bennett). The standard error comes from independent "
      "ladders. Where they have not mixed, a line says so: do not use the figure then. " MODEL,
      { { "A network given evidence, to a standard error of .02:",
          "saltus logz BN_8.uai --evidence BN_8.uai.evid --until error=.02" },
        { "In the format of the UAI competitions:",
          "saltus logz Grids_11.uai --out-pr Grids_11.uai.PR" } } },
    { &cli_exact,
      CLI_GROUP_SAMPLE,
      "Sums over all states: by a formula of the model's own, by enumeration (of an RBM's hidden "
      "units, if these are few), or by variable elimination if the induced width is small enough "
      "for --memory. The same methods draw independent states (--draws): there is no warm-up, and "
      "no mode is missed. " MODEL,
      { { "A network and its marginals, in the format of the UAI competitions:",
          "saltus exact Grids_11.uai --evidence Grids_11.uai.evid --marginals Grids_11.uai.MAR" },
        { "Independent draws given evidence, without a chain:",
          "saltus exact Grids_11.uai --evidence Grids_11.uai.evid --draws 10000 --out draws.npy" },
        { "log Z of a lattice with one spin fixed:",
          "saltus exact ising:side=4,theta=0.15 --clamp 0=1 --json" } } },
    { &cli_compare,
      CLI_GROUP_SAMPLE,
      "Runs samplers side by side for equal steps, or for equal time, and shows acceptance, jump "
      "distance, effective samples, autocorrelation time and R-hat, and errors where exact "
      "answers exist. Ctrl-C (also SIGTERM, SIGUSR1 and SIGHUP) ends it: it prints the results so "
      "far, "
      "and says on stderr what is missing. " MODEL,
      { { "Some samplers, for equal steps:",
          "saltus compare ising:side=4,theta=0.15 --samplers gibbs,gwg:hops=2,ncg --check-exact" },
        { "All that apply, for ten seconds each:",
          "saltus compare potts:side=8,states=4 --time 10s" } } },
    { &cli_inpaint,
      CLI_GROUP_SAMPLE,
      "Samples the hidden parts of pictures given the rest, by a model that was trained on such "
      "pictures. It writes a sheet: for each picture a row with the picture, its hidden part, "
      "samples and their mean. " MODEL,
      { { "The lower halves of eight digits, by a model that train wrote:",
          "saltus inpaint rbm --data digits --mask bottom --out sheet.png" } } },
    { &cli_train,
      CLI_GROUP_TRAIN,
      "Fits a model to data. ARCH is a ready-made model (see 'saltus list models') or a saved "
      "one. rbm, mlp, usps-conv, mnist-conv, mnist-resnet, conv, strided-conv, resnet and "
      "potts-alignment know what suits them: parallel trajectory tempering (ptt), or with levels, "
      "which strided-conv has unless you say levels=0, a denoising chain (denoising), with a "
      "sampler, steps and rates that were tried. That applies unless you name --objective or "
      "--sampler, or an option that ptt does not have, such as --buffer; then, and for all other "
      "models, persistent contrastive divergence (pcd) is the default.\n\n"
      "ptt keeps the chains at equilibrium with the model, prints the log-likelihood of held-out "
      "rows at every report, keeps the parameters of the best report, and saves the levels of its "
      "path in --out, in the directory ladder. Nets of bits are added to an RBM, which is trained "
      "first, in --out, in the directory first; --from DIR goes on from another training.\n\n"
      "denoising trains a net with levels, such as strided-conv:levels=8,base=1,units=64, as "
      "a denoising "
      "chain of conditional energies, and saves its noise in --out, in denoising.json. sample then "
      "draws from scratch down all levels, and evaluate bounds the log-likelihood.\n\n"
      "The directory --out receives model.xml (the formula), model.safetensors (its parameters), "
      "log.csv and a checkpoint, from which --resume continues, if you like with another learning "
      "rate, other steps or another sampler. A directory that holds an earlier "
      "training is refused without --resume or --overwrite. Other commands open the directory "
      "as a model. persistent.png shows chains of the training. They can be fine while the model "
      "is not, so training ends with samples that are drawn from scratch: samples.png shows them, "
      "and verdict.json and the last lines say whether they are like held-out data.",
      { { "A restricted Boltzmann machine on built-in digits, at equilibrium:",
          "saltus train rbm:hidden=128 --data digits --learning-rate 0.03 --time 2m --out rbm" },
        { "The same by persistent contrastive divergence:",
          "saltus train rbm:hidden=128 --data digits --objective pcd --sampler ncg --steps 20 "
          "--out rbm" },
        { "Resume a training:",
          "saltus train rbm:hidden=128 --data digits --objective pcd --sampler ncg --steps 20 "
          "--out rbm --resume" },
        { "A Potts model of a family of sequences, until the pairs agree:",
          "saltus train potts-alignment:file=family.fasta --pearson 0.95 --out potts" } } },
    { &cli_evaluate,
      CLI_GROUP_TRAIN,
      "Estimates log Z by annealed importance sampling, from independent variables to the model "
      "and "
      "back, and with it the log-likelihood of held-out data of any kind that train reads. The way "
      "back starts from draws of the model (--samples) or, without them, from the held-out data, "
      "one chain from each at most. Of a denoising chain it bounds the log-likelihood from both "
      "sides instead, and of the options of annealing only --temperatures has an effect: 1000 "
      "stands for 200 at the first level, and fewer at later ones. Then it draws samples from "
      "scratch and says "
      "whether they are "
      "like the held-out data. " MODEL,
      { { "A model that train wrote:",
          "saltus evaluate rbm --data digits --temperatures 2000" } } },
    { &cli_value,
      CLI_GROUP_LOOK,
      "Evaluates f at the states in a file: rows of an array, or aligned sequences, whose names it "
      "prints beside f. If you ask for them, it writes the "
      "gradient, and the differences of f where a variable takes another value. " MODEL,
      { { "f of draws, as codes, and its gradient:",
          "saltus value ising:side=10 --state best.npy --codes --out-gradient gradient.npy" },
        { "Mutants of a protein under a Potts model, less the wild type:",
          "saltus value params.dat --state mutants.fasta --against wild.fasta" } } },
    { &cli_check,
      CLI_GROUP_LOOK,
      "Shows a model's variables, parameters and operations, compares its gradient and differences "
      "with differences of f at random states, and says which samplers can sample it. " MODEL,
      { { "A saved model:", "saltus check rbm" } } },
    { &cli_stats,
      CLI_GROUP_LOOK,
      "Reads draws of shape (chains, draws) or (chains, draws, variables), as sample --out writes "
      "them to .npy or .nc, and prints for every variable: mean, standard error, effective sample "
      "size, R-hat.",
      { { "Draws of a run:", "saltus stats draws.npy" } } },
    { &cli_show,
      CLI_GROUP_LOOK,
      "Prints what each state in a .npy file of codes, shape (.., variables), chooses: the nodes "
      "of "
      "a set, or numbers and codes. If there are many states, it prints some, evenly "
      "spaced. " MODEL,
      { { "A clique that sample found:", "saltus show clique:file=graph.col best.npy" } } },
    { &cli_report,
      CLI_GROUP_LOOK,
      "Writes one page of HTML, which needs no other file, from runs (FILE.nc or .npy of sample "
      "--out), comparisons (the output of compare --json) and trainings (the directory of train "
      "--out): traces, autocorrelations, ranks by chain, ESS and R-hat, acceptance, marginals; "
      "samplers side by side; training curves and samples.",
      { { "A run that was written in ArviZ's layout:", "saltus report run.nc --out report.html" },
        { "A training and a comparison on one page:",
          "saltus report rbm compare.json --out report.html" } } },
    { &cli_bench,
      CLI_GROUP_LOOK,
      "Measures steps or evaluations per second of a whole batch of chains. With --peer each case "
      "is measured in turn with another program, which prints the same JSON lines.",
      { { "One case:", "saltus bench ising-dense --batch 50 --threads 2 --samplers gwg,ncg" } } },
    { &cli_list,
      CLI_GROUP_LOOK,
      "Lists samplers with their settings and the kinds of variables that they serve, ready-made "
      "models with their settings and sources, operations of formulas, formats of files, or the "
      "figures of a run's summary (--json).",
      { { "The models:", "saltus list models" } } },
    { &cli_help,
      CLI_GROUP_LOOK,
      "Without a name, lists the commands and exit codes. 'saltus COMMAND --help' prints the same "
      "as "
      "'saltus help COMMAND'.",
      { { "The options of sample:", "saltus help sample" },
        { "Completion for this shell, where it is not installed:",
          "source <(saltus help --format bash)" } } },
    { &cli_convert,
      CLI_GROUP_CONVERT,
      "Reads a network, graph, alignment, Potts model or array and writes it in another format of "
      "its "
      "kind that means the same. Formats are told by suffix and content (see 'saltus list "
      "formats'); compressed files are read.",
      { { "A network:", "saltus convert alarm.bif.xml alarm.uai" },
        { "A graph from a file without a suffix:", "saltus convert G1 G1.graphml --from gset" },
        { "A trained Potts model, for programs that read adabmDCA's files:",
          "saltus convert run params.dat --gauge zero-sum" },
        { "A graph whose weights are an energy of spins, as a QUBO:",
          "saltus convert ising:file=G1,vartype=spin G1.qubo" },
        { "The model that train wrote in a directory, with its parameters beside it:",
          "saltus convert run model.xml" } } },
};

const cli_page *cli_page_list(size_t k)
{
    return k < sizeof pages / sizeof *pages ? &pages[k] : NULL;
}

const cli_page *cli_page_find(const char *name)
{
    const cli_page *page;
    for (size_t k = 0; (page = cli_page_list(k)); k++) {
        if (strcmp(page->command->name, name) == 0) {
            return page;
        }
    }
    return NULL;
}

const char *cli_group_title(cli_group group)
{
    static const char *const titles[] = { "Sample, and exact answers", "Train and evaluate", "Look",
                                          "Convert" };
    return titles[group];
}
