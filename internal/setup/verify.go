package setup

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const verifyTimeout = 20 * time.Second

// ClientName is the client name that [Verify] and [CallTool] send in MCP's initialize
// request.
const ClientName = "opentabs setup"

const sessionStartMessages = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"` + ClientName + `","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

const requestID = 2

// Verify starts command like an MCP client, opens an MCP session, and returns the number
// of tools that the server lists.
func Verify(ctx context.Context, command Command) (toolCount int, err error) {
	ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
	defer cancel()
	var toolsResult struct {
		Tools []json.RawMessage `json:"tools"`
	}
	err = sendRequest(ctx, command, "tools/list", map[string]any{}, &toolsResult)
	return len(toolsResult.Tools), err
}

// CallTool starts command like an MCP client, calls a tool, and returns the text of the
// result. If the call fails, the text of the error is what an agent would receive.
func CallTool(ctx context.Context, command Command, tool string, args map[string]any) (output string, err error) {
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := sendRequest(ctx, command, "tools/call", map[string]any{"name": tool, "arguments": args}, &result); err != nil {
		return "", err
	}
	var shownTexts []string
	for _, content := range result.Content {
		shownTexts = append(shownTexts, content.Text)
	}
	if output = strings.Join(shownTexts, "\n"); result.IsError {
		return "", errors.New(output)
	}
	return output, nil
}

func sendRequest(ctx context.Context, command Command, method string, params, result any) error {
	request, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": requestID, "method": method, "params": params})
	if err != nil {
		return err
	}
	process := exec.CommandContext(ctx, command.Path, command.Args...)
	process.Env = os.Environ()
	for name, value := range command.Env {
		process.Env = append(process.Env, name+"="+value)
	}
	var log bytes.Buffer
	process.Stderr = &log
	stdin, err := process.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	_, writeErr := io.WriteString(stdin, sessionStartMessages+string(request)+"\n")
	err = readResult(stdout, result)
	if closeErr := stdin.Close(); err == nil { // without a response, the server may already have closed its input
		err = errors.Join(writeErr, closeErr)
	}
	waitErr := process.Wait()
	switch stderrText := strings.TrimSpace(log.String()); {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return errors.New("the server did not answer in time")
	case ctx.Err() != nil:
		return ctx.Err()
	case stderrText != "" && errors.Is(err, errEndedWithoutResponse): // the server's log explains why the server exited
		return fmt.Errorf("%w: %s", err, stderrText)
	}
	return errors.Join(err, waitErr)
}

var errEndedWithoutResponse = errors.New("the server ended without an answer")

func readResult(stdout io.Reader, result any) error {
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return errEndedWithoutResponse
		}
		var message struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		switch {
		case json.Unmarshal(line, &message) != nil:
			return fmt.Errorf("the server wrote something else than MCP: %.100q", line)
		case message.Error != nil:
			return errors.New(message.Error.Message)
		case string(message.ID) == strconv.Itoa(requestID) && message.Method == "":
			return json.Unmarshal(message.Result, result)
		}
	}
}
