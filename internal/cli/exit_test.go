package cli

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"testing"

	"opentabs/internal/callview"
	"opentabs/internal/httpapi"
	"opentabs/internal/toolcall"
	"opentabs/wire"
)

// TestExitCodesAreComplete checks that each error code in wire/error.go has an exit code.
func TestExitCodesAreComplete(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "wire", "error.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codeCount := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); !ok || id.Name != "ErrorCode" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		codeCount++
		if code, ok := exitCodes[wire.ErrorCode(text)]; !ok || code == ExitOK {
			t.Errorf("exit code of the error code %s = %d, listed = %t; want a listed exit code other than 0", text, code, ok)
		}
		return true
	})
	if codeCount == 0 || codeCount != len(exitCodes) {
		t.Errorf("package wire has %d error codes and the variable exitCodes has %d; want the same number above 0", codeCount, len(exitCodes))
	}
}

func TestExplainError(t *testing.T) {
	cancelledCtx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want string
		code int
	}{
		{"nothing", context.Background(), nil, "", ExitOK},
		{"an unknown error", context.Background(), errors.New("boom"), "boom", ExitFailed},
		{"a usage error", context.Background(), NewUsageError("no %s", "flag"), "no flag", ExitUsage},
		{"a failed call", context.Background(), fmt.Errorf("x: %w", &toolcall.Failure{Code: wire.ErrTabClosed}), "", exitNoPage},
		{"a failed call with an unknown error code", context.Background(), &toolcall.Failure{Code: "later"}, "", ExitFailed},
		{"an interrupted call", cancelledCtx, toolcall.ErrInterrupted, "interrupted; the call was cancelled", exitInterrupted},
		{"a lost result", context.Background(), fmt.Errorf("x: %w", &toolcall.ResultLostError{CallID: "call_1"}), (&toolcall.ResultLostError{CallID: "call_1"}).Error(), exitResultLost},
		{"a late decision", context.Background(), fmt.Errorf("x: %w", &callview.AlreadyDecidedError{}), "", exitAlreadyDecided},
		{"the end of a stream", context.Background(), fmt.Errorf("read the test file: %w", httpapi.ErrStreamEnded), "the server has stopped; start it with `opentabs serve`", ExitNoServer},
		{"no server", context.Background(), fmt.Errorf("wait for an answer: %w", httpapi.ErrNoServer), "no opentabs server is running; start it with `opentabs serve`", ExitNoServer},
		{"Ctrl-C", cancelledCtx, fmt.Errorf("ask: %w", context.Canceled), "interrupted", exitInterrupted},
		{"an error after Ctrl-C", cancelledCtx, errors.New("boom"), "boom", ExitFailed},
		{"a server with another token", context.Background(), fmt.Errorf("wait for an answer: %w", httpapi.ErrPortTaken), "the port of opentabs is in use by another program or another opentabs installation, and no data was sent to it: set OPENTABS_HOME to the directory of that installation, or choose another port with OPENTABS_PORT", ExitFailed},
		{"a refusal", context.Background(), &httpapi.RefusedError{Status: 404, Explanation: "no such call"}, "no such call", ExitFailed},
	} {
		if got, code := ExplainError(c.ctx, c.err); got != c.want || code != c.code {
			t.Errorf("%s: got the message %q and the exit code %d; want %q and %d", c.name, got, code, c.want, c.code)
		}
	}
}
