package plugincmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/cli"
	"opentabs/internal/humanize"
	"opentabs/internal/jsbuild"
	"opentabs/internal/plugindev"
	"opentabs/internal/terminal"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

type pluginCreateOptions struct {
	program *cli.Program
	plugin  author.CreateOptions
	json    bool
}

// createdPlugin is the output of `opentabs plugin create --json`.
type createdPlugin struct {
	Name    string `json:"name"`
	Dir     string `json:"dir"`
	Pattern string `json:"pattern"`
	// The field Files contains the paths of the created files, relative to Dir.
	Files []string `json:"files"`
}

func newPluginCreateCmd(p *cli.Program) *cobra.Command {
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
		Args: cli.RequireArgs(1, "the name of the plugin"),
		RunE: cli.ActionWithArg(&opts.plugin.Name, func(_ context.Context) error { return runPluginCreate(opts) }),
	}
	f := cmd.Flags()
	f.StringVar(&opts.plugin.Domain, "domain", "", "the `SITE` that the plugin runs on, such as app.example.com (default example.com)")
	f.StringVar(&opts.plugin.DisplayName, "display", "", "the display `NAME` of the plugin")
	f.StringVar(&opts.plugin.Description, "description", "", "a `SENTENCE` that describes the plugin")
	f.StringVar(&opts.plugin.ScriptWorld, "world", "main", "the `WORLD` in which the plugin's code runs: main or isolated")
	f.StringVar(&opts.plugin.Dir, "dir", ".", "create the plugin's directory in this `DIR`")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runPluginCreate(opts pluginCreateOptions) error {
	startTime := time.Now()
	createResult, err := author.Create(opts.plugin)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	terminalOut := opts.program.Out
	if opts.json {
		return terminalOut.PrintValue(createdPlugin{createResult.Name, createResult.Dir, createResult.Pattern, createResult.Files})
	}
	terminalOut.PrintLine("created %s in %s, for %s", createResult.Name, createResult.Dir, createResult.Pattern)
	for _, file := range createResult.Files {
		terminalOut.PrintLine("  %s", file)
	}
	terminalOut.Notef("%s", fmt.Sprintf("done in %s; continue with\n"+
		"cd %s\nopentabs plugin test\nopentabs plugin dev", terminal.Elapsed(time.Since(startTime)), createResult.Dir))
	return nil
}

type pluginBuildOptions struct {
	program *cli.Program
	dir     string
	watch   bool
	json    bool
}

// builtPlugin is the output of `opentabs plugin build --json`.
type builtPlugin struct {
	Name        string         `json:"name"`
	DisplayName string         `json:"display_name"`
	Version     string         `json:"version"`
	Hash        string         `json:"hash"`
	Tools       []toolOrPrompt `json:"tools"`
	Prompts     []toolOrPrompt `json:"prompts"`
	Files       []builtFile    `json:"files"`
	Warnings    []string       `json:"warnings"`
	DurationMs  int64          `json:"duration_ms"`
}

// toolOrPrompt is a tool or a prompt of a built plugin.
type toolOrPrompt struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// builtFile is a file that `opentabs plugin build` has written.
type builtFile struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

func newBuiltPlugin(result *jsbuild.BuildResult) builtPlugin {
	buildOutput := builtPlugin{
		Name: result.Name, DisplayName: result.DisplayName, Version: result.Version, Hash: result.Hash,
		Tools: []toolOrPrompt{}, Prompts: []toolOrPrompt{}, Files: []builtFile{}, Warnings: []string{}, DurationMs: result.Duration.Milliseconds(),
	}
	for _, t := range result.Tools {
		buildOutput.Tools = append(buildOutput.Tools, toolOrPrompt(t))
	}
	for _, prompt := range result.Prompts {
		buildOutput.Prompts = append(buildOutput.Prompts, toolOrPrompt(prompt))
	}
	for _, f := range result.Files {
		buildOutput.Files = append(buildOutput.Files, builtFile(f))
	}
	for _, w := range result.Warnings {
		buildOutput.Warnings = append(buildOutput.Warnings, w.String())
	}
	return buildOutput
}

