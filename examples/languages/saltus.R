# SPDX-License-Identifier: MIT
# Saltus from R, by .C: 16 spins of a lattice in a field, sampled and exact.
#
#     PKG_CFLAGS=$(pkg-config --cflags saltus) PKG_LIBS=$(pkg-config --libs saltus) R CMD SHLIB saltus_r.c
#     Rscript saltus.R

dyn.load(paste0("saltus_r", .Platform$dynlib.ext))

# .C gives its arguments back, changed: the results are those with names.
saltus <- function(name, ...) .C(paste0("saltus_", name), ...)
no_handle <- raw(8)

model <- saltus("open", "ising:side=4,theta=0.1,bias=0.2", model = no_handle)$model
options <- '{"sampler": "ncg", "chains": 4, "draws": 5000, "thin": 5, "seed": 1}'
run <- saltus("sample", model, options, run = no_handle)$run

# R's first index is the fastest, C's the last: the dimensions are in the other order.
size <- saltus("size", run, size = double(3))$size
draws <- saltus("draws", run, prod(size), codes = integer(prod(size)))$codes
draws <- array(draws, dim = rev(size)) # variables x draws x chains
cat("variables, draws, chains:", dim(draws), "\n")

# Code 1 is spin +1. In the exact marginals, each variable has a pair: p(-1), p(+1).
exact <- matrix(saltus("exact", model, p = double(2 * size[3]))$p, nrow = 2)
cat(sprintf("p(+1) sampled    %.3f\n", mean(draws)))
cat(sprintf("p(+1) exact      %.3f\n", mean(exact[2, ])))
cat("by chain        ", sprintf("%.3f", apply(draws, 3, mean)), "\n")

# The summary is a text in JSON. If the package jsonlite is there, it becomes a list.
json <- saltus("summary", run, json = "")$json
if (requireNamespace("jsonlite", quietly = TRUE)) {
    str(jsonlite::fromJSON(json)[c("sampler", "acceptance_rate", "rhat_max")])
} else {
    cat(json, "\n")
}

# A mistake is an error of R, with the library's message.
mistake <- tryCatch(saltus("sample", model, '{"chian": 3}', run = no_handle), error = conditionMessage)
cat("mistake:", mistake, "\n")

invisible(saltus("free", run, model))
