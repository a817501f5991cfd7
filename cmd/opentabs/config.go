package main

import (
	"context"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/nearest"
)

func newConfigCmd(p *cli.Program) *cobra.Command {
	return cli.GroupCommands(&cobra.Command{
		Use:   "config",
		Short: "Show and change the settings",
		Long: `Show and change the settings in config.json. A change applies when the server
starts again: run "opentabs restart". Environment variables and the flags of
"opentabs serve" override config.json.`,
		Example: "  opentabs config get\n  opentabs config set idleTimeout 1m\n  opentabs config unset idleTimeout\n  opentabs config path",
	}, newConfigGetCmd(p), newConfigSetCmd(p), newConfigUnsetCmd(p), newConfigPathCmd(p))
}

type configGetOptions struct {
	program *cli.Program
	key     string
	json    bool
}

func newConfigGetCmd(p *cli.Program) *cobra.Command {
	opts := configGetOptions{program: p}
	cmd := &cobra.Command{
		Use:   "get [SETTING]",
		Short: "Show the settings, or the value of one",
		Long: `Show the settings that a server uses if it starts now, and where each value
comes from. With the name of a SETTING, print only its value.`,
		Example: "  opentabs config get\n  opentabs config get port",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.key, func(ctx context.Context) error { return runConfigGet(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runConfigGet(_ context.Context, opts configGetOptions) error {
	p := opts.program
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	settings, err := config.ListEffective(dirs, p.Getenv)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	if opts.key == "" {
		if opts.json {
			return p.Out.PrintValue(settings)
		}
		tableRows := [][]string{{"SETTING", "VALUE", "FROM"}}
		for _, s := range settings {
			tableRows = append(tableRows, []string{s.Key, s.Value, s.Source})
		}
		p.Out.PrintTable("", tableRows, "FROM")
		return nil
	}
	var keys []string
	for _, s := range settings {
		if s.Key != opts.key {
			keys = append(keys, s.Key)
			continue
		}
		if opts.json {
			return p.Out.PrintValue(s)
		}
		p.Out.PrintLine("%s", s.Value)
		return nil
	}
	return cli.NewUsageError("there is no setting %q%s: list the settings with `opentabs config get`", opts.key, nearest.Suggestion(opts.key, keys))
}

type configChangeOptions struct {
	program    *cli.Program
	key, value string
	json       bool
}

func newConfigSetCmd(p *cli.Program) *cobra.Command {
	opts := configChangeOptions{program: p}
	cmd := &cobra.Command{
		Use:     "set SETTING VALUE",
		Short:   "Change a setting in config.json",
		Example: "  opentabs config set idleTimeout 1m\n  opentabs config set tools \"auto, Cursor=gateway\"",
		Args:    cli.RequireArgs(2, "the name or the value of the setting"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.key, opts.value = args[0], args[1]
			return runConfigSet(cmd.Context(), opts)
		},
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runConfigSet(ctx context.Context, opts configChangeOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	if err := config.Set(dirs, opts.key, opts.value); err != nil {
		return cli.NewUsageError("%v", err)
	}
	if err := p.Report(opts.json, changedSetting{Key: opts.key, Value: opts.value, File: dirs.ConfigFile(), HasChanged: true}, "%s is %s", opts.key, opts.value); err != nil {
		return err
	}
	printWhenChangeApplies(ctx, p, opts.key)
	return nil
}

// changedSetting is the output of `opentabs config set --json` and `opentabs config unset
// --json`.
type changedSetting struct {
	Key string `json:"key"`
	// The field Value is empty if the command removed the setting.
	Value      string `json:"value,omitempty"`
	File       string `json:"file"`
	HasChanged bool   `json:"changed"`
}

func newConfigUnsetCmd(p *cli.Program) *cobra.Command {
	opts := configChangeOptions{program: p}
	cmd := &cobra.Command{
		Use:     "unset SETTING",
		Short:   "Remove a setting from config.json, so that its default applies",
		Example: "  opentabs config unset idleTimeout",
		Args:    cli.RequireArgs(1, "the name of the setting"),
		RunE:    cli.ActionWithArg(&opts.key, func(ctx context.Context) error { return runConfigUnset(ctx, opts) }),
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runConfigUnset(ctx context.Context, opts configChangeOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	wasSet, err := config.RemoveSetting(dirs, opts.key)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	result := changedSetting{Key: opts.key, File: dirs.ConfigFile(), HasChanged: wasSet}
	if !wasSet {
		return p.Report(opts.json, result, "%s is not set in %s", opts.key, dirs.ConfigFile())
	}
	if err := p.Report(opts.json, result, "%s is removed from %s", opts.key, dirs.ConfigFile()); err != nil {
		return err
	}
	printWhenChangeApplies(ctx, p, opts.key)
	return nil
}

// printWhenChangeApplies prints what overrides or delays a change of config.json: an environment variable, a running
// server, or invalid settings.
func printWhenChangeApplies(ctx context.Context, p *cli.Program, key string) {
	h, err := p.OpenHome(nil)
	if err != nil {
		p.Out.Notef("%v", err)
		return
	}
	settings, err := config.ListEffective(h.Dirs, p.Getenv)
	if err != nil {
		p.Out.Notef("%v", err)
		return
	}
	for _, s := range settings {
		if s.Key == key && s.Source != config.DefaultSource && s.Source != h.ConfigFile() {
			p.Out.Notef("the environment variable %s overrides it: %s is %s", s.Source, key, s.Value)
		}
	}
	if _, err := h.FindServer(ctx); err == nil {
		p.Out.Notef("the running server uses the change after `opentabs restart`")
	}
}

// printedPath is the JSON output of commands that print one path.
type printedPath struct {
	Path string `json:"path"`
}

func newConfigPathCmd(p *cli.Program) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "path",
		Short:   "Print the path of config.json",
		Example: "  opentabs config path",
		Args:    cli.LimitArgs(0),
		RunE: func(*cobra.Command, []string) error {
			dirs, err := config.FindDirs(p.Getenv)
			if err != nil {
				return cli.NewUsageError("%v", err)
			}
			if asJSON {
				return p.Out.PrintValue(printedPath{dirs.ConfigFile()})
			}
			p.Out.PrintLine("%s", dirs.ConfigFile())
			return nil
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}
