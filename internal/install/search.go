package install

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"opentabs/internal/npm"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

const (
	pluginSearchKeyword = "opentabs-plugin"
	maxSearchResults    = 50
)

// SearchResult is a plugin that a search has found in the registry.
type SearchResult struct {
	// Package is the npm package to install. Name is the name of the plugin in the npm
	// package.
	Package     string `json:"package"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Publisher   string `json:"publisher,omitempty"`
	// The field Installed is true if a plugin with the same name is installed.
	Installed bool `json:"installed"`
}

// Search requests plugins from the npm registry that match query.
func (i *Installer) Search(ctx context.Context, query string) ([]SearchResult, error) {
	packages, err := i.client.Search(ctx, pluginSearchKeyword, query, maxSearchResults)
	if err != nil {
		return nil, err
	}
	results := []SearchResult{}
	for _, searchResult := range packages {
		name, err := plugin.NameOf(searchResult.Name)
		if err != nil {
			continue
		}
		_, installedVersion := i.Plugins.Set().Plugin(name)
		results = append(results, SearchResult{searchResult.Name, name, searchResult.Version, searchResult.Description, searchResult.Publisher, installedVersion})
	}
	return results, nil
}

// Info describes a plugin in the registry, and the installed version of the same plugin.
type Info struct {
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
	// Installed is the version of the plugin that is installed. Source is how the user
	// installed the plugin, such as from npm.
	Installed string        `json:"installed,omitempty"`
	Source    plugin.Source `json:"source,omitempty"`
	// The field ErrorText is the reason why the installed plugin cannot be loaded or does
	// not start in pages. If the installed plugin works, ErrorText is empty.
	ErrorText string `json:"failed,omitempty"`
	// The field Tools contains the tools of the installed version, grouped by category.
	Tools []toolCategory `json:"tools,omitempty"`
}

// toolCategory is one category of a plugin's tools. Category is empty for tools without a
// category.
type toolCategory struct {
	Category string   `json:"category,omitempty"`
	Tools    []string `json:"tools"`
}

// Info returns the registry's information about a plugin. The argument sourceText is the plugin's name with an optional
// version or range.
func (i *Installer) Info(ctx context.Context, sourceText string) (Info, error) {
	spec := parseSpec(sourceText)
	packageInfo, err := i.findPackage(ctx, spec.name)
	if err != nil {
		return Info{}, cmp.Or(i.pluginLoadError(spec.name), err)
	}
	version, err := packageInfo.ChooseVersion(spec.requestedVersion)
	if err != nil {
		return Info{}, err
	}
	info := infoOf(packageInfo, version)
	pluginSet := i.Plugins.Set()
	if loadedPlugin, ok := pluginSet.Plugin(info.Name); ok && loadedPlugin.Package == info.Package {
		info.Installed, info.Source = loadedPlugin.Version, loadedPlugin.Source
		if fault, isFaulty := i.Plugins.Faults().FindFault(loadedPlugin); isFaulty {
			info.ErrorText = fault.Text()
		}
		loadedPlugin.EachCategory(func(name string, tools []*plugin.Tool) {
			toolGroup := toolCategory{Category: name}
			for _, t := range tools {
				toolGroup.Tools = append(toolGroup.Tools, t.Name)
			}
			info.Tools = append(info.Tools, toolGroup)
		})
	}
	if f, ok := pluginSet.Failure(info.Name); ok {
		info.ErrorText = f.Err.Error()
	}
	return info, nil
}

func (i *Installer) pluginLoadError(name string) error {
	if f, ok := i.Plugins.Set().Failure(name); ok {
		return fmt.Errorf("the plugin %s is not loaded: %w", name, f.Err)
	}
	if loadedPlugin, ok := i.Plugins.Set().Plugin(name); ok {
		if fault, isFaulty := i.Plugins.Faults().FindFault(loadedPlugin); isFaulty {
			return fmt.Errorf("the plugin %s %s", name, fault.Text())
		}
	}
	return nil
}

// Authors of packages provide the registry's information, and opentabs does not verify the information.
func infoOf(packageInfo *npm.Package, v *npm.Version) Info {
	info := Info{
		Package: packageInfo.Name, Version: v.Version, Description: v.Description, Homepage: v.Homepage, Deprecated: v.Warning(),
		Tags: packageInfo.Tags, Versions: len(packageInfo.Versions), Registry: packageInfo.Registry,
	}
	info.Name, _ = plugin.NameOf(packageInfo.Name)
	info.License, _ = v.License.(string)
	var manifest struct {
		DisplayName string   `json:"displayName"`
		Description string   `json:"description"`
		Homepage    string   `json:"homepage"`
		URLPatterns []string `json:"urlPatterns"`
	}
	if json.Unmarshal(v.OpenTabs, &manifest) == nil {
		info.DisplayName, info.Matches = manifest.DisplayName, manifest.URLPatterns
		info.Description, info.Homepage = cmp.Or(manifest.Description, info.Description), cmp.Or(manifest.Homepage, info.Homepage)
	}
	if publishTime := packageInfo.Published[v.Version]; !publishTime.IsZero() {
		info.Published = &publishTime
	}
	return info
}

// Lines returns the information about the plugin as lines of text without unsafe control
// characters.
func (info Info) Lines() []string {
	title := info.Package + " " + info.Version
	if info.DisplayName != "" {
		title += " (" + info.DisplayName + ")"
	}
	lines := []string{terminal.SafeLine(title)}
	if info.Description != "" {
		lines = append(lines, "  "+terminal.SafeLine(info.Description))
	}
	installedVersion := fmt.Sprintf("%s (%s)", info.Installed, info.Source)
	switch {
	case info.Installed == "" && info.ErrorText != "":
		installedVersion = "yes, but it can't be loaded"
	case info.Installed == "":
		installedVersion = "no; install it with `opentabs plugin install " + info.Package + "`"
	}
	publishedDate := ""
	if info.Published != nil {
		publishedDate = info.Published.Local().Format(time.DateOnly)
	}
	for _, tableRow := range [][2]string{
		{"plugin", info.Name}, {"sites", strings.Join(info.Matches, " ")}, {"homepage", info.Homepage}, {"license", info.License},
		{"published", publishedDate}, {"versions", fmt.Sprint(info.Versions)}, {"warning", info.Deprecated}, {"registry", info.Registry}, {"installed", installedVersion}, {"failed", info.ErrorText},
	} {
		if tableRow[1] != "" {
			lines = append(lines, fmt.Sprintf("  %-9s %s", tableRow[0], terminal.SafeLine(tableRow[1])))
		}
	}
	for _, toolGroup := range info.Tools {
		label := "tools"
		if toolGroup.Category != "" {
			label += ", " + toolGroup.Category
		}
		lines = append(lines, fmt.Sprintf("  %s: %s", terminal.SafeLine(label), terminal.SafeLine(strings.Join(toolGroup.Tools, ", "))))
	}
	return lines
}
