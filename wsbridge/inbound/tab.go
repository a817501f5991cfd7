package inbound

import (
	"slices"

	"opentabs/internal/lazyregexp"
	"opentabs/wire"
)

const (
	maxURL   = 8192
	maxTitle = 1000
	// maxTabPlugins limits the plugins of one document.
	maxTabPlugins = 1000
	// maxTabFrames limits the frames of one tab.
	maxTabFrames = 200
	// maxProblem limits the reason why an adapter did not start, in characters.
	maxProblem = 1000
)

// loadError matches Chrome's names of network errors.
var loadError = lazyregexp.New(`^net::ERR_[A-Z0-9_]{1,80}$`)

// Tab bounds and cleans a reported tab, because the server stores, lists and
// logs it. Invalid names and IDs are dropped together with their entry.
func Tab(t wire.TabInfo) wire.TabInfo {
	t.URL, t.Title = Text(t.URL, maxURL), Text(t.Title, maxTitle)
	if !IsID(t.DocumentID) {
		t.DocumentID = ""
	}
	if t.LoadError != "" && t.LoadError != wire.LoadErrorNoAnswer && !loadError().MatchString(t.LoadError) {
		t.LoadError = "net::ERR_FAILED"
	}
	bad := func(name string) bool { return !IsID(name) }
	live := func(plugins []wire.TabPlugin) []wire.TabPlugin {
		return firstValid(plugins, maxTabPlugins, func(p wire.TabPlugin) bool { return bad(p.Name) || bad(p.Hash) })
	}
	t.Plugins = live(t.Plugins)
	t.Frames = firstValid(t.Frames, maxTabFrames, func(f wire.FrameInfo) bool { return f.FrameID <= 0 || bad(f.DocumentID) })
	for i := range t.Frames {
		t.Frames[i].URL, t.Frames[i].Plugins = Text(t.Frames[i].URL, maxURL), live(t.Frames[i].Plugins)
	}
	t.Broken = firstValid(t.Broken, maxTabPlugins, func(p wire.BrokenPlugin) bool { return bad(p.Name) || bad(p.Hash) })
	for i := range t.Broken {
		t.Broken[i].Problem = Text(t.Broken[i].Problem, maxProblem)
	}
	for _, names := range []*[]string{&t.Loading, &t.Arriving, &t.NeedsReload} {
		*names = firstValid(*names, maxTabPlugins, bad)
	}
	return t
}

// firstValid returns the first n valid elements of list.
func firstValid[T any](list []T, n int, bad func(T) bool) []T {
	list = slices.DeleteFunc(list, bad)
	return list[:min(len(list), n)]
}
