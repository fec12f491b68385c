/* SPDX-License-Identifier: MIT */
/* A parameter, a leaf: the program fills its values. */
#include <string.h>

#include "ad/ops/ops.h"
#include "core/error.h"

static sal_status shape(sali_node *node, const sali_shape_context *context)
{
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
    const char *name = node->name ? node->name : "";
    if (!name[0] || strspn(name, letters) != strlen(name)) {
        return sali_fail(context->err, SAL_ERR_ARGUMENT,
                         "param: a name of letters, digits, '_', '-', '.', '/' is needed; got '%s'",
                         name);
    }
    return sali_shape_given(node, context, 0);
}

const sali_op RN(sali_op_param) = {
    .name = "param",
    .doc = "named values, to be learnt",
    .shape = shape,
};
