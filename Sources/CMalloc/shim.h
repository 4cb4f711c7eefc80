#ifndef SLUICE_CMALLOC_SHIM_H
#define SLUICE_CMALLOC_SHIM_H

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// Gives free memory at the top of the C library's heaps back to the system, where it can.
static inline void sluice_release_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#endif
