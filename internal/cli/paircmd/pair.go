// Package paircmd implements the commands of `opentabs pair`.
package paircmd

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/cli"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/pairing"
	"opentabs/internal/usererr"
)

const (
	pairTimeout = 60 * time.Second
)

type pairOptions struct {
	program *cli.Program
	code    string
	timeout time.Duration
	json    bool
}

// New returns the command `opentabs pair` with its subcommands.
func New(p *cli.Program) *cobra.Command {
	opts := pairOptions{program: p}
	cmd := &cobra.Command{
		Use:   "pair CODE",
		Short: "Connect a browser by the code in its side panel",
		Long: `Connect a browser whose extension was not written by "opentabs extension
install", for example an extension from a store. The side panel of the extension
shows the code. The code works once: when the browser connects, it receives a
new key. Enter only a code that you see in your own browser.`,
		Example: "  opentabs pair 7KQ2M-XD9R4-TB8WZ-0HJ5N\n  opentabs pair list\n  opentabs pair remove 1f0c9a2b",
		Args:    cli.RequireArgs(1, "the code that the side panel shows"),
		RunE:    cli.ActionWithArg(&opts.code, func(ctx context.Context) error { return runPair(ctx, opts) }),

		Annotations: map[string]string{cli.TakesArgument: "CODE"},
	}
	cmd.Flags().DurationVar(&opts.timeout, "timeout", pairTimeout, "the `TIME` to wait for the browser")
	cmd.Flags().Lookup("timeout").DefValue = humanize.ShortDuration(pairTimeout)
	cli.AddJSONFlag(cmd, &opts.json)
	cmd.AddCommand(newPairListCmd(p), newPairRemoveCmd(p))
	return cmd
}

// pairedBrowser is the output of `opentabs pair --json` and `opentabs pair remove
// --json`. For `opentabs pair remove`, Name is empty.
type pairedBrowser struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

func runPair(ctx context.Context, opts pairOptions) error {
	p := opts.program
	code, err := pairing.ParseCode(opts.code)
	if err != nil {
		return cli.NewUsageError("%q is not a code: %v", opts.code, err)
	}
	h, err := p.OpenHome(nil)
	if err != nil {
		return err
	}
	client, err := startedServer(ctx, h)
	if err != nil {
		return err
	}
	store := pairing.Open(h.PairingFile())
	id, err := store.Add(code)
	if err != nil {
		return err
	}
	name, err := WaitForBrowser(ctx, client, code, opts.timeout, nil)
	switch {
	case errors.Is(err, ErrWrongCode):
		err = usererr.Errorf("%v, so the code was not kept: compare the code with the side panel of the extension, and run `opentabs pair` again", err)
	case errors.Is(err, ErrUnusedCode):
		err = usererr.Errorf("no browser used the code within %s, so the code was not kept. Compare the code with the side panel of the extension, and enter port %d there. Then run `opentabs pair` again. An extension from a store also needs its ID in the setting storeExtensions",
			humanize.Duration(opts.timeout), client.Port())
	}
	if err != nil {
		return errors.Join(err, store.Remove(id))
	}
	return p.Report(opts.json, pairedBrowser{id, name}, "the browser %s is paired and connected", name)
}

func startedServer(ctx context.Context, h *home.Home) (*httpapi.Client, error) {
	client, err := h.Client(ctx)
	if errors.Is(err, httpapi.ErrNoServer) {
		if err = h.StartServer(ctx); err == nil {
			client, err = h.Client(ctx)
		}
	}
	return client, err
}

type pairListOptions struct {
	program *cli.Program
	json    bool
}

func newPairListCmd(p *cli.Program) *cobra.Command {
	opts := pairListOptions{program: p}
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the browsers that were paired by a code",
		Example: "  opentabs pair list\n  opentabs pair list --json",
		Args:    cli.LimitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runPairList(opts) },
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runPairList(opts pairListOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	browsers, err := pairing.Open(dirs.PairingFile()).List()
	if err != nil {
		return err
	}
	if opts.json {
		return p.Out.PrintValue(browsers)
	}
	if len(browsers) == 0 {
		p.Out.Notef("no browser was paired; pair one with `opentabs pair CODE`")
		return nil
	}
	tableRows := [][]string{{"ID", "BROWSER", "PAIRED"}}
	for _, b := range browsers {
		tableRows = append(tableRows, []string{b.ID, b.Name, b.PairedAt.Local().Format(time.DateTime)})
	}
	p.Out.PrintTable("", tableRows)
	return nil
}

type pairRemoveOptions struct {
	program *cli.Program
	id      string
	json    bool
}

func newPairRemoveCmd(p *cli.Program) *cobra.Command {
	opts := pairRemoveOptions{program: p}
	cmd := &cobra.Command{
		Use:     "remove ID",
		Short:   "End the pairing of a browser",
		Long:    "End the pairing of a browser. The server closes the browser's connection within\nseconds. The side panel of the browser then offers a new code.",
		Example: "  opentabs pair list\n  opentabs pair remove 1f0c9a2b",
		Args:    cli.RequireArgs(1, "the ID that `opentabs pair list` shows"),
		RunE:    cli.ActionWithArg(&opts.id, func(context.Context) error { return runPairRemove(opts) }),
	}
	cli.AddJSONFlag(cmd, &opts.json)
	return cmd
}

func runPairRemove(opts pairRemoveOptions) error {
	p := opts.program
	dirs, err := p.MakeDirs()
	if err != nil {
		return err
	}
	err = pairing.Open(dirs.PairingFile()).Remove(opts.id)
	if errors.Is(err, pairing.ErrUnknown) {
		return usererr.Errorf("no paired browser has the ID %q; `opentabs pair list` shows the IDs", opts.id)
	}
	if err != nil {
		return err
	}
	return p.Report(opts.json, pairedBrowser{ID: opts.id}, "the pairing %s is removed", opts.id)
}
