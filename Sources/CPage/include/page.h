#ifndef SLUICE_PAGE_H
#define SLUICE_PAGE_H

#include <stddef.h>

/// A file that exported pages are made of.
struct sluice_page_file {
    const char *name;
    const unsigned char *text;
    size_t size;
};

/// The file of that number: the scripts in the order in which a page has them, the style, the markup; NULL behind the
/// last one.
const struct sluice_page_file *sluice_page_file_at(size_t number);

#endif
