// Package doctor checks an installation of opentabs and suggests remedies.
//
// Start with [Check]. Package doctor changes nothing in the installation.
package doctor

import (
	"context"
	"errors"
	"fmt"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/terminal"
)

// level is the severity of a finding.
type level string

const (
	levelOK   level = "ok"
	levelWarn level = "warn" // opentabs works, but with limits
	levelFail level = "fail" // a part of opentabs does not work until the user repairs it
)

// Finding is the result of one check.
type Finding struct {
	// Check is what was checked, such as "server".
	Check string `json:"check"`
	Level level  `json:"level"`
	// Fact describes what the check has found.
	Fact string `json:"text"`
	// Remedy is what the user should do; empty if nothing is wrong.
	Remedy string `json:"do,omitempty"`
}

// Report has the findings of all checks, and the profiles of MCP clients.
type Report struct {
	OK       bool            `json:"ok"`
	Findings []Finding       `json:"findings"`
	Clients  []clientProfile `json:"clients"`
}

// Failure returns an error that includes what to do if findings have the level fail.
func (r Report) Failure() error {
	n := 0
	for _, f := range r.Findings {
		if f.Level == levelFail {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return errors.New(terminal.Plural(n, "check") + " failed: follow the lines that begin with \"do:\", then run `opentabs doctor` again")
}

// Print prints each finding with its remedy, and the table of MCP clients.
func (r Report) Print(out *terminal.Output) {
	for _, f := range r.Findings {
		out.PrintLine("%-4s  %-11s  %s", f.Level, f.Check, terminal.SafeLine(f.Fact))
		if f.Remedy != "" {
			out.PrintLine("%-4s  %-11s  do: %s", "", "", terminal.SafeLine(f.Remedy))
		}
	}
	out.PrintLine("")
	out.PrintLine("Behavior of MCP clients (`opentabs doctor --json` has the sources):")
	out.PrintTable("  ", clientTable(), "NEW TOOLS", "PICTURES", "PROGRESS")
}

// Check inspects the installation in dirs and returns the findings. warn receives
// warnings about plugins that could not be loaded. Check returns the error of ctx if
// ctx has ended.
func Check(ctx context.Context, dirs config.Dirs, getenv func(string) string, warn func(sentence string)) (Report, error) {
	c := &checkup{dirs: dirs, getenv: getenv, warnUser: warn}
	c.checkDirectories()
	c.checkToken()
	c.checkSettings()
	c.checkServer(ctx)
	if ctx.Err() != nil {
		return Report{}, ctx.Err()
	}
	c.checkExtension()
	c.checkBrowsers()
	c.checkPlugins()
	c.checkClients()
	c.checkLog()
	report := Report{Findings: c.findings, Clients: clientProfiles()}
	report.OK = report.Failure() == nil
	return report, nil
}

// checkup collects the findings of one run.
type checkup struct {
	dirs     config.Dirs
	getenv   func(string) string
	warnUser func(sentence string)
	// settings is the zero value unless settingsValid is true.
	settings      config.Settings
	settingsValid bool
	// server and status belong to the running server; status is nil if no server
	// returned one.
	server   home.Server
	status   *httpapi.Status
	findings []Finding
}

// findHome returns the installation in the directories of the checkup.
func (c *checkup) findHome() *home.Home {
	return home.New(c.dirs, c.settings, c.getenv, c.warnUser)
}

// serverPort returns the port of the running server, or the port in the settings, or 0
// if neither port is known.
func (c *checkup) serverPort() int {
	if c.status != nil {
		return c.server.Port
	}
	return c.settings.Port
}

func (c *checkup) ok(check, format string, args ...any) {
	c.add(levelOK, check, fmt.Sprintf(format, args...), "")
}

func (c *checkup) warn(check, fact, remedy string) { c.add(levelWarn, check, fact, remedy) }

func (c *checkup) fail(check, fact, remedy string) { c.add(levelFail, check, fact, remedy) }

func (c *checkup) add(l level, check, fact, remedy string) {
	c.findings = append(c.findings, Finding{Check: check, Level: l, Fact: fact, Remedy: remedy})
}
