package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/home"
	"opentabs/internal/humanize"
)

func (c *healthCheck) checkDirectories() {
	permissionProblems := c.dirs.Inspect()
	for _, f := range permissionProblems {
		if f.PreventsStart {
			c.reportFailure("directories", f.ProblemText, f.Remedy)
		} else {
			c.reportWarning("directories", f.ProblemText, f.Remedy)
		}
		if f.Path != "" {
			c.offerRepair(changeMode(f.Path, f.Mode, os.Chmod))
		}
	}
	switch {
	case permissionProblems != nil:
	case !config.PathExists(c.dirs.State):
		c.reportOK("directories", "%s does not exist yet; the first command that needs it creates it", c.dirs.State)
	default:
		dirs := slices.Compact([]string{c.dirs.Config, c.dirs.State})
		c.reportOK("directories", "%s: only you have access", strings.Join(dirs, ", "))
	}
}

func hasDirectories(dirs config.Dirs) bool {
	return !slices.ContainsFunc([]string{dirs.Config, dirs.State}, func(dir string) bool {
		fileInfo, err := os.Stat(dir)
		return err == nil && !fileInfo.IsDir()
	})
}

func (c *healthCheck) checkToken(ctx context.Context) {
	token, err := c.dirs.ExistingToken()
	switch {
	case errors.Is(err, config.ErrDamaged):
		c.checkDamagedToken(ctx, err)
	case err != nil:
		c.reportFailure("token", err.Error(), "check the disk and the mode of "+c.dirs.TokenFile())
	default:
		c.checkServerToken(ctx, token)
	}
}

// While a server runs with the earlier token, `opentabs doctor` creates no new token, because a restart of the server
// would end its calls.
func (c *healthCheck) checkDamagedToken(ctx context.Context, tokenErr error) {
	c.isTokenDamaged = true
	_, err := c.findHome().FindServer(ctx)
	if errors.As(err, new(*home.ServerTokenMismatchError)) {
		c.reportFailure("token", err.Error(), home.ServerTokenMismatchRemedy)
		return
	}
	c.reportFailure("token", tokenErr.Error(), home.DamagedTokenRemedy)
	c.offerRepair(c.repairStateDir)
}

func (c *healthCheck) checkServerToken(ctx context.Context, token string) {
	_, err := c.findHome().FindServer(ctx)
	if errors.As(err, new(*home.ServerTokenMismatchError)) {
		c.reportFailure("token", err.Error(), home.ServerTokenMismatchRemedy)
		return
	}
	if token == "" {
		c.reportOK("token", "does not exist yet; the server creates it at its first start")
		return
	}
	c.reportOK("token", "in %s", c.dirs.TokenFile())
}

func (c *healthCheck) repairStateDir(context.Context) (string, error) {
	unlock, err := c.dirs.LockStart()
	if err != nil {
		return "", err
	}
	defer unlock()
	warnings, err := c.dirs.RepairStateDir()
	if err == nil {
		_, err = c.dirs.Token()
	}
	return strings.Join(warnings, "; "), err
}

func (c *healthCheck) checkSettings() {
	settings, err := config.Load(c.dirs, c.getenv, nil)
	if err != nil {
		c.reportFailure("settings", err.Error(), "correct the setting; until then no command and no server starts")
		return
	}
	c.settings, c.areSettingsValid = settings, true
	if config.PathExists(c.dirs.ConfigFile()) {
		c.reportOK("settings", "%s is valid", c.dirs.ConfigFile())
	} else {
		c.reportOK("settings", "%s does not exist, so the defaults apply", c.dirs.ConfigFile())
	}
}

// Errors in the log are not reported if they are older than maxErrorAge, or older than the start of the running server.
const maxErrorAge = time.Hour

func (c *healthCheck) checkLog() {
	path := c.dirs.LogFile()
	fileInfo, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		c.reportOK("log", "%s does not exist: no client has started a server in the background", path)
		return
	}
	since := c.Now().Add(-maxErrorAge)
	if c.status != nil {
		since = c.status.Started.Truncate(time.Second) // times in the log have whole seconds
	}
	var lastError logLine
	if err == nil {
		lastError, err = readLastError(path)
	}
	switch {
	case err != nil:
		c.reportWarning("log", err.Error(), "check that you can read "+path)
	case lastError.Message != "" && !lastError.Time.Before(since):
		c.reportWarning("log", fmt.Sprintf("the server had an error at %s: %s", lastError.Time.Local().Format(time.DateTime), lastError),
			"if something failed at that time, read the lines before the error in "+path)
	case c.status != nil:
		c.reportOK("log", "%s, %s, no error since the server started", path, humanize.Bytes(int(fileInfo.Size())))
	default:
		c.reportOK("log", "%s, %s, no error in the last hour", path, humanize.Bytes(int(fileInfo.Size())))
	}
}

// logLine has the relevant fields of one line in the server's log.
type logLine struct {
	Level   string    `json:"level"`
	Time    time.Time `json:"time"`
	Message string    `json:"message"`
	Error   string    `json:"error"`
}

func (l logLine) String() string {
	if l.Error == "" {
		return l.Message
	}
	return l.Message + ": " + l.Error
}

const maxLogTailBytes = 256 << 10

func readLastError(path string) (logLine, error) {
	f, err := os.Open(path)
	if err != nil {
		return logLine{}, fmt.Errorf("read the log: %w", err)
	}
	defer f.Close()
	if fileInfo, err := f.Stat(); err == nil && fileInfo.Size() > maxLogTailBytes {
		if _, err := f.Seek(-maxLogTailBytes, io.SeekEnd); err != nil {
			return logLine{}, fmt.Errorf("read the log: %w", err)
		}
	}
	readBytes, err := io.ReadAll(io.LimitReader(f, 2*maxLogTailBytes))
	if err != nil {
		return logLine{}, fmt.Errorf("read the log: %w", err)
	}
	var lastError logLine
	for line := range bytes.Lines(readBytes) {
		var l logLine
		// The loop skips lines that are not JSON, such as a truncated first line and notices for
		// the user.
		if json.Unmarshal(line, &l) == nil && (l.Level == "error" || l.Level == "fatal" || l.Level == "panic") {
			lastError = l
		}
	}
	return lastError, nil
}
