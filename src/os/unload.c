/* SPDX-License-Identifier: MIT */
#include "os/unload.h"

#include <dlfcn.h>
#include <pthread.h>

/* A program without a dynamic linker has nothing to unload, and need not be linked with these.
 * core/misuse.c needs dladdr() in any case. */
#pragma weak dlopen
#pragma weak dlclose

static void keep_loaded(void)
{
    static const char here;
    Dl_info info;
    if (!dlopen || !dlclose || !dladdr(&here, &info))
        return;
    /* NOLOAD: nothing if it is the program itself, which is not known by that name. */
    void *object = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
    if (object)
        dlclose(object);
}

void weft__keep_loaded(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, keep_loaded);
}
