#ifndef SLUICE_CZlib_SHIM_H
#define SLUICE_CZlib_SHIM_H

#include <zlib.h>

#endif
