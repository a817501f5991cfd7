package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"opentabs/internal/terminal"
)

// The manual pages escape help text, so that the program man does not interpret the text as roff requests.
func TestManPages(t *testing.T) {
	p := &Program{Out: terminal.New(os.Stderr, os.Stderr, os.Getenv)}
	root := &cobra.Command{Use: "opentabs", Short: "Run tools", RunE: ShowHelp}
	run := &cobra.Command{
		Use: "run TOOL", Short: "Run a tool", RunE: func(*cobra.Command, []string) error { return nil },
		Long:    "Run a tool:\n\n  now    at once\n  later  after others\n\n.hidden is a file, and 'quoted' is a word with a \\ in it.",
		Example: "  opentabs run a --json",
	}
	run.Flags().Bool("json", false, "print JSON")
	hiddenCommand := &cobra.Command{Use: "__hidden", Hidden: true, RunE: ShowHelp}
	man := NewManCmd(p)
	root.AddCommand(run, hiddenCommand, man, NewExitCodesCmd())
	dir := filepath.Join(t.TempDir(), "pages")
	root.SetArgs([]string{"man", "--dir", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	dirEntries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range dirEntries {
		names = append(names, e.Name())
	}
	wantNames := []string{"opentabs-completion-bash.1", "opentabs-completion-fish.1", "opentabs-completion-powershell.1", "opentabs-completion-zsh.1", "opentabs-completion.1", "opentabs-exit-codes.1", "opentabs-run.1", "opentabs.1"}
	if got, want := strings.Join(names, " "), strings.Join(wantNames, " "); got != want {
		t.Errorf("the manual pages are %q, want %q", got, want)
	}
	page, err := os.ReadFile(filepath.Join(dir, "opentabs-run.1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		".SH NAME\nopentabs\\-run \\- Run a tool\n", ".B opentabs run TOOL [flags]\n", ".PP\nRun a tool:\n.PP\n.nf\n  now    at once\n  later  after others\n.fi\n.PP\n\\&.hidden is a file, and 'quoted' is a word with a \\e in it.\n",
		"\\-\\-json   print JSON\n", "\n  opentabs run a \\-\\-json\n", ".BR opentabs (1)\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("opentabs-run.1 does not contain %q:\n%s", want, page)
		}
	}
}
