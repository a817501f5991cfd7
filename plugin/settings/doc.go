// Package settings keeps the user's settings of plugins and checks their values.
//
// A plugin declares its settings ([opentabs/plugin.Setting]). [Parse] reads a value
// that the user typed. [Values] stores the values in a file of the state folder.
//
// # Concurrency
//
// [opentabs/internal/statedoc.Watched] guards the file and the listeners of Values.
package settings
