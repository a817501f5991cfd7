package installcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/installed"
	"opentabs/internal/service"
)

// NewServiceCmd returns the command `opentabs service`.
func NewServiceCmd(p *cli.Program) *cobra.Command {
	return cli.GroupCommands(&cobra.Command{
		Use:   "service",
		Short: "Start the server when you log in",
		Long: `Run the server as a service of your user: a systemd user unit on Linux, a
launchd agent on macOS. The service starts when you log in, and restarts after a
crash. Without a service, "opentabs mcp" starts the server when a client needs
it.`,
		Example: "  opentabs service install\n  opentabs service status\n  opentabs service uninstall",
	}, newServiceInstallCmd(p), newServiceUninstallCmd(p), newServiceStatusCmd(p))
}

type serviceOptions struct {
	program *cli.Program
	json    bool
}

func newServiceInstallCmd(p *cli.Program) *cobra.Command {
	opts := serviceOptions{program: p}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install and start the service",
		Long: `Install the service and start it. A server that runs already is stopped first,
unless calls run or wait. The service uses the settings of config.json, and the
variables OPENTABS_* of this shell. Run the command again to change the service.`,
		Example: "  opentabs service install",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runServiceInstall(cmd.Context(), opts) },
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func newServiceUninstallCmd(p *cli.Program) *cobra.Command {
	opts := serviceOptions{program: p}
	cmd := &cobra.Command{
		Use:     "uninstall",
		Short:   "Stop and remove the service",
		Example: "  opentabs service uninstall",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runServiceUninstall(cmd.Context(), opts) },
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func newServiceStatusCmd(p *cli.Program) *cobra.Command {
	opts := serviceOptions{program: p}
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "Show whether the service is installed and runs",
		Example: "  opentabs service status",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runServiceStatus(cmd.Context(), opts) },
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func newService(p *cli.Program) (service.Manager, error) {
	userHome, err := os.UserHomeDir()
	if err != nil {
		return service.Manager{}, err
	}
	manager, err := service.New(service.Machine{OS: runtime.GOOS, Home: userHome, UserID: os.Getuid(), Getenv: p.Getenv})
	if errors.Is(err, service.ErrUnsupported) {
		err = cli.NewUsageError("%v: start the server at login with `opentabs serve`, in the way of your system", err)
	}
	return manager, err
}

func runServiceInstall(ctx context.Context, opts serviceOptions) error {
	p := opts.program
	manager, err := newService(p)
	if err != nil {
		return err
	}
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	program, err := installed.Find(ctx)
	if err != nil {
		return err
	}
	if program.Method == installed.NPX {
		return cli.NewUsageError("npm may remove %s at any time, so it cannot be a service: run `npm install -g opentabs`, then `opentabs service install`", program.Path)
	}
	if err := manager.Check(ctx); err != nil {
		return fmt.Errorf("the service cannot start here, and nothing was changed: %w: %s", err, serviceRemedy)
	}
	hasStopped, err := stopServerForService(ctx, p, h)
	if err != nil {
		return err
	}
	env := serviceEnvironment(p, h)
	command := service.Command{
		Path: program.StablePath(), Args: []string{"serve", "--log-format", "json", "--log-file", h.LogFile()}, Env: env, LogFile: h.LogFile(),
	}
	if err := manager.Install(ctx, command); err != nil {
		if hasStopped {
			restartAfterFailure(ctx, p, h)
		}
		return fmt.Errorf("the service did not start: %w: %s", err, serviceRemedy)
	}
	if opts.json {
		return p.Out.PrintValue(manager.State(ctx))
	}
	p.Out.PrintLine("the service is installed and runs: %s", manager.File())
	if len(env) > 0 {
		p.Out.Notef("the service uses these variables of this shell: %s", strings.Join(slices.Sorted(maps.Keys(env)), ", "))
	}
	return nil
}

const serviceRemedy = "run the command in a session of your desktop or over SSH as the same user, or use opentabs without a service, because `opentabs mcp` starts the server when a client needs it"

// The service needs the port of a running server, so stopServerForService stops this server.
func stopServerForService(ctx context.Context, p *cli.Program, h *home.Home) (hasStopped bool, err error) {
	stoppedServer, err := h.StopServer(ctx, false)
	if errors.Is(err, httpapi.ErrNoServer) {
		return false, nil
	}
	if err == nil {
		p.Out.Notef("%s, is stopped", stoppedServer)
	}
	return err == nil, err
}

func restartAfterFailure(ctx context.Context, p *cli.Program, h *home.Home) {
	if err := h.StartServer(ctx); err != nil {
		p.Out.Notef("the server is stopped and did not start again: %v; start it with `opentabs restart`", err)
		return
	}
	p.Out.Notef("the server runs again in the background, without the service")
}

func serviceEnvironment(p *cli.Program, h *home.Home) map[string]string {
	env := map[string]string{}
	names := []string{"XDG_CONFIG_HOME", "XDG_STATE_HOME"}
	for _, flag := range config.Flags() {
		names = append(names, flag.Env)
	}
	for _, name := range names {
		if envValue := p.Getenv(name); envValue != "" {
			env[name] = envValue
		}
	}
	if p.Getenv(config.HomeVariable) != "" { // the value of OPENTABS_HOME may be relative to the current directory
		env[config.HomeVariable] = h.State
	}
	return env
}

func runServiceUninstall(ctx context.Context, opts serviceOptions) error {
	manager, err := newService(opts.program)
	if err != nil {
		return err
	}
	if !manager.IsInstalled() {
		return opts.program.Report(opts.json, manager.State(ctx), "the service is not installed")
	}
	if err := manager.Uninstall(ctx); err != nil {
		return err
	}
	return opts.program.Report(opts.json, manager.State(ctx), "the service is stopped and removed: %s", manager.File())
}

func runServiceStatus(ctx context.Context, opts serviceOptions) error {
	terminalOut := opts.program.Out
	manager, err := newService(opts.program)
	if err != nil {
		return err
	}
	state := manager.State(ctx)
	switch {
	case opts.json:
		return terminalOut.PrintValue(state)
	case !state.IsInstalled:
		terminalOut.PrintLine("the service is not installed: run `opentabs service install`")
		return nil
	}
	terminalOut.PrintTable("", [][]string{
		{"service", state.File},
		{"runs", formatYesNo(state.IsRunning)},
		{"at login", formatYesNo(state.IsEnabled)},
	})
	return nil
}

func formatYesNo(isTrue bool) string {
	if isTrue {
		return "yes"
	}
	return "no"
}
