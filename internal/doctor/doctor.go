// Package doctor checks each connection between an MCP client and a page, and suggests remedies.
//
// [Fix] also repairs what can be repaired without losing data.
package doctor

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/httpapi"
	"opentabs/internal/setup"
)

// Options configure [Check] and [Fix]. The fields Dirs, Getenv and Warn are required; all other
// fields are optional.
type Options struct {
	Dirs   config.Dirs
	Getenv func(string) string
	// Warn is called with a warning for each plugin that cannot be loaded; required.
	Warn func(warning string)
	// Program is the path of the opentabs program, which the check of MCP over stdio runs. By
	// default, package doctor does not check MCP over stdio.
	Program string
	// Machine describes where MCP clients store their configurations. By default, package doctor checks
	// no configurations of MCP clients.
	Machine *setup.Machine
	// SetUpClient writes opentabs with a new token to an MCP client's configuration. By default,
	// Fix does not repair the configurations of MCP clients.
	SetUpClient func(ctx context.Context, clientID string) error
	// FreeBytes returns the free space, in bytes, on the disk of a directory. By default, Check
	// and Fix do not check the free space.
	FreeBytes func(dir string) (uint64, error)
	// The field Now returns the current time. By default, Now is time.Now.
	Now func() time.Time
	// ReadFile reads a file of the operating system, such as /proc/sys/kernel/osrelease. By
	// default, ReadFile is os.ReadFile; tests replace it.
	ReadFile func(path string) ([]byte, error)
}

// Fix needs up to maxRepairRounds rounds, because some problems can be repaired only after another repair.
const maxRepairRounds = 4

// Check checks the installation and returns a report with the findings. If ctx ends,
// Check returns the error of ctx.
func Check(ctx context.Context, o Options) (Report, error) {
	checkReport, _, err := runAllChecks(ctx, o)
	return checkReport, err
}

// Fix checks the installation and repairs problems if the repair loses no data. The returned report
// describes the installation after the repairs.
func Fix(ctx context.Context, o Options) (Report, error) {
	var repairs []Repair
	attemptedRepairs := map[string]bool{}
	for range maxRepairRounds {
		checkReport, findings, err := runAllChecks(ctx, o)
		if err != nil {
			return Report{}, err
		}
		newRepairs := repairAll(ctx, findings, attemptedRepairs)
		repairs = append(repairs, newRepairs...)
		if len(newRepairs) == 0 {
			checkReport.Repairs = repairs
			return checkReport, nil
		}
	}
	checkReport, err := Check(ctx, o)
	checkReport.Repairs = repairs
	return checkReport, err
}

func repairAll(ctx context.Context, findings []Finding, attemptedRepairs map[string]bool) (repairs []Repair) {
	for _, f := range findings {
		if f.repair == nil || attemptedRepairs[f.Check+f.Fact] {
			continue
		}
		attemptedRepairs[f.Check+f.Fact] = true
		repairReport, err := f.repair(ctx)
		r := Repair{Check: f.Check, Text: repairReport}
		if err != nil {
			r.Text, r.HasFailed = home.ExplainError(err), true
		}
		repairs = append(repairs, r)
	}
	return repairs
}

func runAllChecks(ctx context.Context, o Options) (Report, []Finding, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &healthCheck{Options: o, dirs: o.Dirs, getenv: o.Getenv, warnUser: o.Warn}
	c.checkDirectories()
	if !hasDirectories(c.dirs) { // all other checks would only report the same problem
		checkReport := Report{Findings: c.findings, Clients: clientProfiles()}
		return checkReport, c.findings, ctx.Err()
	}
	machineCheck{c}.checkDisk()
	machineCheck{c}.checkClock()
	c.checkSettings()
	c.checkToken(ctx) // checkToken needs the port in the settings
	serverCheck{c}.checkServer(ctx)
	protocolCheck{c}.checkHTTPSecurity(ctx)
	protocolCheck{c}.checkMCPSessions(ctx)
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
	c.findings = mergeNotSetUpFindings(c.findings)
	checkReport := Report{Findings: c.findings, Clients: clientProfiles()}
	checkReport.OK = checkReport.Failure() == nil
	return checkReport, c.findings, nil
}

// healthCheck collects the findings of one run of all checks.
type healthCheck struct {
	Options
	dirs             config.Dirs
	getenv           func(string) string
	warnUser         func(warning string)
	settings         config.Settings
	areSettingsValid bool
	// The field status is the server's response of /status, nil if no server responded.
	server home.Server
	status *httpapi.Status
	// isPortTaken is true if the port of opentabs is used by another program, or by a
	// server with another token.
	isPortTaken bool
	// A starting server replaces a damaged token file.
	isTokenDamaged     bool
	isExtensionCurrent bool
	isExtensionMissing bool
	findings           []Finding
}

func (c *healthCheck) findHome() *home.Home {
	return home.New(c.dirs, c.settings, c.getenv, c.warnUser)
}

func (c *healthCheck) client() (*httpapi.Client, error) {
	token, err := c.dirs.ExistingToken()
	if err != nil {
		return nil, err
	}
	return httpapi.NewClient(c.server.Port, token), nil
}

func (c *healthCheck) serverPort() int {
	if c.status != nil {
		return c.server.Port
	}
	return c.settings.Port
}

func (c *healthCheck) reportOK(checkName, format string, args ...any) {
	c.addFinding(levelOK, checkName, fmt.Sprintf(format, args...), "")
}

func (c *healthCheck) reportWarning(checkName, findingText, remedy string) {
	c.addFinding(levelWarn, checkName, findingText, remedy)
}

func (c *healthCheck) reportFailure(checkName, findingText, remedy string) {
	c.addFinding(levelFail, checkName, findingText, remedy)
}

func (c *healthCheck) addFinding(l level, checkName, findingText, remedy string) {
	c.findings = append(c.findings, Finding{Check: checkName, Level: l, Fact: findingText, Remedy: remedy})
}

func (c *healthCheck) markLastNotSetUp() { c.findings[len(c.findings)-1].isNotSetUp = true }

// setupCheckCount is the number of checks that call markLastNotSetUp in a new installation: the checks
// of the server, the extension, the plugins and the clients.
const setupCheckCount = 4

// mergeNotSetUpFindings replaces the findings about all parts of a new installation with one finding,
// because `opentabs setup` sets up all of them.
func mergeNotSetUpFindings(findings []Finding) []Finding {
	isNotSetUp := func(f Finding) bool { return f.isNotSetUp }
	firstIndex := slices.IndexFunc(findings, isNotSetUp)
	otherFindings := slices.DeleteFunc(slices.Clone(findings), isNotSetUp)
	if len(findings)-len(otherFindings) < setupCheckCount {
		return findings
	}
	return slices.Insert(otherFindings, firstIndex, Finding{
		Check: "setup", Level: levelWarn, Fact: "opentabs is not set up yet: no client, no browser and no tools",
		Remedy: "run `opentabs setup`, which connects your clients and your browser",
	})
}

func (c *healthCheck) offerRepair(repair func(context.Context) (repairReport string, err error)) {
	lastFinding := &c.findings[len(c.findings)-1]
	lastFinding.CanRepair, lastFinding.repair = true, repair
}

func changeMode(path string, mode fs.FileMode, chmod func(string, fs.FileMode) error) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		return fmt.Sprintf("only you have access to %s now (mode %04o)", path, mode), chmod(path, mode)
	}
}
