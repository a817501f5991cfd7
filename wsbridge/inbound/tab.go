package inbound

import (
	"slices"

	"opentabs/internal/lazyregexp"
	"opentabs/wire"
)

const (
	maxURLChars   = 8192
	maxTitleChars = 1000
	// maxTabPlugins limits the number of plugins in one document.
	maxTabPlugins = 1000
	// maxTabFrames limits the number of frames in one tab.
	maxTabFrames = 200
	// maxProblemChars limits the reason why an adapter did not start, in characters.
	maxProblemChars = 1000
)

var networkErrorName = lazyregexp.New(`^net::ERR_[A-Z0-9_]{1,80}$`)

// CleanTab limits and cleans the texts and lists of a reported tab. CleanTab drops
// entries of lists that have an invalid name or ID.
func CleanTab(t wire.TabInfo) wire.TabInfo {
	t.URL, t.Title = CleanText(t.URL, maxURLChars), CleanText(t.Title, maxTitleChars)
	if !IsID(t.DocumentID) {
		t.DocumentID = ""
	}
	if !slices.Contains([]string{"", wire.LoadErrorNoAnswer, wire.LoadErrorNoAccess}, t.LoadError) && !networkErrorName().MatchString(t.LoadError) {
		t.LoadError = "net::ERR_FAILED"
	}
	isInvalid := func(name string) bool { return !IsID(name) }
	validPlugins := func(plugins []wire.TabPlugin) []wire.TabPlugin {
		return keepFirstValid(plugins, maxTabPlugins, func(p wire.TabPlugin) bool { return isInvalid(p.Name) || isInvalid(p.Hash) })
	}
	t.Plugins = validPlugins(t.Plugins)
	t.Frames = keepFirstValid(t.Frames, maxTabFrames, func(f wire.FrameInfo) bool { return f.FrameID <= 0 || isInvalid(f.DocumentID) })
	for i := range t.Frames {
		t.Frames[i].URL, t.Frames[i].Plugins = CleanText(t.Frames[i].URL, maxURLChars), validPlugins(t.Frames[i].Plugins)
	}
	t.BrokenPlugins = keepFirstValid(t.BrokenPlugins, maxTabPlugins, func(p wire.BrokenPlugin) bool { return isInvalid(p.Name) || isInvalid(p.Hash) })
	for i := range t.BrokenPlugins {
		t.BrokenPlugins[i].Problem = CleanText(t.BrokenPlugins[i].Problem, maxProblemChars)
	}
	for _, names := range []*[]string{&t.Loading, &t.ArrivingPlugins, &t.NeedsReload} {
		*names = keepFirstValid(*names, maxTabPlugins, isInvalid)
	}
	return t
}

func keepFirstValid[T any](items []T, n int, isInvalid func(T) bool) []T {
	items = slices.DeleteFunc(items, isInvalid)
	return items[:min(len(items), n)]
}

// CleanBrowserTab limits and cleans the texts of a browser tab's description, and drops
// unknown kinds of secret fields.
func CleanBrowserTab(t wire.AnyTab) wire.AnyTab {
	t.URL, t.Title, t.Problem = CleanText(t.URL, maxURLChars), CleanText(t.Title, maxTitleChars), CleanText(t.Problem, maxProblemChars)
	if !IsID(t.DocumentID) {
		t.DocumentID = ""
	}
	if t.Secrets != nil {
		t.Secrets = &wire.SecretFields{Shown: keepKnownFieldKinds(t.Secrets.Shown), Typed: keepKnownFieldKinds(t.Secrets.Typed)}
	}
	return t
}

var secretFieldKinds = []string{"card", "code", "password"}

func keepKnownFieldKinds(kinds []string) []string {
	return slices.DeleteFunc(slices.Clone(secretFieldKinds), func(kind string) bool { return !slices.Contains(kinds, kind) })
}

// VisibilityClass ranks a tab by how visible it is to the user, from 0 (best) to 3.
func VisibilityClass(t wire.TabInfo) int {
	switch {
	case t.Active && t.Focused:
		return 0
	case t.Active:
		return 1
	case t.Focused:
		return 2
	default:
		return 3
	}
}
