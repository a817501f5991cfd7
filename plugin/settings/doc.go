// Package settings stores the user's settings of plugins and validates their values.
//
// A plugin declares its settings ([opentabs/plugin.Setting]). [Parse] parses a value that
// the user typed. [Values] stores the values in settings.json in the state folder.
//
// # Concurrency
//
// [opentabs/internal/statedoc.Watched] guards settings.json and the listeners of Values.
package settings
