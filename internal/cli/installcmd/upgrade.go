package installcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/installed"
	"opentabs/internal/npm"
	"opentabs/internal/upgrade"
	"opentabs/internal/version"
)

type upgradeOptions struct {
	program     *cli.Program
	isCheckOnly bool
	json        bool
}

// NewUpgradeCmd returns the command `opentabs upgrade`.
func NewUpgradeCmd(p *cli.Program) *cobra.Command {
	opts := upgradeOptions{program: p}
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Install the newest version of opentabs",
		Long: `Install the newest version of opentabs. upgrade downloads the release, verifies
its checksum, replaces the program in one step, and keeps the earlier program
beside it with the suffix .old. A server without calls is restarted. If npm,
Homebrew, Scoop, apt or rpm has installed opentabs, upgrade prints the command
to run instead.

opentabs looks for new versions only when you run this command. The environment
variable ` + upgrade.URLVariable + ` names another folder of releases.`,
		Example: "  opentabs upgrade\n  opentabs upgrade --check",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUpgrade(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.isCheckOnly, "check", false, "only report whether a newer version exists")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

// newestVersion is the output of `opentabs upgrade --check --json`.
type newestVersion struct {
	Version   string           `json:"version"`
	Latest    string           `json:"latest"`
	IsNewer   bool             `json:"newer"`
	Installed installed.Method `json:"installed"`
	Path      string           `json:"path"`
	// Command is the command that upgrades opentabs, or empty if the newest version is
	// installed.
	Command string `json:"command,omitempty"`

	// release.URL is empty if opentabs was installed with npm.
	release upgrade.Release
}

func runUpgrade(ctx context.Context, opts upgradeOptions) error {
	p := opts.program
	program, err := installed.Find(ctx)
	if err != nil {
		return err
	}
	newestVersion, err := findNewestVersion(ctx, p, program)
	if err != nil {
		return err
	}
	switch {
	case opts.json && (opts.isCheckOnly || !newestVersion.IsNewer):
		return p.Out.PrintValue(newestVersion)
	case !newestVersion.IsNewer:
		p.Out.PrintLine("opentabs %s is the newest version", version.Version)
		return nil
	case opts.isCheckOnly:
		p.Out.PrintLine("opentabs %s is available, and this is opentabs %s. To install it, run: %s", newestVersion.Latest, version.Version, newestVersion.Command)
		return nil
	case program.UpgradeCommand("", "") != "":
		return fmt.Errorf("opentabs %s is available, and %s. To upgrade, run: %s", newestVersion.Latest, describeInstallation(program), newestVersion.Command)
	}
	return upgradeArchive(ctx, opts, program, newestVersion.release)
}

// finishedUpgrade is the output of `opentabs upgrade --json`.
type finishedUpgrade struct {
	Version         string `json:"version"`
	PreviousVersion string `json:"previous"`
	Path            string `json:"path"`
	// The field BackupPath is the path at which the previous program is kept.
	BackupPath string `json:"kept"`
	// IsRestarted is true if the upgrade has restarted the server with the new version.
	IsRestarted bool `json:"restarted"`
}

func describeInstallation(program installed.Program) string {
	switch program.Method {
	case installed.Source:
		return program.Path + " was built from source"
	case installed.Deb, installed.RPM:
		return fmt.Sprintf("%s belongs to the %s package opentabs", program.Path, program.Method)
	}
	return fmt.Sprintf("%s has installed %s", program.Method, program.Path)
}

func findNewestVersion(ctx context.Context, p *cli.Program, program installed.Program) (newestVersion, error) {
	newest := newestVersion{Version: version.Version, Installed: program.Method, Path: program.Path}
	var err error
	switch program.Method {
	case installed.NPM, installed.NPX:
		newest.Latest, err = findNewestNPMVersion(ctx, p)
	default:
		url := releaseURL(p)
		if url == "" {
			return newestVersion{}, cli.NewUsageError("this program was built without an address of releases: set %s, or install a new version as you installed this one (%s)", upgrade.URLVariable, program.Path)
		}
		newest.release, err = upgrade.Fetch(ctx, url)
		newest.Latest = newest.release.Version
	}
	if err != nil {
		return newestVersion{}, err
	}
	newest.IsNewer = npm.Compare(newest.Latest, version.Version) > 0
	if newest.IsNewer {
		if newest.Command = program.UpgradeCommand(newest.release.URL, newest.Latest); newest.Command == "" {
			newest.Command = "opentabs upgrade"
		}
	}
	return newest, nil
}

func releaseURL(p *cli.Program) string {
	if url := p.Getenv(upgrade.URLVariable); url != "" {
		return url
	}
	return version.ReleaseURL
}

func findNewestNPMVersion(ctx context.Context, p *cli.Program) (string, error) {
	config, err := home.ReadNPMConfig(p.Getenv, ".")
	if err != nil {
		return "", err
	}
	client, err := npm.New(config, npm.Options{UserAgent: "opentabs/" + version.Version})
	if err != nil {
		return "", err
	}
	foundPackage, err := client.Package(ctx, installed.PackageName)
	if errors.Is(err, npm.ErrNotFound) {
		return "", fmt.Errorf("the npm registry has no package %s: check the registry in .npmrc", installed.PackageName)
	}
	if err != nil {
		return "", err
	}
	newestVersion, err := foundPackage.ChooseVersion("")
	if err != nil {
		return "", err
	}
	return newestVersion.Version, nil
}

func upgradeArchive(ctx context.Context, opts upgradeOptions, program installed.Program, release upgrade.Release) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	p.Out.Notef("downloading opentabs %s from %s", release.Version, release.URL)
	downloadedProgram, err := release.Download(ctx, filepath.Dir(program.Path))
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("you may not write to %s: run the command as the owner of that folder, or install opentabs in a folder of yours", filepath.Dir(program.Path))
	}
	if err != nil {
		return err
	}
	backupFile, err := downloadedProgram.Install(program.Path)
	if err = errors.Join(err, downloadedProgram.Remove()); err != nil {
		return err
	}
	if !opts.json {
		p.Out.PrintLine("opentabs %s is installed in %s", release.Version, program.Path)
		p.Out.Notef("the earlier program is %s; to go back, move it to %s", backupFile, program.Path)
	}
	isRestarted, err := restartServer(ctx, p, h, release.Version)
	if err != nil || !opts.json {
		return err
	}
	return p.Out.PrintValue(finishedUpgrade{release.Version, version.Version, program.Path, backupFile, isRestarted})
}

