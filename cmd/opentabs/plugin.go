package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
	"opentabs/plugin"
)

func newPluginCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:     "plugin",
		Short:   "Install, review, list, remove and make plugins",
		Example: "  opentabs plugin install slack\n  opentabs plugin review slack\n  opentabs plugin create my-site",
	}, newPluginCreateCmd(p), newPluginBuildCmd(p), newPluginDevCmd(p), newPluginTestCmd(p), newPluginCheckCmd(p), newPluginReadmeCmd(p), newPluginPackCmd(p), newPluginInstallCmd(p), newPluginUpdateCmd(p), newPluginSearchCmd(p), newPluginInfoCmd(p), newPluginAddCmd(p), newPluginInspectCmd(p), newPluginReviewCmd(p), newPluginConfigureCmd(p), newPluginPermissionCmd(p), newPluginLimitCmd(p), newPluginListCmd(p), newPluginRemoveCmd(p))
}

type pluginAddOptions struct {
	program *program
	path    string
	// permission is that of --permission; empty without the flag.
	permission string
}

func newPluginAddCmd(p *program) *cobra.Command {
	opts := pluginAddOptions{program: p}
	cmd := &cobra.Command{
		Use:   "add PATH",
		Short: "Add a built plugin",
		Long: `Add the built plugin in PATH. The folder stays yours: a server that runs takes
every new build in it over at once.

None of its tools run before you have looked at it (opentabs plugin review), and
again after each new build. --permission says that you have: it is reviewed then.`,
		Example: `  opentabs plugin add plugins/messages
  opentabs plugin add plugins/messages --permission ask`,
		Args: exactly(1, "the path of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.path = args[0]
			return runPluginAdd(cmd.Context(), opts)
		},
	}
	cmd.Flags().StringVar(&opts.permission, "permission", "", "review it too, and say how its tools run: `off, ask or auto`")
	return cmd
}

func runPluginAdd(ctx context.Context, opts pluginAddOptions) error {
	p := opts.program
	permission, err := permissionFlag(opts.permission)
	if err != nil {
		return err
	}
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(opts.path)
	if err != nil {
		return fmt.Errorf("find %s: %w", opts.path, err)
	}
	added, err := h.Store().Add(path)
	if err != nil {
		return withBuildHint(err, path, opts.path)
	}
	for _, w := range added.Warnings {
		p.out.Notef("warning: %s", w)
	}
	p.out.PrintLine("added %s %s (%s), %s", added.Name, terminal.SafeLine(added.Version), terminal.SafeLine(added.DisplayName), terminal.Plural(len(added.Tools), "tool"))
	p.out.PrintTable("  ", toolRows(added))
	client, err := reloadPlugins(ctx, h)
	if err != nil {
		return err
	}
	if err := p.review(ctx, h, client, added, permission); err != nil || client == nil {
		return err
	}
	return p.tellTabs(ctx, client)
}

// withBuildHint names the missing step if path holds the source of a plugin
// that was not built.
func withBuildHint(err error, path, given string) error {
	_, hasPackage := os.Stat(filepath.Join(path, "package.json"))
	_, hasDist := os.Stat(filepath.Join(path, "dist"))
	if hasPackage == nil && hasDist != nil {
		return fmt.Errorf("%w; build it first with `opentabs plugin build %s`", err, given)
	}
	return err
}

func toolRows(p *plugin.Plugin) [][]string {
	rows := [][]string{}
	for _, t := range p.Tools {
		rows = append(rows, []string{t.FullName(), t.Description})
	}
	return rows
}

// reloadPlugins makes a running server reload the plugins, and returns a client of
// it. It returns nil if no server runs.
func reloadPlugins(ctx context.Context, h *home.Home) (*httpapi.Client, error) {
	client, err := h.RunningClient(ctx)
	if client == nil || err != nil {
		return nil, err
	}
	if err := client.Reload(ctx); err != nil {
		return nil, fmt.Errorf("tell the server: %w", err)
	}
	return client, nil
}

// tellTabs says that the server has a change, and which tabs have to be reloaded.
func (p *program) tellTabs(ctx context.Context, client *httpapi.Client) error {
	status, err := client.Status(ctx)
	if err != nil {
		return fmt.Errorf("ask the server: %w", err)
	}
	p.out.Notef("the running server (pid %d) has it", status.PID)
	for _, b := range status.Browsers {
		for _, t := range b.Tabs {
			if len(t.NeedsReload) > 0 {
				p.out.Notef("reload tab %d (%s) in %s to use it there", t.TabID, terminal.SafeLine(t.URL), terminal.SafeLine(b.Name))
			}
		}
	}
	return nil
}

type extractOptions struct{ program *program }

// newExtractCmd is the child process in which `plugin build` runs a plugin's
// modules; it is not for people.
func newExtractCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    "__extract",
		Short:  "Read a plugin's tools (started by plugin build)",
		Hidden: true,
		Args:   atMost(0),
		RunE:   func(*cobra.Command, []string) error { return runExtract(extractOptions{program: p}) },
	}
}

func runExtract(opts extractOptions) error {
	if code := jsbuild.Extract(opts.program.in, opts.program.out.Stdout()); code != exitOK {
		return &failure{code: code, err: errors.New("the plugin's modules could not be run: this command is started by opentabs plugin build")}
	}
	return nil
}
