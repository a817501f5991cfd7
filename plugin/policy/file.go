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

func setChangeOrigin(o statedoc.Object, by string) {
	o.Put("by", by)
	o.Put("at", time.Now().UTC().Format(time.RFC3339))
}

// ChangeOrigin records where and when the user made a change of permissions.json.
type ChangeOrigin struct {
	// The field By is the surface on which the user made the change, with the name of the user or browser if known.
	// The field By is empty if the surface of the change is unknown.
	By string `json:"by,omitempty"`
	// The field At is the time at which the user made the change, in UTC; zero if not
	// recorded.
	At time.Time `json:"at,omitzero"`
}

// Review records the user's approval of one exact content of a plugin.
type Review struct {
	// The field Hash is the [plugin.Plugin.ContentHash] of the reviewed content.
	Hash string `json:"hash"`
	// Version and Dir describe the reviewed package for the user. Dir is the package's
	// folder.
	Version string `json:"version,omitempty"`
	Dir     string `json:"dir,omitempty"`
	ChangeOrigin
}

// PluginEntry contains the permissions of one plugin in permissions.json.
type PluginEntry struct {
	// Review is the user's review of the plugin, or nil if the user has not reviewed the
	// plugin.
	Review *Review `json:"reviewed,omitempty"`
	// Permission applies to each tool of the plugin for which Tools contains no permission.
	// An empty Permission means "off".
	Permission wire.Permission `json:"permission,omitempty"`
	// PermissionOrigin records who set the plugin's permission, and when.
	PermissionOrigin ChangeOrigin `json:"set,omitzero"`
	// OpenTabs is the URL of the page that calls without a matching tab are allowed to open,
	// or empty.
	OpenTabs string `json:"openTabs,omitempty"`
	// The field Recommended is an agent's recommendation to enable the plugin, or nil.
	Recommended *Recommendation `json:"recommended,omitempty"`
	// The field Calls contains the plugins whose tools the plugin is allowed to call, by
	// name.
	Calls map[string]ChangeOrigin `json:"calls,omitempty"`
	// LateAccess is not nil if the user allows the plugin secret settings and calls to
	// other plugins despite a late start.
	LateAccess *ChangeOrigin `json:"lateAccess,omitempty"`
	// The field Tools contains the permissions of single tools, by name.
	Tools map[string]ToolEntry `json:"tools,omitempty"`
}

// ToolEntry contains the permissions of one tool in permissions.json.
type ToolEntry struct {
	// Permission is the user's permission for the tool alone. If Permission is empty, the plugin's permission applies.
	Permission wire.Permission `json:"permission,omitempty"`
	// Limit is how often the tool is allowed to run.
	Limit Limit `json:"limit,omitzero"`
	// The field Allowed contains the callers for which the tool always runs without
	// approval.
	Allowed []AlwaysAllowed `json:"allowed,omitempty"`
	ChangeOrigin
}

// AlwaysAllowed is the user's permission for one caller to always run a tool without
// approval.
type AlwaysAllowed struct {
	// Client is the name of the MCP client that is allowed to run the tool.
	Client string `json:"client,omitempty"`
	// Caller is the plugin whose tool makes the call. The field Caller is empty for calls
	// by the client itself.
	Caller string `json:"caller,omitempty"`
	ChangeOrigin
}

// permissionRules are the parsed content of permissions.json. permissionRules are
// immutable.
type permissionRules struct {
	plugins map[string]PluginEntry
	sites   map[string]SiteEntry // the field sites contains the entries by pattern, such as "*.example.com"
	// Tools and plugins whose permissions cannot be parsed are off.
	problems []string
}

func editTool(entry statedoc.Object, tool string, change func(toolEntry statedoc.Object)) {
	tools := entry.Child("tools")
	toolEntry := tools.Child(tool)
	change(toolEntry)
	storeToolEntry(tools, tool, toolEntry)
	entry.Put("tools", tools)
}

// If a tool has no permission, storeToolEntry removes the record of who set the permission.
func storeToolEntry(tools statedoc.Object, name string, toolEntry statedoc.Object) {
	if _, ok := toolEntry["permission"]; !ok {
		delete(toolEntry, "by")
		delete(toolEntry, "at")
	}
	tools.Put(name, toolEntry)
}

// A plugin or tool whose permissions cannot be parsed is off, and is reported as a problem.
func readRules(p *statedoc.Plugins) *permissionRules {
	r := &permissionRules{plugins: map[string]PluginEntry{}}
	for name, rawJSON := range p.TopLevel.Child("plugins") {
		problems := &jsonread.Problems{File: "plugins." + name}
		r.plugins[name] = readPlugin(rawJSON, problems)
		for _, invalidField := range problems.List {
			r.problems = append(r.problems, invalidField.String())
		}
	}
	r.sites = readSites(p.TopLevel, func(problemText string) { r.problems = append(r.problems, problemText) })
	return r
}

