// Package author implements the commands for plugin authors. [Create] writes a new
// plugin, [Watcher] reports source changes, [Check] lints a plugin, [UpdateReadme]
// updates its README, and [Pack] makes its npm package. Package jsbuild builds plugins.
//
// # Concurrency
//
// The functions of this package share no state, so they may run concurrently for
// different directories.
package author
