/* SPDX-License-Identifier: MIT */
/* The workspace: buffers of one thread and one shard; it replays a program without allocating.
 *
 * The batch of chains is implicit: a node that varies with the state has a value for each chain,
 * any other node one value for all. A replay is a list of calls whose pointers are filled in when
 * the workspace is created. The gradient by the state and the gradient by the parameters have lists
 * of their own, because they need the adjoints of different nodes. */
#ifndef SALI_WORKSPACE_H
#define SALI_WORKSPACE_H

#include "ad/params.h"

typedef struct sali_workspace sali_workspace;

enum {
    SALI_WANT_STATE_GRADIENT = 1,
    SALI_WANT_PARAM_GRADIENT = 2,
    SALI_WANT_ALL_VALUES = 4, /* every value has a place of its own until the next replay */
    SALI_WANT_UNLIMITED = 8,  /* f without its hard limits (sali_op.limit) */
    SALI_WANT_PARAM_PART = 16 /* with SALI_WANT_PARAM_GRADIENT: what is gathered will be added to
                                 another workspace, and never be made flat */
};

/* For up to `chains` chains; `wants` says which gradients will be asked for. Cost in memory: the
 * values and adjoints that are needed at one time (ad/plan_buffers.h). */
sal_status sali_workspace_create(const sali_program *program, const sali_params *params,
                                 int64_t chains, unsigned wants, sali_workspace **out,
                                 sal_error *err);
void sali_workspace_destroy(sali_workspace *ws);

/* Bytes of values, saved values and adjoints of the nodes that vary; *apart receives the bytes that
 * they would take if none were shared. */
int64_t sali_workspace_bytes(const sali_workspace *ws, int64_t *apart);

/* f [chains] at x, real [chains x N]. codes [chains x V]: x is their embedding; NULL: x may lie off
 * the lattice. */
void sali_workspace_value(sali_workspace *ws, int64_t chains, const int32_t *codes, const void *x,
                          double *f);

/* The values [chains x size] of node i, which varies, at the last replay's x. Only for a workspace
 * that wants all values. NULL: the node is the state, and its values are x. */
const void *sali_workspace_values(const sali_workspace *ws, int32_t i);

/* As sali_workspace_value with the gradient, real [chains x N]. */
void sali_workspace_gradient(sali_workspace *ws, int64_t chains, const int32_t *codes,
                             const void *x, double *f, void *gradient);

/* `zero` forgets what the workspace has gathered; `gradient` adds sum_c weight[c]
 * df(x_c)/dparameters to it. f NULL: f is not wanted, and only what the gradient needs is
 * computed. */
void sali_workspace_param_zero(sali_workspace *ws);
void sali_workspace_param_gradient(sali_workspace *ws, int64_t chains, const int32_t *codes,
                                   const void *x, const double *weight, double *f);

/* What was gathered so far for node i, which does not vary but reaches parameters: real [its size],
 * without the part that reaches it through hoisted nodes. NULL: nothing but that part. */
const void *sali_workspace_param_gathered(const sali_workspace *ws, int32_t i);

/* Add what `other`, of the same program, gathered to what ws gathered. Or `pack` what was gathered
 * into one array of `bytes` bytes, to be sent, and `add_packed` it elsewhere. */
void sali_workspace_param_add(sali_workspace *ws, const sali_workspace *other);
int64_t sali_workspace_param_bytes(const sali_workspace *ws);
void sali_workspace_param_pack(const sali_workspace *ws, void *packed);
void sali_workspace_param_add_packed(sali_workspace *ws, const void *packed);

/* What was gathered, as gradients of the parameters, through the hoisted nodes: flat
 * [parameters_size]. What ws gathered is then to be forgotten. */
void sali_workspace_param_flat(sali_workspace *ws, double *flat);

/* sali_workspace_param_flat of the sum of what `n` workspaces of one program gathered, all but the
 * first of which may be parts. Workspaces are added in pairs of neighbours, the sums in pairs
 * again, and so on, on up to `threads` threads (as in sal_threads_number). Overwrites what the
 * workspaces gathered. */
void sali_workspace_param_reduce(sali_workspace *const *ws, int64_t n, int threads, double *flat);

#endif
