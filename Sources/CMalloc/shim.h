#ifndef SLUICE_CMALLOC_SHIM_H
#define SLUICE_CMALLOC_SHIM_H

#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// Lets the heaps keep up to 16 MiB: glibc would map and clear fresh pages for nearly each read of a long body.
static inline void sluice_keep_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

/// Gives free memory at the top of the C library's heaps back to the system, where it can.
static inline void sluice_release_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

#endif
