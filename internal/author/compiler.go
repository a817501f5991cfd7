package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	// compilerPatience is how long the author's compiler may take.
	compilerPatience = 2 * time.Minute
	// maxDiagnostics is how many of its messages are told.
	maxDiagnostics = 50
)

// diagnostic is a message of tsc: src/a.ts(3,7): error TS2322: text
var diagnostic = regexp.MustCompile(`^(.+?)\((\d+),(\d+)\): error (TS\d+: .*)$`)

// types has the author's own compiler check the types, if it is installed.
func (c *Checked) types(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "tsconfig.json")); err != nil {
		c.NotChecked = append(c.NotChecked, "types: there is no tsconfig.json; `opentabs plugin create` shows one")
		return nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		c.NotChecked = append(c.NotChecked, "types: Node is not there, which runs the compiler; an editor shows them too")
		return nil
	}
	tsc := findCompiler(dir)
	if tsc == "" {
		c.NotChecked = append(c.NotChecked, "types: TypeScript is not installed; run npm install --save-dev typescript")
		return nil
	}
	if err := RefreshEditorTypes(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, compilerPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, tsc, "--noEmit", "--pretty", "false")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // what it may have started can hold its output open
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		c.NotChecked = append(c.NotChecked, fmt.Sprintf("types: %s did not end within %v", tsc, compilerPatience))
	case err != nil && !errors.As(err, &exit):
		c.NotChecked = append(c.NotChecked, fmt.Sprintf("types: %s could not be run: %v", tsc, err))
	case err != nil:
		c.diagnostics(out.String())
	}
	return nil
}

// findCompiler returns tsc as node runs it; empty if it is not installed.
func findCompiler(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for at := abs; ; at = filepath.Dir(at) {
		file := filepath.Join(at, "node_modules", "typescript", "bin", "tsc")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// diagnostics turns what tsc wrote into findings.
func (c *Checked) diagnostics(out string) {
	told := 0
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\r\n")
		m := diagnostic.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
		case m == nil && strings.HasPrefix(line, " ") && told > 0:
			last := &c.Findings[len(c.Findings)-1]
			last.Text += "\n" + strings.TrimSpace(line)
		case told == maxDiagnostics:
			c.NotChecked = append(c.NotChecked, fmt.Sprintf("types: tsc says more than these %d", maxDiagnostics))
			return
		case m == nil:
			told++
			c.Findings = append(c.Findings, Finding{"types", levelError, "", line})
		default:
			told++
			c.Findings = append(c.Findings, Finding{"types", levelError, fmt.Sprintf("%s:%s:%s", m[1], m[2], m[3]), m[4]})
		}
	}
}
