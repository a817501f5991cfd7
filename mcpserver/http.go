package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Handler serves MCP's Streamable HTTP on one path. It trusts every request
// that reaches it: put a guard in front that checks token, Host and Origin.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serveHTTP) }

func (s *Server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.servePost(w, r)
	case http.MethodGet, http.MethodDelete:
		s.serveSession(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, nil, wire.CodeInvalidRequest,
			"The method "+r.Method+" means nothing here. Send MCP messages with POST.")
	}
}

// refuse answers a request as a whole with a JSON-RPC error.
func refuse(w http.ResponseWriter, status int, id json.RawMessage, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(rpcError(id, code, message)) // a client that is gone needs no error
}

// modernHeader reports whether a request names a protocol version without
// sessions in its header.
func modernHeader(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
}

// sessionOf returns the session that a request names. If there is none it has
// answered: 400 if none was named, 404 if it is not known.
func (s *Server) sessionOf(w http.ResponseWriter, r *http.Request, id json.RawMessage) (*session, bool) {
	name := r.Header.Get(mcp.HeaderSessionID)
	if name == "" {
		refuse(w, http.StatusBadRequest, id, wire.CodeInvalidRequest,
			"The header "+mcp.HeaderSessionID+" is missing. Initialize first, then send the session id that the answer's header has.")
		return nil, false
	}
	known, ok := s.sessions.find(name)
	if !ok {
		refuse(w, http.StatusNotFound, id, codeNoSession,
			"This server has no such session; it may have been restarted, or the session was idle too long. Initialize again.")
	}
	return known, ok
}

// Why a request does not run, for its client.
const (
	duplicateText = "A request with this id is still running in this session. Give each request an id of its own."
	stoppingText  = "opentabs is stopping. Start it again, then retry."
	badIDText     = "The id of a request must be a string or a number. Give it one."
)

// codeNoSession is the JSON-RPC code that MCP servers give with 404.
const codeNoSession = -32001

// serveSession serves a GET (listen) or DELETE (end) of a session.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	if modernHeader(r) { // there they mean nothing, and mcp-go says so
		s.http.ServeHTTP(w, r)
		return
	}
	known, ok := s.sessionOf(w, r, nil)
	if !ok {
		return
	}
	if r.Method == http.MethodDelete {
		s.http.ServeHTTP(w, r)
		return
	}
	s.pass(w, r, known, nil)
}

// pass lets mcp-go serve a request that listens until the client, the session
// or the server ends.
func (s *Server) pass(w http.ResponseWriter, r *http.Request, in *session, id json.RawMessage) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	key := s.uniqueKey()
	if err := s.sessions.begin(in, key, task{cancel: cancel, stream: true}); err != nil {
		s.refuseTask(w, id, err)
		return
	}
	defer s.sessions.finish()
	defer s.sessions.release(in, key)
	s.http.ServeHTTP(passedWriter{ResponseWriter: w, rc: http.NewResponseController(w)}, r.WithContext(ctx))
}

// uniqueKey is a key for what no client can cancel by an id.
func (s *Server) uniqueKey() string { return "-" + strconv.FormatUint(s.serial.Add(1), 10) }

// refuseTask answers a request that sessions.begin did not take.
func (s *Server) refuseTask(w http.ResponseWriter, id json.RawMessage, err error) {
	switch {
	case errors.Is(err, errDuplicateID):
		refuse(w, http.StatusOK, id, wire.CodeInvalidRequest,
			duplicateText)
	case errors.Is(err, errShutdown):
		refuse(w, http.StatusServiceUnavailable, id, wire.CodeInternal, stoppingText)
	default:
		refuse(w, http.StatusNotFound, id, codeNoSession, "The session has ended. Initialize again.")
	}
}

