// Package author implements the commands for plugin authors. [Create] writes a new
// plugin, [Watcher] reports source changes, [Check] lints a plugin, [UpdateReadme]
// updates a plugin's README, and [Pack] makes a plugin's npm package. Package jsbuild
// builds plugins.
//
// # Concurrency
//
// The functions of package author share no data, so they can run concurrently for
// different directories.
package author
