/* SPDX-License-Identifier: MIT */
/* What `saltus list` can list. */
#ifndef CLI_LIST_H
#define CLI_LIST_H

#include <saltus/saltus.h>

#define CLI_SETTINGS 512

/* "side=10, theta=0.2": settings with their defaults. */
void cli_settings_text(const sal_setting *settings, char text[CLI_SETTINGS]);

/* The word for a kind of variables if the sampler moves it; else NULL. "capped-count": it needs a
 * cap. */
const char *cli_moved_kind(const sal_sampler_info *info, sal_kind kind);

#endif
