package wsbridge

import (
	"slices"

	"opentabs/wire"
)

// maxTabPlugins is how many plugins of one tab are known.
const maxTabPlugins = 1000

// tidy makes what a browser tells of a tab short and plain: it is kept, listed
// and logged. A name or id that can't be one is dropped, and with it whatever
// could have run there.
func tidy(t wire.TabInfo) wire.TabInfo {
	t.URL, t.Title = clean(t.URL, maxURL), clean(t.Title, maxTitle)
	if !plainID(t.DocumentID) {
		t.DocumentID = ""
	}
	bad := func(name string) bool { return !plainID(name) }
	t.Plugins = bounded(t.Plugins, func(p wire.TabPlugin) bool { return bad(p.Name) || bad(p.Hash) })
	t.Loading, t.NeedsReload = bounded(t.Loading, bad), bounded(t.NeedsReload, bad)
	return t
}

// bounded returns the first maxTabPlugins of list that are not bad.
func bounded[T any](list []T, bad func(T) bool) []T {
	list = slices.DeleteFunc(list, bad)
	return list[:min(len(list), maxTabPlugins)]
}
