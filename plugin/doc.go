// Package plugin loads plugin packages and serves them as one immutable [Set].
//
// [Load] reads one package folder. A [Store] is the list of added packages in the state
// folder. A [Registry] loads all packages of a store and returns the current Set:
//
//	store := plugin.NewStore(stateDir, plugin.StoreOptions{})
//	registry := plugin.NewRegistry(store, log)
//	err := registry.Reload()
//	tool, ok := registry.Set().Tool("messages__export")
//
// A package has two descriptions (package.json, dist/tools.json) and one adapter
// (dist/adapter.iife.js). Only the two descriptions of a package are kept in memory.
// For each browser, the adapter is read again, and refused if the file has changed
// since it was loaded.
//
// Packages in this folder build on package plugin. Package schema checks arguments and
// results. Packages settings and policy store what the user sets and allows. Packages
// review and inspection show a plugin to a reviewer. Package faults records adapters
// that do not start. Package catalog connects plugins with their settings and faults.
//
// # Trust
//
// Packages are untrusted: sizes are limited, schemas cannot read files or URLs, and
// slow patterns time out. A package that opentabs installed is pinned to its content.
// New content of a plugin must be reviewed before it runs; see opentabs/plugin/policy.
//
// # Concurrency
//
// Plugin, Tool and Set are immutable and safe for concurrent use. Registry and Store are
// safe for concurrent use, and a Store also by several processes.
//
// Registry.reload is held while packages are loaded and listeners run. Registry.mu
// guards the listeners, the folders and the stamps. index.mu guards the index of
// adapters. Lock order in package plugin: Registry.reload, then Registry.mu or
// index.mu. No goroutine holds Registry.mu and index.mu at the same time.
package plugin
