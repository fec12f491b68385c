/* SPDX-License-Identifier: MIT */
/* MaxSAT: f is minus the weight of the violated clauses. The clauses are the factors of a network,
 * as the readers of .cnf and .wcnf make it; -inf stands for the violation of a hard clause. */
#include <math.h>

#include "core/error.h"
#include "models/zoo/making.h"

enum { BETA, HARD, CLAUSES };

static const char *const hard_choices[] = { "forbid", NULL };
static const char *const clauses_choices[] = { "file", "hard", NULL };

/* SAL_ERR_DATA unless all variables of the network have two states. */
static sal_status check_states(const sali_factor_graph *net, sal_error *err)
{
    for (int64_t v = 0; v < net->variables; v++) {
        if (net->states[v] != 2) {
            return sali_fail(err, SAL_ERR_DATA,
                             "max-sat has variables of two states, and variable %lld of this "
                             "network has %d",
                             (long long)v, (int)net->states[v]);
        }
    }
    return SAL_OK;
}

/* The log-potential of an entry of the network's tables. */
static double potential(const sali_making *m, double log)
{
    const bool hard = isinf(log) || (m->values[CLAUSES] != 0 && log < 0);
    const double penalty = m->values[HARD] > 0 ? m->values[HARD] : INFINITY;
    return !hard ? m->values[BETA] * log : isinf(penalty) ? -INFINITY : -m->values[BETA] * penalty;
}

static sal_status max_sat(sali_making *m, sal_expr *f)
{
    const sali_factor_graph *net = &m->content->network;
    const int64_t entries = net->table_begin[net->factors], n = net->scope_begin[net->factors];
    double *tables = SALI_BORROW(m, double, entries);
    int64_t *scope = SALI_BORROW(m, int64_t, n);
    sal_status status = check_states(net, m->err);
    if (status != SAL_OK || !tables || !scope) {
        return status ? status : sali_fail_memory(m->err);
    }
    for (int64_t k = 0; k < entries; k++) {
        tables[k] = potential(m, net->log_table[k]);
    }
    for (int64_t k = 0; k < n; k++) {
        scope[k] = net->scope[k];
    }
    sali_making_state(m, "x", SAL_BINARY, net->variables, 0);
    *f = sal_table(m->tape, sal_constant(m->tape, tables, SAL_SHAPE(entries)), net->factors,
                   net->scope_begin, scope);
    return SAL_OK;
}

const sali_builtin sali_builtin_max_sat = {
    .name = "max-sat",
    .doc = "-beta times the weight of the violated clauses of a file, x in {0,1}^variables; hard "
           "clauses forbid their states or, with a number, weigh `hard`",
    .source = "weights and hard clauses as in the MaxSAT evaluations (Bacchus et al. 2022)",
    .dtype = SAL_F64,
    .settings = { [BETA] = SALI_BETA,
                  [HARD] = { "hard", 0, 0, 1e18, false,
                             "a violated hard clause forbids the state, or has this weight",
                             hard_choices },
                  [CLAUSES] = { "clauses", 0, 0, 1, true,
                                "soft and hard as the file says; or all are hard",
                                clauses_choices } },
    .formula = max_sat,
    .content = SALI_CONTENT_NETWORK,
    .needs_file = true,
};
