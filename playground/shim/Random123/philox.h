/* SPDX-License-Identifier: MIT */
/* Random123 refuses processors that it was not tried on. Its code is portable C; the name of one
 * that it knows lets it through. */
#define __riscv 1
#include_next <Random123/philox.h>
#undef __riscv
