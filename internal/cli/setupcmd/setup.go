// Package setupcmd implements the command `opentabs setup`.
package setupcmd

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/installed"
	"opentabs/internal/nearest"
	"opentabs/internal/setup"
	"opentabs/internal/terminal"
)

const portVariable = "OPENTABS_PORT"

type setupOptions struct {
	program *cli.Program
	clients []string
	print   bool
	undo    bool
	yes     bool
	json    bool
}

// New returns the command `opentabs setup`.
func New(p *cli.Program) *cobra.Command {
	opts := setupOptions{program: p}
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Connect your MCP clients and your browser",
		Long: `Connect opentabs with the MCP clients on this machine and with your browser.

For each client, setup shows how its configuration changes, asks you, keeps a
copy of the file, and writes the change. Comments and other servers in the file
stay. Each client gets a separate token, by which opentabs recognizes the
client. Then setup starts the server through the command that it wrote.

For the browser, setup writes the extension to the folder that "opentabs
extension install" uses too, opens a window of Chrome, copies the path of the
folder to the clipboard, shows how to load the extension, and waits until the
browser connects. Then setup asks whether agents
may use any page, after your approval for each site. If you agree, setup makes
the first call: it lists your open tabs through the configuration of your first
client. You can run setup again at any time.`,
		Example: `  opentabs setup
  opentabs setup --client cursor
  opentabs setup --print
  opentabs setup --undo`,
		Args: cli.LimitArgs(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runSetup(cmd.Context(), opts) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&opts.clients, "client", nil, "set up only this `CLIENT`: "+strings.Join(setup.ClientIDs(), ", ")+"; may be repeated")
	f.BoolVar(&opts.print, "print", false, "print the changes and write nothing")
	f.BoolVar(&opts.undo, "undo", false, "take opentabs out of the clients, and restore their files; with --print: show how")
	f.BoolVarP(&opts.yes, "yes", "y", false, "write the changes without asking")
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runSetup(ctx context.Context, opts setupOptions) error {
	p := opts.program
	open := func() (*home.Home, error) { return p.OpenHome(nil) }
	if opts.print {
		open = p.FindHome // the flag --print creates no directories
	}
	h, err := open()
	if err != nil {
		return err
	}
	clients, err := selectClients(opts)
	if err != nil {
		return err
	}
	steps := &clientSteps{program: p, home: h, writer: setup.Writer{Dir: h.SetupDir()}, yes: opts.yes, printsLines: true, result: &setupResult{Clients: []clientResult{}}}
	switch {
	case opts.undo && opts.print:
		return steps.printUndo(clients, opts.json)
	case opts.undo:
		return steps.undo(ctx, clients, opts.json)
	case opts.print:
		return steps.print(clients, opts.json)
	}
	if steps.questions = p.Out.NewQuestionReader(p.In); steps.questions == nil && !opts.yes {
		return cli.NewUsageError("there is no terminal for questions: see the changes with `opentabs setup --print`, then run `opentabs setup --yes`")
	}
	if opts.json { // texts must not mix with the JSON document on stdout
		redirectedProgram := *p
		redirectedProgram.Out = terminal.WithTextOnStderr(p.Out)
		steps.program = &redirectedProgram
	}
	err = steps.setUpAllClients(ctx, clients)
	if !opts.json || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, p.Out.PrintValue(steps.result))
}

func (s *clientSteps) setUpAllClients(ctx context.Context, clients []setup.Client) error {
	p, h := s.program, s.home
	if err := copyNPXProgram(ctx, p, h); err != nil {
		return err
	}
	if port := p.Getenv(portVariable); port != "" {
		p.Out.Notef("%s applies only to programs of this shell; for all clients, run `opentabs config set port %s`", portVariable, port)
	}
	// If the setup of one client fails, setup continues with the other clients and the browser.
	clientErr := s.setUpClients(ctx, clients)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	caller, err := s.findCallingClient(clients)
	if err != nil {
		return errors.Join(clientErr, err)
	}
	browser := browserSteps{program: p, home: h, questions: s.questions, caller: caller, result: s.result}
	return errors.Join(clientErr, browser.run(ctx))
}

// SetUpClient writes opentabs with a new token to the configuration of one MCP client,
// without asking the user.
func SetUpClient(ctx context.Context, p *cli.Program, clientID string) error {
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	clients, err := selectClients(setupOptions{program: p, clients: []string{clientID}})
	if err != nil {
		return err
	}
	steps := &clientSteps{program: p, home: h, writer: setup.Writer{Dir: h.SetupDir()}, yes: true, result: &setupResult{}}
	return steps.setUpClients(ctx, clients)
}

func selectClients(opts setupOptions) ([]setup.Client, error) {
	machine, err := setup.ThisMachine(runtime.GOOS, opts.program.Getenv)
	if err != nil {
		return nil, err
	}
	allClients, isInstalled := setup.Clients(machine)
	if len(opts.clients) == 0 {
		if opts.undo {
			return allClients, nil
		}
		return slices.DeleteFunc(allClients, func(c setup.Client) bool { return !isInstalled(c) }), nil
	}
	var selectedClients []setup.Client
	for _, id := range opts.clients {
		i := slices.IndexFunc(allClients, func(c setup.Client) bool { return c.ID == id })
		if i < 0 {
			return nil, cli.NewUsageError("setup does not support the client %q%s: use one of %s; for another client, see `opentabs setup --print`", id, nearest.Suggestion(id, setup.ClientIDs()), strings.Join(setup.ClientIDs(), ", "))
		}
		selectedClients = append(selectedClients, allClients[i])
	}
	return selectedClients, nil
}

// Without a token, the server cannot identify an MCP client, and treats the client as a local program.
func serverCommand(h *home.Home, getenv func(string) string, token string) (setup.Command, error) {
	program, err := installed.Find(context.Background())
	if err != nil {
		return setup.Command{}, fmt.Errorf("find the program opentabs: %w", err)
	}
	path := program.StablePath()
	if program.Method == installed.NPX {
		path = programCopyPath(h, path)
	}
	env := map[string]string{}
	if token != "" {
		env[setup.TokenVariable] = token
	}
	if getenv(config.HomeVariable) != "" { // the value of OPENTABS_HOME may be relative to the current directory
		env[config.HomeVariable] = h.State
	}
	return setup.Command{Path: path, Args: []string{"mcp"}, Env: env}, nil
}
