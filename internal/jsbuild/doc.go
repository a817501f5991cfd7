// Package jsbuild builds the JavaScript of the extension, of the host that runs adapters, and of plugins. Package
// jsbuild also reads the tools of a plugin and runs the plugin's tests. Only package jsbuild imports esbuild and the
// JavaScript engine QuickJS. Builds and tests of plugins do not need Node.
//
// # Concurrency
//
// All functions of package jsbuild are safe for concurrent use.
package jsbuild
