package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"opentabs/internal/author"
	"opentabs/internal/terminal"
)

type pluginCreateOptions struct {
	program *program
	plugin  author.CreateOptions
}

func newPluginCreateCmd(p *program) *cobra.Command {
	opts := pluginCreateOptions{program: p}
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Make a new plugin",
		Long: `Make a small plugin in a directory NAME: two tools, tests, an icon, and what an
editor needs to know the types. It builds, checks and tests as it is. Nothing is
loaded from the network, and neither Node nor npm is needed.

Its code runs in the main world, among the page's own scripts, or with --world
isolated apart from them: take that if it needs nothing that the page defines.

NAME may have a scope (@acme/chat); the package is called opentabs-plugin-NAME.`,
		Example: `  opentabs plugin create tickets --domain tickets.example.com
  opentabs plugin create @acme/chat --domain chat.acme.test --display "Acme Chat"
  opentabs plugin create notes --domain notes.example.com --world isolated`,
		Args: exactly(1, "the name of the plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			opts.plugin.Name = args[0]
			return runPluginCreate(opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.plugin.Domain, "domain", "", "the `SITE` it works on, such as app.example.com (default example.com)")
	f.StringVar(&opts.plugin.DisplayName, "display", "", "its `NAME` for people")
	f.StringVar(&opts.plugin.Description, "description", "", "a `SENTENCE` that says what it does")
	f.StringVar(&opts.plugin.World, "world", "main", "where its code runs: `main or isolated` (from the page's scripts)")
	f.StringVar(&opts.plugin.Dir, "dir", ".", "make its directory in this `DIR`")
	return cmd
}

func runPluginCreate(opts pluginCreateOptions) error {
	began := time.Now()
	made, err := author.Create(opts.plugin)
	if err != nil {
		return usage("%v", err)
	}
	out := opts.program.out
	out.PrintLine("made %s in %s, for %s", made.Name, made.Dir, made.Pattern)
	for _, file := range made.Files {
		out.PrintLine("  %s", file)
	}
	out.Notef("%s", fmt.Sprintf("done in %s; begin with\n"+
		"cd %s\nopentabs plugin test\nopentabs plugin dev", terminal.Elapsed(time.Since(began)), made.Dir))
	return nil
}
