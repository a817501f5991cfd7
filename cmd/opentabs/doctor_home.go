package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/terminal"
)

// The checks that need no server: what is on this disk.

func (c *checkup) checkHome() {
	flaws := c.dirs.Inspect()
	for _, f := range flaws {
		if f.Serious {
			c.fail("directories", f.Says, f.Do)
		} else {
			c.warn("directories", f.Says, f.Do)
		}
	}
	switch {
	case flaws != nil:
	case !config.Exists(c.dirs.State):
		c.ok("directories", "%s is not there yet; the first command that needs it makes it", c.dirs.State)
	default:
		c.ok("directories", "%s: only you can open what is in there", strings.Join(unique(c.dirs.Config, c.dirs.State), ", "))
	}
}

func (c *checkup) checkToken() {
	token, err := c.dirs.ExistingToken()
	switch {
	case errors.Is(err, config.ErrDamaged):
		c.fail("token", c.dirs.TokenFile()+" is damaged",
			"start the server again, which makes a new token; then run `opentabs extension install` and reload the extension")
	case err != nil:
		c.fail("token", err.Error(), "see that you may read "+c.dirs.TokenFile())
	case token == "":
		c.ok("token", "there is none yet; the server makes it when it first starts")
	default:
		c.ok("token", "in %s", c.dirs.TokenFile())
	}
}

func (c *checkup) checkSettings() {
	settings, err := config.Load(c.dirs, c.program.getenv, nil)
	if err != nil {
		c.fail("settings", err.Error(), "correct that; no command and no server starts before")
		return
	}
	c.settings, c.set = settings, true
	if config.Exists(c.dirs.ConfigFile()) {
		c.ok("settings", "%s can be read", c.dirs.ConfigFile())
	} else {
		c.ok("settings", "there is no %s, so the defaults hold", c.dirs.ConfigFile())
	}
}

// oldestError is how old an error in the log may be to be told.
const oldestError = 24 * time.Hour

func (c *checkup) checkLog() {
	path := c.dirs.LogFile()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.ok("log", "there is no %s: no client has started a server in the background", path)
		return
	case err != nil:
		c.warn("log", err.Error(), "see that you may read "+path)
		return
	}
	last, err := lastError(path)
	switch {
	case err != nil:
		c.warn("log", err.Error(), "see that you may read "+path)
	case last.Message != "" && time.Since(last.Time) < oldestError:
		c.warn("log", fmt.Sprintf("the last error in %s, of %s: %s", path, last.Time.Local().Format(time.DateTime), last), "look there for what came before it")
	default:
		c.ok("log", "%s, %s, no error since yesterday", path, terminal.ByteSize(int(info.Size())))
	}
}

// logLine is what is read of a line of the server's log.
type logLine struct {
	Level   string    `json:"level"`
	Time    time.Time `json:"time"`
	Message string    `json:"message"`
	Error   string    `json:"error"`
}

// String is the message and the error in it.
func (l logLine) String() string {
	if l.Error == "" {
		return l.Message
	}
	return l.Message + ": " + l.Error
}

// logTail is how much of the log's end is read, in bytes.
const logTail = 256 << 10

// lastError returns the last line of level error or worse near the end of the
// log, or a zero one.
func lastError(path string) (logLine, error) {
	f, err := os.Open(path)
	if err != nil {
		return logLine{}, fmt.Errorf("read the log: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > logTail {
		if _, err := f.Seek(-logTail, io.SeekEnd); err != nil {
			return logLine{}, fmt.Errorf("read the log: %w", err)
		}
	}
	text, err := io.ReadAll(io.LimitReader(f, 2*logTail))
	if err != nil {
		return logLine{}, fmt.Errorf("read the log: %w", err)
	}
	var last logLine
	for line := range bytes.Lines(text) {
		var l logLine
		// The first line may be the end of one, and what is said to people stands
		// between: both are no JSON.
		if json.Unmarshal(line, &l) == nil && (l.Level == "error" || l.Level == "fatal" || l.Level == "panic") {
			last = l
		}
	}
	return last, nil
}
