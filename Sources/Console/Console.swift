// The console issue fills this module: the screens, as model, update and view.
