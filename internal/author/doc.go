// Package author implements the commands for plugin authors. [Create] writes a new
// plugin, [Watcher] reports changes of its source, [Check] lints it, [UpdateReadme] updates
// the tables in its README, and [Pack] makes its npm package. Package jsbuild builds
// plugins.
//
// # Concurrency
//
// The functions share no state. They may run concurrently for different directories.
package author
