package main

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
	// spawnPatience is how long a server may take to come up.
	spawnPatience = 10 * time.Second
	// spawnPoll is the time between two looks whether it is there.
	spawnPoll = 10 * time.Millisecond
	// othersPatience is how long the server of somebody else, which was faster,
	// may take to answer after ours has given up.
	othersPatience = time.Second
)

// startInBackground starts `opentabs serve` as a process of its own and returns
// when a server answers. If two do this at once, both find the one that came
// first.
func startInBackground(ctx context.Context, dirs config.Dirs, s config.Settings) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	logName := dirs.LogFile()
	log, err := logfile.Open(logName, logfile.MaxBytes)
	if unwritable(err) { // a server can do without
		logName = os.DevNull
		log, err = logfile.Open(logName, logfile.MaxBytes)
	}
	if err != nil {
		return err
	}
	defer log.Close()
	from := log.Size()
	// What the server logs it writes there itself, so that it can begin anew;
	// what it says, and what it dies of, comes by its stderr.
	cmd := exec.Command(exe, "serve", "--log-format", "json", "--log-file", logName)
	cmd.Dir = dirs.State // not one that the client may want to remove
	cmd.Stdout, cmd.Stderr = log.OS(), log.OS()
	cmd.SysProcAttr = detached()
	cmd.Env = os.Environ()
	if os.Getenv(config.HomeVariable) != "" { // it may be relative to the client's directory
		cmd.Env = append(cmd.Env, config.HomeVariable+"="+dirs.State)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if waitForServer(ctx, dirs, s, ended) {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s (its log is %s)", whyNot(logName, from), logName)
}

// waitForServer waits until a server answers. It gives up after spawnPatience,
// or othersPatience after ours has ended.
func waitForServer(ctx context.Context, dirs config.Dirs, s config.Settings, ended <-chan error) bool {
	ctx, cancel := context.WithTimeout(ctx, spawnPatience)
	defer cancel()
	for {
		if _, err := findServer(ctx, dirs, s); err == nil {
			return true
		}
		select {
		case <-time.After(spawnPoll):
		case <-ended:
			ended = nil
			time.AfterFunc(othersPatience, cancel)
		case <-ctx.Done():
			return false
		}
	}
}

// whyNot returns the last thing that the server said to people since its log
// had from bytes.
func whyNot(path string, from int64) string {
	const silence = "the server did not start and did not say why"
	f, err := os.Open(path)
	if err != nil {
		return silence
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return silence
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil && !errors.Is(err, io.EOF) {
		return silence
	}
	said := ""
	for line := range bytes.Lines(text) {
		if sentence, ok := strings.CutPrefix(string(bytes.TrimSpace(line)), "opentabs: "); ok {
			said = sentence
		}
	}
	if said == "" {
		return silence
	}
	return said
}
