package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/portowner"
)

// running is a server that answered.
type running struct {
	httpapi.Health
	port int
}

// String tells a person which server it is.
func (r running) String() string {
	return fmt.Sprintf("opentabs %s, pid %d", r.Version, r.PID)
}

// findServer asks who serves this installation: first where the server's record
// says, then on the port of the settings. It believes a server only that proves
// to know the token. It returns httpapi.ErrNoServer if nobody serves,
// httpapi.ErrStranger if somebody else has the port of the settings, and an
// error that says what to do if who has the port does not answer.
func findServer(ctx context.Context, dirs config.Dirs, s config.Settings) (running, error) {
	record, recorded := dirs.ReadServer()
	token, err := dirs.ExistingToken()
	switch {
	case errors.Is(err, config.ErrDamaged) && !(recorded && alive(record.PID)):
		return running{}, httpapi.ErrNoServer // one that starts mends it
	case err != nil:
		return running{}, err
	}
	missing := httpapi.ErrNoServer
	ports := []int{}
	if recorded {
		ports = append(ports, record.Port)
	}
	if s.Port != 0 && (len(ports) == 0 || ports[0] != s.Port) {
		ports = append(ports, s.Port)
	}
	for _, port := range ports {
		health, err := httpapi.NewClient(port, token).Health(ctx)
		switch {
		case err == nil && token != "":
			return running{health, port}, nil
		case ctx.Err() != nil:
			return running{}, fmt.Errorf("look for the server: %w", errors.Join(ctx.Err(), err))
		case port == s.Port && (err == nil || errors.Is(err, httpapi.ErrStranger)):
			missing = httpapi.ErrStranger
		case errors.Is(err, httpapi.ErrSilent) && (port == s.Port || alive(record.PID)):
			missing = unanswered(ctx, port)
		}
	}
	return running{}, missing
}

// alive reports whether there is a process with this id. Windows says so when it
// is looked for, and knows no signal 0.
func alive(pid int) bool {
	process, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = process.Release() }()
	return runtime.GOOS == "windows" || process.Signal(syscall.Signal(0)) == nil
}

// unanswered is the error about a port whose owner does not answer.
func unanswered(ctx context.Context, port int) error {
	return &failure{code: exitFailed, err: fmt.Errorf("port %d is taken by %s, which does not answer: if that is the opentabs server, it hangs or was stopped, so end it and start it again; if not, stop that program, or choose another port with OPENTABS_PORT", port, portowner.Find(ctx, port))}
}

// client returns a client of the running server. It starts none.
func (p *program) client(ctx context.Context) (*httpapi.Client, string, error) {
	dirs, err := config.FindDirs(p.getenv)
	if err != nil {
		return nil, "", usage("%v", err)
	}
	s, err := p.settings(dirs, nil)
	if err != nil {
		return nil, "", err
	}
	server, err := findServer(ctx, dirs, s)
	if err != nil {
		return nil, "", err
	}
	if dirs, err = p.home(); err != nil {
		return nil, "", err
	}
	token, err := dirs.Token()
	if err != nil {
		return nil, "", err
	}
	return httpapi.NewClient(server.port, token), token, nil
}
