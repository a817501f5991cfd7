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
// (dist/adapter.iife.js). Only the descriptions are kept in memory. An adapter is read
// again for a browser, and refused if it has changed since it was loaded.
//
// These packages build on package plugin: schema checks arguments and results, settings
// and policy keep what the user sets and allows, review and inspection show a plugin to
// a reviewer, faults records adapters that do not start, and catalog connects them.
//
// # Trust
//
// Packages are untrusted: sizes are limited, schemas cannot read files or URLs, and slow
// patterns time out. A package that opentabs installed is pinned to its content. Other
// content must be reviewed before it runs; see opentabs/plugin/policy.
//
// # Concurrency
//
// Plugin, Tool and Set are immutable and safe for concurrent use. Registry and Store are
// safe for concurrent use, and a Store also by several processes.
//
// Registry.reload is held while packages are loaded and listeners run. Registry.mu
// guards the listeners, the folders and the stamps. index.mu guards the index of
// adapters. Lock order: reload, then mu or index.mu. No goroutine holds mu and index.mu
// together.
package plugin
