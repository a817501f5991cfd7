package smoke

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// uncommittedHash is the commit hash that git blame prints for a line that is not
// committed yet.
const uncommittedHash = "0000000000000000000000000000000000000000"

// CommitsSince describes the range of commits since the stored value of a row was
// written, such as "1a2b3c4..5d6e7f8 (3)". In a shallow clone of the repository, the
// range of commits may be inexact. If the source is not in a git repository, CommitsSince
// returns a text that begins with "unknown".
func CommitsSince(ctx context.Context, file, id string) string {
	fileContent, err := os.ReadFile(file)
	line := lineNumberOfRow(string(fileContent), id)
	if err != nil || line == 0 {
		return "unknown"
	}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = filepath.Dir(file)
		output, err := cmd.Output()
		return strings.TrimSpace(string(output)), err
	}
	headHashLine, err := git("rev-parse", "--short", "HEAD")
	if err != nil {
		return "unknown, because this is no git repository; the date of the last value is known"
	}
	changes := ""
	if status, err := git("status", "--porcelain"); err == nil && status != "" {
		changes = " and uncommitted changes"
	}
	blameOutput, err := git("blame", "--porcelain", "-L", fmt.Sprintf("%d,%d", line, line), "--", filepath.Base(file))
	if err != nil {
		return "unknown..." + headHashLine + changes
	}
	hash, _, _ := strings.Cut(blameOutput, " ")
	if hash == uncommittedHash {
		return "none; the last value is not committed" + changes
	}
	shortHash := hash[:min(len(hash), len(headHashLine))]
	// In a shallow clone, git blame attributes older lines to the oldest fetched commit.
	if isShallowOutput, err := git("rev-parse", "--is-shallow-repository"); err == nil && isShallowOutput == "true" && strings.Contains(blameOutput, "\nboundary\n") {
		return fmt.Sprintf("at or before %s..%s%s (shallow clone: run git fetch --unshallow)", shortHash, headHashLine, changes)
	}
	count, err := git("rev-list", "--count", hash+"..HEAD")
	if err != nil {
		return shortHash + ".." + headHashLine + changes
	}
	return fmt.Sprintf("%s..%s (%s)%s: git log --oneline %[1]s..%[2]s", shortHash, headHashLine, count, changes)
}
