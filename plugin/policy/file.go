package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"opentabs/internal/jsonread"
	"opentabs/internal/rawjson"
	"opentabs/internal/statedoc"
	"opentabs/wire"
)

// setMark records in o who made a change, and when.
func setMark(o statedoc.Object, by string) {
	o.Put("by", by)
	o.Put("at", time.Now().UTC().Format(time.RFC3339))
}

// Mark is the author and the time of a change.
type Mark struct {
	// By is the surface, with the user or browser if known; empty if not recorded.
	By string `json:"by,omitempty"`
	// At is the time of the change in UTC; zero if not recorded.
	At time.Time `json:"at,omitzero"`
}

// Review is the record of a review by the user.
type Review struct {
	// Hash is the [plugin.Plugin.ContentHash] of the reviewed content.
	Hash string `json:"hash"`
	// Version and Dir describe the reviewed package for the user.
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Mark
}

// PluginEntry is the entry of one plugin in permissions.json.
type PluginEntry struct {
	// Review is nil if the user has not reviewed the plugin.
	Review *Review `json:"reviewed,omitempty"`
	// Permission applies to tools that have no permission in Tools; empty means off.
	Permission wire.Permission `json:"permission,omitempty"`
	// Set records who set Permission, and when.
	Set Mark `json:"set,omitzero"`
	// OpenTabs is the page that calls without a matching tab may open; empty if none.
	OpenTabs string `json:"openTabs,omitempty"`
	// Recommended is the recommendation of an agent; nil if there is none.
	Recommended *Recommendation `json:"recommended,omitempty"`
	// Calls are the plugins whose tools this plugin may call, by name.
	Calls map[string]Mark `json:"calls,omitempty"`
	// LateAccess is set if a plugin that starts late may have secret settings and call
	// other plugins.
	LateAccess *Mark `json:"lateAccess,omitempty"`
	// Tools are the entries of single tools, by name.
	Tools map[string]ToolEntry `json:"tools,omitempty"`
}

// ToolEntry is the entry of one tool in permissions.json.
type ToolEntry struct {
	// Permission is empty if the permission of the plugin applies.
	Permission wire.Permission `json:"permission,omitempty"`
	// Limit is how often the tool may run.
	Limit Limit `json:"limit,omitzero"`
	// Allowed are the callers for which the tool always runs without approval.
	Allowed []AlwaysAllowed `json:"allowed,omitempty"`
	// Mark records who set Permission, and when.
	Mark
}

// AlwaysAllowed is a user's "allow always" for one caller of a tool.
type AlwaysAllowed struct {
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// Caller is the plugin whose tool makes the call; empty if the client makes it.
	Caller string `json:"caller,omitempty"`
	Mark
}

// permissionRules are the content of permissions.json. permissionRules are immutable.
type permissionRules struct {
	plugins map[string]PluginEntry
	sites   map[string]SiteEntry // by pattern
	// problems describe the unreadable entries of permissions.json. Tools and plugins
	// with an unreadable entry are off.
	problems []string
}

// editTool changes the entry of one tool within the entry of its plugin.
func editTool(entry statedoc.Object, tool string, change func(toolEntry statedoc.Object)) {
	tools := entry.Child("tools")
	toolEntry := tools.Child(tool)
	change(toolEntry)
	putTool(tools, tool, toolEntry)
	entry.Put("tools", tools)
}

// putTool stores the entry of a tool. putTool removes the recorded author if the tool
// has no own permission.
func putTool(tools statedoc.Object, name string, toolEntry statedoc.Object) {
	if _, ok := toolEntry["permission"]; !ok {
		delete(toolEntry, "by")
		delete(toolEntry, "at")
	}
	tools.Put(name, toolEntry)
}

// readRules reads the entries of permissions.json. An entry that cannot be read counts
// as off and is reported as a problem.
func readRules(p *statedoc.Plugins) *permissionRules {
	r := &permissionRules{plugins: map[string]PluginEntry{}}
	for name, raw := range p.TopLevel.Child("plugins") {
		problems := &jsonread.Problems{File: "plugins." + name}
		r.plugins[name] = readPlugin(raw, problems)
		for _, problem := range problems.List {
			r.problems = append(r.problems, problem.String())
		}
	}
	r.sites = readSites(p.TopLevel, func(problem string) { r.problems = append(r.problems, problem) })
	return r
}

