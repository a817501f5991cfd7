package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/install"
	"opentabs/internal/npm"
	"opentabs/internal/terminal"
	"opentabs/plugin"
	"opentabs/plugin/catalog"
)

const (
	// pluginKeyword is the npm keyword of opentabs plugins.
	pluginKeyword = "opentabs-plugin"
	// maxSearchResults is how many plugins a search shows.
	maxSearchResults = 50
)

type pluginSearchOptions struct {
	program *program
	query   string
	json    bool
}

func newPluginSearchCmd(p *program) *cobra.Command {
	opts := pluginSearchOptions{program: p}
	cmd := &cobra.Command{
		Use:     "search [WORDS]",
		Short:   "Find plugins on the npm registry",
		Example: "  opentabs plugin search slack\n  opentabs plugin search \"shared documents\"",
		Args:    atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				opts.query = args[0]
			}
			return runPluginSearch(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// foundPlugin is one plugin as --json prints it.
type foundPlugin struct {
	// Name is the package to install, and Plugin the name of the plugin in it.
	Name        string `json:"package"`
	Plugin      string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Publisher   string `json:"publisher,omitempty"`
	// Installed is set if a plugin of this name is installed.
	Installed bool `json:"installed"`
}

func runPluginSearch(ctx context.Context, opts pluginSearchOptions) error {
	p := opts.program
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	packages, err := i.Client.Search(ctx, pluginKeyword, opts.query, maxSearchResults)
	if err != nil {
		return err
	}
	list := []foundPlugin{}
	for _, one := range packages {
		name, err := plugin.NameOf(one.Name)
		if err != nil {
			continue // not a plugin
		}
		_, installed := i.plugins.Set().Plugin(name)
		list = append(list, foundPlugin{one.Name, name, one.Version, one.Description, one.Publisher, installed})
	}
	if opts.json {
		return p.out.PrintValue(struct {
			Plugins []foundPlugin `json:"plugins"`
		}{list})
	}
	if len(list) == 0 {
		p.out.Notef("no plugin was found; try other words")
		return nil
	}
	rows := [][]string{}
	for _, one := range list {
		mark := ""
		if one.Installed {
			mark = "installed"
		}
		rows = append(rows, []string{one.Name, one.Version, mark, one.Description})
	}
	p.out.PrintTable("", rows)
	p.out.Notef("install one with `opentabs plugin install NAME`; anyone can publish in this registry, so check a plugin with `opentabs plugin review` before you enable it")
	return nil
}

type pluginInfoOptions struct {
	program *program
	what    string
	json    bool
}

func newPluginInfoCmd(p *program) *cobra.Command {
	opts := pluginInfoOptions{program: p}
	cmd := &cobra.Command{
		Use:     "info NAME[@RANGE]",
		Short:   "Show a plugin in the npm registry",
		Example: "  opentabs plugin info slack\n  opentabs plugin info @acme/opentabs-plugin-wiki@^2",
		Args:    requireArgs(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.what = args[0]
			return runPluginInfo(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// pluginInfo is what --json prints.
type pluginInfo struct {
	Package     string            `json:"package"`
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	DisplayName string            `json:"display_name,omitempty"`
	Description string            `json:"description,omitempty"`
	Homepage    string            `json:"homepage,omitempty"`
	License     string            `json:"license,omitempty"`
	Matches     []string          `json:"matches,omitempty"`
	Published   *time.Time        `json:"published,omitempty"`
	Deprecated  string            `json:"deprecated,omitempty"`
	Tags        map[string]string `json:"tags,omitempty"`
	Versions    int               `json:"versions"`
	Registry    string            `json:"registry"`
	// Installed is the installed version, and Source where it was installed from.
	Installed string        `json:"installed,omitempty"`
	Source    plugin.Source `json:"source,omitempty"`
	// Failed is why the installed plugin can't be loaded, or does not start in pages.
	Failed string `json:"failed,omitempty"`
	// Tools are those of the installed version, by category.
	Tools []toolCategory `json:"tools,omitempty"`
}

// failureOf returns the error of an installed plugin that can't be loaded or does not
// start; nil if there is none.
func failureOf(registry *catalog.Catalog, name string) error {
	if f, ok := registry.Set().Failure(name); ok {
		return &failure{code: exitFailed, err: fmt.Errorf("the plugin %s is not loaded: %w", name, f.Err)}
	}
	if one, ok := registry.Set().Plugin(name); ok {
		if fault, broken := registry.Faults().Of(one); broken {
			return &failure{code: exitFailed, err: fmt.Errorf("the plugin %s %s", name, fault.Text())}
		}
	}
	return nil
}

// toolCategory is one group of a plugin's tools; the name is empty for tools
// without one.
type toolCategory struct {
	Category string   `json:"category,omitempty"`
	Tools    []string `json:"tools"`
}

func runPluginInfo(ctx context.Context, opts pluginInfoOptions) error {
	p := opts.program
	i, err := p.openInstaller()
	if err != nil {
		return err
	}
	wanted := install.ParseSpec(opts.what)
	from, err := i.Find(ctx, wanted.Name)
	if err != nil {
		return cmp.Or(failureOf(i.plugins, wanted.Name), err)
	}
	version, err := from.Pick(wanted.Want)
	if err != nil {
		return err
	}
	info := infoOf(from, version)
	if one, ok := i.plugins.Set().Plugin(info.Name); ok && one.Package == info.Package {
		info.Installed, info.Source = one.Version, one.Source
		if fault, broken := i.plugins.Faults().Of(one); broken {
			info.Failed = fault.Text()
		}
		one.EachCategory(func(category string, tools []*plugin.Tool) {
			group := toolCategory{Category: category}
			for _, t := range tools {
				group.Tools = append(group.Tools, t.Name)
			}
			info.Tools = append(info.Tools, group)
		})
	}
	if f, ok := i.plugins.Set().Failure(info.Name); ok {
		info.Failed = f.Err.Error()
	}
	if opts.json {
		return p.out.PrintValue(info)
	}
	p.showInfo(info)
	return nil
}

// infoOf collects the information of a registry, which is not verified.
func infoOf(from *npm.Package, v *npm.Version) pluginInfo {
	info := pluginInfo{
		Package: from.Name, Version: v.Version, Description: v.Description, Homepage: v.Homepage, Deprecated: v.Warning(),
		Tags: from.Tags, Versions: len(from.Versions), Registry: from.Registry,
	}
	info.Name, _ = plugin.NameOf(from.Name) // Find has validated the name
	if license, ok := v.License.(string); ok {
		info.License = license
	}
	var own struct {
		DisplayName string   `json:"displayName"`
		Description string   `json:"description"`
		Homepage    string   `json:"homepage"`
		URLPatterns []string `json:"urlPatterns"`
	}
	if json.Unmarshal(v.OpenTabs, &own) == nil {
		info.DisplayName, info.Matches = own.DisplayName, own.URLPatterns
		if own.Description != "" {
			info.Description = own.Description
		}
		if own.Homepage != "" {
			info.Homepage = own.Homepage
		}
	}
	if at := from.Published[v.Version]; !at.IsZero() {
		info.Published = &at
	}
	return info
}

func (p *program) showInfo(info pluginInfo) {
	title := info.Package + " " + info.Version
	if info.DisplayName != "" {
		title += " (" + info.DisplayName + ")"
	}
	p.out.PrintLine("%s", terminal.SafeLine(title))
	if info.Description != "" {
		p.out.PrintLine("  %s", terminal.SafeLine(info.Description))
	}
	installed := "no; install it with `opentabs plugin install " + info.Package + "`"
	if info.Installed == "" && info.Failed != "" {
		installed = "yes, but it can't be loaded"
	}
	if info.Installed != "" {
		installed = fmt.Sprintf("%s (%s)", info.Installed, info.Source)
	}
	published := ""
	if info.Published != nil {
		published = info.Published.Local().Format(time.DateOnly)
	}
	for _, row := range [][2]string{
		{"plugin", info.Name}, {"sites", strings.Join(info.Matches, " ")}, {"homepage", info.Homepage}, {"license", info.License},
		{"published", published}, {"versions", fmt.Sprint(info.Versions)}, {"warning", info.Deprecated}, {"registry", info.Registry}, {"installed", installed}, {"failed", info.Failed},
	} {
		if row[1] != "" {
			p.out.PrintLine("  %-9s %s", row[0], terminal.SafeLine(row[1]))
		}
	}
	for _, group := range info.Tools {
		label := "tools"
		if group.Category != "" {
			label += ", " + group.Category
		}
		p.out.PrintLine("  %s: %s", terminal.SafeLine(label), terminal.SafeLine(strings.Join(group.Tools, ", ")))
	}
}
