/* SPDX-License-Identifier: MIT */
/* Exact draws of the whole state of a mixture of independent variables
 * (models/structure/products.h), as a model's structure. */
#ifndef SALI_PRODUCT_DRAWS_H
#define SALI_PRODUCT_DRAWS_H

#include "models/structure/products.h"
#include "models/structure.h"

/* For models that have a products rule; structure data, if any, are freed by sali_free. */
extern const sali_structure sali_product_draws;

#endif
