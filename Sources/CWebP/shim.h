#ifndef SLUICE_CWebP_SHIM_H
#define SLUICE_CWebP_SHIM_H

#include <webp/decode.h>

#endif
