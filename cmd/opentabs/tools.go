package main

import (
	"context"
	"slices"
	"strings"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/nearest"
	"opentabs/internal/toolpins"
)

func newToolsCmd(p *program) *cobra.Command {
	return groupCommands(&cobra.Command{
		Use:   "tools",
		Short: "Choose the tools that agents list",
		Long: `Choose the tools that agents list if there are more tools than their client can
use. Such a client lists only tools that search and call all others, and the
tools that you pin. The setting "tools" chooses which clients list all tools.

A pin changes what is listed, not what may run.`,
	}, newToolsPinCmd(p), newToolsUnpinCmd(p))
}

type pinOptions struct {
	program *program
	names   []string
	json    bool
}

func newToolsPinCmd(p *program) *cobra.Command {
	opts := pinOptions{program: p}
	cmd := &cobra.Command{
		Use:   "pin [NAME...]",
		Short: "Pin tools, or show the pinned tools",
		Long: `Pin tools, so that each agent lists them. NAME is a tool, or a plugin for all
its tools. Without a NAME, the command shows the pinned tools. The change
applies at once.`,
		Example: "  opentabs tools pin\n  opentabs tools pin messages\n  opentabs tools pin messages__send mail__search",
		Args:    checkNames(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runToolsPin(cmd.Context(), opts)
		},
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func newToolsUnpinCmd(p *program) *cobra.Command {
	opts := pinOptions{program: p}
	return &cobra.Command{
		Use:     "unpin NAME...",
		Short:   "Undo tools pin",
		Example: "  opentabs tools unpin messages",
		Args:    checkNames(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.names = args
			return runToolsUnpin(cmd.Context(), opts)
		},
	}
}

// checkNames returns a check that a command gets at least n names, none of them empty.
func checkNames(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < n {
			return newUsageError("the name of a tool or plugin is missing: run `%s`", cmd.UseLine())
		}
		if slices.Contains(args, "") {
			return newUsageError("a name is empty: run `%s`", cmd.UseLine())
		}
		return nil
	}
}

// openPins returns the pinned tools of an installation.
func (p *program) openPins(dirs config.Dirs) *toolpins.Pins {
	return toolpins.Open(dirs.State, func(sentence string) { p.out.Notef("%s", sentence) }, zerolog.Nop())
}

func runToolsPin(_ context.Context, opts pinOptions) error {
	p := opts.program
	h, registry, err := p.openPlugins()
	if err != nil {
		return err
	}
	pins := p.openPins(h.Dirs)
	if len(opts.names) == 0 {
		return p.showPins(pins, opts.json)
	}
	for _, name := range opts.names {
		pluginName, tool, hasTool := strings.Cut(name, "__")
		if hasTool && tool == "" {
			return newUsageError("%q is not the name of a tool: write messages for a plugin, or messages__send for a tool", name)
		}
		if _, err := registry.Set().FindWithTool(pluginName, tool); err != nil {
			return asUsageError(err)
		}
	}
	added, err := pins.Pin(opts.names)
	if err != nil {
		return err
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(opts.names))) {
		if slices.Contains(added, name) {
			p.out.Notef("%s is pinned", name)
		} else {
			p.out.Notef("%s was pinned already", name)
		}
	}
	return nil
}

func runToolsUnpin(_ context.Context, opts pinOptions) error {
	p := opts.program
	dirs, err := p.makeDirs()
	if err != nil {
		return err
	}
	pins := p.openPins(dirs)
	for _, name := range opts.names {
		if pinned := pins.Names(); !slices.Contains(pinned, name) {
			return newUsageError("%q is not pinned%s", name, nearest.Suggestion(name, pinned))
		}
	}
	removed, err := pins.Unpin(opts.names)
	for _, name := range removed {
		p.out.Notef("%s is no longer pinned", name)
	}
	return err
}

// showPins prints the pinned tools.
func (p *program) showPins(pins *toolpins.Pins, asJSON bool) error {
	if err := pins.Problem(); err != nil {
		return err
	}
	if asJSON {
		return p.out.PrintValue(append([]string{}, pins.Names()...))
	}
	if len(pins.Names()) == 0 {
		p.out.Notef("no tool is pinned; pin one with `opentabs tools pin NAME`")
		return nil
	}
	for _, name := range pins.Names() {
		p.out.PrintLine("%s", name)
	}
	return nil
}
