/* SPDX-License-Identifier: MIT */
#include "models/structure/weights.h"

#include "core/alloc.h"

double *sali_weights_of(sali_weights *w, int32_t node)
{
    if (!w->node[node]) {
        w->node[node] = SALI_NEW_ARRAY(double, w->program->steps[node].size);
    }
    return w->node[node];
}

/* Create the transpose of node i, an op that is linear in all inputs, and the weights of its
 * inputs. */
static sal_status create_transpose(sali_weights *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    double **to = SALI_NEW_ARRAY(double *, node->n_in);
    sal_status status = to ? SAL_OK : SAL_ERR_MEMORY;
    for (int32_t k = 0; status == SAL_OK && k < node->n_in; k++) {
        to[k] = sali_weights_of(w, node->in[k]);
        status = to[k] ? SAL_OK : SAL_ERR_MEMORY;
    }
    status =
        status ? status : sali_transpose_create(w->program, i, w->node[i], to, &w->transpose[i]);
    sali_free(to);
    return status;
}

/* Add the weights of node i, an op that is linear in all inputs, to its inputs. */
static sal_status push_linear(sali_weights *w, int32_t i)
{
    sal_status status = w->transpose[i] ? SAL_OK : create_transpose(w, i);
    if (status == SAL_OK) {
        sali_transpose_add(w->transpose[i]);
    }
    return status;
}

/* Add the weights that node i, which is linear in the inputs that vary, gives to its inputs. */
static sal_status push_node(sali_weights *w, int32_t i)
{
    const sali_node *node = &w->program->nodes[i];
    int64_t terms = sali_terms_of(w->program, i);
    if (sali_node_is_linear(w->program, i)) {
        return push_linear(w, i);
    }
    for (int64_t k = 0; k < w->program->steps[i].size; k++) {
        for (int64_t t = 0; t < terms; t++) {
            sali_op_term term = sali_term_of(w->program, i, k, t);
            double weight = w->node[i][k];
            int varying[3] = { 0 };
            if (sali_term_split(w->program, w->params, i, &term, varying, &weight) == 0) {
                weight = w->node[i][k] * term.factor; /* of a single element: a bias */
            }
            double *to = sali_weights_of(w, node->in[term.input[varying[0]]]);
            if (!to) {
                return SAL_ERR_MEMORY;
            }
            to[term.at[varying[0]]] += weight;
        }
    }
    return SAL_OK;
}

sal_status sali_weights_push(sali_weights *w, double *constant,
                             sal_status (*visit)(void *context, int32_t i), void *context)
{
    const sali_program *program = w->program;
    sal_status status = SAL_OK;
    *constant = 0;
    for (int32_t i = program->output; status == SAL_OK && i >= 0; i--) {
        const double *weight = w->node[i];
        if (weight && program->nodes[i].varying) {
            status = sali_node_factors(program, i) == 1 ? push_node(w, i)
                     : visit                            ? visit(context, i)
                                                        : SAL_OK;
            continue;
        }
        for (int64_t k = 0; weight && k < program->steps[i].size; k++) {
            *constant += weight[k] * sali_params_addend(w->params, i, k);
        }
    }
    return status;
}

void sali_mark_summed(const sali_program *program, bool *summed)
{
    summed[program->output] = program->nodes[program->output].varying;
    for (int32_t i = program->output; i >= 0; i--) {
        const sali_node *node = &program->nodes[i];
        for (int32_t k = 0; summed[i] && k < node->n_in; k++) {
            summed[node->in[k]] |=
                program->nodes[node->in[k]].varying && sali_node_factors(program, i) == 1;
        }
    }
}

/* ---- all of it */

sal_status sali_weights_create(const sali_tape_model *tape, sali_weights *weights)
{
    int32_t output = tape->program->output;
    *weights =
        (sali_weights){ .program = tape->program,
                        .params = tape->params,
                        .node = SALI_NEW_ARRAY(double *, tape->program->n_nodes),
                        .transpose = SALI_NEW_ARRAY(sali_transpose *, tape->program->n_nodes) };
    double *one = weights->node && weights->transpose ? sali_weights_of(weights, output) : NULL;
    if (one) {
        one[0] = 1;
    }
    return one ? SAL_OK : SAL_ERR_MEMORY;
}

void sali_weights_free(sali_weights *weights)
{
    for (int32_t i = 0; weights->node && i < weights->program->n_nodes; i++) {
        sali_free(weights->node[i]);
    }
    for (int32_t i = 0; weights->transpose && i < weights->program->n_nodes; i++) {
        sali_transpose_destroy(weights->transpose[i]);
    }
    sali_free(weights->transpose);
    sali_free(weights->node);
    *weights = (sali_weights){ 0 };
}
