package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/jsbuild"
	"opentabs/plugin"
	"opentabs/wire"
)

func newPluginCmd(p *program) *cobra.Command {
	return group(&cobra.Command{
		Use:     "plugin",
		Short:   "Build, add, review, list and remove plugins",
		Example: "  opentabs plugin build messages\n  opentabs plugin add messages\n  opentabs plugin review messages",
	}, newPluginCreateCmd(p), newPluginBuildCmd(p), newPluginCheckCmd(p), newPluginReadmeCmd(p), newPluginPackCmd(p), newPluginAddCmd(p), newPluginReviewCmd(p), newPluginPermissionCmd(p), newPluginLimitCmd(p), newPluginListCmd(p), newPluginRemoveCmd(p))
}

// store is the list of plugins; what is wrong with it is told on stderr.
func (p *program) store(dirs config.Dirs) *plugin.Store {
	return plugin.NewStore(dirs.State, plugin.StoreOptions{
		Check: newCheckedScripts(dirs, zerolog.Nop()).Check,
		Warn:  func(sentence string) { p.out.say("%s", sentence) },
	})
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
		Long: `Add the built plugin in PATH. It is pinned to its present content: after a new
build, add it again. A server that runs takes it over at once.

None of its tools run before you have looked at it (opentabs plugin review).
--permission says that you have: it is reviewed then.`,
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
	var permission wire.Permission
	if opts.permission != "" {
		var err error
		if permission, err = plugin.ParsePermission(opts.permission); err != nil {
			return usage("--permission: %v", err)
		}
	}
	dirs, err := p.home()
	if err != nil {
		return err
	}
	settings, err := p.settings(dirs, nil)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(opts.path)
	if err != nil {
		return fmt.Errorf("find %s: %w", opts.path, err)
	}
	added, err := p.store(dirs).Add(path)
	if err != nil {
		return withBuildHint(err, path, opts.path)
	}
	for _, w := range added.Warnings {
		p.out.say("warning: %s", w)
	}
	p.out.line("added %s %s (%s), %s", added.Name, oneLine(added.Version), oneLine(added.DisplayName), plural(len(added.Tools), "tool"))
	p.out.table("  ", toolRows(added))
	client, err := p.tellServer(ctx, dirs, settings)
	if err != nil {
		return err
	}
	if err := p.letIn(ctx, dirs, client, added, permission); err != nil || client == nil {
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

// tellServer has a running server read the plugins anew. That no server runs is
// fine.
func (p *program) tellServer(ctx context.Context, dirs config.Dirs, s config.Settings) (*httpapi.Client, error) {
	client, err := p.serverOf(ctx, dirs, s)
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
	p.out.say("the running server (pid %d) has it", status.PID)
	for _, b := range status.Browsers {
		for _, t := range b.Tabs {
			if len(t.NeedsReload) > 0 {
				p.out.say("reload tab %d (%s) in %s to use it there", t.TabID, oneLine(t.URL), oneLine(b.Name))
			}
		}
	}
	return nil
}

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
	dirs, err := p.home()
	if err != nil {
		return err
	}
	registry := plugin.NewRegistry(p.store(dirs), zerolog.Nop())
	if err := registry.Reload(); err != nil {
		return err
	}
	set, policy := registry.Set(), p.policy(dirs, registry)
	if opts.json {
		return p.out.value(pluginList(set, policy))
	}
	if len(set.Plugins())+len(set.Failed()) == 0 {
		p.out.say("there are no plugins yet; add one with `opentabs plugin add PATH`")
	}
	for _, one := range set.Plugins() {
		p.out.line("%s %s (%s), %s, %s", one.Name, oneLine(one.Version), oneLine(one.DisplayName), standing(pluginStatus(one, policy)), one.Dir)
		p.out.table("  ", toolRows(one))
	}
	for _, f := range set.Failed() {
		p.out.line("%s failed: %s", oneLine(f.Path), oneLine(f.Err.Error()))
	}
	return nil
}

// pluginList is what --json prints, in the words of /status.
func pluginList(set *plugin.Set, policy *plugin.Policy) any {
	list := struct {
		Plugins []httpapi.Plugin       `json:"plugins"`
		Failed  []httpapi.FailedPlugin `json:"failed"`
	}{[]httpapi.Plugin{}, []httpapi.FailedPlugin{}}
	for _, one := range set.Plugins() {
		list.Plugins = append(list.Plugins, pluginStatus(one, policy))
	}
	for _, f := range set.Failed() {
		list.Failed = append(list.Failed, httpapi.FailedPlugin{Path: f.Path, Error: f.Err.Error()})
	}
	return list
}

type pluginRemoveOptions struct {
	program *program
	name    string
}

func newPluginRemoveCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a plugin; its folder stays",
		Example: "  opentabs plugin remove messages",
		Args:    exactly(1, "the name of a plugin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runPluginRemove(cmd.Context(), pluginRemoveOptions{program: p, name: args[0]})
		},
	}
}

func runPluginRemove(ctx context.Context, opts pluginRemoveOptions) error {
	p := opts.program
	dirs, err := p.home()
	if err != nil {
		return err
	}
	settings, err := p.settings(dirs, nil)
	if err != nil {
		return err
	}
	err = p.store(dirs).Remove(opts.name)
	if errors.Is(err, plugin.ErrUnknown) {
		return usage("%v", err)
	}
	if err != nil {
		return err
	}
	p.out.line("removed %s", opts.name)
	client, err := p.tellServer(ctx, dirs, settings)
	if err != nil {
		return err
	}
	if err := p.forget(ctx, dirs, client, opts.name); err != nil || client == nil {
		return err
	}
	return p.tellTabs(ctx, client)
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
	if code := jsbuild.Extract(opts.program.in, opts.program.out.stdout); code != exitOK {
		return &failure{code: code, err: errors.New("the plugin's modules could not be run: this command is started by opentabs plugin build")}
	}
	return nil
}