func newPluginBuildCmd(p *cli.Program) *cobra.Command {
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
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginBuild(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.watch, "watch", false, "build again after each change")
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON; with --watch one build per line")
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
	terminalOut := opts.program.Out
	if opts.json {
		return terminalOut.PrintValue(newBuiltPlugin(result))
	}
	for _, w := range result.Warnings {
		terminalOut.Notef("warning: %s", w)
	}
	toolCount := terminal.CountNoun(len(result.Tools), "tool")
	tableRows := [][]string{}
	for _, t := range result.Tools {
		tableRows = append(tableRows, []string{t.Name, t.Description})
	}
	for _, p := range result.Prompts {
		tableRows = append(tableRows, []string{p.Name + " (prompt)", p.Description})
	}
	if len(result.Prompts) > 0 {
		toolCount += ", " + terminal.CountNoun(len(result.Prompts), "prompt")
	}
	terminalOut.PrintLine("%s %s (%s), %s", result.Name, terminal.SafeLine(result.Version), terminal.SafeLine(result.DisplayName), toolCount)
	terminalOut.PrintTable("  ", tableRows)
	for _, f := range result.Files {
		terminalOut.PrintLine("wrote %s, %s", f.Path, humanize.Bytes(f.Bytes))
	}
	terminalOut.Notef("built in %s; install it with `opentabs plugin install %s`", terminal.Elapsed(result.Duration), folderArgument(opts.dir))
	return nil
}

func folderArgument(dir string) string {
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, ".") || strings.ContainsAny(dir, `/\`) {
		return dir
	}
	return "." + string(filepath.Separator) + dir
}

func runPluginWatch(ctx context.Context, opts pluginBuildOptions) error {
	var printBuild func(*jsbuild.BuildResult) error // if printBuild is nil, each build is printed as a line of text
	if opts.json {
		printBuild = func(result *jsbuild.BuildResult) error {
			return opts.program.Out.PrintValueLine(newBuiltPlugin(result))
		}
	}
	err := plugindev.Watch(ctx, opts.dir, opts.program.Out, jsbuild.Options{}, printBuild)
	if errors.Is(err, plugindev.ErrNoPlugin) {
		return errors.New("there is no plugin to watch: name the directory of a plugin")
	}
	return err
}

type pluginDevOptions struct {
	program    *cli.Program
	dir        string
	permission string
	rerun      bool
}

func newPluginDevCmd(p *cli.Program) *cobra.Command {
	opts := pluginDevOptions{program: p, dir: "."}
	cmd := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Build a plugin after each change and load it into open tabs",
		Long: `Build the plugin in DIR (default: this directory) after each change and load it
into the open tabs, without a reload of the page where possible. A tab that was
open before is reloaded at your first change. The log and the calls of the
plugin are printed, and on a terminal you can call its tools from a prompt
("help" shows how). With --rerun the last of these calls is made again after
each build. Ctrl-C stops a running call; without one it ends the command.

The server is started if none runs. While the command runs, builds in DIR count
as reviewed. The last build stays in use afterwards, and later changes need a
review again.

During development the plugin leaves a function on the pages of its sites, which
loads new builds; docs/security.md describes the consequences.`,
		Example: "  opentabs plugin dev\n  opentabs plugin dev plugins/tickets --permission ask\n  opentabs plugin dev --rerun",
		Args:    cli.LimitArgs(1),
		RunE:    cli.ActionWithArg(&opts.dir, func(ctx context.Context) error { return runPluginDev(ctx, opts) }),
	}
	cmd.Flags().BoolVar(&opts.rerun, "rerun", false, "call the last tool of the prompt again after each build")
	cmd.Flags().StringVar(&opts.permission, "permission", string(wire.PermissionAuto), "the `PERMISSION` of the plugin's tools, if you have not set one yet: off, ask or auto")
	return cmd
}

func runPluginDev(ctx context.Context, opts pluginDevOptions) error {
	permission, err := policy.ParsePermission(opts.permission)
	if err != nil {
		return cli.NewUsageError("--permission: %v", err)
	}
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	// During a call, Ctrl-C cancels only the call, and `plugin dev` continues.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	o := plugindev.Options{Home: h, Source: opts.dir, Permission: permission, RepeatLastCall: opts.rerun, Out: p.Out, Signals: signals, Call: func(ctx context.Context, c plugindev.Call) { cli.RunTypedCall(ctx, p, c) }}
	if terminal.IsTerminal(p.In) {
		o.Lines = plugindev.ReadLines(p.In)
	}
	return plugindev.Run(context.WithoutCancel(ctx), o)
}
