/* SPDX-License-Identifier: MIT */
/* What `saltus list` can list, as arrays. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include <jansson.h>

json_t *cli_samplers_json(void);
json_t *cli_models_json(void);
json_t *cli_ops_json(void);
json_t *cli_formats_json(void);

#endif
