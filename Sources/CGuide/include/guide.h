#ifndef SLUICE_GUIDE_H
#define SLUICE_GUIDE_H

#include <stddef.h>

/// A page of the guide, as its file is.
struct sluice_page {
    const char *group;
    const char *topic;
    const unsigned char *text;
    size_t size;
};

/// The page of that number, in the guide's order; NULL behind the last one.
const struct sluice_page *sluice_page_at(size_t number);

#endif
