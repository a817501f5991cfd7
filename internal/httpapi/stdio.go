package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// StdioProtocol is the value of the Upgrade header that requests a connection of
// newline-delimited MCP messages.
const StdioProtocol = "opentabs-stdio"

// connections tracks the open connections of /stdio. net/http no longer tracks a
// connection after an upgrade, so Shutdown needs this list. It is safe for concurrent
// use.
type connections struct {
	mu     sync.Mutex // guards open and closed
	open   map[net.Conn]struct{}
	closed bool
	served sync.WaitGroup
}

// add tracks a connection. It returns false if the server is stopping.
func (c *connections) add(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	if c.open == nil {
		c.open = map[net.Conn]struct{}{}
	}
	c.open[conn] = struct{}{}
	c.served.Add(1)
	return true
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	delete(c.open, conn)
	c.mu.Unlock()
	c.served.Done()
}

// drain ends the input of every connection and waits until their sessions have
// finished. When ctx ends first, drain closes the connections and returns an error.
func (c *connections) drain(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	for conn := range c.open {
		// A deadline in the past wakes the reader and leaves the writer alone.
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		c.served.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	for conn := range c.open {
		_ = conn.Close()
	}
	c.mu.Unlock()
	return fmt.Errorf("end the stdio sessions: %w", ctx.Err())
}

// upgrade takes over the connection from net/http and serves an MCP session on it.
// The client is `opentabs mcp`, which copies between the connection and its own
// standard input and output.
func (a *API) upgrade(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), StdioProtocol) || !hasToken(r.Header.Get("Connection"), "upgrade") {
		w.Header().Set("Upgrade", StdioProtocol)
		w.Header().Set("Connection", "Upgrade")
		refuse(w, http.StatusUpgradeRequired, "this is for opentabs mcp: send Connection: Upgrade and Upgrade: "+StdioProtocol+", or use /mcp")
		return
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the connection cannot be upgraded: use HTTP/1.1")
		return
	}
	defer conn.Close()
	// Removes the deadline that net/http may have set. This comes before add, because
	// drain sets a deadline on the connections that add has added.
	err = conn.SetDeadline(time.Time{})
	if !a.stdio.add(conn) {
		return
	}
	defer a.stdio.remove(conn)
	if err == nil {
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+StdioProtocol+"\r\n\r\n")
	}
	if err == nil {
		// Reads only the bytes that are in the buffer. A longer read would go through
		// net/http, which cancels r.Context() at the end of the input, and with it the
		// running calls.
		ahead := io.LimitReader(buffered, int64(buffered.Reader.Buffered()))
		err = a.options.Stdio(r.Context(), endsQuietly{io.MultiReader(ahead, conn)}, conn)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) && r.Context().Err() == nil {
		a.options.Log.Warn().Err(err).Msg("a stdio session failed")
	}
}

// endsQuietly turns every read error into io.EOF: a read fails when drain ends the
// input or when the client has died.
type endsQuietly struct{ r io.Reader }

func (e endsQuietly) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

// hasToken reports whether a comma-separated header names token.
func hasToken(header, token string) bool {
	for part := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(part), token) {
			return true
		}
	}
	return false
}
