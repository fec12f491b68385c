/* SPDX-License-Identifier: MIT */
/* Hot loops in plain C get one copy per instruction set, chosen when the library is loaded. */
#ifndef SALI_CLONES_H
#define SALI_CLONES_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(SALI_NO_CLONES)
#define SALI_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SALI_CLONES
#endif

#endif
