// Package plugin loads plugin packages and serves the loaded plugins as an immutable
// [Set].
//
// [Load] reads one package folder. A [Store] is the list of installed packages in the
// state folder. A [Registry] loads all packages of a store and returns the current Set:
//
//	store := plugin.NewStore(stateDir, plugin.StoreOptions{})
//	registry := plugin.NewRegistry(store, log)
//	err := registry.Reload()
//	tool, ok := registry.Set().Tool("messages__export")
//
// A plugin package contains two descriptions (package.json, dist/tools.json) and one
// adapter (dist/adapter.iife.js). A loaded plugin keeps the contents of package.json and
// dist/tools.json in memory, but not the adapter. Before opentabs gives an adapter to a
// browser, opentabs reads the adapter's file again, and rejects an adapter that has
// changed since the plugin was loaded.
//
// The packages in the subfolders of plugin use package plugin. Package schema validates
// the arguments and results of tools. Packages settings and policy store the user's
// settings and permissions. Packages review and inspection show a plugin to a reviewer.
// Package faults records adapters that fail to start. Package catalog connects plugins
// with their settings and faults.
//
// # Trust
//
// Plugin packages are untrusted: file sizes are limited, schemas cannot read files or
// URLs, and slow patterns time out. A package that opentabs installed is pinned to its
// content by hash. The user must review new content of a plugin before the content runs;
// see opentabs/plugin/policy.
//
// # Concurrency
//
// Plugin, Tool and Set are immutable and safe for concurrent use. Registry and Store are
// safe for concurrent use. Several processes can use the same Store at the same time.
//
// A goroutine holds the mutex Registry.reloadLock while it loads packages and calls
// listeners. Registry.mu guards the listeners, the folders and the file stamps. index.mu
// guards the index of adapters. Lock order in package plugin: Registry.reloadLock, then
// Registry.mu or index.mu. No goroutine holds Registry.mu and index.mu at the same time.
package plugin
