#ifndef SLUICE_CZstd_SHIM_H
#define SLUICE_CZstd_SHIM_H

#include <zstd.h>

#endif
