package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"opentabs/internal/terminal"
)

// The type level is the severity of a finding.
type level string

const (
	levelOK   level = "ok"
	levelWarn level = "warn" // opentabs works, but with limitations
	levelFail level = "fail" // a part of opentabs does not work until the user repairs the problem
)

// Finding is the result of one check.
type Finding struct {
	// Check is the name of the check, such as "server".
	Check string `json:"check"`
	Level level  `json:"level"`
	// Fact describes what the check found, in a sentence for the user.
	Fact string `json:"text"`
	// Remedy is what the user should do about the problem, or empty if there is no
	// problem.
	Remedy string `json:"do,omitempty"`
	// CanRepair is true if `opentabs doctor --fix` can repair the problem.
	CanRepair bool `json:"can_fix,omitempty"`

	isNotSetUp bool
	repair     func(context.Context) (repairReport string, err error)
}

// Repair is the result of one repair that [Fix] attempted.
type Repair struct {
	Check string `json:"check"`
	// Text describes what was repaired, or why the repair failed.
	Text      string `json:"text"`
	HasFailed bool   `json:"failed,omitempty"`
}

// Report has the findings of all checks, the attempted repairs, and facts about MCP
// clients.
type Report struct {
	// OK is false if a finding has the level "fail".
	OK       bool      `json:"ok"`
	Findings []Finding `json:"findings"`
	// The field Repairs contains the repairs that Fix has attempted. The field Findings describes
	// the installation after all repairs.
	Repairs []Repair        `json:"fixed,omitempty"`
	Clients []clientProfile `json:"clients"`
}

// Failure returns an error if a finding has the level "fail", and otherwise nil. The error message
// of Failure ends with what the user can do about the findings.
func (r Report) Failure() error {
	failures, fixableCount := 0, 0
	for _, f := range r.Findings {
		if f.Level == levelFail {
			failures++
			if f.CanRepair {
				fixableCount++
			}
		}
	}
	switch {
	case failures == 0:
		return nil
	case fixableCount > 0 && r.Repairs == nil:
		return errors.New(terminal.CountNoun(failures, "check") + " failed: run `opentabs doctor --fix`, and follow the lines that begin with \"do:\"")
	}
	return errors.New(terminal.CountNoun(failures, "check") + " failed: follow the lines that begin with \"do:\", then run `opentabs doctor` again")
}

const minCheckWidth = 11

// Print prints the repairs, each finding with its remedy, and a table of MCP clients.
func (r Report) Print(terminalOut *terminal.Output) {
	width := minCheckWidth
	for _, f := range r.Findings {
		width = max(width, len(f.Check))
	}
	const levelWidth, gap = 5, 2
	indent := strings.Repeat(" ", levelWidth+1+width+gap)
	for _, repair := range r.Repairs {
		label := "fixed"
		if repair.HasFailed {
			label = "error"
		}
		terminalOut.PrintParagraph(fmt.Sprintf("%-*s %-*s  ", levelWidth, label, width, repair.Check), indent, repair.Text)
	}
	if len(r.Repairs) > 0 {
		terminalOut.PrintLine("")
	}
	for i, f := range r.Findings {
		terminalOut.PrintParagraph(fmt.Sprintf("%-*s %-*s  ", levelWidth, f.Level, width, f.Check), indent, f.Fact)
		isRepeated := i+1 < len(r.Findings) && r.Findings[i+1].Remedy == f.Remedy // the remedy is printed after the last of several findings with the same remedy
		if f.Remedy != "" && !isRepeated {
			terminalOut.PrintParagraph(indent+"do: ", indent+"    ", f.Remedy)
		}
	}
	terminalOut.PrintLine("")
	terminalOut.PrintLine("Behavior of MCP clients (`opentabs doctor --json` has the sources):")
	terminalOut.PrintTable("  ", formatClientTable(), "NEW TOOLS", "PICTURES", "PROGRESS")
}
