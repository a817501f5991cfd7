package doctor

import (
	"bytes"
	"strings"
	"testing"

	"opentabs/internal/terminal"
)

// TestReportFormat checks that each finding is printed on one line without control characters,
// followed by its remedy, that a repeated remedy is printed once, and that failures are counted.
func TestReportFormat(t *testing.T) {
	r := Report{Findings: []Finding{
		{Check: "token", Level: levelOK, Fact: "there is a token"},
		{Check: "extension", Level: levelWarn, Fact: "it is old\x1b", Remedy: "install it again"},
		{Check: "browsers", Level: levelWarn, Fact: "it runs the old one", Remedy: "install it again"},
	}}
	if err := r.Failure(); err != nil {
		t.Errorf("failure of a report with only warnings = %v; want none", err)
	}
	r.Findings = append(r.Findings, Finding{Check: "server", Level: levelFail, Fact: "it does not answer"})
	const want = "1 check failed: follow the lines that begin with \"do:\", then run `opentabs doctor` again"
	if err := r.Failure(); err == nil || err.Error() != want {
		t.Errorf("failure of a report with a failed check = %v; want %q", err, want)
	}
	var b bytes.Buffer
	r.Print(terminal.New(&b, &b, func(string) string { return "" }))
	const lines = `ok    token        there is a token
warn  extension    it is old\x1b
warn  browsers     it runs the old one
                   do: install it again
fail  server       it does not answer

Behavior of MCP clients (` + "`opentabs doctor --json`" + ` has the sources):
  CLIENT `
	if !strings.HasPrefix(b.String(), lines) {
		t.Errorf("printed report =\n%s\nwant the beginning\n%s", b.String(), lines)
	}
	r.Findings = append(r.Findings, Finding{Check: "client timeouts", Level: levelOK, Fact: "as you set it"})
	b.Reset()
	r.Print(terminal.New(&b, &b, func(string) string { return "" }))
	const wideReport = `ok    token            there is a token
warn  extension        it is old\x1b
warn  browsers         it runs the old one
                       do: install it again
fail  server           it does not answer
ok    client timeouts  as you set it
`
	if !strings.HasPrefix(b.String(), wideReport) {
		t.Errorf("printed report with a long check name =\n%s\nwant the beginning\n%s", b.String(), wideReport)
	}
}
