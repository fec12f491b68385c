# Writes stats_reference.json: small series and what R's package `posterior` says about them.
# Run in this directory: Rscript make_stats_reference.R
# Missing results (NA) are null; infinities and NaN among the draws are the strings "inf", "-inf",
# "nan". A series is an array of chains, each an array of draws.
suppressMessages(suppressWarnings(library(posterior)))
options(matrixStats.vars.formula.freq = Inf) # else a self-check stops it every so many calls
set.seed(20240229)
inner <- asNamespace("posterior")

ar <- function(draws, chains, phi, shift = rep(0, chains), scale = rep(1, chains)) {
    x <- sapply(seq_len(chains), function(c) {
        shift[c] + scale[c] * as.numeric(stats::filter(rnorm(draws), phi, method = "recursive"))
    })
    signif(matrix(x, draws, chains), 5)
}

# Markov chain on 0 .. states - 1 that stays with probability `stay`, else draws afresh from p.
jumps <- function(draws, chains, p, stay) {
    x <- matrix(0, draws, chains)
    for (c in seq_len(chains)) {
        x[1, c] <- sample(length(p), 1, prob = p) - 1
        for (t in seq_len(draws)[-1]) {
            x[t, c] <- if (runif(1) < stay) x[t - 1, c] else sample(length(p), 1, prob = p) - 1
        }
    }
    x
}
put <- function(x, draw, chain, value) {
    x[draw, chain] <- value
    x
}

with_seed <- function(seed, series) {
    set.seed(seed)
    series
}

cases <- list(
    independent = ar(50, 4, 0),
    correlated = ar(100, 4, 0.5),
    slow = ar(200, 4, 0.95),
    long_single_chain = ar(600, 1, 0.8),
    shifted_chains = ar(60, 3, 0.3, shift = c(0, 0.5, 2)),
    wider_chain = ar(80, 4, 0.3, scale = c(1, 1, 1, 4)),
    odd_draws = ar(101, 4, 0.6),
    odd_draws_single_chain = ar(55, 1, 0.2),
    many_short_chains = ar(20, 20, 0.4),
    # Not further: R-hat in `posterior` squares the draws before it subtracts their mean.
    far_from_zero = 1000 + ar(64, 2, 0.5),
    antithetic = ar(100, 4, -0.8),
    very_antithetic = ar(90, 2, -0.98),
    alternating = matrix(rep(c(-1, 1), 40), 40, 2),
    binary = jumps(100, 4, c(0.7, 0.3), 0.6),
    binary_rare = jumps(150, 4, c(0.98, 0.02), 0.7),
    binary_half = matrix(c(rep(c(0, 1, 1, 0), 10), rep(c(1, 1, 0, 0), 10)), 40, 2),
    spin = 2 * jumps(70, 2, c(0.4, 0.6), 0.5) - 1,
    ties = jumps(90, 3, rep(0.2, 5), 0.5),
    grid = matrix(seq(-1.5, 3, length.out = 50)[jumps(80, 4, rep(0.02, 50), 0.8) + 1], 80, 4),
    counts_with_tail = matrix(rpois(240, 2), 60, 4),
    signed_zeros = matrix(rep(c(0, -0.0, 1, -1, 0.5), 20), 50, 2),
    constant = matrix(0.1, 30, 4),
    nearly_constant = matrix(rep(c(0, 1e-17, 2e-17), 20), 30, 2),
    one_chain_constant = cbind(rep(0.3, 40), ar(40, 2, 0.3)),
    chains_stuck_apart = matrix(rep(c(0.1, 0.2, 0.7), each = 20), 20, 3),
    halves_stuck_apart = matrix(rep(c(0, 1), each = 15), 30, 1),
    draws_1 = ar(1, 3, 0),
    # Not 2 or 3 draws: `posterior` then loses a dimension and takes chains for draws.
    draws_4 = ar(4, 3, 0),
    draws_5 = ar(5, 3, 0),
    draws_6 = ar(6, 3, 0),
    draws_7 = ar(7, 2, 0),
    draws_8 = ar(8, 1, 0),
    draws_10 = ar(10, 2, 0),
    draws_12 = ar(12, 1, 0.5),
    draws_13 = ar(13, 2, 0.9),
    nan_early = put(ar(40, 2, 0.3), 3, 1, NaN),
    nan_in_the_dropped_middle = put(ar(41, 2, 0.3), 21, 2, NaN),
    plus_infinity = put(ar(40, 2, 0.3), 5, 2, Inf),
    both_infinities = put(put(ar(40, 2, 0.3), 5, 2, Inf), 30, 1, -Inf),
    infinity_in_the_dropped_middle = put(ar(41, 2, 0.3), 21, 1, Inf),
    mostly_infinite = put(ar(30, 1, 0.3), 1:20, 1, -Inf),
    # Geyer's sum ends in a pair that is positive although its even term is negative.
    negative_even_term = with_seed(29, ar(40, 2, 0.3))
)

