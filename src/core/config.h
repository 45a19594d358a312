/* SPDX-License-Identifier: MIT */
/* config.h: a pool's configuration: what the caller asks for, the environment, the defaults. */
#ifndef WEFT_CORE_CONFIG_H
#define WEFT_CORE_CONFIG_H

#include <weft.h>

/* Fills in defaults and the environment. 0, -EINVAL or -ENOTSUP. */
int weft__config_complete(weft_config *full, const weft_config *given, unsigned cpus);

#endif
