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

func TestCommitsSinceRecordedValue(t *testing.T) {
	r := newRepository(t)
	firstCommit := r.commit(fakeRows)
	newRows := slices.Clone(fakeRows)
	newRows[1].Value = 1.2
	secondCommit := r.commit(newRows)
	thirdCommit := r.commit(newRows) // this commit does not change the file
	for id, want := range map[string]string{
		"allocs": firstCommit + ".." + thirdCommit + " (2): git log --oneline " + firstCommit + ".." + thirdCommit,
		"ratio":  secondCommit + ".." + thirdCommit + " (1): git log --oneline " + secondCommit + ".." + thirdCommit,
	} {
		if got := CommitsSince(t.Context(), r.file, id); got != want {
			t.Errorf("commits since the stored value of the row %s = %q, want %q", id, got, want)
		}
	}
	newRows[0].Value = 31
	if err := Write(r.file, newRows); err != nil {
		t.Fatal(err)
	}
	if got, want := CommitsSince(t.Context(), r.file, "allocs"), "none; the last value is not committed and uncommitted changes"; got != want {
		t.Errorf("commits since an uncommitted value = %q, want %q", got, want)
	}
	if got, want := CommitsSince(t.Context(), r.file, "bytes"), " and uncommitted changes"; !strings.Contains(got, want) {
		t.Errorf("commits in a working tree with changes = %q, want %q in it", got, want)
	}
}

func TestCommitsSinceInShallowClone(t *testing.T) {
	origin := newRepository(t)
	origin.commit(fakeRows)
	headHash := origin.commit(fakeRows)
	shallowClone := newRepository(t)
	shallowClone.git("pull", "-q", "--depth=1", "file://"+origin.dir, "HEAD")
	got := CommitsSince(t.Context(), shallowClone.file, "allocs")
	if want := "at or before " + headHash + ".." + headHash + " (shallow clone: run git fetch --unshallow)"; got != want {
		t.Errorf("commits in a shallow clone = %q, want %q", got, want)
	}
}

func TestCommitsSinceWithoutGit(t *testing.T) {
	t.Setenv("GIT_CEILING_DIRECTORIES", os.TempDir())
	file := filepath.Join(t.TempDir(), "smoke.json")
	if err := Write(file, fakeRows); err != nil {
		t.Fatal(err)
	}
	if got := CommitsSince(t.Context(), file, "allocs"); !strings.HasPrefix(got, "unknown, because this is no git repository") {
		t.Errorf("commits without a git repository = %q; want a text that begins with %q", got, "unknown, because this is no git repository")
	}
}

func TestWrittenFileKeepsRows(t *testing.T) {
	file := filepath.Join(t.TempDir(), "smoke.json")
	if rows, err := Read(file); err != nil || rows != nil {
		t.Errorf("Read of a missing file returned the rows %v, error %v; want no rows and no error", rows, err)
	}
	if err := Write(file, fakeRows); err != nil {
		t.Fatal(err)
	}
	rows, err := Read(file)
	if err != nil || !slices.Equal(rows, fakeRows) {
		t.Errorf("Read returned the rows %v, error %v; want the written rows %v", rows, err, fakeRows)
	}
}
