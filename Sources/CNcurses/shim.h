#ifndef SLUICE_CNcurses_SHIM_H
#define SLUICE_CNcurses_SHIM_H

#define NCURSES_WIDECHAR 1
#include <curses.h>

#endif
