package upgrade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	maxProgramBytes = 200 << 20
	// versionCommandTimeout limits the first run of a downloaded program, which a virus scanner can
	// delay by many seconds.
	versionCommandTimeout = time.Minute
)

// NewProgram is a downloaded and verified opentabs program.
type NewProgram struct {
	// Path is the path of the downloaded executable, in a temporary folder.
	Path string
	dir  string
}

// Remove deletes the temporary folder of the downloaded program.
func (p NewProgram) Remove() error { return os.RemoveAll(p.dir) }

// Download downloads the release archive, verifies its checksum, extracts the program into
// a temporary folder inside dir, and runs the program to check its version. The folder dir
// must be on the same disk as the program that [NewProgram.Install] will replace.
func (r Release) Download(ctx context.Context, dir string) (_ NewProgram, err error) {
	folder, err := os.MkdirTemp(dir, ".opentabs-upgrade-")
	if err != nil {
		return NewProgram{}, err
	}
	p := NewProgram{Path: filepath.Join(folder, programName()), dir: folder}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Remove())
		}
	}()
	archive := filepath.Join(folder, r.archive)
	if err := r.fetchArchive(ctx, archive); err != nil {
		return NewProgram{}, err
	}
	if err := extractProgram(archive, p.Path); err != nil {
		return NewProgram{}, fmt.Errorf("%s: %w", r.archive, err)
	}
	if err := os.Remove(archive); err != nil {
		return NewProgram{}, err
	}
	return p, r.checkProgram(ctx, p.Path)
}

func programName() string {
	if runtime.GOOS == "windows" {
		return "opentabs.exe"
	}
	return "opentabs"
}

func (r Release) fetchArchive(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	body, err := fetchBody(ctx, r.URL+"/"+r.archive)
	if err != nil {
		return err
	}
	defer body.Close()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(body, maxArchiveBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("the download of %s stopped (%w): run the command again", r.archive, err)
	}
	if size > maxArchiveBytes {
		return fmt.Errorf("%s has more than %d MB, so the download was stopped", r.archive, maxArchiveBytes>>20)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != r.sha256 {
		return fmt.Errorf("the checksum of %s is %s, and %s lists %s: nothing was installed; try again later, and report the problem if it stays", r.archive, got, checksumsFile, r.sha256)
	}
	return nil
}

var errNoProgram = errors.New("the archive does not contain " + programName())

// An archive has the opentabs program at its root, or in a folder whose name begins with "opentabs".
func isProgram(name string) bool {
	name = strings.TrimPrefix(name, "./")
	folder, base, hasFolder := strings.Cut(name, "/")
	return name == programName() || hasFolder && base == programName() && strings.HasPrefix(folder, "opentabs")
}

func writeProgram(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	size, err := io.Copy(f, io.LimitReader(content, maxProgramBytes+1))
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && size > maxProgramBytes {
		err = fmt.Errorf("the program in the archive has more than %d MB", maxProgramBytes>>20)
	}
	return err
}

func (r Release) checkProgram(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, versionCommandTimeout)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("the downloaded program does not run on this machine (%w), so nothing was installed: report the problem", err)
	}
	if got := strings.TrimSpace(string(output)); got != "opentabs "+r.Version {
		return fmt.Errorf("the downloaded program reports the version %q, want %q: nothing was installed", got, "opentabs "+r.Version)
	}
	return nil
}

const backupSuffix = ".old"

// BackupPath returns the path at which an upgrade keeps the earlier program.
func BackupPath(path string) string { return path + backupSuffix }

// Install replaces the program at path with the downloaded program, and keeps the earlier
// program at the returned path. The downloaded program gets the file mode of the earlier
// program.
func (p NewProgram) Install(path string) (backupFile string, err error) {
	fileInfo, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(p.Path, fileInfo.Mode().Perm()); err != nil {
		return "", err
	}
	backupFile = BackupPath(path)
	if err := os.Remove(backupFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return backupFile, replaceProgram(p.Path, path, backupFile)
}
