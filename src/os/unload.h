/* SPDX-License-Identifier: MIT */
/* unload.h: code that threads run must stay where it is. */
#ifndef WEFT_OS_UNLOAD_H
#define WEFT_OS_UNLOAD_H

/* From now on the object that this library is part of stays in memory, also after dlclose(). It may
 * be a plugin that dlopen() loaded. */
void weft__keep_loaded(void);

#endif
