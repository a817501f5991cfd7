package installcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/clienttoken"
	"opentabs/internal/config"
	"opentabs/internal/extensiondir"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/installed"
	"opentabs/internal/setup"
	"opentabs/internal/upgrade"
)

type uninstallOptions struct {
	program *cli.Program
	purge   bool
	force   bool
	yes     bool
	json    bool
}

// NewUninstallCmd returns the command `opentabs uninstall`.
func NewUninstallCmd(p *cli.Program) *cobra.Command {
	opts := uninstallOptions{program: p}
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove opentabs from this machine",
		Long: `Remove opentabs from this machine. uninstall lists what it will remove and asks
you: opentabs in the configurations of MCP clients, the service, the folder of
the extension, and the program. It stops the server first.

Your settings, plugins and logs stay, unless you add --purge. A program that
npm, Homebrew or another package manager has installed stays too, and uninstall
prints the command that removes it.`,
		Example: "  opentabs uninstall\n  opentabs uninstall --purge --yes",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUninstall(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.BoolVar(&opts.purge, "purge", false, "also remove settings, plugins, permissions and logs")
	f.BoolVar(&opts.force, "force", false, "end running and waiting calls")
	f.BoolVarP(&opts.yes, "yes", "y", false, "remove without asking")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

// The type uninstallStep is one item that `opentabs uninstall` removes, such as the extension's
// folder.
type uninstallStep struct {
	description string
	removeItem  func(context.Context) (string, error)
}

// The type uninstaller collects and then removes everything that opentabs has stored on
// this machine.
type uninstaller struct {
	program        *cli.Program
	home           *home.Home
	installed      installed.Program
	opts           uninstallOptions
	uninstallSteps []uninstallStep
}

func runUninstall(ctx context.Context, opts uninstallOptions) error {
	p := opts.program
	dirs, err := config.FindDirs(p.Getenv)
	if err != nil {
		return cli.NewUsageError("%v", err)
	}
	program, err := installed.Find(ctx)
	if err != nil {
		return err
	}
	settings, err := config.Load(dirs, p.Getenv, nil)
	if err != nil { // uninstall also works with damaged settings
		p.Out.Notef("warning: %v", err)
		settings = config.Defaults()
	}
	h := home.New(dirs, settings, p.Getenv, func(warning string) { p.Out.Notef("%s", warning) })
	u := &uninstaller{program: p, home: h, installed: program, opts: opts}
	if err := u.collectUninstallSteps(ctx); err != nil {
		return err
	}
	return u.run(ctx)
}

func (u *uninstaller) collectUninstallSteps(ctx context.Context) error {
	server, err := u.home.FindServer(ctx)
	switch {
	case err == nil:
		u.add("the running server: "+server.String(), u.stopServer)
	case errors.As(err, new(*home.ServerTokenMismatchError)) || !errors.Is(err, httpapi.ErrNoServer) && !errors.Is(err, httpapi.ErrPortTaken):
		return err
	}
	if err := u.addClientSteps(); err != nil {
		return err
	}
	if manager, err := newService(u.program); err == nil && manager.IsInstalled() {
		u.add("the service: "+manager.File(), func(ctx context.Context) (string, error) { return "", manager.Uninstall(ctx) })
	}
	if folder, ok := extensiondir.Find(u.home.Dirs); ok {
		u.add("the extension: "+folder, u.removeExtension)
	}
	if u.opts.purge {
		if err := u.addDataSteps(); err != nil {
			return err
		}
	}
	if u.installed.Method == installed.Archive {
		u.add("the program: "+u.installed.Path, u.removeProgram)
	}
	return nil
}

func (u *uninstaller) add(text string, removeItem func(context.Context) (string, error)) {
	u.uninstallSteps = append(u.uninstallSteps, uninstallStep{text, removeItem})
}

func (u *uninstaller) addClientSteps() error {
	machine, err := setup.ThisMachine(runtime.GOOS, u.program.Getenv)
	if err != nil {
		return err
	}
	writer := setup.Writer{Dir: u.home.SetupDir()}
	clients, _ := setup.Clients(machine)
	for _, c := range clients {
		file, err := writer.ConfiguredFile(c)
		if err != nil {
			return err
		}
		if file != "" {
			u.add(fmt.Sprintf("opentabs in %s: %s", c.Title, file), func(context.Context) (string, error) {
				undoReport, err := writer.Undo(c)
				return undoReport, errors.Join(err, u.revokeToken(c.ID))
			})
		}
	}
	return nil
}

func (u *uninstaller) revokeToken(name string) error {
	clients, err := clienttoken.Open(u.home.ClientsFile()).List()
	if err != nil || !slices.ContainsFunc(clients, func(knownClient clienttoken.Client) bool { return knownClient.Name == name }) {
		return err
	}
	return u.home.RemoveClient(name)
}

func (u *uninstaller) addDataSteps() error {
	for _, dir := range u.dataFolders() {
		if err := checkPurgeFolder(dir); err != nil {
			return err
		}
		u.add("settings, plugins, permissions and logs: "+dir, func(context.Context) (string, error) { return "", os.RemoveAll(dir) })
	}
	return nil
}

func (u *uninstaller) dataFolders() []string {
	dirs := slices.Compact([]string{u.home.Config, u.home.State})
	return slices.DeleteFunc(dirs, func(dir string) bool { return !config.PathExists(dir) })
}

// checkPurgeFolder rejects the home directory, to which the user may have set OPENTABS_HOME by mistake.
func checkPurgeFolder(dir string) error {
	for _, findFolder := range []func() (string, error){os.UserHomeDir, os.Getwd} {
		protectedFolder, err := findFolder()
		if err != nil {
			continue
		}
		if relativePath, err := filepath.Rel(dir, protectedFolder); err == nil && (relativePath == "." || filepath.IsLocal(relativePath)) {
			return cli.NewUsageError("%s contains %s, so --purge does not remove it: remove the files of opentabs there yourself", dir, protectedFolder)
		}
	}
	return nil
}

// finishedUninstall is the output of `opentabs uninstall --json`.
type finishedUninstall struct {
	// The field Removed has one sentence for each removed item.
	Removed []string `json:"removed"`
	// Data lists the folders with the user's data that still exist.
	Data []string `json:"data"`
	// Command is the package manager's command that removes the program opentabs, if a
	// package manager has installed it. The field Command is empty if opentabs was
	// installed without a package manager.
	Command string `json:"command,omitempty"`
}

func (u *uninstaller) run(ctx context.Context) error {
	terminalOut := u.program.Out
	if len(u.uninstallSteps) == 0 {
		return u.report("there is nothing to remove")
	}
	if !u.opts.json {
		terminalOut.PrintLine("uninstall removes:")
		for _, r := range u.uninstallSteps {
			terminalOut.PrintLine("  %s", r.description)
		}
	}
	if !u.opts.yes {
		questions := terminalOut.NewQuestionReader(u.program.In)
		if questions == nil || u.opts.json {
			return cli.NewUsageError("uninstall needs your answer in a terminal: without one, add --yes to remove everything in the list")
		}
		isConfirmed, _ := questions.Ask(ctx, "Remove all of this? [y/N] ", false)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if isConfirmed = strings.ToLower(strings.TrimSpace(isConfirmed)); isConfirmed != "y" && isConfirmed != "yes" {
			terminalOut.Notef("nothing was removed")
			return nil
		}
	}
	if err := u.removeAll(ctx); err != nil {
		return err
	}
	return u.report("opentabs is removed; in Chrome, also remove the extension: open chrome://extensions")
}

// After a failure, removeAll continues, unless the server refuses to stop because calls are running or waiting.
func (u *uninstaller) removeAll(ctx context.Context) error {
	var failures []error
	for i, r := range u.uninstallSteps {
		removalReport, err := r.removeItem(ctx)
		switch {
		case err != nil && i == 0 && errors.As(err, new(*httpapi.RefusedError)):
			return err
		case err != nil:
			failures = append(failures, fmt.Errorf("%s: %w", r.description, err))
		case removalReport != "":
			u.program.Out.Notef("%s", removalReport)
		}
	}
	return errors.Join(failures...)
}

func (u *uninstaller) report(removalReport string) error {
	terminalOut := u.program.Out
	result := finishedUninstall{Removed: []string{}, Data: append([]string{}, u.dataFolders()...), Command: u.installed.RemoveCommand()}
	for _, r := range u.uninstallSteps {
		result.Removed = append(result.Removed, r.description)
	}
	if err := u.program.Report(u.opts.json, result, "%s", removalReport); u.opts.json {
		return err
	}
	for _, dir := range result.Data {
		// The notice about the remaining data suggests no opentabs command, because the
		// program can already be removed.
		terminalOut.Notef("your data stays in %s; delete this folder to remove it", dir)
	}
	if result.Command != "" {
		terminalOut.Notef("%s; to remove the program, run: %s", describeInstallation(u.installed), result.Command)
	}
	return nil
}

func (u *uninstaller) stopServer(ctx context.Context) (string, error) {
	stoppedServer, err := u.home.StopServer(ctx, u.opts.force)
	if errors.Is(err, httpapi.ErrNoServer) {
		return "", nil
	}
	return stoppedServer.String() + ", is stopped", err
}

func (u *uninstaller) removeExtension(context.Context) (string, error) {
	folder, isRemoved, err := extensiondir.Remove(u.home.Dirs)
	if err != nil || isRemoved {
		return "", err
	}
	return folder + " stays, because it has files that are not part of the extension", nil
}

// On Windows, a running program cannot be removed.
func (u *uninstaller) removeProgram(context.Context) (string, error) {
	path := u.installed.Path
	if err := os.Remove(upgrade.BackupPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if runtime.GOOS == "windows" {
		return "Windows cannot remove a running program: delete " + path, nil
	}
	return "", os.Remove(path)
}