// restartServer does not restart the server while calls are running or waiting.
func restartServer(ctx context.Context, p *cli.Program, h *home.Home, newVersion string) (isRestarted bool, err error) {
	stoppedServer, err := h.StopServer(ctx, false)
	var refusedError *httpapi.RefusedError
	switch {
	case errors.As(err, new(*home.ServerTokenMismatchError)):
		p.Out.Notef("the server still runs opentabs %s: %s", version.Version, home.ExplainError(err))
		return false, nil
	case errors.Is(err, httpapi.ErrNoServer) || errors.Is(err, httpapi.ErrPortTaken):
		return false, nil
	case errors.As(err, &refusedError):
		p.Out.Notef("the server still runs opentabs %s: %v; then run `opentabs restart`", version.Version, err)
		return false, nil
	case err != nil:
		return false, fmt.Errorf("the new version is installed, but the server did not stop: %w", err)
	}
	if err := StartServer(ctx, p, h); err != nil {
		return false, fmt.Errorf("the new version is installed, but its server did not start: %w", err)
	}
	p.Out.Notef("%s, was replaced by a server of opentabs %s; if Chrome reports an old extension, run `opentabs extension install`", stoppedServer, newVersion)
	return true, nil
}

// StartServer starts the service if it is installed, and otherwise starts the server in
// the background. If the service does not start, for example in a session without the
// user's service manager, StartServer starts the server in the background and reports why.
// StartServer returns when the server answers.
func StartServer(ctx context.Context, p *cli.Program, h *home.Home) error {
	manager, err := newService(p)
	if err != nil || !manager.IsInstalled() {
		return h.StartServer(ctx)
	}
	serviceErr := manager.Start(ctx)
	if serviceErr == nil {
		serviceErr = home.WaitForServer(ctx, h)
	}
	if serviceErr == nil || ctx.Err() != nil {
		return serviceErr
	}
	if err := h.StartServer(ctx); err != nil {
		return fmt.Errorf("the service did not start: %w; the server did not start in the background either: %w", serviceErr, err)
	}
	p.Out.Notef("the service did not start: %v", serviceErr)
	p.Out.Notef("the server runs in the background instead; to use the service again, run `opentabs restart` in a session of your desktop")
	return nil
}
