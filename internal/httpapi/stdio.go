package httpapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/httpjson"
)

// StdioProtocol is the value of the Upgrade header that requests a connection for
// newline-delimited MCP messages.
const StdioProtocol = "opentabs-stdio"

// clientTokenHeader determines the client's name in the MCP session; the administrator token authenticates the request.
const clientTokenHeader = "Opentabs-Client-Token"

// stdioRoute serves /stdio. stdioRoute tracks the open connections, because net/http does
// not track a connection after an upgrade. stdioRoute is safe for concurrent use.
type stdioRoute struct {
	serve func(ctx context.Context, inputReader io.Reader, outWriter io.Writer) error
	guard *requestGuard
	log   zerolog.Logger

	mu           sync.Mutex // the mutex guards openConns and closed
	openConns    map[net.Conn]struct{}
	closed       bool
	connHandlers sync.WaitGroup
}

func (s *stdioRoute) add(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.openConns == nil {
		s.openConns = map[net.Conn]struct{}{}
	}
	s.openConns[conn] = struct{}{}
	s.connHandlers.Add(1)
	return true
}

func (s *stdioRoute) remove(conn net.Conn) {
	s.mu.Lock()
	delete(s.openConns, conn)
	s.mu.Unlock()
	s.connHandlers.Done()
}

func (s *stdioRoute) drainConns(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for conn := range s.openConns {
		// A read deadline in the past ends the pending read, while writes continue.
		_ = conn.SetReadDeadline(time.Unix(1, 0))
	}
	s.mu.Unlock()
	handlersDone := make(chan struct{})
	go func() {
		s.connHandlers.Wait()
		close(handlersDone)
	}()
	select {
	case <-handlersDone:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for conn := range s.openConns {
		_ = conn.Close()
	}
	s.mu.Unlock()
	return fmt.Errorf("end the stdio sessions: %w", ctx.Err())
}

// `opentabs mcp` copies its standard input and output to and from the connection of upgradeToStdio.
func (s *stdioRoute) upgradeToStdio(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), StdioProtocol) || !hasToken(r.Header.Get("Connection"), "upgrade") {
		w.Header().Set("Upgrade", StdioProtocol)
		w.Header().Set("Connection", "Upgrade")
		httpjson.SendError(w, http.StatusUpgradeRequired, "this is for opentabs mcp: send Connection: Upgrade and Upgrade: "+StdioProtocol+", or use /mcp")
		return
	}
	ctx := r.Context()
	if token := r.Header.Get(clientTokenHeader); token != "" {
		name, clientCtx, endRequest, ok := s.guard.authenticateClient(ctx, token)
		if !ok {
			httpjson.SendError(w, http.StatusForbidden, "the token of this MCP client was removed: run `opentabs setup` to give the client a new one")
			return
		}
		defer endRequest()
		ctx = context.WithValue(clientCtx, callerKey{}, Caller{Client: name})
	}
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		httpjson.SendError(w, http.StatusInternalServerError, "the connection cannot be upgraded: use HTTP/1.1")
		return
	}
	defer conn.Close()
	// SetDeadline must precede add, because drainConns sets a deadline on every connection that was added.
	err = conn.SetDeadline(time.Time{})
	if !s.add(conn) {
		return
	}
	defer s.remove(conn)
	if err == nil {
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+StdioProtocol+"\r\n\r\n")
	}
	if err == nil {
		// At the end of the input, a read from buffered would make net/http cancel r.Context(), and with it all running
		// calls.
		bufferedInput := io.LimitReader(buffered, int64(buffered.Reader.Buffered()))
		err = s.serve(ctx, eofReader{io.MultiReader(bufferedInput, conn)}, conn)
	}
	if err != nil && !errors.Is(err, net.ErrClosed) && r.Context().Err() == nil {
		s.log.Warn().Err(err).Msg("a stdio session failed")
	}
}

// eofReader is a reader that turns every read error into io.EOF.
type eofReader struct{ r io.Reader }

func (e eofReader) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if err != nil {
		err = io.EOF
	}
	return n, err
}

func hasToken(header, token string) bool {
	for textPart := range strings.SplitSeq(header, ",") {
		if strings.EqualFold(strings.TrimSpace(textPart), token) {
			return true
		}
	}
	return false
}

// Stdio opens a connection to the server for newline-delimited MCP messages. The context
// ctx limits only the time until the connection is open. The argument clientToken is the
// token of the MCP client, or empty if the client has none. To end the session, call
// CloseWrite on the connection.
func (c *Client) Stdio(ctx context.Context, clientToken string) (*StdioConn, error) {
	conn, err := c.dialAndCheckProof(ctx, "tcp", c.address)
	if err != nil {
		return nil, dialError(err)
	}
	stopCancelOnDone := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stopCancelOnDone()
	s, err := c.openStdio(ctx, conn, clientToken)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

func (c *Client) openStdio(ctx context.Context, conn net.Conn, clientToken string) (*StdioConn, error) {
	req, err := c.request(ctx, http.MethodGet, "/stdio", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", StdioProtocol)
	if clientToken != "" {
		req.Header.Set(clientTokenHeader, clientToken)
	}
	if err := req.Write(conn); err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	reader := bufio.NewReaderSize(conn, 64<<10)
	resp, err := http.ReadResponse(reader, req)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		defer resp.Body.Close()
		return nil, newRefusedError(resp)
	}
	return &StdioConn{Conn: conn, reader: reader}, nil
}

// StdioConn is a client's connection to /stdio. When a StdioConn is created, the first
// bytes from the server can already be in its buffer.
type StdioConn struct {
	net.Conn
	reader *bufio.Reader
}

// Read reads bytes that the server has sent.
func (s *StdioConn) Read(p []byte) (int, error) { return s.reader.Read(p) }

// CloseWrite signals the end of the input to the server, and keeps the connection open
// for reading.
func (s *StdioConn) CloseWrite() error {
	if writeCloser, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return writeCloser.CloseWrite()
	}
	return s.Conn.Close()
}
