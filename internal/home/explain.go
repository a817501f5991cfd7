package home

import (
	"errors"
	"io/fs"
	"syscall"

	"opentabs/internal/config"
	"opentabs/internal/httpapi"
)

// ExplainError returns the text of err for the user. For known errors, ExplainError adds
// what the user should do.
func ExplainError(err error) string {
	var otherToken *ServerTokenMismatchError
	if errors.As(err, &otherToken) {
		return otherToken.Error() + ": " + ServerTokenMismatchRemedy
	}
	if errors.Is(err, config.ErrDamaged) {
		return err.Error() + ": " + DamagedTokenRemedy
	}
	var portErr *portInUseError
	if errors.As(err, &portErr) {
		return portErr.Error() + ", and no data was sent to it: stop that program, choose another port with OPENTABS_PORT, or, if that server is yours, set OPENTABS_HOME to its directory"
	}
	if errors.Is(err, httpapi.ErrPortTaken) {
		return "the port of opentabs is in use by another program or another opentabs installation, and no data was sent to it: set OPENTABS_HOME to the directory of that installation, or choose another port with OPENTABS_PORT"
	}
	for _, r := range errorRemedies {
		if errors.Is(err, r.err) {
			return err.Error() + ": " + r.action
		}
	}
	return err.Error()
}

var errorRemedies = []struct {
	err    error
	action string
}{
	{syscall.ENOSPC, "free some space on that disk, then try again"},
	{syscall.EDQUOT, "free some of your space on that disk, then try again"},
	{syscall.EROFS, "make that directory writable, or set " + config.HomeVariable + " to one that is"},
	{fs.ErrPermission, "check that you can read and write there, or set " + config.HomeVariable + " to a directory of your own"},
	{syscall.ENOTDIR, "move the file that is in place of a directory, or set " + config.HomeVariable + " to another directory"},
	{syscall.EMFILE, "close some programs, or raise the limit of open files (ulimit -n), then try again"},
}

// IsWriteFailure reports whether err means that a directory is not writable: no permission,
// a read-only file system, or a full disk.
func IsWriteFailure(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
