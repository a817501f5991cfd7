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

// Options are what a check inspects. Dirs, Getenv and Warn are required.
type Options struct {
	Dirs   config.Dirs
	Getenv func(string) string
	// Warn receives warnings about plugins that could not be loaded.
	Warn func(sentence string)
	// Program is the path of opentabs, for the probe of MCP over stdio. By default, that
	// hop is not checked.
	Program string
	// Machine is where configurations of MCP clients are searched for. By default, no
	// configuration is checked.
	Machine *setup.Machine
	// SetUpClient writes opentabs with a new token into the configuration of an MCP client.
	// By default, Fix does not repair configurations.
	SetUpClient func(ctx context.Context, clientID string) error
	// FreeBytes returns the free space of the disk with a directory. By default, the space
	// is not checked.
	FreeBytes func(dir string) (uint64, error)
	// Now is the clock; default time.Now.
	Now func() time.Time
	// ReadFile reads a file of the operating system; default os.ReadFile.
	ReadFile func(path string) ([]byte, error)
}

// maxRepairRounds limits how often Fix checks again after repairs, because one repair can
// make another possible.
const maxRepairRounds = 4

// Check inspects the installation and returns the findings. Check returns the error of ctx
// if ctx has ended.
func Check(ctx context.Context, o Options) (Report, error) {
	report, _, err := check(ctx, o)
	return report, err
}

// Fix is like [Check], and repairs what can be repaired without losing data. The report is
// about the installation after the repairs.
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

// repairAll repairs the findings that were not attempted before.
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

// check runs all checks.
func check(ctx context.Context, o Options) (Report, []Finding, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &checkup{Options: o, dirs: o.Dirs, getenv: o.Getenv, warnUser: o.Warn}
	c.checkDirectories()
	machineCheck{c}.checkDisk()
	machineCheck{c}.checkClock()
	c.checkToken(ctx)
	c.checkSettings()
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
	// isOtherProgram is true if the port belongs to another program.
	isOtherProgram bool
	// isExtensionCurrent is true if the extension's folder has the files of this program.
	isExtensionCurrent bool
	findings           []Finding
}

// findHome returns the installation in the directories of the checkup.
func (c *checkup) findHome() *home.Home {
	return home.New(c.dirs, c.settings, c.getenv, c.warnUser)
}

// client returns a client of the running server.
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

// offerRepair makes the last finding repairable by [Fix].
func (c *checkup) offerRepair(repair func(context.Context) (sentence string, err error)) {
	last := &c.findings[len(c.findings)-1]
	last.CanFix, last.repair = true, repair
}

// changeMode returns a repair that sets the mode of a file.
func changeMode(path string, mode fs.FileMode, chmod func(string, fs.FileMode) error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		return fmt.Sprintf("only you have access to %s now (mode %04o)", path, mode), chmod(path, mode)
	}
}
