package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
)

func newExtensionCmd(p *cli.Program) *cobra.Command {
	return cli.GroupCommands(&cobra.Command{
		Use:     "extension",
		Short:   "Write the browser extension",
		Example: "  opentabs extension install\n  opentabs extension path",
	}, newExtensionInstallCmd(p), newExtensionPathCmd(p))
}

type extensionInstallOptions struct {
	program  *cli.Program
	dir      string
	debugger bool
	json     bool
}

func newExtensionInstallCmd(p *cli.Program) *cobra.Command {
	opts := extensionInstallOptions{program: p}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the unpacked extension and print how to load it",
		Long: `Write the extension to a folder, and print how to load it in Chrome. The folder
contains the port and a key of this installation. Run the command again after
you update opentabs or change the port, then reload the extension.

With --debugger, the extension may use Chrome's debugger, which browser tools
need for pictures of background tabs and of full pages. Chrome shows a bar above
all pages while the debugger is attached. Later installations keep the choice;
--debugger=false takes the permission away.`,
		Example: "  opentabs extension install\n  opentabs extension install --dir ~/my-extension\n  opentabs extension install --debugger",
		Args:    cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			choice := extensiondir.KeepDebuggerChoice
			if cmd.Flags().Changed("debugger") {
				choice = extensiondir.WithoutDebugger
				if opts.debugger {
					choice = extensiondir.WithDebugger
				}
			}
			return runExtensionInstall(cmd.Context(), opts, extensiondir.Options{Dir: opts.dir, Debugger: choice})
		},
	}
	cmd.Flags().BoolVar(&opts.debugger, "debugger", false, "add the permission debugger (default: as in the last installation)")
	cmd.Flags().StringVar(&opts.dir, "dir", "", "write the extension to `DIR` (default: the folder of the last installation, or "+extensiondir.DefaultDir+")")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

// installedExtension is the output of `opentabs extension install --json`.
type installedExtension struct {
	Path        string `json:"path"`
	HasDebugger bool   `json:"debugger"`
}

func runExtensionInstall(ctx context.Context, opts extensionInstallOptions, options extensiondir.Options) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	dir, err := extensiondir.Setup(ctx, h, options, p.Out.Notef)
	if err != nil {
		return err
	}
	if opts.json {
		return p.Out.PrintValue(installedExtension{dir, extensiondir.HasDebugger(h.Dirs)})
	}
	p.Out.PrintText(extensionInstallSteps(dir))
	if extensiondir.HasDebugger(h.Dirs) {
		p.Out.PrintText(debuggerPermissionNote)
	}
	return nil
}

func extensionInstallSteps(dir string) string {
	return fmt.Sprintf(`The extension is in
  %s

In Chrome:
  1. Open chrome://extensions and switch on "Developer mode" (top right).
  2. Choose "Load unpacked" and the folder above. If opentabs is there already,
     press its reload button instead.
  3. Reload the tabs in which you want to use a plugin.
  4. Press the opentabs button in the toolbar: the side panel shows whether it is
     connected. The server must run: opentabs serve
Optional: open the extension's "Details" and turn on "Allow User Scripts" to
update plugins without reloading the extension.`, dir)
}

const debuggerPermissionNote = `
The extension has the permission "debugger". While a tool uses the debugger,
Chrome shows "opentabs started debugging this browser" above all pages. Cancel
switches the debugger off until you allow it again in the side panel.
To take the permission away: opentabs extension install --debugger=false`

type extensionPathOptions struct {
	program *cli.Program
	json    bool
}

func newExtensionPathCmd(p *cli.Program) *cobra.Command {
	opts := extensionPathOptions{program: p}
	cmd := &cobra.Command{
		Use:     "path",
		Short:   "Print the folder that the extension is in",
		Example: "  opentabs extension path",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runExtensionPath(opts) },
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runExtensionPath(opts extensionPathOptions) error {
	dirs, err := config.FindDirs(opts.program.Getenv)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	dir, ok := extensiondir.Find(dirs)
	if !ok {
		return errors.New("the extension is not installed yet: run `opentabs extension install`")
	}
	if opts.json {
		return opts.program.Out.PrintValue(printedPath{dir})
	}
	opts.program.Out.PrintLine("%s", dir)
	return nil
}
