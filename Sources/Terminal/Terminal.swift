// The console issue fills this module: a grid of cells, keys and mouse in, frames out, over ncursesw.
