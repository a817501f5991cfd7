package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"opentabs/internal/lazyregexp"
)

const (
	compilerTimeout = 2 * time.Minute
	maxDiagnostics  = 50
)

// The variable diagnostic matches an error message of the TypeScript compiler, such as
// "src/a.ts(3,7): error TS2322: text".
var diagnostic = lazyregexp.New(`^(.+?)\((\d+),(\d+)\): error (TS\d+: .*)$`)

func (c *CheckResult) checkTypes(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "tsconfig.json")); err != nil {
		c.SkippedChecks = append(c.SkippedChecks, "types: there is no tsconfig.json; copy one from a plugin that `opentabs plugin create` made")
		return nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		c.SkippedChecks = append(c.SkippedChecks, "types: Node is not installed, which runs the TypeScript compiler; install Node, or check the types in an editor")
		return nil
	}
	tsc := findCompiler(dir)
	if tsc == "" {
		c.SkippedChecks = append(c.SkippedChecks, "types: TypeScript is not installed; run npm install --save-dev typescript")
		return nil
	}
	if err := RefreshEditorTypes(dir); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, compilerTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, tsc, "--noEmit", "--pretty", "false")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // a child process of tsc can keep the output open after tsc has exited
	var outBuffer bytes.Buffer
	cmd.Stdout, cmd.Stderr = &outBuffer, &outBuffer
	err = cmd.Run()
	var exitErr *exec.ExitError
	switch {
	case ctx.Err() != nil:
		c.SkippedChecks = append(c.SkippedChecks, fmt.Sprintf("types: %s did not finish within %v", tsc, compilerTimeout))
	case err != nil && !errors.As(err, &exitErr):
		c.SkippedChecks = append(c.SkippedChecks, fmt.Sprintf("types: %s could not be run: %v", tsc, err))
	case err != nil:
		c.addDiagnostics(outBuffer.String())
	}
	return nil
}

func findCompiler(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for ancestor := abs; ; ancestor = filepath.Dir(ancestor) {
		file := filepath.Join(ancestor, "node_modules", "typescript", "bin", "tsc")
		if fileInfo, err := os.Stat(file); err == nil && fileInfo.Mode().IsRegular() {
			return file
		}
		if ancestor == filepath.Dir(ancestor) {
			return ""
		}
	}
}

func (c *CheckResult) addDiagnostics(outDir string) {
	addedCount := 0
	for line := range strings.Lines(outDir) {
		line = strings.TrimRight(line, "\r\n")
		m := diagnostic().FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "":
		case m == nil && strings.HasPrefix(line, " ") && addedCount > 0:
			lastFinding := &c.Findings[len(c.Findings)-1]
			lastFinding.Text += "\n" + strings.TrimSpace(line)
		case addedCount == maxDiagnostics:
			c.SkippedChecks = append(c.SkippedChecks, fmt.Sprintf("types: only the first %d messages of tsc are listed", maxDiagnostics))
			return
		case m == nil:
			addedCount++
			c.Findings = append(c.Findings, Finding{"types", levelError, "", line})
		default:
			addedCount++
			c.Findings = append(c.Findings, Finding{"types", levelError, fmt.Sprintf("%s:%s:%s", m[1], m[2], m[3]), m[4]})
		}
	}
}
