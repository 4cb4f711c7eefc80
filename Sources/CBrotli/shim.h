#ifndef SLUICE_CBrotli_SHIM_H
#define SLUICE_CBrotli_SHIM_H

#include <brotli/decode.h>
#include <brotli/encode.h>

#endif
