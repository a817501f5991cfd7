package pluginview

import (
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/plugin/inspection"
	"opentabs/wire"
)

// CandidateState describes a plugin before `opentabs plugin enable` changes the plugin.
type CandidateState string

const (
	stateNew     CandidateState = "new"
	stateChanged CandidateState = "changed"
	stateOff     CandidateState = "off"
	stateFailed  CandidateState = "failed"
	// StateEnabled marks a plugin that is reviewed and enabled.
	StateEnabled CandidateState = "enabled"
)

// Change is how a command changed a plugin.
type Change string

const (
	ChangeNone     Change = "none"
	ChangeEnabled  Change = "enabled"
	ChangeDisabled Change = "disabled"
)

// Candidate is a plugin that the user can enable with `opentabs plugin enable`.
type Candidate struct {
	Name    string         `json:"name"`
	Version string         `json:"version,omitempty"`
	State   CandidateState `json:"state"`
	Hash    string         `json:"hash,omitempty"`
	Sites   []string       `json:"sites"`
	// ReadTools is the number of the plugin's tools that its author declares as read-only.
	// WriteTools is the number of the plugin's tools that its author does not declare as
	// read-only.
	ReadTools  int `json:"read_tools"`
	WriteTools int `json:"write_tools"`
	// BrowserFeatures are the browser features that the author's code mentions.
	BrowserFeatures []string `json:"powers"`
	Warnings        []string `json:"warnings"`
	// Permission is the permission that the plugin has after `opentabs plugin enable` has
	// run.
	Permission wire.Permission `json:"permission,omitempty"`
	Change     Change          `json:"change"`
	// Error is the reason why the plugin could not be enabled.
	Error string `json:"error,omitempty"`
	// IsPending is true until the command has enabled the plugin.
	IsPending bool `json:"-"`
}

// NewCandidate describes a plugin with its current review and its current permission.
func NewCandidate(p *plugin.Plugin, currentPermissions httpapi.PluginPermissions) Candidate {
	c := Candidate{
		Name: p.Name, Version: p.Version, State: stateOf(currentPermissions), Hash: p.ContentHash(), Sites: slices.Concat([]string{}, p.Matches),
		BrowserFeatures: []string{}, Warnings: candidateWarnings(p, currentPermissions), Permission: currentPermissions.Permission, Change: ChangeNone,
	}
	for _, t := range p.Tools {
		if t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly {
			c.ReadTools++
		} else {
			c.WriteTools++
		}
	}
	featureNames, err := inspection.BrowserFeatureNames(p)
	if err != nil {
		c.SetError(err)
	}
	c.BrowserFeatures = append(c.BrowserFeatures, featureNames...)
	return c
}

// FailedCandidate describes a plugin that cannot be enabled because it cannot be loaded.
func FailedCandidate(f plugin.Failure) Candidate {
	name := f.Name
	if name == "" {
		name = f.Path
	}
	c := Candidate{Name: name, State: stateFailed, Sites: []string{}, BrowserFeatures: []string{}, Warnings: []string{}, Change: ChangeNone}
	c.SetError(fmt.Errorf("could not be loaded: %w", f.Err))
	return c
}

// SetError stores the reason why the plugin cannot be enabled.
func (c *Candidate) SetError(err error) { c.Error, c.Change = err.Error(), ChangeNone }

func stateOf(currentPermissions httpapi.PluginPermissions) CandidateState {
	isEnabled := currentPermissions.Permission != wire.PermissionOff || slices.ContainsFunc(currentPermissions.Tools, func(t httpapi.ToolPermissions) bool { return t.Permission != wire.PermissionOff })
	switch {
	case !currentPermissions.Reviewed && currentPermissions.Review != nil:
		return stateChanged
	case !currentPermissions.Reviewed:
		return stateNew
	case isEnabled:
		return StateEnabled
	}
	return stateOff
}

func candidateWarnings(p *plugin.Plugin, currentPermissions httpapi.PluginPermissions) []string {
	warnings := []string{}
	addWarning := func(shouldAdd bool, warning string) {
		if shouldAdd {
			warnings = append(warnings, warning)
		}
	}
	addWarning(p.PreScript, "has a pre-script")
	addWarning(p.RunsInFrames, "runs in frames")
	if currentPermissions.Review != nil && !currentPermissions.Reviewed {
		warning := "changed since your review of " + currentPermissions.Review.Version
		if currentPermissions.StoredPermission != "" {
			warning += ", was " + string(currentPermissions.StoredPermission)
		}
		addWarning(true, warning)
	}
	addWarning(currentPermissions.Fault != nil, "failed to start")
	return append(warnings, p.Warnings...)
}

// PrintCandidates prints a table of the plugins that a command would enable. If the table
// is too wide for the terminal, PrintCandidates prints a block for each plugin.
// PrintCandidates never truncates a text, because the user decides on the basis of these
// texts.
func PrintCandidates(terminalOut *terminal.Output, candidates []Candidate) {
	if len(candidates) == 0 {
		return
	}
	tableRows := [][]string{{"PLUGIN", "VERSION", "STATE", "READ", "WRITE", "SITES", "WARNINGS", "CODE MENTIONS"}}
	for _, c := range candidates {
		tableRows = append(tableRows, []string{
			c.Name, c.Version, string(c.State), fmt.Sprint(c.ReadTools), fmt.Sprint(c.WriteTools), formatSites(c.Sites),
			strings.Join(c.Warnings, "; "), strings.Join(c.BrowserFeatures, ", "),
		})
	}
	if terminal.FitsTable(terminalOut, tableRows) {
		terminalOut.PrintTable("", tableRows)
	} else {
		for _, c := range candidates {
			printCandidate(terminalOut, c)
		}
	}
	terminal.PrintWrapped(terminalOut, "", "READ and WRITE count tools by their authors' claims. `opentabs plugin review NAME` shows the code.")
}

func printCandidate(terminalOut *terminal.Output, c Candidate) {
	title := strings.TrimSpace(c.Name + " " + c.Version)
	title = fmt.Sprintf("%s, %s, READ %d, WRITE %d", title, c.State, c.ReadTools, c.WriteTools)
	terminal.PrintWrapped(terminalOut, "  ", terminal.SafeLine(title))
	for _, tableRow := range [][2]string{
		{"sites", formatSites(c.Sites)}, {"warnings", strings.Join(c.Warnings, "; ")}, {"code mentions", strings.Join(c.BrowserFeatures, ", ")},
	} {
		if tableRow[1] != "" {
			terminal.PrintWrapped(terminalOut, strings.Repeat(" ", 15), fmt.Sprintf("  %-13s  %s", tableRow[0], terminal.SafeLine(tableRow[1])))
		}
	}
}

func formatSites(patterns []string) string {
	var hostNames []string
	for _, pattern := range patterns {
		host := pattern
		if _, hostAndPath, ok := strings.Cut(pattern, "://"); ok {
			host, _, _ = strings.Cut(hostAndPath, "/")
		}
		if !slices.Contains(hostNames, host) {
			hostNames = append(hostNames, host)
		}
	}
	return strings.Join(hostNames, " ")
}
