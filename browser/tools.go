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

// Name is the name of the built-in plugin that contains the browser tools, on the wire
// and in permissions.
const Name = "browser"

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

// toolClass is what a browser tool does to a site: it reads, acts, or does something
// dangerous.
type toolClass string

const (
	classRead toolClass = "read"
	// classAct means that a tool changes the page in a tab, or the tab itself.
	classAct toolClass = "act"
	// classDangerous means that a tool runs code, or uses data that the page itself does
	// not show, such as cookies.
	classDangerous toolClass = "dangerous"
)

// groupCore is the only group of browser tools that is on by default.
const groupCore = "core"

// toolGroup is a group of browser tools that the user turns on together.
type toolGroup struct {
	name  string
	tools []toolDefinition
}

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

// toolDefinition describes one browser tool.
type toolDefinition struct {
	name, title, toolDescription string
	// properties is the JSON text of the properties of the tool's input schema, without
	// the outer braces. required lists the keys of the required properties.
	properties   string
	requiredArgs []string
	targetKind   dispatch.TargetKind
	class        toolClass
	// readOnlyActions are the values of the argument "action" with which an acting tool only
	// reads, such as "list".
	readOnlyActions []string
	// actingArgument is the name of a boolean argument with which a reading tool acts, such
	// as "reload"; or empty.
	actingArgument string
	// hasReadCursor is true if a call with the argument "cursor" only reads the next part
	// of an earlier result.
	hasReadCursor bool
	// addressArgument is the argument whose address determines the site of a tool without
	// a page, such as "url", or empty.
	addressArgument string
	// browserData names the browser data that a tool without a page and an address uses, such
	// as "the history of the browser". A request for approval names the browser data, and the
	// user approves its use.
	browserData string
	// The field capability is the optional Chrome permission without which no browser can
	// run the tool, or empty.
	capability string
	// The field permissions contains the optional Chrome permissions that the tool needs
	// and that the user grants in the side panel.
	permissions []string
}

// Group is a group of browser tools, as the CLI and the side panel list it.
type Group struct {
	Name string
	// The field Tools contains the names of the tools in the group.
	Tools []string
}

// Groups returns all groups of browser tools. The group "core" is the first group.
func Groups() []Group {
	var groups []Group
	for _, g := range toolGroups() {
		toolGroup := Group{Name: g.name}
		for _, d := range g.tools {
			toolGroup.Tools = append(toolGroup.Tools, d.name)
		}
		groups = append(groups, toolGroup)
	}
	return groups
}

// SelectTools returns the names of the browser tools that the argument names selects.
// Each element of names is the name of a tool or of a group of tools.
func SelectTools(names []string) ([]string, error) {
	var selectedGroups, groupNames []string
	for _, g := range Groups() {
		groupNames = append(groupNames, g.Name)
	}
	for _, name := range names {
		i := slices.Index(groupNames, name)
		switch {
		case i >= 0:
			selectedGroups = append(selectedGroups, Groups()[i].Tools...)
		case definitionOf(name) != nil:
			selectedGroups = append(selectedGroups, name)
		default:
			return nil, fmt.Errorf("%q is neither a group nor a browser tool; the groups are %s, and `opentabs browser tools` shows the tools", name, strings.Join(groupNames, ", "))
		}
	}
	return selectedGroups, nil
}

// toolIdleLimit is the idle limit of browser tools. The idle limit of browser tools is longer
// than that of other tools, because a busy page may delay a progress report.
const toolIdleLimit = 2 * time.Minute

