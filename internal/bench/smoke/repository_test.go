package smoke

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

type repository struct {
	t    *testing.T
	dir  string
	file string
}

func newRepository(t *testing.T) repository {
	t.Helper()
	dir := t.TempDir()
	r := repository{t, dir, filepath.Join(dir, "smoke.json")}
	r.git("init", "-q")
	return r
}

func (r repository) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	output, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, output)
	}
	return strings.TrimSpace(string(output))
}

func (r repository) commit(rows []Row) string {
	r.t.Helper()
	if err := Write(r.file, rows); err != nil {
		r.t.Fatal(err)
	}
	r.git("add", ".")
	r.git("commit", "-q", "--allow-empty", "-m", "values")
	return r.git("rev-parse", "--short", "HEAD")
}

func TestCommitsSinceTheValueWasWritten(t *testing.T) {
	r := newRepository(t)
	first := r.commit(fakeRows)
	newRows := slices.Clone(fakeRows)
	newRows[1].Value = 1.2
	second := r.commit(newRows)
	third := r.commit(newRows) // the following commits do not change the file
	for id, want := range map[string]string{
		"allocs": first + ".." + third + " (2): git log --oneline " + first + ".." + third,
		"ratio":  second + ".." + third + " (1): git log --oneline " + second + ".." + third,
	} {
		if got := CommitsSince(t.Context(), r.file, id); got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	newRows[0].Value = 31
	if err := Write(r.file, newRows); err != nil {
		t.Fatal(err)
	}
	if got, want := CommitsSince(t.Context(), r.file, "allocs"), "none; the last value is not committed and uncommitted changes"; got != want {
		t.Errorf("a value that is not committed: got %q, want %q", got, want)
	}
	if got, want := CommitsSince(t.Context(), r.file, "bytes"), " and uncommitted changes"; !strings.Contains(got, want) {
		t.Errorf("a changed tree: got %q, want %q in it", got, want)
	}
}

func TestCommitsInAShallowClone(t *testing.T) {
	origin := newRepository(t)
	origin.commit(fakeRows)
	head := origin.commit(fakeRows)
	clone := newRepository(t)
	clone.git("pull", "-q", "--depth=1", "file://"+origin.dir, "HEAD")
	got := CommitsSince(t.Context(), clone.file, "allocs")
	if want := "at or before " + head + ".." + head + " (shallow clone: run git fetch --unshallow)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommitsWithoutGit(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	file := filepath.Join(t.TempDir(), "smoke.json")
	if err := Write(file, fakeRows); err != nil {
		t.Fatal(err)
	}
	if got := CommitsSince(t.Context(), file, "allocs"); !strings.HasPrefix(got, "unknown, because this is no git repository") {
		t.Errorf("got %q; want a text that begins with %q", got, "unknown, because this is no git repository")
	}
}

func TestFileKeepsRows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "smoke.json")
	if rows, err := Read(file); err != nil || rows != nil {
		t.Errorf("a missing file: got %v and %v", rows, err)
	}
	if err := Write(file, fakeRows); err != nil {
		t.Fatal(err)
	}
	rows, err := Read(file)
	if err != nil || !slices.Equal(rows, fakeRows) {
		t.Errorf("got %v and %v, want %v", rows, err, fakeRows)
	}
}
