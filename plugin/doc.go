// Package plugin holds what teaches opentabs a site: it loads and checks plugin
// packages, remembers which ones a person added, and serves them as one
// immutable [Set].
//
// [Load] reads one package folder. A [Store] is the list of added packages in
// the state folder. A [Registry] loads everything in a store and hands out the
// current Set:
//
//	store := plugin.NewStore(stateDir, plugin.StoreOptions{})
//	registry := plugin.NewRegistry(store, log)
//	err := registry.Reload()
//	tool, ok := registry.Set().Tool("messages__export")
//
// A package is two descriptions (package.json, dist/tools.json) and one adapter
// (dist/adapter.iife.js). Only the descriptions are kept in memory; an adapter
// is read again when a browser asks for it and is refused if it is not what was
// loaded.
//
// # Trust
//
// Nothing in a package is believed: sizes are limited, schemas cannot reach
// files or the network, and slow patterns are cut off. A package is pinned to
// its content when it is added and is not loaded once it differs.
//
// # Concurrency
//
// Plugin, Tool and Set never change after they are made and are safe for
// concurrent use. Registry and Store are safe for concurrent use; a Store is
// also safe against other processes that use the same folder.
package plugin
