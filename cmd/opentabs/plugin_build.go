package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/humanize"
	"opentabs/internal/jsbuild"
	"opentabs/internal/plugindev"
	"opentabs/internal/terminal"
	"opentabs/internal/toolcall"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type pluginCreateOptions struct {
	program *program
	plugin  author.CreateOptions
}

func newPluginCreateCmd(p *program) *cobra.Command {
	opts := pluginCreateOptions{program: p}
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a new plugin",
		Long: `Create a small plugin in the directory NAME: two tools, tests, an icon, and type
declarations for an editor. You can build, check and test it without changes.
Nothing is downloaded, and neither Node nor npm is needed.

The plugin's code runs in the main world, together with the page's scripts. With
--world isolated it runs separately from them: use that if the plugin uses
nothing that the page's scripts define.

NAME may have a scope (@acme/chat); the package is called opentabs-plugin-NAME.`,
		Example: `  opentabs plugin create tickets --domain tickets.example.com
  opentabs plugin create @acme/chat --domain acme.test --display "Acme Chat"
  opentabs plugin create notes --domain notes.example.com --world isolated`,
		Args: requireArgs(1, "the name of the plugin"),
		RunE: actionWithArg(&opts.plugin.Name, func(_ context.Context) error { return runPluginCreate(opts) }),
	}
	f := cmd.Flags()
	f.StringVar(&opts.plugin.Domain, "domain", "", "the `SITE` that the plugin runs on, such as app.example.com (default example.com)")
	f.StringVar(&opts.plugin.DisplayName, "display", "", "the display `NAME` of the plugin")
	f.StringVar(&opts.plugin.Description, "description", "", "a `SENTENCE` that describes the plugin")
	f.StringVar(&opts.plugin.World, "world", "main", "the world in which the plugin's code runs: `main or isolated`")
	f.StringVar(&opts.plugin.Dir, "dir", ".", "create the plugin's directory in this `DIR`")
	return cmd
}

func runPluginCreate(opts pluginCreateOptions) error {
	startTime := time.Now()
	created, err := author.Create(opts.plugin)
	if err != nil {
		return newUsageError("%v", err)
	}
	out := opts.program.out
	out.PrintLine("created %s in %s, for %s", created.Name, created.Dir, created.Pattern)
	for _, file := range created.Files {
		out.PrintLine("  %s", file)
	}
	out.Notef("%s", fmt.Sprintf("done in %s; continue with\n"+
		"cd %s\nopentabs plugin test\nopentabs plugin dev", terminal.Elapsed(time.Since(startTime)), created.Dir))
	return nil
}

type pluginBuildOptions struct {
	program *program
	dir     string
	watch   bool
}

func newPluginBuildCmd(p *program) *cobra.Command {
	opts := pluginBuildOptions{program: p, dir: "."}
	cmd := &cobra.Command{
		Use:   "build [DIR]",
		Short: "Build a plugin from its TypeScript source",
		Long: `Build the plugin in DIR (default: this directory) into its dist folder: the
adapter that runs in the page and the list of its tools. Node is not needed, and
types are not checked; opentabs plugin check does that.

With --watch it builds again after each change, until Ctrl-C. Errors are printed
and do not end the command.`,
		Example: "  opentabs plugin build\n  opentabs plugin build plugins/messages --watch",
		Args:    limitArgs(1),
		RunE:    actionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginBuild(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.watch, "watch", false, "build again after each change")
	return cmd
}

func runPluginBuild(ctx context.Context, opts pluginBuildOptions) error {
	if opts.watch {
		return runPluginWatch(ctx, opts)
	}
	result, err := jsbuild.BuildPlugin(ctx, opts.dir, jsbuild.Options{})
	if err != nil {
		return err
	}
	if err := author.RefreshEditorTypes(opts.dir); err != nil {
		return err
	}
	out := opts.program.out
	for _, w := range result.Warnings {
		out.Notef("warning: %s", w)
	}
	toolCount := terminal.Plural(len(result.Tools), "tool")
	rows := [][]string{}
	for _, t := range result.Tools {
		rows = append(rows, []string{t.Name, t.Description})
	}
	for _, p := range result.Prompts {
		rows = append(rows, []string{p.Name + " (prompt)", p.Description})
	}
	if len(result.Prompts) > 0 {
		toolCount += ", " + terminal.Plural(len(result.Prompts), "prompt")
	}
	out.PrintLine("%s %s (%s), %s", result.Name, terminal.SafeLine(result.Version), terminal.SafeLine(result.DisplayName), toolCount)
	out.PrintTable("  ", rows)
	for _, f := range result.Files {
		out.PrintLine("wrote %s, %s", f.Path, humanize.Bytes(f.Bytes))
	}
	out.Notef("built in %s; add it with `opentabs plugin add %s`", terminal.Elapsed(result.Duration), opts.dir)
	return nil
}

func runPluginWatch(ctx context.Context, opts pluginBuildOptions) error {
	err := plugindev.Watch(ctx, opts.dir, opts.program.out)
	if errors.Is(err, plugindev.ErrNoPlugin) {
		return errors.New("there is no plugin to watch: name the directory of a plugin")
	}
	return err
}

type pluginDevOptions struct {
	program    *program
	dir        string
	permission string
}

func newPluginDevCmd(p *program) *cobra.Command {
	opts := pluginDevOptions{program: p, dir: "."}
	cmd := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Build a plugin after each change and load it into open tabs",
		Long: `Build the plugin in DIR (default: this directory) after each change and load it
into the open tabs, without a reload of the page where possible. The log of the
plugin is printed, and on a terminal you can call its tools from a prompt
("help" shows how). Ctrl-C stops a running call; without one it ends the
command.

The server is started if none runs. While the command runs, builds in DIR count
as reviewed. The last build stays in use afterwards, and later changes need a
review again.

During development the plugin leaves a function on the pages of its sites, which
loads new builds; docs/security.md describes the consequences.`,
		Example: "  opentabs plugin dev\n  opentabs plugin dev plugins/tickets --permission ask",
		Args:    limitArgs(1),
		RunE:    actionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginDev(ctx, opts) }),
	}
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAuto), "how the plugin's tools run, if you have not set that yet: `off, ask or auto`")
	return cmd
}

func runPluginDev(ctx context.Context, opts pluginDevOptions) error {
	permission, err := policy.ParsePermission(opts.permission)
	if err != nil {
		return newUsageError("--permission: %v", err)
	}
	p := opts.program
	h, err := p.openHome(nil)
	if err != nil {
		return err
	}
	// During a tool call, Ctrl-C cancels the call and does not end `plugin dev`.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	o := plugindev.Options{Home: h, Source: opts.dir, Permission: permission, Out: p.out, Signals: signals, Call: p.callFromPrompt}
	if terminal.IsTerminal(p.in) {
		o.Lines = plugindev.ReadLines(p.in)
	}
	return plugindev.Run(context.WithoutCancel(ctx), o)
}

// callFromPrompt runs a call that was typed at the prompt of plugin dev.
func (p *program) callFromPrompt(ctx context.Context, c plugindev.Call) {
	opts := callOptions{program: p, call: toolcall.Request{Tool: c.Tool, Args: c.Words, JSON: c.JSON, HasJSON: c.JSON != "", Output: "json"}}
	if sentence, _ := explainError(ctx, runCall(ctx, opts)); sentence != "" {
		p.out.Notef("%s", sentence)
	}
}
