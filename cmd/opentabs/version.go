package main

import (
	"opentabs/internal/terminal"
	"opentabs/internal/version"
	"opentabs/wire"
	"runtime"

	"github.com/spf13/cobra"
)

type versionOptions struct {
	out  *terminal.Output
	json bool
}

func newVersionCmd(p *program) *cobra.Command {
	opts := versionOptions{out: p.out}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  opentabs version\n  opentabs version --json",
		Args:    limitArgs(0),
		RunE:    func(*cobra.Command, []string) error { return runVersion(opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runVersion(opts versionOptions) error {
	v := struct {
		Version  string `json:"version"`
		Protocol int    `json:"protocol"`
		Go       string `json:"go"`
		OS       string `json:"os"`
		Arch     string `json:"arch"`
	}{version.Version, wire.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if opts.json {
		return opts.out.PrintValue(v)
	}
	opts.out.PrintLine("opentabs %s (protocol %d, %s, %s/%s)", v.Version, v.Protocol, v.Go, v.OS, v.Arch)
	return nil
}
