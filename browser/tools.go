package browser

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin"
	"opentabs/wire"
)

// Name is the name of the built-in plugin, on the wire and in permissions.
const Name = "browser"

// Tools that the rules of sites treat specially.
const (
	toolTabs     = "browser_tabs"
	toolNavigate = "browser_navigate"
	toolUpload   = "browser_file_upload"
	toolBatch    = "browser_batch"
	toolType     = "browser_type"
	toolFillForm = "browser_fill_form"
	toolPressKey = "browser_press_key"

	toolScreenshot = "browser_take_screenshot"
)

// class is what a tool does to a site.
type class string

const (
	// classRead means that a tool only reads.
	classRead class = "read"
	// classAct means that a tool changes the page or the tab.
	classAct class = "act"
	// classDangerous means that a tool runs code, or handles data that the page itself
	// does not show, such as cookies.
	classDangerous class = "dangerous"
)

// groupCore is the group of browser tools that is on by default. The tools of the other
// groups are off until the user turns them on.
const groupCore = "core"

// toolGroup is a group of browser tools that the user turns on together.
type toolGroup struct {
	name  string
	tools []toolDefinition
}

// toolGroups returns all groups of browser tools, with groupCore first.
func toolGroups() []toolGroup {
	return []toolGroup{
		{groupCore, coreTools},
		{"devtools", devtoolsTools},
		{"network", networkTools},
		{"storage", storageTools},
		{"browser", windowsTools},
		{"vision", visionTools},
		{"emulation", emulationTools},
	}
}

// toolDefinition describes one tool.
type toolDefinition struct {
	name, title, description string
	// properties are the members of the input schema; required are the names of the
	// required properties.
	properties string
	required   []string
	place      dispatch.Place
	class      class
	// readActions are the values of the argument "action" with which an acting tool only
	// reads.
	readActions []string
	// actFlag is the name of a boolean argument that makes a reading tool act. Other
	// tools have an empty actFlag.
	actFlag string
	// hasReadCursor is true if a call with the argument "cursor" only reads the next part
	// of an earlier result.
	hasReadCursor bool
	// addressArgument is the name of the argument whose address determines the site of a
	// tool without a page. Other tools have an empty addressArgument.
	addressArgument string
	// data is the name of the browser data that a tool without a page and without an
	// address uses, such as "the history of the browser". The user's approvals refer to
	// this name.
	data string
	// capability is the optional Chrome permission without which no browser can run the
	// tool. Tools that every browser can run have an empty capability.
	capability string
	// permissions are the optional Chrome permissions that the tool needs and that the
	// user grants in the side panel.
	permissions []string
}

// Group is a group of browser tools, as the CLI and the side panel list it.
type Group struct {
	Name string
	// Tools are the names of the tools in the group.
	Tools []string
}

// Groups returns all groups of browser tools, with the group "core" first.
func Groups() []Group {
	var groups []Group
	for _, g := range toolGroups() {
		group := Group{Name: g.name}
		for _, d := range g.tools {
			group.Tools = append(group.Tools, d.name)
		}
		groups = append(groups, group)
	}
	return groups
}

// SelectTools returns the browser tools for names of tools and of groups.
func SelectTools(names []string) ([]string, error) {
	var selected, groupNames []string
	for _, g := range Groups() {
		groupNames = append(groupNames, g.Name)
	}
	for _, name := range names {
		i := slices.Index(groupNames, name)
		switch {
		case i >= 0:
			selected = append(selected, Groups()[i].Tools...)
		case definitionOf(name) != nil:
			selected = append(selected, name)
		default:
			return nil, fmt.Errorf("%q is neither a group nor a browser tool; the groups are %s, and `opentabs browser tools` shows the tools", name, strings.Join(groupNames, ", "))
		}
	}
	return selected, nil
}

// toolIdleLimit is the idle limit of browser tools: a busy page may delay a report.
const toolIdleLimit = 2 * time.Minute

// FullName returns the name for agents of a tool of a plugin: <plugin>__<tool>, or the
// name of the tool for a browser tool.
func FullName(pluginName, tool string) string {
	if pluginName == Name {
		return tool
	}
	return pluginName + "__" + tool
}

