package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
	"opentabs/internal/logfile"
	"opentabs/internal/portowner"
	"opentabs/internal/version"
)

// logFormats are the values of --log-format.
var logFormats = []string{"auto", "console", "json"}

type serveOptions struct {
	program *program
	// flags are the settings given on the command line, by flag.
	flags     map[string]string
	logFormat string
	// logFile is where the log goes instead of stderr; empty for stderr.
	logFile string
}

func newServeCmd(p *program) *cobra.Command {
	opts := serveOptions{program: p, flags: map[string]string{}}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: fmt.Sprintf(`Start the server that agents and browsers connect to, on 127.0.0.1 only. It runs
until Ctrl-C. One server runs per installation; %s mcp%s starts it where it is
missing.

Each setting can also stand in config.json (idleTimeout for --idle-timeout) or in
an environment variable (OPENTABS_IDLE_TIMEOUT). A flag goes before the variable,
the variable before the file.`, "`opentabs", "`"),
		Example: `  opentabs serve
  opentabs serve --port 9600 --idle-timeout 1m
  OPENTABS_HOME=/tmp/try opentabs serve --port 0 --log-level debug`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.Flags().Visit(func(f *pflag.Flag) { opts.flags[f.Name] = f.Value.String() })
			return runServe(cmd.Context(), opts)
		},
	}
	for _, f := range config.Flags() {
		cmd.Flags().String(f.Name, f.Default, f.About)
	}
	cmd.Flags().StringVar(&opts.logFormat, "log-format", "auto", "how the log is written to stderr: "+strings.Join(logFormats, ", "))
	cmd.Flags().StringVar(&opts.logFile, "log-file", "", "write the log to `FILE` instead of stderr, and begin anew after 10 MiB (the last one is FILE.1)")
	return cmd
}

func runServe(ctx context.Context, opts serveOptions) error {
	if !slices.Contains(logFormats, opts.logFormat) {
		return usage("--log-format is %q: give it one of %s", opts.logFormat, strings.Join(logFormats, ", "))
	}
	p := opts.program
	dirs, err := p.home()
	if err != nil {
		return err
	}
	settings, err := p.settings(dirs, opts.flags)
	if err != nil {
		return err
	}
	var logFile io.Writer // nil for stderr
	if opts.logFile != "" {
		file, err := logfile.Open(opts.logFile, logfile.MaxBytes)
		if err != nil {
			return err
		}
		defer file.Close()
		logFile = file
	}
	log, err := p.out.NewLogger(logFile, settings.LogLevel, opts.logFormat)
	if err != nil {
		return err
	}
	v, listener, err := startServer(ctx, dirs, settings, log)
	if err != nil {
		return err
	}
	p.out.Notef("serving MCP on http://%s/mcp", v.address)
	err = v.serve(ctx, listener)
	return errors.Join(err, dirs.RemoveServer(os.Getpid()))
}

// startServer opens the port, builds the server and leaves its record. Only one
// process at a time is in here, so that of two that start at once the second
// finds the first.
func startServer(ctx context.Context, dirs config.Dirs, s config.Settings, log zerolog.Logger) (v *server, listener net.Listener, err error) {
	unlock, err := dirs.LockStart()
	switch {
	case unwritable(err) && s.Port != 0: // the port too keeps a second server out
		log.Warn().Err(err).Msg("the state directory cannot be written; the server runs, but what changes is lost")
	case err != nil:
		return nil, nil, err
	default:
		defer unlock()
	}
	warnings, err := dirs.Mend()
	if err != nil {
		return nil, nil, err
	}
	for _, w := range warnings {
		log.Error().Msg(w)
	}
	token, err := dirs.Token()
	if err != nil {
		return nil, nil, err
	}
	if record, ok := dirs.ReadServer(); ok {
		health, err := httpapi.NewClient(record.Port, token).Health(ctx)
		if err == nil && health.PID == record.PID {
			return nil, nil, alreadyServing(running{health, record.Port})
		}
	}
	listener, err = listen(ctx, s.Port, token)
	if err != nil {
		return nil, nil, err
	}
	v, err = newServer(dirs, s, token, listener.Addr().String(), log)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	port := listener.Addr().(*net.TCPAddr).Port
	err = dirs.WriteServer(config.Server{PID: os.Getpid(), Port: port, Version: version.Version, Started: v.started.UTC()})
	if unwritable(err) && s.Port != 0 { // where the settings have it, others find it too
		log.Warn().Err(err).Msg("the server could not leave its record")
	} else if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	return v, listener, nil
}

// unwritable reports whether err is that of a directory which takes no writes:
// it is closed, read-only, or on a full disk.
func unwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// listen opens the port on loopback. A port that is taken is refused with the
// owner's name.
func listen(ctx context.Context, port int, token string) (net.Listener, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err == nil {
		return listener, nil
	}
	health, probe := httpapi.NewClient(port, token).Health(ctx)
	switch {
	case probe == nil:
		return nil, alreadyServing(running{health, port})
	case port == 0 || errors.Is(probe, httpapi.ErrNoServer) && !errors.Is(err, portowner.ErrPortTaken):
		return nil, fmt.Errorf("open the port: %w", err)
	}
	return nil, &failure{code: exitFailed, err: fmt.Errorf("port %d is taken by %s: stop that program, or choose another port with --port, then run opentabs extension install again", port, portowner.Find(ctx, port))}
}

func alreadyServing(r running) error {
	return &failure{code: exitFailed, err: fmt.Errorf("%s, is already serving on port %d: use that one, stop it with `kill %d`, or choose another port with --port and another directory with OPENTABS_HOME", r, r.port, r.PID)}
}
