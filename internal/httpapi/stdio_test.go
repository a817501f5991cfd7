package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestStdioTransfersLines(t *testing.T) {
	f := startFixture(t)
	conn, err := NewClient(f.port, testToken).Stdio(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	for _, want := range []string{"echo one", "echo two"} {
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("line from the server = %q, want %q", lines.Text(), want)
		}
	}
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "bye" || lines.Scan() {
		t.Errorf("last line after the end of the input = %q; want only the line bye", lines.Text())
	}
}

// The session must have the client's name, and must end when the client's token is removed.
func TestStdioSessionEndsWithToken(t *testing.T) {
	clients := &fakeClientTokens{}
	f := startFixture(t, func(o *Options) {
		o.Clients = clients
		o.Stdio = func(ctx context.Context, _ io.Reader, outWriter io.Writer) error {
			_, err := fmt.Fprintf(outWriter, "%s\n", CallerOf(ctx).Client)
			<-ctx.Done()
			return err
		}
	})
	client := NewClient(f.port, testToken)
	conn, err := client.Stdio(t.Context(), clientTokenInTest)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	if line, err := lines.ReadString('\n'); line != "laptop\n" {
		t.Errorf("client of the session = %q, error %v; want the name laptop", line, err)
	}
	if err := clients.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, err := lines.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("error of the session after its token was removed = %v, want %v", err, io.EOF)
	}
	var refusedError *RefusedError
	if _, err := client.Stdio(t.Context(), clientTokenInTest); !errors.As(err, &refusedError) || refusedError.Status != http.StatusForbidden {
		t.Errorf("opening a session with a removed token returned %v, want a refusal", err)
	}
}

// TestStdioEndOfInput checks that a client can close its input while a request is
// running.
func TestStdioEndOfInput(t *testing.T) {
	f := startFixture(t, func(o *Options) {
		o.Stdio = func(ctx context.Context, inputReader io.Reader, outWriter io.Writer) error {
			if _, err := io.Copy(io.Discard, inputReader); err != nil {
				return err
			}
			_, err := fmt.Fprintf(outWriter, "context: %v\n", ctx.Err())
			return err
		}
	})
	conn, err := NewClient(f.port, testToken).Stdio(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(conn).ReadString('\n'); line != "context: <nil>\n" {
		t.Errorf("response after the client closed its input = %q, error %v; want %q", line, err, "context: <nil>\n")
	}
}

// TestStdioShutdown checks that a stopping server sends its last responses before it
// closes the connection.
func TestStdioShutdown(t *testing.T) {
	f := startFixture(t)
	conn, err := NewClient(f.port, testToken).Stdio(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "one\n"); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(conn)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	if err := f.api.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "bye" || lines.Scan() {
		t.Errorf("last line after the shutdown = %q; want only the line bye", lines.Text())
	}
	secondConn, err := NewClient(f.port, testToken).Stdio(context.Background(), "")
	if err == nil {
		secondConn.Close()
		t.Error("Stdio opened a session after the shutdown; want an error")
	}
}

// TestStdioShutdownTimeout checks that Shutdown closes an MCP session that does not end
// by itself.
func TestStdioShutdownTimeout(t *testing.T) {
	isReading, release := make(chan struct{}), make(chan struct{})
	f := startFixture(t, func(o *Options) {
		o.Stdio = func(context.Context, io.Reader, io.Writer) error {
			close(isReading)
			<-release
			return nil
		}
	})
	t.Cleanup(func() { close(release) })
	conn, err := NewClient(f.port, testToken).Stdio(context.Background(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	<-isReading
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := f.api.Shutdown(ctx); err == nil {
		t.Error("Shutdown returned no error although it closed a running session; want an error")
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is open after the timeout of Shutdown; want a closed connection")
	}
}

func TestHeaderHasToken(t *testing.T) {
	for header, want := range map[string]bool{"Upgrade": true, "keep-alive, Upgrade": true, "": false, "upgrades": false} {
		if hasToken(header, "upgrade") != want {
			t.Errorf("hasToken(%q, \"upgrade\") = %v; want %v", header, !want, want)
		}
	}
}
