/* SPDX-License-Identifier: MIT */
/* Counting and failing the library's allocations. Test programs are linked with
 * -Wl,--wrap=aligned_alloc, the one function that core/alloc.c allocates with. */
#ifndef ALLOC_FAIL_H
#define ALLOC_FAIL_H

#include <stdint.h>

/* How many allocations were asked for since the program started. */
int64_t alloc_count(void);

/* Let the n-th allocation from now fail, once (1 is the next); 0: none. */
void alloc_fail_at(int64_t n);

/* Has the failure asked for last happened? */
int alloc_failed(void);

/* Run `call` with its first allocation failing, then with its second, and so on until it needs no
 * more. A run must succeed, or return SAL_ERR_MEMORY and leave its outputs alone; after a success
 * `cleanup` is run. Leaks are left to the address sanitizer. Needs test.h. */
#define ck_alloc_sweep(call, cleanup)                                                        \
    do {                                                                                     \
        for (int64_t sweep_n = 1;; sweep_n++) {                                              \
            alloc_fail_at(sweep_n);                                                          \
            sal_status sweep_status = (call);                                                \
            int sweep_failed = alloc_failed();                                               \
            alloc_fail_at(0);                                                                \
            ck_assert_msg(sweep_status == SAL_OK ||                                          \
                              (sweep_failed && sweep_status == SAL_ERR_MEMORY),              \
                          "%s: allocation %lld failed: got '%s'", #call, (long long)sweep_n, \
                          sal_status_string(sweep_status));                                  \
            if (sweep_status == SAL_OK) {                                                    \
                cleanup;                                                                     \
            }                                                                                \
            if (!sweep_failed) {                                                             \
                break;                                                                       \
            }                                                                                \
        }                                                                                    \
    } while (0)

#endif
