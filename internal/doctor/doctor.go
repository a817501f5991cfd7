// Package doctor checks each hop between an MCP client and a page, and suggests remedies.
//
// Start with [Check], which changes nothing in the installation, or with [Fix], which also
// repairs what it can without losing data.
package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/setup"
)

// Options configure a check. The fields Dirs, Getenv and Warn are required.
type Options struct {
	Dirs   config.Dirs
	Getenv func(string) string
	// Warn receives a warning about each plugin that could not be loaded.
	Warn func(sentence string)
	// Program is the path of the opentabs program, for the check of MCP over stdio. By
	// default, this check is skipped.
	Program string
	// Machine is where the doctor searches for configurations of MCP clients. By default,
	// no configuration is checked.
	Machine *setup.Machine
	// SetUpClient writes opentabs with a new token into an MCP client's configuration. By
	// default, Fix does not repair configurations.
	SetUpClient func(ctx context.Context, clientID string) error
	// FreeBytes returns the free space of the disk with a directory. By default, the free
	// space is not checked.
	FreeBytes func(dir string) (uint64, error)
	// Now returns the current time; default time.Now.
	Now func() time.Time
	// ReadFile reads a file of the operating system; default os.ReadFile.
	ReadFile func(path string) ([]byte, error)
}

// maxRepairRounds limits how often Fix repairs and checks again. Several rounds are
// needed, because one repair can make another repair possible.
const maxRepairRounds = 4

// Check checks the installation and returns a report with the findings. If ctx has ended,
// Check returns the error of ctx.
func Check(ctx context.Context, o Options) (Report, error) {
	report, _, err := check(ctx, o)
	return report, err
}

// Fix is like [Check], and also repairs problems if the repair loses no data. The report
// describes the installation after the repairs.
func Fix(ctx context.Context, o Options) (Report, error) {
	var repairs []Repair
	attempted := map[string]bool{}
	for range maxRepairRounds {
		report, findings, err := check(ctx, o)
		if err != nil {
			return Report{}, err
		}
		round := repairAll(ctx, findings, attempted)
		repairs = append(repairs, round...)
		if len(round) == 0 {
			report.Repairs = repairs
			return report, nil
		}
	}
	report, err := Check(ctx, o)
	report.Repairs = repairs
	return report, err
}

// repairAll runs the repair of each finding, unless this repair was attempted before.
func repairAll(ctx context.Context, findings []Finding, attempted map[string]bool) (repairs []Repair) {
	for _, f := range findings {
		if f.repair == nil || attempted[f.Check+f.Fact] {
			continue
		}
		attempted[f.Check+f.Fact] = true
		sentence, err := f.repair(ctx)
		r := Repair{Check: f.Check, Text: sentence}
		if err != nil {
			r.Text, r.Failed = home.Explain(err), true
		}
		repairs = append(repairs, r)
	}
	return repairs
}

// check runs all checks of the doctor.
func check(ctx context.Context, o Options) (Report, []Finding, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &checkup{Options: o, dirs: o.Dirs, getenv: o.Getenv, warnUser: o.Warn}
	c.checkDirectories()
	machineCheck{c}.checkDisk()
	machineCheck{c}.checkClock()
	c.checkSettings()
	c.checkToken(ctx) // needs the port in the settings
	serverCheck{c}.checkServer(ctx)
	protocolCheck{c}.checkHTTPRules(ctx)
	protocolCheck{c}.checkMCP(ctx)
	extensionCheck{c}.checkExtension()
	browserCheck{c}.checkBrowsers(ctx)
	c.checkPlugins()
	clientFileChecks{c}.checkClientFiles(ctx)
	c.checkClients()
	c.checkTimeouts()
	machineCheck{c}.checkMachine()
	c.checkLog()
	if ctx.Err() != nil {
		return Report{}, nil, ctx.Err()
	}
	report := Report{Findings: c.findings, Clients: clientProfiles()}
	report.OK = report.Failure() == nil
	return report, c.findings, nil
}

// checkup collects the findings of one run.
type checkup struct {
	Options
	dirs     config.Dirs
	getenv   func(string) string
	warnUser func(sentence string)
	// settings is the zero value unless settingsValid is true.
	settings      config.Settings
	settingsValid bool
	// server and status belong to the running server; status is nil if no server
	// returned one.
	server home.Server
	status *httpapi.Status
	// isOtherProgram is true if another program uses the port of opentabs, or if the
	// server uses another token.
	isOtherProgram bool
	// isExtensionCurrent is true if the extension's folder contains the files of this
	// version.
	isExtensionCurrent bool
	findings           []Finding
}

// findHome returns the installation in the directories of the checkup.
func (c *checkup) findHome() *home.Home {
	return home.New(c.dirs, c.settings, c.getenv, c.warnUser)
}

// client returns an API client of the running server.
func (c *checkup) client() (*httpapi.Client, error) {
	token, err := c.dirs.ExistingToken()
	if err != nil {
		return nil, err
	}
	return httpapi.NewClient(c.server.Port, token), nil
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

// offerRepair adds a repair to the last finding. [Fix] runs the repair.
func (c *checkup) offerRepair(repair func(context.Context) (sentence string, err error)) {
	last := &c.findings[len(c.findings)-1]
	last.CanFix, last.repair = true, repair
}

// changeMode returns a repair that sets the permission bits of a file.
func changeMode(path string, mode fs.FileMode, chmod func(string, fs.FileMode) error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		return fmt.Sprintf("only you have access to %s now (mode %04o)", path, mode), chmod(path, mode)
	}
}
