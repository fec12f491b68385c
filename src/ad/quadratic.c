#include "ad/quadratic.h"

#include "core/alloc.h"
#include "core/error.h"

/* Degrees of polynomials, up to "more, or no polynomial". */
enum { MORE = 3 };

static int at_most(int degree)
{
    return degree < MORE ? degree : MORE;
}

/* A factor's table is multilinear in the weights of its variables' states, which are affine in
 * their reals (levels of an ordinal variable of several have no such weights). */
static int table_degree(const sali_node *node, const sal_space *space)
{
    const int64_t *scope = node->ints + 1;
    int64_t longest = 0;
    for (int64_t m = 0; m < node->ints[0]; m++) {
        int64_t length = *scope++;
        for (int64_t k = 0; k < length; k++) {
            const sali_variable *v = &space->variables[*scope++];
            if (v->kind != SAL_CATEGORICAL && !sali_is_two_level(v)) {
                return MORE;
            }
        }
        longest = length > longest ? length : longest;
    }
    return longest < MORE ? (int)longest : MORE;
}

/* Degree of a node that depends on the state, from those of its inputs. */
static int node_degree(const sali_node *node, const int *degree, const sal_space *space,
                       const sali_op *op)
{
    int most = 0, sum = 0, first = node->n_in > 0 ? degree[node->in[0]] : 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        int d = degree[node->in[k]];
        most = d > most ? d : most;
        sum = at_most(sum + d);
    }
    bool rest_fixed = sum == first;
    switch (node->op) {
    case SALI_OP_state:
        return 1;
    case SALI_OP_mul:
        return sum;
    case SALI_OP_quad:
    case SALI_OP_edges:
        return rest_fixed ? at_most(2 * first) : MORE;
    case SALI_OP_square:
        return at_most(2 * first);
    case SALI_OP_div:
    case SALI_OP_conv2d:
        return rest_fixed ? first : MORE;
    case SALI_OP_pow:
        return node->reals[0] == 1 ? first : node->reals[0] == 2 ? at_most(2 * first) : MORE;
    case SALI_OP_avg_pool2d:
    case SALI_OP_symmetrise:
        return first;
    case SALI_OP_where:
        return first == 0 ? most : MORE;
    case SALI_OP_table:
        return rest_fixed ? table_degree(node, space) : MORE;
    default:
        return op->linear ? most : op->degree == sali_degree_bilinear ? sum : MORE;
    }
}

/* Degree of a node in the parameters, the state being fixed. */
static int parameter_degree(const sali_node *node, const int *degree, const sal_space *space,
                            const sali_op *op)
{
    int most = 0;
    for (int32_t k = 0; k < node->n_in; k++) {
        most = degree[node->in[k]] > most ? degree[node->in[k]] : most;
    }
    switch (node->op) {
    case SALI_OP_param:
        return 1;
    case SALI_OP_quad:
    case SALI_OP_edges:
    case SALI_OP_table:
    case SALI_OP_conv2d: /* linear in all but the first input */
        return most == 0 || degree[node->in[0]] == 0 ? most : MORE;
    default:
        return most > 0 ? node_degree(node, degree, space, op) : 0;
    }
}

sal_status sali_program_is_linear_in_params(const sali_program *program, bool *linear,
                                            sal_error *err)
{
    int *degree = SALI_NEW_ARRAY(int, program->n_nodes);
    if (!degree) {
        return sali_fail_memory(err);
    }
    for (int32_t i = 0; i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        degree[i] = parameter_degree(node, degree, program->space, program->steps[i].op);
    }
    *linear = degree[program->output] <= 1;
    sali_free(degree);
    return SAL_OK;
}

bool sali_program_is_quadratic(const sali_program *program)
{
    int *degree = SALI_NEW_ARRAY(int, program->n_nodes);
    for (int32_t i = 0; degree && i < program->n_nodes; i++) {
        const sali_node *node = &program->nodes[i];
        degree[i] =
            node->varying ? node_degree(node, degree, program->space, program->steps[i].op) : 0;
    }
    bool quadratic = degree && degree[program->output] <= 2;
    sali_free(degree);
    return quadratic;
}
