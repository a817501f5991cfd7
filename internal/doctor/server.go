package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/npm"
	"opentabs/internal/portowner"
	"opentabs/internal/version"
	"opentabs/wire"
)

// serverCheck checks the server and its port.
type serverCheck struct{ *healthCheck }

func (c serverCheck) checkServer(ctx context.Context) {
	if !c.areSettingsValid {
		c.reportFailure("server", "its port is unknown", "correct the settings first")
		return
	}
	server, err := c.findHome().FindServer(ctx)
	_, tokenErr := c.dirs.ExistingToken()
	switch {
	case err != nil && tokenErr != nil && !errors.Is(err, httpapi.ErrNoServer):
		c.isPortTaken = true
		c.reportFailure("server", "unknown, because the token cannot be read", "see the line of the token")
		return
	case errors.Is(err, httpapi.ErrNoServer):
		c.checkStoppedServer(ctx)
		return
	case errors.As(err, new(*home.ServerTokenMismatchError)):
		c.isPortTaken = true
		c.reportFailure("server", "unknown, because the server uses another token", "see the line of the token")
		return
	case errors.Is(err, httpapi.ErrPortTaken):
		c.isPortTaken = true
		c.reportFailure("server", fmt.Sprintf("port %d is in use by %s, which is not the server of this installation", c.settings.Port, portowner.Find(ctx, c.settings.Port)),
			"stop that program, choose another port with OPENTABS_PORT, or, if that server is yours, set OPENTABS_HOME to its directory")
		return
	case err != nil:
		c.isPortTaken = true
		c.reportFailure("server", err.Error(), "if that program is opentabs, run `opentabs stop --force`, else stop that program; then start the server with `opentabs serve`")
		return
	}
	c.server = server
	client, err := c.client()
	if err == nil {
		var serverStatus httpapi.Status
		if serverStatus, err = client.Status(ctx); err == nil {
			c.status = &serverStatus
		}
	}
	if err != nil {
		c.reportFailure("server", fmt.Sprintf("%s, on port %d, did not return its status: %v", server, server.Port, err), "stop it with `opentabs stop --force`, then start it again")
		return
	}
	c.compareServer()
}

func (c serverCheck) checkStoppedServer(ctx context.Context) {
	port := c.settings.Port
	if port != 0 {
		listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			c.reportFailure("server", fmt.Sprintf("not running, and port %d cannot be opened: %v", port, err), "choose another port with OPENTABS_PORT (ports below 1024 need special rights on some systems)")
			return
		}
		_ = listener.Close()
	}
	const startRemedy = "start your MCP client, which starts the server, or run `opentabs serve`"
	record, hasServerRecord := c.dirs.ReadServer()
	if !hasServerRecord {
		c.reportWarning("server", "not running; "+describePortState(port), startRemedy)
		c.markLastNotSetUp()
		return
	}
	c.reportWarning("server", fmt.Sprintf("not running; the last server (pid %d) was killed or crashed", record.PID), startRemedy)
	c.offerRepair(func(context.Context) (string, error) {
		return fmt.Sprintf("removed the record of the server with pid %d", record.PID), c.dirs.RemoveServer(record.PID)
	})
}

func describePortState(port int) string {
	if port == 0 {
		return "it will use any free port"
	}
	return fmt.Sprintf("port %d is free", port)
}

func (c serverCheck) compareServer() {
	const restartText = "restart it with `opentabs restart`"
	uptime := time.Duration(c.status.UptimeMs) * time.Millisecond
	findingText := fmt.Sprintf("%s, on port %d, up %s", c.server, c.server.Port, humanize.Duration(uptime.Truncate(time.Second)))
	switch {
	case npm.Compare(c.server.Version, version.Version) > 0:
		c.reportWarning("server", fmt.Sprintf("%s; this program is older: %s", findingText, version.Version), "use the newer program: `which -a opentabs` lists all in PATH")
	case c.server.Version != version.Version:
		c.reportWarning("server", fmt.Sprintf("%s; this program is %s", findingText, version.Version), restartText)
		c.offerRestart()
	case c.settings.Port != 0 && c.settings.Port != c.server.Port:
		c.reportWarning("server", fmt.Sprintf("%s; the settings have port %d", findingText, c.settings.Port), restartText+"; then run `opentabs extension install` and reload the extension")
		c.offerRestart()
	default:
		c.reportOK("server", "%s", findingText)
	}
	if c.status.Protocol != 0 && c.status.Protocol != wire.Version {
		c.reportWarning("server", fmt.Sprintf("it has version %d of the protocol with the extension; this program has version %d", c.status.Protocol, wire.Version), restartText)
	}
}

// A restart fails while calls are running or waiting for the user.
func (c serverCheck) offerRestart() {
	c.offerRepair(func(ctx context.Context) (string, error) {
		h := c.findHome()
		stoppedServer, err := h.StopServer(ctx, false)
		if err == nil {
			err = h.StartServer(ctx)
		}
		return fmt.Sprintf("restarted the server (was %s)", stoppedServer), err
	})
}
