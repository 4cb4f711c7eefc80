#ifndef SLUICE_CZip_SHIM_H
#define SLUICE_CZip_SHIM_H

#include <zip.h>

#endif