// readPlugin reads the entry of one plugin in permissions.json.
func readPlugin(raw json.RawMessage, problems *jsonread.Problems) PluginEntry {
	var s PluginEntry
	text, problem := rawjson.Compact(raw, nil)
	if problem != "" || rawjson.KindOf(text) != rawjson.KindObject {
		problems.Add("is no object; the plugin is off")
		return s
	}
	f := jsonread.New(text, "", problems)
	if review := f.Object("reviewed"); review != nil {
		r := Review{Hash: review.Text("hash", "review the plugin again"), Version: review.Optional("version"), Dir: review.Optional("dir"), Mark: readMark(review)}
		if r.Hash != "" {
			s.Review = &r
		}
	}
	s.Permission, s.Set = readPermission(f), readMark(f)
	s.OpenTabs = f.Optional("openTabs")
	s.Recommended = readRecommendation(f)
	s.Calls, s.LateAccess = readCalls(f), readLateAccess(f)
	tools := f.Object("tools")
	if tools == nil {
		if f.Has("tools") { // without readable tools, the plugin counts as not reviewed, because a tool may have been off
			s.Review = nil
		}
		return s
	}
	s.Tools = map[string]ToolEntry{}
	for name, raw := range tools.Members {
		if rawjson.KindOf(raw) != rawjson.KindObject {
			problems.Add("tools.%s is no object; the tool is off", name)
			s.Tools[name] = ToolEntry{Permission: wire.PermissionOff}
			continue
		}
		s.Tools[name] = readTool(jsonread.New(raw, "tools."+name+".", problems))
	}
	return s
}

// readTool reads the entry of one tool in permissions.json.
func readTool(f *jsonread.Reader) ToolEntry {
	t := ToolEntry{Permission: readPermission(f), Mark: readMark(f)}
	if f.Has("limit") {
		limit, err := ParseLimit(f.Optional("limit"))
		if err != nil {
			f.Add("limit", "is wrong, so the tool is off: %v", err)
			t.Permission = wire.PermissionOff
		}
		t.Limit = limit
	}
	t.Allowed = readAllowed(f)
	return t
}

// readAllowed reads the callers for which a tool always runs. readAllowed skips entries
// with unreadable names, because an empty name would match other callers.
func readAllowed(f *jsonread.Reader) []AlwaysAllowed {
	var callers []AlwaysAllowed
	if f.Has("allowed") && rawjson.KindOf(f.Members["allowed"]) != rawjson.KindArray {
		f.Add("allowed", "is %s; make it an array of objects", rawjson.KindOf(f.Members["allowed"]))
		return nil
	}
	for i, raw := range rawjson.Elements(f.Members["allowed"]) {
		entryPath := fmt.Sprintf("allowed[%d]", i)
		if rawjson.KindOf(raw) != rawjson.KindObject {
			f.Add(entryPath, "is %s; make it an object", rawjson.KindOf(raw))
			continue
		}
		entry := jsonread.New(raw, f.Path+entryPath+".", f.Problems)
		client, hasClient := entry.TextOrFalse("client")
		caller, hasCaller := entry.TextOrFalse("caller")
		if hasClient && hasCaller {
			callers = append(callers, AlwaysAllowed{Client: client, Caller: caller, Mark: readMark(entry)})
		}
	}
	return callers
}

// readCalls reads the plugins that may be called. readCalls skips entries that are not
// objects.
func readCalls(f *jsonread.Reader) map[string]Mark {
	entries := f.Object("calls")
	if entries == nil {
		return nil
	}
	calls := map[string]Mark{}
	for _, name := range slices.Sorted(maps.Keys(entries.Members)) {
		if entry := entries.Object(name); entry != nil {
			calls[name] = readMark(entry)
		}
	}
	return calls
}

func readLateAccess(f *jsonread.Reader) *Mark {
	entry := f.Object("lateAccess")
	if entry == nil {
		return nil
	}
	mark := readMark(entry)
	return &mark
}

// readPermission reads a permission in permissions.json. An invalid permission counts
// as off.
func readPermission(f *jsonread.Reader) wire.Permission {
	if !f.Has("permission") {
		return ""
	}
	p, err := ParsePermission(f.Optional("permission"))
	if err != nil {
		f.Add("permission", "is wrong, so it counts as off: %v", err)
		return wire.PermissionOff
	}
	return p
}

func readMark(f *jsonread.Reader) Mark {
	m := Mark{By: f.Optional("by")}
	if entryPath, err := time.Parse(time.RFC3339, f.Optional("at")); err == nil {
		m.At = entryPath
	}
	return m
}

// ParsePermission parses a permission that the user typed.
func ParsePermission(text string) (wire.Permission, error) {
	switch p := wire.Permission(text); p {
	case wire.PermissionOff, wire.PermissionAsk, wire.PermissionAuto:
		return p, nil
	}
	return "", fmt.Errorf("%q is no permission: use off, ask or auto", text)
}
