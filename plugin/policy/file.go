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

// Mark says who changed something, and when.
type Mark struct {
	// By is the surface, and where it is known the person or browser behind it;
	// empty if that was not recorded.
	By string `json:"by,omitempty"`
	// At is in UTC; zero if that was not recorded.
	At time.Time `json:"at,omitzero"`
}

// Review is what a person has looked at and let in.
type Review struct {
	// Hash is that of [Plugin.ContentHash].
	Hash string `json:"hash"`
	// Version and Dir are those of the package then, for people.
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir,omitempty"`
	Mark
}

// Standing is what permissions.json says of one plugin.
type Standing struct {
	// Review is nil if nobody has reviewed the plugin.
	Review *Review `json:"reviewed,omitempty"`
	// Permission holds for tools without one of their own, as long as the review
	// holds; empty means off.
	Permission wire.Permission `json:"permission,omitempty"`
	// Set is who set Permission.
	Set Mark `json:"set,omitzero"`
	// OpenTabs is the page that calls may open which find no tab; empty if none.
	OpenTabs string `json:"openTabs,omitempty"`
	// Recommended is an agent's opinion; nil if there is none.
	Recommended *Recommendation `json:"recommended,omitempty"`
	// Calls are the other plugins whose tools the plugin may call, with who allowed
	// it; none by default.
	Calls map[string]Mark `json:"calls,omitempty"`
	// LateAccess is who allowed a plugin that starts late to have secret settings
	// and to call other plugins; nil if nobody did.
	LateAccess *Mark `json:"lateAccess,omitempty"`
	// Tools are what is said of single tools, by name.
	Tools map[string]ToolStanding `json:"tools,omitempty"`
}

// ToolStanding is what permissions.json says of one tool.
type ToolStanding struct {
	// Permission is empty where the plugin's holds.
	Permission wire.Permission `json:"permission,omitempty"`
	// Limit is how often the tool may run. Mark is about Permission.
	Limit Limit `json:"limit,omitzero"`
	// Allowed are the callers for which the tool always runs without a question.
	Allowed []AlwaysAllowed `json:"allowed,omitempty"`
	Mark
}

// AlwaysAllowed is a user's "allow always" for one caller of a tool.
type AlwaysAllowed struct {
	// Client is the name of the MCP client.
	Client string `json:"client,omitempty"`
	// Caller is the plugin whose tool calls; empty for a call of the client itself.
	Caller string `json:"caller,omitempty"`
	Mark
}

// rules are permissions.json at one moment. They never change.
type rules struct {
	plugins map[string]Standing
	// problems say what in the file could not be read; what they are about is
	// off.
	problems []string
}

// editTool changes what is said of one tool in a plugin's entry.
func editTool(entry statedoc.Object, tool string, change func(own statedoc.Object)) {
	tools := entry.Child("tools")
	own := tools.Child(tool)
	change(own)
	putTool(tools, tool, own)
	entry.Put("tools", tools)
}

// putTool sets what is said of a tool; without a permission it is not said who
// gave it.
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
		if f.Has("tools") { // and no object: nobody knows what was forbidden
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

// readAllowed reads for whom a tool always runs. An entry whose names can't be
// read is left out: an empty name has a meaning of its own.
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

// readCalls reads which plugins may be called. An entry that is not an object
// allows nothing.
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

// readPermission reads a permission; one that makes no sense is off.
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

// ParsePermission reads a permission as people write it.
func ParsePermission(text string) (wire.Permission, error) {
	switch p := wire.Permission(text); p {
	case wire.PermissionOff, wire.PermissionAsk, wire.PermissionAuto:
		return p, nil
	}
	return "", fmt.Errorf("%q is no permission: use off, ask or auto", text)
}
