/* SPDX-License-Identifier: MIT */
/* Files of Python's torch.save, which are not read: they are programs. */
#ifndef SALI_TORCH_H
#define SALI_TORCH_H

#include <stdint.h>
#include <saltus/status.h>

/* Refuse a file of Python's torch.save, with a message that explains how to convert it. Returns: OK
 * for anything else; DATA. */
sal_status sali_refuse_torch(const char *path, const void *bytes, int64_t size, sal_error *err);

#endif