// FullName returns a tool's name for agents: <plugin>__<tool>, or only the tool's name
// for a browser tool.
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
	for _, toolGroup := range toolGroups() {
		for _, d := range toolGroup.tools {
			// MCP clients assume by default that a tool changes something, so only tools
			// that only read have annotations.
			var annotations plugin.Annotations
			isReadOnly := d.class == classRead && d.actingArgument == ""
			if isReadOnly {
				annotations.ReadOnly = &isReadOnly
			}
			tool := &plugin.Tool{
				Name: d.name, DisplayName: d.title, Description: d.toolDescription, Icon: "globe",
				InputSchema: d.schema(), TargetKind: d.targetKind, IsExclusive: !isReadOnly && d.targetKind != dispatch.TargetBrowser, IdleLimit: toolIdleLimit,
				Annotations: annotations, IsOffByDefault: toolGroup.name != groupCore,
			}
			if tool.IsOffByDefault { // only tools that are off by default list their group
				tool.Group = toolGroup.name
			}
			p.Tools = append(p.Tools, tool)
		}
	}
	return plugin.NewBuiltin(p)
}

func (d toolDefinition) schema() json.RawMessage {
	schemaJSON := `{"type":"object","properties":{` + d.properties + `}`
	if len(d.requiredArgs) > 0 {
		schemaJSON += `,"required":` + string(rawjson.Encode(d.requiredArgs))
	}
	return json.RawMessage(schemaJSON + `,"additionalProperties":false}`)
}

func classOf(callInfo dispatch.CallInfo) toolClass {
	return classOfTool(callInfo.Tool.Name, callInfo.Args)
}

func classOfTool(tool string, toolArgs json.RawMessage) toolClass {
	d := definitionOf(tool)
	if d == nil {
		return classAct
	}
	var args struct {
		Action string `json:"action"`
	}
	if len(d.readOnlyActions) > 0 && json.Unmarshal(toolArgs, &args) == nil && slices.Contains(d.readOnlyActions, args.Action) {
		return classRead
	}
	if d.actingArgument != "" && string(rawjson.Get(toolArgs, d.actingArgument)) == "true" {
		return classAct
	}
	if d.hasReadCursor && rawjson.Get(toolArgs, "cursor") != nil && rawjson.Get(toolArgs, "function") == nil {
		return classRead
	}
	return d.class
}

func definitionOf(tool string) *toolDefinition {
	for _, toolGroup := range toolGroups() {
		if i := slices.IndexFunc(toolGroup.tools, func(d toolDefinition) bool { return d.name == tool }); i >= 0 {
			return &toolGroup.tools[i]
		}
	}
	return nil
}

// IsDangerous reports whether a tool runs code, or uses data that the page itself does
// not show. Turning on a group does not turn on its dangerous tools.
func IsDangerous(tool string) bool {
	d := definitionOf(tool)
	return d != nil && d.class == classDangerous
}

// ToolSwitcher stores the permissions of browser tools.
type ToolSwitcher interface {
	SetPermission(pluginName, tool string, permission wire.Permission, surface string) error
}

// SwitchTools turns the named browser tools and groups on or off. If names is empty, all
// browser tools are turned on or off, and each tool keeps its permission. The argument
// isOff is true if all browser tools were off before the call of SwitchTools. The result
// skippedTools lists the dangerous tools in the named groups, which SwitchTools does not turn
// on.
func SwitchTools(s ToolSwitcher, names []string, on, isOff bool, surface string) (switchedTools, skippedTools []string, err error) {
	permission := wire.PermissionOff
	if on {
		permission = wire.PermissionAuto
	}
	selectedGroups, err := SelectTools(names)
	if err != nil {
		return nil, nil, err
	}
	if len(names) == 0 || on && isOff {
		if err := s.SetPermission(Name, "", permission, surface); err != nil {
			return nil, nil, err
		}
	}
	for _, tool := range selectedGroups {
		if on && IsDangerous(tool) && !slices.Contains(names, tool) {
			skippedTools = append(skippedTools, tool)
			continue
		}
		if err := s.SetPermission(Name, tool, permission, surface); err != nil {
			return switchedTools, skippedTools, err
		}
		switchedTools = append(switchedTools, tool)
	}
	return switchedTools, skippedTools, nil
}
