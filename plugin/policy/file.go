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

// setMark records who changed an object, and when.
func setMark(o statedoc.Object, by string) {
	o.Put("by", by)
	o.Put("at", time.Now().UTC().Format(time.RFC3339))
}

// Mark is the author and the time of a change.
type Mark struct {
	// By is the surface, with the user or browser if known; empty if not recorded.
	By string `json:"by,omitempty"`
	// At is in UTC; zero if not recorded.
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

// Standing is the entry of one plugin in permissions.json.
type Standing struct {
	// Review is nil if the user has not reviewed the plugin.
	Review *Review `json:"reviewed,omitempty"`
	// Permission applies to tools that have no permission in Tools; empty means off.
	Permission wire.Permission `json:"permission,omitempty"`
	// Set is the author of Permission.
	Set Mark `json:"set,omitzero"`
	// OpenTabs is the page that calls without a matching tab may open; empty if none.
	OpenTabs string `json:"openTabs,omitempty"`
	// Recommended is the recommendation of an agent; nil if there is none.
	Recommended *Recommendation `json:"recommended,omitempty"`
	// Calls are the plugins whose tools the plugin may call.
	Calls map[string]Mark `json:"calls,omitempty"`
	// LateAccess is set if a plugin that starts late may have secret settings and call
	// other plugins.
	LateAccess *Mark `json:"lateAccess,omitempty"`
	// Tools are the entries of single tools, by name.
	Tools map[string]ToolStanding `json:"tools,omitempty"`
}

// ToolStanding is the entry of one tool in permissions.json.
type ToolStanding struct {
	// Permission is empty if the permission of the plugin applies.
	Permission wire.Permission `json:"permission,omitempty"`
	// Limit is how often the tool may run.
	Limit Limit `json:"limit,omitzero"`
	// Allowed are the callers for which the tool always runs without approval.
	Allowed []AlwaysAllowed `json:"allowed,omitempty"`
	// Mark is the author of Permission.
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

// rules are the content of permissions.json. They are immutable.
type rules struct {
	plugins map[string]Standing
	// problems describe the unreadable entries of the file. Tools and plugins with an
	// unreadable entry are off.
	problems []string
}

// editTool changes the entry of one tool within the entry of its plugin.
func editTool(entry statedoc.Object, tool string, change func(own statedoc.Object)) {
	tools := entry.Child("tools")
	own := tools.Child(tool)
	change(own)
	putTool(tools, tool, own)
	entry.Put("tools", tools)
}

// putTool stores the entry of a tool. putTool removes the author of a permission that
// is gone.
func putTool(tools statedoc.Object, name string, own statedoc.Object) {
	if _, ok := own["permission"]; !ok {
		delete(own, "by")
		delete(own, "at")
	}
	tools.Put(name, own)
}

// readRules reads the file. An entry that cannot be read counts as off and is
// reported as a problem.
func readRules(p *statedoc.Plugins) *rules {
	r := &rules{plugins: map[string]Standing{}}
	for name, raw := range p.Top.Child("plugins") {
		to := &jsonread.Problems{File: "plugins." + name}
		r.plugins[name] = readStanding(raw, to)
		for _, problem := range to.List {
			r.problems = append(r.problems, problem.String())
		}
	}
	return r
}

// readStanding reads the entry of one plugin in permissions.json.
func readStanding(raw json.RawMessage, to *jsonread.Problems) Standing {
	var s Standing
	text, problem := rawjson.Compact(raw, nil)
	if problem != "" || rawjson.KindOf(text) != rawjson.KindObject {
		to.Add("is no object; the plugin is off")
		return s
	}
	f := jsonread.New(text, "", to)
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
		if f.Has("tools") { // not an object: a tool may have been off
			s.Review = nil
		}
		return s
	}
	s.Tools = map[string]ToolStanding{}
	for name, raw := range tools.Members {
		if rawjson.KindOf(raw) != rawjson.KindObject {
			to.Add("tools.%s is no object; the tool is off", name)
			s.Tools[name] = ToolStanding{Permission: wire.PermissionOff}
			continue
		}
		s.Tools[name] = readTool(jsonread.New(raw, "tools."+name+".", to))
	}
	return s
}

// readTool reads the entry of one tool.
func readTool(f *jsonread.Reader) ToolStanding {
	t := ToolStanding{Permission: readPermission(f), Mark: readMark(f)}
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
// with unreadable names, because an empty name has a meaning.
func readAllowed(f *jsonread.Reader) []AlwaysAllowed {
	var all []AlwaysAllowed
	if f.Has("allowed") && rawjson.KindOf(f.Members["allowed"]) != rawjson.KindArray {
		f.Add("allowed", "is %s; make it an array of objects", rawjson.KindOf(f.Members["allowed"]))
		return nil
	}
	for i, raw := range rawjson.Elements(f.Members["allowed"]) {
		at := fmt.Sprintf("allowed[%d]", i)
		if rawjson.KindOf(raw) != rawjson.KindObject {
			f.Add(at, "is %s; make it an object", rawjson.KindOf(raw))
			continue
		}
		one := jsonread.New(raw, f.Path+at+".", f.Problems)
		client, hasClient := one.TextOK("client")
		caller, hasCaller := one.TextOK("caller")
		if hasClient && hasCaller {
			all = append(all, AlwaysAllowed{Client: client, Caller: caller, Mark: readMark(one)})
		}
	}
	return all
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
		if one := entries.Object(name); one != nil {
			calls[name] = readMark(one)
		}
	}
	return calls
}

func readLateAccess(f *jsonread.Reader) *Mark {
	one := f.Object("lateAccess")
	if one == nil {
		return nil
	}
	mark := readMark(one)
	return &mark
}

// readPermission reads a permission. An invalid permission counts as off.
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
	if at, err := time.Parse(time.RFC3339, f.Optional("at")); err == nil {
		m.At = at
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
