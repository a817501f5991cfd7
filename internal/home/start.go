package home

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"opentabs/internal/config"
	"opentabs/internal/logfile"
)

const (
	startTimeout = 10 * time.Second
	pollInterval = 10 * time.Millisecond
	// otherServerTimeout limits how long to wait for a daemon that another process
	// started first.
	otherServerTimeout = time.Second
)

// StartServer starts `opentabs serve` as a background process and returns when a daemon
// responds. If two processes start a daemon at the same time, both use the daemon that
// starts first.
func (h *Home) StartServer(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	logName := h.LogFile()
	log, err := logfile.Open(logName, logfile.MaxBytes)
	if IsWriteFailure(err) { // the server also runs without a log
		logName = os.DevNull
		log, err = logfile.Open(logName, logfile.MaxBytes)
	}
	if err != nil {
		return err
	}
	defer log.Close()
	offset := log.Size()
	// The daemon opens its log file itself, so that it can rotate the file.
	cmd := exec.Command(exe, "serve", "--log-format", "json", "--log-file", logName)
	cmd.Dir = h.State // a daemon in the client's directory would prevent the user from removing that directory
	cmd.Stdout, cmd.Stderr = log.OS(), log.OS()
	cmd.SysProcAttr = DetachedProcessAttributes()
	cmd.Env = os.Environ()
	if os.Getenv(config.HomeVariable) != "" { // the value of OPENTABS_HOME may be relative to the client's directory
		cmd.Env = append(cmd.Env, config.HomeVariable+"="+h.State)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	exitErr := make(chan error, 1)
	go func() { exitErr <- cmd.Wait() }()
	if h.waitForServer(ctx, exitErr) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s (its log is %s)", readLastMessage(logName, offset), logName)
}

// WaitForServer waits for the first response of a daemon that another program, such as
// systemd, starts.
func WaitForServer(ctx context.Context, h *Home) error {
	if h.waitForServer(ctx, nil) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("the server did not answer within %s (its log is %s)", startTimeout, h.LogFile())
}

func (h *Home) waitForServer(ctx context.Context, exitErr <-chan error) bool {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if _, err := h.FindServer(ctx); err == nil {
			return true
		}
		select {
		case <-time.After(pollInterval):
		case <-exitErr:
			exitErr = nil
			time.AfterFunc(otherServerTimeout, cancel)
		case <-ctx.Done():
			return false
		}
	}
}

// A daemon that cannot start logs the reason as its last message for the user.
func readLastMessage(path string, offset int64) string {
	const noReasonText = "the server did not start and logged no reason"
	f, err := os.Open(path)
	if err != nil {
		return noReasonText
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return noReasonText
	}
	readBytes, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil && !errors.Is(err, io.EOF) {
		return noReasonText
	}
	logMessage := noReasonText
	for line := range bytes.Lines(readBytes) {
		if errorText, ok := strings.CutPrefix(string(bytes.TrimSpace(line)), "opentabs: "); ok {
			logMessage = errorText
		}
	}
	return logMessage
}