func readPlugin(rawJSON json.RawMessage, problems *jsonread.Problems) PluginEntry {
	var s PluginEntry
	pluginJSON, problemText := rawjson.Compact(rawJSON, nil)
	if problemText != "" || rawjson.KindOf(pluginJSON) != rawjson.KindObject {
		problems.Add("is no object; the plugin is off")
		return s
	}
	f := jsonread.New(pluginJSON, "", problems)
	if review := f.Object("reviewed"); review != nil {
		r := Review{Hash: review.Text("hash", "review the plugin again"), Version: review.OptionalText("version"), Dir: review.OptionalText("dir"), ChangeOrigin: readChangeOrigin(review)}
		if r.Hash != "" {
			s.Review = &r
		}
	}
	s.Permission, s.PermissionOrigin = readPermission(f), readChangeOrigin(f)
	s.OpenTabs = f.OptionalText("openTabs")
	s.Recommended = readRecommendation(f)
	s.Calls, s.LateAccess = readAllowedCalls(f), readLateAccess(f)
	tools := f.Object("tools")
	if tools == nil {
		if f.Has("tools") { // if the tools cannot be parsed, the plugin counts as not reviewed, because a tool may have been off
			s.Review = nil
		}
		return s
	}
	s.Tools = map[string]ToolEntry{}
	for name, rawJSON := range tools.Members {
		if rawjson.KindOf(rawJSON) != rawjson.KindObject {
			problems.Add("tools.%s is no object; the tool is off", name)
			s.Tools[name] = ToolEntry{Permission: wire.PermissionOff}
			continue
		}
		s.Tools[name] = readTool(jsonread.New(rawJSON, "tools."+name+".", problems))
	}
	return s
}

func readTool(f *jsonread.Reader) ToolEntry {
	t := ToolEntry{Permission: readPermission(f), ChangeOrigin: readChangeOrigin(f)}
	if f.Has("limit") {
		limit, err := ParseLimit(f.OptionalText("limit"))
		if err != nil {
			f.Add("limit", "is wrong, so the tool is off: %v", err)
			t.Permission = wire.PermissionOff
		}
		t.Limit = limit
	}
	t.Allowed = readAlwaysAllowed(f)
	return t
}

// readAlwaysAllowed skips a caller without a valid name, because an empty name would match other callers.
func readAlwaysAllowed(f *jsonread.Reader) []AlwaysAllowed {
	var callers []AlwaysAllowed
	if f.Has("allowed") && rawjson.KindOf(f.Members["allowed"]) != rawjson.KindArray {
		f.Add("allowed", "is %s; make it an array of objects", rawjson.KindOf(f.Members["allowed"]))
		return nil
	}
	for i, rawJSON := range rawjson.Elements(f.Members["allowed"]) {
		entryPath := fmt.Sprintf("allowed[%d]", i)
		if rawjson.KindOf(rawJSON) != rawjson.KindObject {
			f.Add(entryPath, "is %s; make it an object", rawjson.KindOf(rawJSON))
			continue
		}
		entry := jsonread.New(rawJSON, f.Path+entryPath+".", f.Problems)
		client, hasClient := entry.TextOrFalse("client")
		caller, hasCaller := entry.TextOrFalse("caller")
		if hasClient && hasCaller {
			callers = append(callers, AlwaysAllowed{Client: client, Caller: caller, ChangeOrigin: readChangeOrigin(entry)})
		}
	}
	return callers
}

func readAllowedCalls(f *jsonread.Reader) map[string]ChangeOrigin {
	entries := f.Object("calls")
	if entries == nil {
		return nil
	}
	calls := map[string]ChangeOrigin{}
	for _, name := range slices.Sorted(maps.Keys(entries.Members)) {
		if entry := entries.Object(name); entry != nil {
			calls[name] = readChangeOrigin(entry)
		}
	}
	return calls
}

func readLateAccess(f *jsonread.Reader) *ChangeOrigin {
	entry := f.Object("lateAccess")
	if entry == nil {
		return nil
	}
	mark := readChangeOrigin(entry)
	return &mark
}

// A permission that is not valid counts as "off".
func readPermission(f *jsonread.Reader) wire.Permission {
	if !f.Has("permission") {
		return ""
	}
	p, err := ParsePermission(f.OptionalText("permission"))
	if err != nil {
		f.Add("permission", "is wrong, so it counts as off: %v", err)
		return wire.PermissionOff
	}
	return p
}

func readChangeOrigin(f *jsonread.Reader) ChangeOrigin {
	m := ChangeOrigin{By: f.OptionalText("by")}
	if entryPath, err := time.Parse(time.RFC3339, f.OptionalText("at")); err == nil {
		m.At = entryPath
	}
	return m
}

// ParsePermission parses a permission that the user typed: "off", "ask" or "auto".
func ParsePermission(permissionName string) (wire.Permission, error) {
	switch p := wire.Permission(permissionName); p {
	case wire.PermissionOff, wire.PermissionAsk, wire.PermissionAuto:
		return p, nil
	}
	return "", fmt.Errorf("%q is not a permission: use off, ask or auto", permissionName)
}
