// Package jsbuild builds the JavaScript of the extension, of the host that runs
// adapters, and of plugins. It also reads the tools of a plugin and runs its tests.
// It is the only package that imports esbuild and the JavaScript engine QuickJS. It
// does not need Node.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package jsbuild
