package plugin

import (
	"encoding/json"
	"fmt"
	"time"

	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// mark is who changed something, and when.
func (o object) mark(by string) {
	o.put("by", by)
	o.put("at", time.Now().UTC().Format(time.RFC3339))
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
func editTool(entry object, tool string, change func(own object)) {
	tools := entry.objectIn("tools")
	own := tools.objectIn(tool)
	change(own)
	putTool(tools, tool, own)
	entry.put("tools", tools)
}

// putTool sets what is said of a tool; without a permission it is not said who
// gave it.
func putTool(tools object, name string, own object) {
	if _, ok := own["permission"]; !ok {
		delete(own, "by")
		delete(own, "at")
	}
	tools.put(name, own)
}

// decode reads a member into v and reports whether it could.
func decode(raw json.RawMessage, v any) bool { return json.Unmarshal(raw, v) == nil }

// rules reads what the file says. What makes no sense is off, and told.
func (p *perPlugin) rules() *rules {
	r := &rules{plugins: map[string]Standing{}}
	for name, raw := range p.top.objectIn("plugins") {
		to := &problems{file: "plugins." + name}
		r.plugins[name] = readStanding(raw, to)
		for _, problem := range to.list {
			r.problems = append(r.problems, problem.String())
		}
	}
	return r
}

func readStanding(raw json.RawMessage, to *problems) Standing {
	var s Standing
	text, problem := rawjson.Compact(raw, nil)
	if problem != "" || rawjson.KindOf(text) != rawjson.KindObject {
		to.add("is no object; the plugin is off")
		return s
	}
	f := newFields(text, "", to)
	if review := f.object("reviewed"); review != nil {
		r := Review{Hash: review.text("hash", "review the plugin again"), Version: review.optional("version"), Dir: review.optional("dir"), Mark: readMark(review)}
		if r.Hash != "" {
			s.Review = &r
		}
	}
	s.Permission, s.Set = readPermission(f), readMark(f)
	s.OpenTabs = f.optional("openTabs")
	s.Recommended = readRecommendation(f)
	s.Calls, s.LateAccess = readCalls(f), readLateAccess(f)
	tools := f.object("tools")
	if tools == nil {
		if f.has("tools") { // and no object: nobody knows what was forbidden
			s.Review = nil
		}
		return s
	}
	s.Tools = map[string]ToolStanding{}
	for name, raw := range tools.member {
		if rawjson.KindOf(raw) != rawjson.KindObject {
			to.add("tools.%s is no object; the tool is off", name)
			s.Tools[name] = ToolStanding{Permission: wire.PermissionOff}
			continue
		}
		s.Tools[name] = readTool(newFields(raw, "tools."+name+".", to))
	}
	return s
}

func readTool(f *fields) ToolStanding {
	t := ToolStanding{Permission: readPermission(f), Mark: readMark(f)}
	if f.has("limit") {
		limit, err := ParseLimit(f.optional("limit"))
		if err != nil {
			f.add("limit", "is wrong, so the tool is off: %v", err)
			t.Permission = wire.PermissionOff
		}
		t.Limit = limit
	}
	t.Allowed = readAllowed(f)
	return t
}

// readAllowed reads for whom a tool always runs. An entry whose names can't be
// read is left out: an empty name has a meaning of its own.
func readAllowed(f *fields) []AlwaysAllowed {
	var all []AlwaysAllowed
	if f.has("allowed") && rawjson.KindOf(f.member["allowed"]) != rawjson.KindArray {
		f.add("allowed", "is %s; make it an array of objects", rawjson.KindOf(f.member["allowed"]))
		return nil
	}
	for i, raw := range rawjson.Elements(f.member["allowed"]) {
		at := fmt.Sprintf("allowed[%d]", i)
		if rawjson.KindOf(raw) != rawjson.KindObject {
			f.add(at, "is %s; make it an object", rawjson.KindOf(raw))
			continue
		}
		one := newFields(raw, f.at+at+".", f.to)
		client, hasClient := one.string("client")
		caller, hasCaller := one.string("caller")
		if hasClient && hasCaller {
			all = append(all, AlwaysAllowed{Client: client, Caller: caller, Mark: readMark(one)})
		}
	}
	return all
}

// readCalls reads which plugins may be called. An entry that is not an object
// allows nothing.
func readCalls(f *fields) map[string]Mark {
	entries := f.object("calls")
	if entries == nil {
		return nil
	}
	calls := map[string]Mark{}
	for _, name := range sortedKeys(entries.member) {
		if one := entries.object(name); one != nil {
			calls[name] = readMark(one)
		}
	}
	return calls
}

func readLateAccess(f *fields) *Mark {
	one := f.object("lateAccess")
	if one == nil {
		return nil
	}
	mark := readMark(one)
	return &mark
}

// readPermission reads a permission; one that makes no sense is off.
func readPermission(f *fields) wire.Permission {
	if !f.has("permission") {
		return ""
	}
	p, err := ParsePermission(f.optional("permission"))
	if err != nil {
		f.add("permission", "is wrong, so it counts as off: %v", err)
		return wire.PermissionOff
	}
	return p
}

func readMark(f *fields) Mark {
	m := Mark{By: f.optional("by")}
	if at, err := time.Parse(time.RFC3339, f.optional("at")); err == nil {
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