measure <- function(x) {
    bulk <- inner$.rhat(inner$z_scale(inner$.split_chains(x)))
    folded <- inner$.rhat(inner$z_scale(inner$.split_chains(inner$fold_draws(x))))
    c(rhat = rhat(x), rhat_bulk = bulk, rhat_folded = folded, rhat_basic = rhat_basic(x),
      ess_bulk = ess_bulk(x), ess_tail = ess_tail(x), ess_basic = ess_basic(x),
      ess_mean = ess_mean(x), mcse_mean = mcse_mean(x), mcse_sd = mcse_sd(x))
}
number <- function(v, digits = 17) {
    ifelse(is.nan(v), '"nan"', ifelse(is.na(v), "null",
        ifelse(v == Inf, '"inf"', ifelse(v == -Inf, '"-inf"', formatC(v, digits = digits,
            format = "g", width = 1)))))
}
shortest <- function(v) { # the fewest digits that read back as the same number
    text <- number(v, 5)
    for (digits in c(11, 15, 16, 17)) {
        wrong <- is.finite(v) & suppressWarnings(as.numeric(text)) != v
        text[which(wrong)] <- number(v[which(wrong)], digits)
    }
    text
}
describe <- function(name) {
    x <- cases[[name]]
    found <- suppressWarnings(measure(x))
    found[is.nan(found)] <- NA
    chains <- apply(x, 2, function(chain) paste0("[", paste(shortest(chain), collapse = ","), "]"))
    expected <- paste0('"', names(found), '": ', number(found), collapse = ", ")
    paste0('  {"name": "', name, '",\n   "expected": {', expected, '},\n   "series": [',
           paste(chains, collapse = ",\n    "), "]}")
}
chi <- list(c(1, 0.5), c(1, 3.841458820694124), c(2, 0.1), c(5, 20), c(10, 3), c(30, 55),
            c(255, 300))
normal <- c(1e-300, 1e-20, 1e-6, 0.01, 0.074, 0.0751, 0.3, 0.5, 0.51, 0.9, 0.926, 0.999, 1 - 1e-9)
writeLines(c(
    "{",
    paste0('"provenance": "', R.version.string, ", posterior ", packageVersion("posterior"),
           '; made by: Rscript make_stats_reference.R",'),
    '"cases": [', paste(sapply(names(cases), describe), collapse = ",\n"), "],",
    paste0('"chi_square": [', paste(sapply(chi, function(v) {
        paste0("[", v[1], ", ", number(v[2]), ", ",
               number(pchisq(v[2], v[1], lower.tail = FALSE)), "]")
    }), collapse = ", "), "],"),
    paste0('"normal_quantile": [', paste0("[", number(normal), ", ", number(qnorm(normal)), "]",
                                          collapse = ", "), "]"),
    "}"), "stats_reference.json")
