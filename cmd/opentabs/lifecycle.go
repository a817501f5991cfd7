package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/cli/installcmd"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
)

type stopOptions struct {
	program *cli.Program
	force   bool
	json    bool
}

// reportedServer is the output of `opentabs stop --json` and `opentabs restart --json`.
type reportedServer struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	// URL is the MCP address of the running server; empty after `opentabs stop`.
	URL       string `json:"url,omitempty"`
	IsRunning bool   `json:"running"`
}

func newStopCmd(p *cli.Program) *cobra.Command {
	opts := stopOptions{program: p}
	cmd := &cobra.Command{
		Use:   "stop",
		Short: "Stop the server",
		Long: `Stop the server. While calls run or wait for an approval, the server continues,
unless you add --force, which ends these calls. The next "opentabs mcp" starts
the server again.`,
		Example: "  opentabs stop\n  opentabs stop --force",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runStop(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.force, "force", false, "end running and waiting calls")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runStop(ctx context.Context, opts stopOptions) error {
	h, err := opts.program.OpenHome(nil)
	if err != nil {
		return err
	}
	stoppedServer, err := h.StopServer(ctx, opts.force)
	if err != nil {
		return err
	}
	return opts.program.Report(opts.json, reportedServer{Version: stoppedServer.Version, PID: stoppedServer.PID}, "%s, is stopped", stoppedServer)
}

func newRestartCmd(p *cli.Program) *cobra.Command {
	opts := stopOptions{program: p}
	cmd := &cobra.Command{
		Use:   "restart",
		Short: "Stop the server and start it in the background",
		Long: `Stop the server if it runs, and start it in the background or as the service
(opentabs service), with the settings of config.json and of the environment. Its
log is serve.log in the state directory. If the service cannot start here, for
example in a container, the server starts in the background.
Sessions of "opentabs mcp" continue, and browsers connect again.

While calls run or wait for an approval, the server continues, unless you add
--force, which ends these calls.`,
		Example: "  opentabs restart",
		Args:    cli.LimitArgs(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runRestart(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.force, "force", false, "end running and waiting calls")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runRestart(ctx context.Context, opts stopOptions) error {
	p := opts.program
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	if err := checkNewPort(ctx, h); err != nil {
		return err
	}
	stoppedServer, err := h.StopServer(ctx, opts.force)
	switch {
	case err == nil:
		p.Out.Notef("%s, is stopped", stoppedServer)
	case !errors.Is(err, httpapi.ErrNoServer):
		return err
	}
	if err := installcmd.StartServer(ctx, p, h); err != nil {
		return err
	}
	startedServer, err := h.FindServer(ctx)
	if err != nil {
		return err
	}
	url := fmt.Sprintf("http://127.0.0.1:%d/mcp", startedServer.Port)
	return p.Report(opts.json, reportedServer{startedServer.Version, startedServer.PID, url, true}, "%s, is serving MCP on %s", startedServer, url)
}

// checkNewPort checks nothing if no server runs, or if the running server already listens on the new port.
func checkNewPort(ctx context.Context, h *home.Home) error {
	runningServer, err := h.FindServer(ctx)
	port := h.Settings.Port
	if err != nil || port == 0 || port == runningServer.Port {
		return nil // StopServer reports the error
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("%s, continues on port %d, because a restarted server could not listen on port %d: %w; choose another port with OPENTABS_PORT", runningServer, runningServer.Port, port, err)
	}
	return listener.Close()
}
