/* SPDX-License-Identifier: MIT */
/* The cases of saltus bench, and the least work that a step of each takes: what must be computed
 * and moved whatever the program. Bounds are made of it (bench.h). */
#include <math.h>
#include <string.h>

#include "cli/bench/bench.h"

/* ---- work of one step of one chain */

/* Operations that an exponential or a logarithm counts as, in vectors. */
#define SPECIAL 24

static bool is_sampler(const char *sampler, const char *name)
{
    size_t length = strlen(name);
    return strncmp(sampler, name, length) == 0 && (!sampler[length] || sampler[length] == ':');
}

/* Operations of a factorised proposal of n two-level variables: for each a draw, its
 * log-probability, and the log-probability of the reverse move; doubled by Gaussian auxiliary
 * variables. */
static double factorised(double n, const char *sampler)
{
    return n * SPECIAL * (is_sampler(sampler, "ncg") ? 2 : 4);
}

/* s'Js of d spins: a gradient is a product with J; moving one variable takes a row of J. */
static bench_work dense_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    double d = (double)bench_size(c, o);
    if (is_sampler(sampler, "gwg")) {
        return (bench_work){ .arithmetic = d * (2 + SPECIAL) };
    }
    if (is_sampler(sampler, "gibbs")) {
        return (bench_work){ .arithmetic = 2 * d + SPECIAL };
    }
    return (bench_work){ .products = 2 * d * d * (is_sampler(sampler, "pavg") ? 2 : 1),
                         .arithmetic = factorised(d, sampler) };
}

/* In a step of gwg, five weights of a tree change. Other samplers read and write the values,
 * gradients and weights of all variables. */
static bench_work lattice_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    double V = (double)(bench_size(c, o) * bench_size(c, o));
    if (is_sampler(sampler, "gwg")) {
        return (bench_work){ .arithmetic = 5 * (SPECIAL + 2 * log2(V)) };
    }
    if (is_sampler(sampler, "gibbs")) {
        return (bench_work){ .arithmetic = 8 + SPECIAL };
    }
    return (bench_work){ .arithmetic = 8 * V + factorised(V, "ncg"), .bytes = 16 * V };
}

/* A path of pas or pafs is many moves; this counts the least work, that of one move. */
static bench_work field_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    bench_work work = lattice_work(c, o, is_sampler(sampler, "ncg") ? "ncg" : "gwg");
    if (is_sampler(sampler, "pafs")) {
        double V = (double)(bench_size(c, o) * bench_size(c, o));
        work = (bench_work){ .arithmetic = V * (8 + 2 * SPECIAL), .bytes = 16 * V };
    }
    return work;
}

/* Value and gradient of all hidden units, or what one visible unit adds to them. */
static bench_work rbm_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    const double visible = 784, hidden = 500, product = 2 * visible * hidden;
    (void)o;
    if (c->training) { /* K times down and up; statistics of data and chains, hidden units of data
                        */
        return (bench_work){ .products = product * (2 * (double)bench_steps(c, o) + 3),
                             .arithmetic =
                                 SPECIAL * (double)bench_steps(c, o) * (visible + hidden) };
    }
    if (is_sampler(sampler, "gibbs")) {
        return (bench_work){ .arithmetic = hidden * (2 + SPECIAL) };
    }
    return (bench_work){ .products = 2 * product,
                         .arithmetic = 2 * SPECIAL * hidden + factorised(visible, sampler) };
}

/* For each move, the difference of two rows of J. */
static bench_work potts_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    double sites = (double)bench_size(c, o), states = (double)bench_states(c, o);
    (void)sampler;
    return c->sweeps ? (bench_work){ .arithmetic = sites * (3 * sites * states + SPECIAL * states) }
                     : (bench_work){ .arithmetic = sites * states * (3 + SPECIAL) };
}

/* Convolutions of one state, and as many operations again for the gradient by the state. Padding
 * does not count: taps outside an image multiply nothing. */
static bench_work nets_work(const bench_case *c, const bench_options *o, double forward,
                            const char *sampler)
{
    bool single = is_sampler(sampler, "gibbs"), value = strcmp(sampler, "value") == 0;
    double passes = single || value ? 1 : 2;
    if (c->training) { /* the gradient by parameters, for data and chains, is a third pass */
        passes = 2 * (double)bench_steps(c, o) + 2 * 3;
    }
    return (bench_work){ .products = forward * passes };
}

static bench_work conv_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    return nets_work(c, o, 4.32e6, sampler);
}

static bench_work resnet_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    return nets_work(c, o, 71.5e6, sampler);
}

/* Three convolutions and the RBM of a level; chains make 53 / 32 of the steps on average, plus one
 * evaluation before. */
static bench_work denoise_work(const bench_case *c, const bench_options *o, const char *sampler)
{
    const double passes = 2 * (53.0 / 32 * (double)bench_steps(c, o) + 1) + 2 * 3;
    (void)sampler;
    return (bench_work){ .products = 0.524e6 * passes };
}

/* ---- cases */

/* Chains move as in the peer. Data without structure are not worth learning, so the limit on
 * differences is lifted. */
static const sal_train_options denoise_training = { .objective = SAL_DENOISING,
                                                    .sampler = "dlmcf:balance=barker",
                                                    .steps = 4,
                                                    .step_size = 0.8,
                                                    .learning_rate = 2e-3,
                                                    .optimiser = { .beta2 = 0.99, .clip_norm = 10 },
                                                    .largest_difference = 1e30 };

static const sal_train_options conv_training = { .sampler = "gwg",
                                                 .steps = 50,
                                                 .learning_rate = 3e-4 };

