/* SPDX-License-Identifier: MIT */
#include "network.h"

#include <math.h>

/* Variable v with tables over (parent, parent, v), the parents v - 1 and v - 3; the first three are
 * free. */
sal_status made_network(int variables, sal_model **model, sal_error *err)
{
    enum { MOST = 100 };
    int32_t states[MOST];
    int64_t begin[MOST], scope[3 * MOST];
    double table[8 * MOST];
    for (int v = 0; v < variables; v++) {
        states[v] = 2;
    }
    for (int k = 0; k <= variables - 3; k++) {
        begin[k] = 3 * k;
    }
    for (int v = 3; v < variables; v++) {
        const int k = v - 3;
        scope[3 * k] = v - 3;
        scope[3 * k + 1] = v - 1;
        scope[3 * k + 2] = v;
        for (int cell = 0; cell < 8; cell++) {
            bool odd = (cell ^ cell >> 1 ^ cell >> 2) & 1;
            table[8 * k + cell] = log(odd ? 0.05 : 0.95);
        }
    }
    return sal_model_from_factors(variables, states, variables - 3, begin, scope, table, SAL_F64,
                                  model, err);
}
