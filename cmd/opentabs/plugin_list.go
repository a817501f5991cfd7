package main

import (
	"github.com/spf13/cobra"

	"opentabs/internal/httpapi"
	"opentabs/internal/permissions"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

type pluginListOptions struct {
	program *program
	json    bool
}

func newPluginListCmd(p *program) *cobra.Command {
	opts := pluginListOptions{program: p}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the plugins and their tools",
		Example: "  opentabs plugin list\n  opentabs plugin list --json",
		Args:    atMost(0),
		RunE:    func(*cobra.Command, []string) error { return runPluginList(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

// runPluginList reads the plugins itself, so that it works without a server.
func runPluginList(opts pluginListOptions) error {
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	registry, err := h.Plugins()
	if err != nil {
		return err
	}
	set, api := registry.Set(), h.Permissions(registry)
	if opts.json {
		return p.out.PrintValue(pluginList(set, api))
	}
	if len(set.Plugins())+len(set.Failed()) == 0 {
		p.out.Notef("there are no plugins yet; install one with `opentabs plugin install NAME`, or add one with `opentabs plugin add PATH`")
	}
	for _, one := range set.Plugins() {
		p.out.PrintLine("%s %s (%s), %s, %s", one.Name, terminal.SafeLine(one.Version), terminal.SafeLine(one.DisplayName), standing(api.Status(one)), origin(one))
		p.out.PrintTable("  ", toolRows(one))
	}
	for _, f := range set.Failed() {
		p.out.PrintLine("%s failed: %s", terminal.SafeLine(f.Path), terminal.SafeLine(f.Err.Error()))
	}
	return nil
}

// origin tells where a plugin came from.
func origin(one *plugin.Plugin) string {
	switch one.Source {
	case plugin.SourceNPM:
		return "installed from " + one.Package
	case plugin.SourceGlobal:
		return "installed with npm: " + one.Dir
	}
	return one.Dir
}

// pluginList is what --json prints, in the words of /status.
func pluginList(set *plugin.Set, api permissions.Local) any {
	list := struct {
		Plugins []httpapi.Plugin       `json:"plugins"`
		Failed  []httpapi.FailedPlugin `json:"failed"`
	}{[]httpapi.Plugin{}, []httpapi.FailedPlugin{}}
	for _, one := range set.Plugins() {
		list.Plugins = append(list.Plugins, api.Status(one))
	}
	for _, f := range set.Failed() {
		list.Failed = append(list.Failed, permissions.FailedStatus(f))
	}
	return list
}
