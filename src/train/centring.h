/* SPDX-License-Identifier: MIT */
/* Centred gradients: couplings W [A x B] with a row bias c [A] and a column bias b [B] are learned
 * in the coordinates in which units are counted from offsets mu [A] and lambda [B],
 *
 *     (h - mu)'W(v - lambda) + c~'h + b~'v,    c~ = c + W lambda,  b~ = b + W'mu;
 *
 * a symmetric J with the bias b of factor s'Js + b's likewise in
 *
 *     factor (s - mu)'J(s - mu) + b~'s,        b~ = b + factor (J + J')mu.
 *
 * The gradient by W in these coordinates is gW - gc lambda' - mu gb', the gradient by J is gJ -
 * factor (gb mu' + mu gb'); the gradients by c~ and b~ are gc and gb. The optimiser follows them,
 * and then the change of W is paid back to c and b, so that c~ and b~ are what the optimiser made
 * them. With any optimiser this is training in the other coordinates, as long as offsets stay. The
 * offsets are moving averages of the units' means over data and samples; the gradients by c and b
 * give these means.
 *
 * Source: Cho, Raiko & Ilin 2013 (enhanced gradient); Melchior, Fischer & Wiskott 2016. */
#ifndef SALI_CENTRING_H
#define SALI_CENTRING_H

#include "ad/workspace.h"
#include "core/memory.h"
#include "models/structure/biased_couplings.h"

/* A bias: its node and place in the flat vector, and the place of its offsets. */
typedef struct sali_centred_bias {
    int32_t parameter, node;
    int64_t first, size, at;
} sali_centred_bias;

/* A coupling: its place in the flat vector, and its biases. */
typedef struct sali_centred_coupling {
    int64_t first, rows, columns;
    int64_t row, column; /* in `biases`; the same one if symmetric */
    double factor;
    bool symmetric;
} sali_centred_coupling;

typedef struct sali_centring {
    int64_t n_couplings, n_biases, n_offsets; /* 0: nothing is centred */
    sali_centred_coupling *couplings;
    sali_centred_bias *biases;
    double *offsets; /* [n_offsets] */
    double *means;   /* [n_offsets] scratch: means over the data batch */
    double *paid;    /* [n_offsets] scratch: what couplings add to the biases of the coordinates */
} sali_centring;

/* What can be centred: couplings of the program (models/structure/biased_couplings.h) whose biases
 * are learned, symmetric ones only if `symmetric`; `learned` [parameters_size] is 0 where values
 * are fixed, NULL: nowhere. Its arrays are of `memory`. Returns: SAL_ERR_MEMORY. */
sal_status sali_centring_create(sali_centring *c, sali_memory *memory, const sali_program *program,
                                bool symmetric, const double *learned, sal_error *err);

/* Copy what a workspace has gathered for the biases into means [n_offsets]. */
void sali_centring_gathered(const sali_centring *c, const sali_program *program,
                            const sali_workspace *ws, double *means);

/* Update the offsets after `updates` updates of parameters: c->means has the means over the data,
 * the gradient [parameters_size] has these minus the means over the samples. At first the offsets
 * are the plain mean of all updates so far, later a moving average with decay 0.99. */
void sali_centring_follow(sali_centring *c, int64_t updates, const double *gradient);

/* The gradient [parameters_size] becomes that in centred coordinates. */
void sali_centring_gradient(const sali_centring *c, double *gradient);

/* Call these before and after an update of values [parameters_size] along the centred gradient:
 * they pay the change of couplings back to the biases. */
void sali_centring_before(sali_centring *c, const double *values);
void sali_centring_after(sali_centring *c, double *values);

#endif