// Plugin returns the built-in plugin with the browser tools.
func Plugin() *plugin.Plugin {
	p := &plugin.Plugin{
		Name: Name, DisplayName: "Browser tools", Version: "1",
		Description: "Tools of opentabs that read and use any page, on the sites that you allow.",
	}
	for _, group := range toolGroups() {
		for _, d := range group.tools {
			// MCP clients assume by default that a tool writes, so only reading tools have annotations.
			var annotations plugin.Annotations
			isRead := d.class == classRead && d.actFlag == ""
			if isRead {
				annotations.ReadOnly = &isRead
			}
			tool := &plugin.Tool{
				Name: d.name, DisplayName: d.title, Description: d.description, Icon: "globe",
				InputSchema: d.schema(), Place: d.place, IsExclusive: !isRead && d.place != dispatch.PlaceBrowser, IdleLimit: toolIdleLimit,
				Annotations: annotations, IsOptIn: group.name != groupCore,
			}
			if tool.IsOptIn { // only tools outside the core group show a group
				tool.Group = group.name
			}
			p.Tools = append(p.Tools, tool)
		}
	}
	return plugin.NewBuiltin(p)
}

// schema returns the JSON Schema of the arguments.
func (d toolDefinition) schema() json.RawMessage {
	text := `{"type":"object","properties":{` + d.properties + `}`
	if len(d.required) > 0 {
		text += `,"required":` + string(rawjson.Encode(d.required))
	}
	return json.RawMessage(text + `,"additionalProperties":false}`)
}

// classOf returns what a call does.
func classOf(callInfo dispatch.CallInfo) class { return classOfTool(callInfo.Tool.Name, callInfo.Args) }

// classOfTool returns what a tool does with arguments.
func classOfTool(tool string, toolArgs json.RawMessage) class {
	d := definitionOf(tool)
	if d == nil {
		return classAct
	}
	var args struct {
		Action string `json:"action"`
	}
	if len(d.readActions) > 0 && json.Unmarshal(toolArgs, &args) == nil && slices.Contains(d.readActions, args.Action) {
		return classRead
	}
	if d.actFlag != "" && string(rawjson.Get(toolArgs, d.actFlag)) == "true" {
		return classAct
	}
	if d.hasReadCursor && rawjson.Get(toolArgs, "cursor") != nil && rawjson.Get(toolArgs, "function") == nil {
		return classRead
	}
	return d.class
}

// definitionOf returns the definition of the tool with a name, or nil.
func definitionOf(tool string) *toolDefinition {
	for _, group := range toolGroups() {
		if i := slices.IndexFunc(group.tools, func(d toolDefinition) bool { return d.name == tool }); i >= 0 {
			return &group.tools[i]
		}
	}
	return nil
}

// IsDangerous reports whether a tool runs code, or handles data that the page itself does
// not show. Turning on a group does not turn on its dangerous tools.
func IsDangerous(tool string) bool {
	d := definitionOf(tool)
	return d != nil && d.class == classDangerous
}

// ToolSwitcher stores the permissions of browser tools.
type ToolSwitcher interface {
	SetPermission(pluginName, tool string, permission wire.Permission, surface string) error
}

// SwitchTools turns browser tools on or off. The argument names lists groups and tools;
// if names is empty, SwitchTools turns all browser tools on or off and keeps the
// permission of each tool. The argument isOff is true if all browser tools are off before
// the call. The result skipped lists the dangerous tools of the named groups, which
// remain off.
func SwitchTools(s ToolSwitcher, names []string, on, isOff bool, surface string) (switched, skipped []string, err error) {
	permission := wire.PermissionOff
	if on {
		permission = wire.PermissionAuto
	}
	selected, err := SelectTools(names)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 || on && isOff {
		if err := s.SetPermission(Name, "", permission, surface); err != nil {
			return nil, nil, err
		}
	}
	for _, tool := range selected {
		if on && IsDangerous(tool) && !slices.Contains(names, tool) {
			skipped = append(skipped, tool)
			continue
		}
		if err := s.SetPermission(Name, tool, permission, surface); err != nil {
			return switched, skipped, err
		}
		switched = append(switched, tool)
	}
	return switched, skipped, nil
}
