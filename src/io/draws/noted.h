/* SPDX-License-Identifier: MIT */
/* What is noted of each draw and chain, in this order everywhere, and what it is called in files.
 */
#ifndef SALI_NOTED_H
#define SALI_NOTED_H

enum { SALI_NOTED_LP, SALI_NOTED_ACCEPTANCE, SALI_NOTED_JUMP, SALI_NOTED_STEP_SIZE, SALI_NOTED };

extern const char *const sali_noted_names[SALI_NOTED];

#endif