/* Mostly gradients by parameters. With so few steps training diverges, which costs no time. */
static const sal_train_options conv_update = {
    .sampler = "gwg", .steps = 1, .learning_rate = 3e-4, .largest_difference = 1e30
};

static const sal_train_options resnet_training = { .sampler = "gwg",
                                                   .steps = 40,
                                                   .learning_rate = 3e-4 };

static const sal_train_options rbm_training = { .sampler = "block-gibbs",
                                                .steps = 10,
                                                .learning_rate = 1e-3 };

/* K = 5 of Rhodes & Gutmann 2022, table 1, whose authors' code makes K + 1 steps. */
static const sal_train_options ising_training = {
    .sampler = "ncg",
    .steps = 6,
    .step_size = 2,
    .buffer = { .chains = 5000, .start = SAL_BUFFER_UNIFORM },
    .optimiser = { .method = SAL_ADAMW, .epsilon = 1e-7 },
    .learning_rate = 3e-4,
    .couplings.l1 = 0.01,
    .fixed = "b"
};

const bench_case bench_cases[] = {
    { .name = "ising-dense",
      .specification = "ising-dense:dim=%lld",
      .size = 100,
      .size_option = "dim",
      .samplers = "gwg,ncg,avg,pavg,gibbs",
      .step_size = 0.5,
      .peer_case = "ising-dense",
      .work = dense_work,
      .measure = bench_samplers },
    { .name = "ising-lattice",
      .specification = "ising:side=%lld,theta=0.2",
      .size = 40,
      .size_option = "side",
      .samplers = "gwg,ncg,gibbs",
      .step_size = 0.5,
      .peer_case = "ising-lattice",
      .work = lattice_work,
      .measure = bench_samplers },
    { .name = "ising-field",
      .specification = "segmentation:side=%lld,lambda=0.5,mu=0.5,sigma=1",
      .size = 50,
      .size_option = "side",
      .samplers = "pas,pafs,ncg,gwg",
      .batch = 20,
      .step_size = 0.5,
      .work = field_work,
      .measure = bench_samplers },
    { .name = "rbm",
      .specification = "rbm:visible=784,hidden=500",
      .samplers = "gwg,ncg,avg,gibbs",
      .step_size = 0.2,
      .peer_case = "rbm",
      .work = rbm_work,
      .measure = bench_samplers },
    { .name = "potts",
      .specification = "potts-dense:dim=%lld,states=%lld",
      .size = 48,
      .size_option = "dim",
      .states = 20,
      .samplers = "gwg",
      .peer_case = "potts",
      .work = potts_work,
      .measure = bench_samplers },
    { .name = "potts-gibbs",
      .specification = "potts-dense:dim=%lld,states=%lld",
      .size = 136,
      .size_option = "dim",
      .states = 5,
      .batch = 2000,
      .samplers = "gibbs,gibbs:scan=random",
      .sweeps = true,
      .peer_case = "potts-gibbs",
      .work = potts_work,
      .measure = bench_samplers },
    { .name = "ordinal",
      .specification = "ordinal-poly2:dim=%lld",
      .size = 20,
      .size_option = "dim",
      .samplers = "ncg,gwg",
      .step_size = 0.05,
      .dtype = SAL_F32, /* the peer's */
      .peer_case = "ordinal",
      .measure = bench_samplers },
    { .name = "ordinal-grad",
      .specification = "ordinal-poly2:dim=%lld",
      .size = 20,
      .size_option = "dim",
      .value_too = true,
      .measure = bench_gradient },
    { .name = "conv",
      .specification = "usps-conv:quadratic=1",
      .samplers = "gwg,ncg,avg,pavg,gibbs",
      .step_size = 0.2,
      .preconditioner = 0.2,
      .peer_case = "conv",
      .work = conv_work,
      .measure = bench_samplers },
    { .name = "conv-grad",
      .specification = "usps-conv:quadratic=1",
      .peer_case = "conv-grad",
      .work = conv_work,
      .measure = bench_gradient },
    { .name = "mnist-conv-grad", .specification = "mnist-conv", .measure = bench_gradient },
    { .name = "resnet-grad",
      .specification = "mnist-resnet:channels=64",
      .peer_case = "resnet-grad",
      .work = resnet_work,
      .measure = bench_gradient },
    { .name = "conv-train",
      .specification = "usps-conv:quadratic=1",
      .peer_case = "conv-train",
      .training = &conv_training,
      .work = conv_work,
      .measure = bench_training },
    { .name = "conv-update",
      .specification = "usps-conv:quadratic=1",
      .peer_case = "conv-train",
      .training = &conv_update,
      .work = conv_work,
      .measure = bench_training },
    { .name = "resnet-train",
      .specification = "mnist-resnet:channels=64",
      .peer_case = "resnet-train",
      .training = &resnet_training,
      .work = resnet_work,
      .measure = bench_training },
    { .name = "denoise-train",
      .specification = "strided-conv:height=16,width=16,levels=8,base=1,units=64",
      .batch = 144,
      .peer_case = "denoise-train",
      .peer_line = "train",
      .training = &denoise_training,
      .work = denoise_work,
      .measure = bench_training },
    { .name = "rbm-train",
      .specification = "rbm:visible=784,hidden=500",
      .batch = 100,
      .peer_case = "rbm-train",
      .peer_line = "train",
      .training = &rbm_training,
      .work = rbm_work,
      .measure = bench_training },
    { .name = "ising-train",
      .specification = "ising-dense:dim=%lld,scale=0.01",
      .size = 100,
      .size_option = "dim",
      .training = &ising_training,
      .rows = 10000,
      .measure = bench_training },
};

const size_t bench_n_cases = sizeof bench_cases / sizeof *bench_cases;
