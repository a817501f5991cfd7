package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

// level says how bad a finding is.
type level string

const (
	levelOK   level = "ok"   // as it should be
	levelWarn level = "warn" // opentabs works, but not all of it, or not as it could
	levelFail level = "fail" // something does not work until it is mended
)

// finding is what one check of the doctor found.
type finding struct {
	Check string `json:"check"`
	Level level  `json:"level"`
	Says  string `json:"says"`
	// Do is what to do about it; empty if all is well.
	Do string `json:"do,omitempty"`
}

// checkup looks at one installation and changes nothing there.
type checkup struct {
	program  *program
	dirs     config.Dirs
	settings config.Settings
	// set is false if the settings could not be read.
	set bool
	// server and status are those of the running server; status is nil if none
	// answered.
	server   home.Server
	status   *httpapi.Status
	findings []finding
}

// home returns the installation that is checked.
func (c *checkup) home() *home.Home {
	return home.New(c.dirs, c.settings, c.program.getenv, func(sentence string) { c.program.out.Notef("%s", sentence) })
}

func (c *checkup) ok(check, format string, args ...any) {
	c.findings = append(c.findings, finding{Check: check, Level: levelOK, Says: fmt.Sprintf(format, args...)})
}

func (c *checkup) warn(check, says, do string) {
	c.findings = append(c.findings, finding{Check: check, Level: levelWarn, Says: says, Do: do})
}

func (c *checkup) fail(check, says, do string) {
	c.findings = append(c.findings, finding{Check: check, Level: levelFail, Says: says, Do: do})
}

// count returns how many findings have this level.
func (c *checkup) count(l level) int {
	n := 0
	for _, f := range c.findings {
		if f.Level == l {
			n++
		}
	}
	return n
}

type doctorOptions struct {
	program *program
	json    bool
}

func newDoctorCmd(p *program) *cobra.Command {
	opts := doctorOptions{program: p}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong and say what to do",
		Long: `Look at the directories, the token, the settings, the server, the extension, the
browsers, the plugins and the log, one line each: ok, warn, or fail with what to
do. Nothing is changed. The exit code is 1 if something fails.

The table at the end is what is known of MCP clients: how long each waits for a
call, and what it makes of progress and questions.`,
		Example: "  opentabs doctor\n  opentabs doctor --json",
		Args:    atMost(0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDoctor(cmd.Context(), opts) },
	}
	cmd.Flags().BoolVar(&opts.json, "json", false, "print JSON")
	return cmd
}

func runDoctor(ctx context.Context, opts doctorOptions) error {
	dirs, err := config.FindDirs(opts.program.getenv)
	if err != nil {
		return usage("%v", err)
	}
	c := &checkup{program: opts.program, dirs: dirs}
	c.checkHome()
	c.checkToken()
	c.checkSettings()
	c.checkServer(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.checkExtension()
	c.checkBrowsers()
	c.checkPlugins()
	c.checkClients()
	c.checkLog()
	if err := c.print(opts.json); err != nil {
		return err
	}
	if n := c.count(levelFail); n > 0 {
		return &failure{code: exitFailed, err: errors.New(terminal.Plural(n, "check") + " failed: do what is said beside \"do\", then run `opentabs doctor` again")}
	}
	return nil
}

func (c *checkup) print(asJSON bool) error {
	out := c.program.out
	if asJSON {
		return out.PrintValue(struct {
			OK       bool            `json:"ok"`
			Findings []finding       `json:"findings"`
			Clients  []clientProfile `json:"clients"`
		}{c.count(levelFail) == 0, c.findings, clientProfiles()})
	}
	for _, f := range c.findings {
		out.PrintLine("%-4s  %-11s  %s", f.Level, f.Check, terminal.SafeLine(f.Says))
		if f.Do != "" {
			out.PrintLine("%-4s  %-11s  do: %s", "", "", terminal.SafeLine(f.Do))
		}
	}
	showClients(out)
	return nil
}