// servePost serves one message of a client.
func (s *Server) servePost(w http.ResponseWriter, r *http.Request) {
	if t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || t != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, nil, wire.CodeInvalidRequest, "Send MCP messages with Content-Type: application/json.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxRequestBytes))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			refuse(w, http.StatusRequestEntityTooLarge, nil, wire.CodeInvalidRequest, s.tooLarge())
		}
		return // otherwise the client is gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	m, ok := parseMessage(body)
	if !ok || m.Method == "" || m.Method == methodInitialize {
		s.http.ServeHTTP(w, r) // answers of clients, batches and nonsense too
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.Method == methodCall && m.request() {
		refuse(w, http.StatusOK, m.ID, wire.CodeInvalidParams, "The params of tools/call are malformed ("+err.Error()+"). Correct them, then call again.")
		return
	}
	if modernHeader(r) || p.modern() {
		s.serveModern(w, r, m, &p)
		return
	}
	in, ok := s.sessionOf(w, r, m.ID)
	if !ok {
		return
	}
	switch {
	case m.Method == methodCancelled:
		if key, ok := requestKey(p.RequestID); ok {
			s.sessions.cancel(in, key)
		}
		w.WriteHeader(http.StatusAccepted)
	case m.Method == methodCall && m.request():
		s.serveLegacyCall(w, r, m, &p, in)
	default:
		s.http.ServeHTTP(w, r)
	}
}

// tooLarge says that a request is over the limit.
func (s *Server) tooLarge() string {
	return fmt.Sprintf("The request is larger than %d bytes. Send less in one request.", s.opts.MaxRequestBytes)
}

// serveLegacyCall serves a tools/call in a session.
func (s *Server) serveLegacyCall(w http.ResponseWriter, r *http.Request, m message, p *params, in *session) {
	if v := r.Header.Get(mcp.HeaderProtocolVersion); v != "" && !mcp.IsValidProtocolVersion(v) {
		refuse(w, http.StatusBadRequest, m.ID, wire.CodeInvalidRequest,
			fmt.Sprintf("The protocol version %q is not supported. Use one of %v.", v, mcp.ValidProtocolVersions))
		return
	}
	key, ok := requestKey(m.ID)
	if !ok {
		refuse(w, http.StatusBadRequest, nil, wire.CodeInvalidRequest, badIDText)
		return
	}
	info := s.sessions.client(in)
	s.serveCall(w, r, m, p, in, key, dispatch.Client{Session: info.ID, Name: info.Name})
}

// serveCall runs a call as the response to r.
func (s *Server) serveCall(w http.ResponseWriter, r *http.Request, m message, p *params, in *session, key string, client dispatch.Client) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if err := s.sessions.begin(in, key, task{cancel: cancel}); err != nil {
		s.refuseTask(w, m.ID, err)
		return
	}
	defer s.sessions.finish()
	stream := newCallStream(w, r, s.opts.Heartbeat, func() { cancel(errClientGone) })
	send := stream.notify
	if !stream.events {
		send = nil
	}
	rep := s.call(ctx, p, client, send)
	s.sessions.release(in, key)
	if ctx.Err() != nil {
		stream.abandon()
		return
	}
	modern := in == s.sessions.anonymous
	status := http.StatusOK
	if modern && rep.code != 0 {
		status = http.StatusBadRequest
	}
	err := stream.answer(status, func(b *bufio.Writer) { rep.writeTo(b, m.ID, modern, s.info) })
	if err != nil {
		s.opts.Log.Warn().Str("call", rep.callID).Str("client", client.Name).Err(err).Msg("result could not be delivered")
	}
}

// expire ends an HTTP session that was silent too long, in mcp-go too.
func (s *Server) expire(id string) {
	s.opts.Log.Info().Msg("idle session ended")
	s.http.Handle(discard{}, &server.HTTPRequest{
		Method: http.MethodDelete, Header: http.Header{mcp.HeaderSessionID: {id}}, Context: context.Background(),
	})
}

// discard is a response that nobody reads.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) WriteHeader(int)             {}
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) Flush()                      {}
func (discard) CanStream() bool             { return false }
