#ifndef SLUICE_CNcurses_SHIM_H
#define SLUICE_CNcurses_SHIM_H

// Only the terminfo layer is used: what a terminal can do, by its name.
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

/// Loads the entry of a terminal; -1 means there is none. The entry before it is given back.
static inline int sluice_terminfo_load(const char *name) {
    int problem = 0;
    TERMINAL *before = cur_term;
    if (setupterm(name, 1, &problem) != OK) {
        return -1;
    }
    if (before != NULL && before != cur_term) {
        del_curterm(before);
    }
    return 0;
}

/// A number of the loaded entry; negative if it has none of that name.
static inline int sluice_terminfo_number(const char *name) {
    return tigetnum((char *)name);
}

/// A string of the loaded entry, or NULL. It is the library's, until the next entry is loaded.
static inline const char *sluice_terminfo_string(const char *name) {
    const char *value = tigetstr((char *)name);
    return value == (char *)-1 ? NULL : value;
}

/// A string of two parameters with these filled in, or NULL. It is the library's, until the next call.
static inline const char *sluice_terminfo_fill(const char *string, int first, int second) {
    return tiparm(string, first, second);
}

#endif
