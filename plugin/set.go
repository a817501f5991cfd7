package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"opentabs/internal/nearest"
)

// Set is all loaded plugins at one moment. A Set is immutable.
type Set struct {
	plugins       []*Plugin
	builtins      []*Plugin
	pluginsByName map[string]*Plugin
	tools         []*Tool
	toolsByName   map[string]*Tool
	prompts       []*Prompt
	promptsByName map[string]*Prompt
	failures      []Failure
}

// Failure is an installed plugin that could not be loaded.
type Failure struct {
	// Path is the package's folder, or the file that could not be read.
	Path string
	// Name is the name that the plugin had when the user added the plugin, or empty if
	// unknown.
	Name string
	// Err describes the problem and how to correct it.
	Err error
}

// NewSet returns a set of plugins, whose names must differ. The argument builtins contains the
// plugins of opentabs itself.
func NewSet(plugins []*Plugin, failures []Failure, builtins ...*Plugin) *Set {
	s := &Set{
		plugins:       slices.Clone(plugins),
		builtins:      slices.Clone(builtins),
		pluginsByName: map[string]*Plugin{},
		toolsByName:   map[string]*Tool{},
		promptsByName: map[string]*Prompt{},
		failures:      slices.Clone(failures),
	}
	slices.SortFunc(s.plugins, func(a, b *Plugin) int { return strings.Compare(a.Name, b.Name) })
	for _, p := range s.All() {
		s.pluginsByName[p.Name] = p
		for _, t := range p.Tools {
			s.toolsByName[t.FullName()] = t
		}
		for _, prompt := range p.Prompts {
			s.promptsByName[prompt.FullName()] = prompt
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.toolsByName)) {
		s.tools = append(s.tools, s.toolsByName[name])
	}
	for _, name := range slices.Sorted(maps.Keys(s.promptsByName)) {
		s.prompts = append(s.prompts, s.promptsByName[name])
	}
	return s
}

// Plugins returns the plugins that are packages, sorted by name. Plugins leaves out the
// built-in plugins.
func (s *Set) Plugins() []*Plugin { return slices.Clone(s.plugins) }

// All returns all plugins: first the built-in plugins, then the packages.
func (s *Set) All() []*Plugin { return slices.Concat(s.builtins, s.plugins) }

// Plugin returns the loaded plugin with the given name.
func (s *Set) Plugin(name string) (*Plugin, bool) {
	p, ok := s.pluginsByName[name]
	return p, ok
}

// Find returns the loaded plugin with the given name. If the plugin could not be loaded,
// Find returns an error with the reason. If the name is unknown, Find returns an error
// that wraps [ErrUnknown] and lists the loaded plugins.
func (s *Set) Find(name string) (*Plugin, error) {
	if p, ok := s.pluginsByName[name]; ok {
		return p, nil
	}
	if f, ok := s.Failure(name); ok {
		return nil, fmt.Errorf("the plugin %s is not loaded: %w", name, f.Err)
	}
	return nil, newUnknownNameError(name, slices.Collect(maps.Keys(s.pluginsByName)))
}

// FindPluginWithTool returns the plugin that has the given tool; with an empty tool name,
// FindPluginWithTool works like [Set.Find]. The error for an unknown tool lists the tools of
// the plugin.
func (s *Set) FindPluginWithTool(name, tool string) (*Plugin, error) {
	p, err := s.Find(name)
	if err != nil || tool == "" {
		return p, err
	}
	var entryNames []string
	for _, t := range p.Tools {
		if t.Name == tool {
			return p, nil
		}
		entryNames = append(entryNames, t.FullName())
	}
	if slices.ContainsFunc(p.Prompts, func(p *Prompt) bool { return p.Name == tool }) {
		return nil, fmt.Errorf("%s__%s is a prompt, and prompts have no separate permission: set the permission of the plugin %s", name, tool, name)
	}
	return nil, fmt.Errorf("%w: the plugin %s has no tool %q%s; name one of %s", ErrUnknown, name, tool, nearest.Suggestion(name+"__"+tool, entryNames), strings.Join(entryNames, ", "))
}

// Tools returns the tools of all plugins, sorted by full name.
func (s *Set) Tools() []*Tool { return slices.Clone(s.tools) }

// Tool returns the tool with the given full name, such as messages__export.
func (s *Set) Tool(fullName string) (*Tool, bool) {
	t, ok := s.toolsByName[fullName]
	return t, ok
}

// Prompts returns the prompts of all plugins, sorted by full name.
func (s *Set) Prompts() []*Prompt { return slices.Clone(s.prompts) }

// Prompt returns the prompt with the given full name, such as messages__summarise.
func (s *Set) Prompt(fullName string) (*Prompt, bool) {
	p, ok := s.promptsByName[fullName]
	return p, ok
}

// Failure returns why the plugin with the given name could not be loaded.
func (s *Set) Failure(name string) (Failure, bool) {
	for _, f := range s.failures {
		if f.Name == name && name != "" {
			return f, true
		}
	}
	return Failure{}, false
}

// Failed returns the plugins that could not be loaded, in the order in which the store
// lists them.
func (s *Set) Failed() []Failure { return slices.Clone(s.failures) }
