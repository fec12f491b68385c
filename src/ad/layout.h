/* SPDX-License-Identifier: MIT */
/* The pass that decides which nodes are kept pixel-major. */
#ifndef SALI_LAYOUT_H
#define SALI_LAYOUT_H

#include "ad/program.h"

/* Set `pixel_major` of a node wherever the ops that write and read the node all accept that layout,
 * so that convolutions, pooling and what lies between them never rearrange a batch. Values do not
 * change. For a program whose nodes are copied and whose steps are not yet made. */
void sali_choose_layouts(sali_program *program);

#endif
