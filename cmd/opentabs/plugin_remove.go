package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/install"
	"opentabs/plugin"
)

type pluginRemoveOptions struct {
	program *program
	name    string
}

func newPluginRemoveCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a plugin; a folder that was added stays",
		Long: `Remove a plugin, and what was allowed of it. What was installed is deleted; a
folder that was added stays.`,
		Example: "  opentabs plugin remove messages",
		Args:    exactly(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPluginRemove(cmd.Context(), pluginRemoveOptions{program: p, name: args[0]})
		},
	}
}

func runPluginRemove(ctx context.Context, opts pluginRemoveOptions) error {
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	store := h.Store()
	entry := added(store, opts.name)
	if entry.Name != "" {
		opts.name = entry.Name // it may have been that of the package
	} else if err := notOurs(h, opts.name); err != nil {
		return err
	}
	err = store.Remove(opts.name)
	if errors.Is(err, plugin.ErrUnknown) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	p.out.PrintLine("removed %s", opts.name)
	client, err := reloadPlugins(ctx, h)
	if err != nil {
		return err
	}
	if entry.Source == plugin.SourceNPM {
		install.RemoveUnused(h, p.out.Notef, entry.Package)
	}
	if err := forget(ctx, h, client, opts.name); err != nil || client == nil {
		return err
	}
	return p.tellTabs(ctx, client)
}

// added returns the entry of the plugin or package of this name; an empty one if
// there is none.
func added(store *plugin.Store, name string) plugin.Entry {
	entries, err := store.Entries()
	if err != nil {
		return plugin.Entry{} // Remove tells it, and mends what is damaged
	}
	at := slices.IndexFunc(entries, func(e plugin.Entry) bool { return e.Name == name || e.Package == name })
	if at < 0 {
		return plugin.Entry{}
	}
	return entries[at]
}

// notOurs refuses to remove what npm has installed.
func notOurs(h *home.Home, name string) error {
	registry, err := h.Plugins()
	if err != nil {
		return err
	}
	if one, ok := registry.Set().Plugin(name); ok && one.Source == plugin.SourceGlobal {
		return usage("%s was installed with npm: run `npm uninstall --global %s`, or list no plugins of npm with the setting discoverGlobal (\"off\")", name, one.Package)
	}
	return nil
}
