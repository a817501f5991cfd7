package main

import (
	"github.com/spf13/cobra"
)

type inspectOptions struct {
	program *program
	name    string
	section string
}

func newPluginInspectCmd(p *program) *cobra.Command {
	opts := inspectOptions{program: p}
	cmd := &cobra.Command{
		Use:   "inspect NAME",
		Short: "Print what a plugin is, and its code",
		Long: `Print what agents are shown of a plugin when they look at it (plugin_inspect): what
it is, where it works, its tools, and by --section the author's own code and what
has changed since it was reviewed. All pages of a section are printed. Nothing
changes; opentabs plugin review lets a plugin in.`,
		Example: `  opentabs plugin inspect messages
  opentabs plugin inspect messages --section code`,
		Args: exactly(1, "the name of a plugin"),
		RunE: func(_ *cobra.Command, args []string) error {
			opts.name = args[0]
			return runInspect(opts)
		},
	}
	cmd.Flags().StringVar(&opts.section, "section", "overview", "what to print: `overview, tools, code, pre-script, changes or libraries`")
	return cmd
}

func runInspect(opts inspectOptions) error {
	p := opts.program
	h, err := p.open(nil)
	if err != nil {
		return err
	}
	registry, err := h.Plugins()
	if err != nil {
		return err
	}
	in, err := h.Permissions(registry).Inspect(opts.name)
	if err != nil {
		return asUsage(err)
	}
	for section := opts.section; section != ""; {
		text, next, err := in.Page(section)
		if err != nil {
			return usage("%v", err)
		}
		p.out.PrintText(text)
		section = next
	}
	return nil
}
