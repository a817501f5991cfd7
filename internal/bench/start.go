package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// startMeasurement is the result of the benchmark action "start". All times in
// startMeasurement are in milliseconds since just before the server process was started.
type startMeasurement struct {
	ConnectionAcceptedMs float64 `json:"acceptsMs"`
	// HealthRespondedMs is when the server responded to /healthz; 0 if /healthz was not requested.
	HealthRespondedMs float64 `json:"healthMs"`
	// ToolListReceivedMs is when the response to tools/list was complete; 0 if tools/list was not
	// requested. Tools is the number of tools in the response to tools/list.
	ToolListReceivedMs float64 `json:"listMs"`
	Tools              int     `json:"tools"`
	// RSSBytes is the server's resident memory, measured request.SettleTimeMs after the last
	// response. AnonymousBytes is the part of the resident memory that is not backed by a
	// file.
	RSSBytes       int64 `json:"rssBytes"`
	AnonymousBytes int64 `json:"anonBytes"`
}

const startTimeout = time.Minute

func measureServerStart(o request) (s startMeasurement, err error) {
	ctx, stop := context.WithTimeout(context.Background(), startTimeout)
	defer stop()
	cmd := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...)
	cmd.Env = append(os.Environ(), o.Env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe() // the variable stdin stays open, because `bench floor` exits when its stdin closes
	if err != nil {
		return s, err
	}
	startTime := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	exitErr := make(chan error, 1)
	go func() { exitErr <- cmd.Wait() }()
	defer func() {
		_ = stdin.Close()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if e := <-exitErr; err == nil && e != nil && !wasKilledBy(e, syscall.SIGTERM) {
			err = fmt.Errorf("the server ended with %w: %s", e, stderr.Bytes())
		}
	}()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(o.Port))
	for {
		c, err := net.Dial("tcp", address)
		if err == nil {
			s.ConnectionAcceptedMs = sinceMs(startTime)
			_ = c.Close()
			break
		}
		if ctx.Err() != nil {
			return s, errors.Join(errors.New("the server does not listen"), err)
		}
		time.Sleep(100 * time.Microsecond)
	}
	resp, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		return s, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil {
		return s, err
	}
	s.HealthRespondedMs = sinceMs(startTime)
	if o.TokenFile != "" {
		var listResponse []byte
		if listResponse, err = listTools("http://"+address+"/mcp", o.TokenFile); err != nil {
			return s, fmt.Errorf("list the tools: %w", err)
		}
		s.ToolListReceivedMs = sinceMs(startTime)
		if s.Tools, err = countTools(listResponse); err != nil {
			return s, err
		}
	}
	if o.SettleTimeMs > 0 {
		time.Sleep(time.Duration(o.SettleTimeMs * float64(time.Millisecond)))
		s.RSSBytes, s.AnonymousBytes, err = residentMemory(cmd.Process.Pid)
	}
	return s, err
}

func listTools(url, tokenFile string) ([]byte, error) {
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	t, err := connectTarget(url, string(bytes.TrimSpace(token)))
	if err != nil {
		return nil, err
	}
	c, err := t.acquireConn()
	if err != nil {
		return nil, err
	}
	defer c.close()
	return c.post([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
}

func countTools(toolsList []byte) (int, error) {
	var listResponse struct {
		Result struct {
			Tools []json.RawMessage `json:"tools"`
		} `json:"result"`
	}
	err := json.Unmarshal(toolsList, &listResponse)
	return len(listResponse.Result.Tools), err
}

func wasKilledBy(err error, sig syscall.Signal) bool {
	var exitError *exec.ExitError
	if !errors.As(err, &exitError) {
		return false
	}
	status, ok := exitError.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == sig
}

func sinceMs(t time.Time) float64 { return float64(time.Since(t).Microseconds()) / 1000 }

// residentMemory reads the resident memory of a process from /proc, which only Linux has.
func residentMemory(pid int) (residentBytes, anonymousBytes int64, err error) {
	fileContent, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range bytes.Lines(fileContent) {
		words := bytes.Fields(line)
		if len(words) != 3 {
			continue
		}
		kb, err := strconv.ParseInt(string(words[1]), 10, 64)
		if err != nil {
			continue
		}
		switch string(words[0]) {
		case "VmRSS:":
			residentBytes = kb << 10
		case "RssAnon:":
			anonymousBytes = kb << 10
		}
	}
	return residentBytes, anonymousBytes, nil
}
