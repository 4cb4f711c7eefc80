#ifndef SLUICE_CTurboJPEG_SHIM_H
#define SLUICE_CTurboJPEG_SHIM_H

#include <turbojpeg.h>

#endif
