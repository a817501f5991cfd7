// Package jsbuild makes JavaScript out of embedded TypeScript: the unpacked
// extension, the host that adapters run under, and plugins. It is the only
// importer of esbuild and of the JavaScript engine that reads a plugin's
// schemas, so that nothing here needs Node.
//
// # Concurrency
//
// All functions are safe for concurrent use.
package jsbuild
