package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
)

func newExtensionCmd(p *program) *cobra.Command {
	return groupCommands(&cobra.Command{
		Use:     "extension",
		Short:   "Write the browser extension",
		Example: "  opentabs extension install\n  opentabs extension path",
	}, newExtensionInstallCmd(p), newExtensionPathCmd(p))
}

type extensionInstallOptions struct {
	program  *program
	dir      string
	debugger bool
}

func newExtensionInstallCmd(p *program) *cobra.Command {
	opts := extensionInstallOptions{program: p}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Write the unpacked extension and print how to load it",
		Long: `Write the extension to a folder, and print how to load it in Chrome. The folder
contains the port and a key of this installation. Run the command again after
you update opentabs or change the port, then reload the extension.

With --debugger, the extension may use Chrome's debugger, which browser tools
need for pictures of background tabs and of full pages. Chrome shows a bar above
all pages while the debugger is attached. Later
installations keep the choice; --debugger=false takes the permission away.`,
		Example: "  opentabs extension install\n  opentabs extension install --dir ~/opentabs-extension\n  opentabs extension install --debugger",
		Args:    limitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			choice := extensiondir.KeepDebugger
			if cmd.Flags().Changed("debugger") {
				choice = extensiondir.WithoutDebugger
				if opts.debugger {
					choice = extensiondir.WithDebugger
				}
			}
			return runExtensionInstall(cmd.Context(), opts.program, extensiondir.Options{Dir: opts.dir, Debugger: choice})
		},
	}
	cmd.Flags().BoolVar(&opts.debugger, "debugger", false, "add the permission debugger (default: as in the last installation)")
	cmd.Flags().StringVar(&opts.dir, "dir", "", "write the extension to `DIR` (default: a folder in the state directory)")
	return cmd
}

func runExtensionInstall(ctx context.Context, p *program, options extensiondir.Options) error {
	h, err := p.openHome(nil)
	if err != nil {
		return err
	}
	dir, err := extensiondir.Setup(ctx, h, options, p.out.Notef)
	if err != nil {
		return err
	}
	p.out.PrintText(installSteps(dir))
	if extensiondir.HasDebugger(h.Dirs) {
		p.out.PrintText(debuggerNote)
	}
	return nil
}

func installSteps(dir string) string {
	return fmt.Sprintf(`The extension is in
  %s

In Chrome:
  1. Open chrome://extensions and switch on "Developer mode" (top right).
  2. Choose "Load unpacked" and the folder above. If opentabs is there already,
     press its reload button instead.
  3. Open the extension's "Details" and switch on "Allow User Scripts".
  4. Reload the tabs in which you want to use a plugin.
  5. Press the opentabs button in the toolbar: the side panel shows whether it is
     connected. The server must run: opentabs serve`, dir)
}

// debuggerNote follows the steps if the extension has the permission debugger.
const debuggerNote = `
The extension has the permission "debugger". While a tool uses the debugger,
Chrome shows "opentabs started debugging this browser" above all pages. Cancel
switches the debugger off until you allow it again in the side panel.
To take the permission away: opentabs extension install --debugger=false`

type extensionPathOptions struct{ program *program }

func newExtensionPathCmd(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the folder that the extension is in",
		Example: "  opentabs extension path",
		Args:    limitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runExtensionPath(extensionPathOptions{program: p}) },
	}
}

func runExtensionPath(opts extensionPathOptions) error {
	dirs, err := config.FindDirs(opts.program.getenv)
	if err != nil {
		return newUsageError("%v", err)
	}
	dir, ok := extensiondir.Find(dirs)
	if !ok {
		return errors.New("the extension is not installed yet: run `opentabs extension install`")
	}
	opts.program.out.PrintLine("%s", dir)
	return nil
}
