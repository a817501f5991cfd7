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
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/wire"
)

// Handler serves MCP's Streamable HTTP on one path. It trusts every request
// that reaches it: put a guard in front that checks token, Host and Origin, and
// says whose request it is (WithCredential).
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
	known, ok := s.sessions.find(name, credentialOf(r.Context()))
	if !ok {
		refuse(w, http.StatusNotFound, id, codeNoSession,
			"This server has no such session; it may have been restarted, or the session was idle too long. Initialize again.")
	}
	return known, ok
}

// malformed says what is wrong with the params of m, a call.
func malformed(m message, err error) string {
	why := err.Error()
	var wrong *json.UnmarshalTypeError // whose own text names types of Go
	if errors.As(err, &wrong) {
		why = strings.TrimSuffix("params."+wrong.Field, ".") + " is a JSON " + wrong.Value
	}
	return "The params of " + m.Method + " are malformed (" + why + "). Correct them, then call again."
}

// Why a request does not run, for its client.
const (
	duplicateText = "A request with this id is still running in this session. Give each request an id of its own."
	stoppingText  = "opentabs is stopping. Start it again, then retry."
	badIDText     = "The id of a request must be a string or a number. Give it one."
)

// codeNoSession is the JSON-RPC code that MCP servers give with 404.
const codeNoSession = -32001

// knownVersion reports whether the protocol version in a request's header is
// one that is spoken here; if not it has answered. A missing one is fine, the
// oldest clients send none.
func knownVersion(w http.ResponseWriter, r *http.Request, id json.RawMessage) bool {
	v := r.Header.Get(mcp.HeaderProtocolVersion)
	if v == "" || mcp.IsValidProtocolVersion(v) {
		return true
	}
	refuse(w, http.StatusBadRequest, id, wire.CodeInvalidRequest,
		fmt.Sprintf("The protocol version %q is not supported. Use one of %v.", v, mcp.ValidProtocolVersions))
	return false
}

// serveSession serves a GET (listen) or DELETE (end) of a session.
func (s *Server) serveSession(w http.ResponseWriter, r *http.Request) {
	if modernHeader(r) { // there they mean nothing, and mcp-go says so
		s.modern.ServeHTTP(w, r)
		return
	}
	if !knownVersion(w, r, nil) {
		return
	}
	in, ok := s.sessionOf(w, r, nil)
	switch {
	case !ok:
	case r.Method == http.MethodDelete:
		s.sessions.close(in.id)
		w.WriteHeader(http.StatusOK)
	case !takesEvents(r):
		refuse(w, http.StatusNotAcceptable, nil, wire.CodeInvalidRequest, "Accept text/event-stream to listen.")
	default:
		s.serveListening(w, r, in)
	}
}

// serveListening sends a session what it is told without having asked
// (list_changed, resources that changed), until the client, the session or the
// server ends.
func (s *Server) serveListening(w http.ResponseWriter, r *http.Request, in *session) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	key := s.uniqueKey()
	if err := s.sessions.begin(in, key, task{cancel: cancel, stream: true}); err != nil {
		s.refuseTask(w, nil, err)
		return
	}
	defer s.sessions.finish()
	defer s.released(r, in, key)
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientGone) })
	defer stream.abandon()
	stream.open()
	for ctx.Err() == nil {
		stream.tell(in.listener.next(ctx))
	}
}

// released releases what ran for r, whose client may be gone.
func (s *Server) released(r *http.Request, in *session, key string) {
	if r.Context().Err() != nil {
		s.sessions.brokeOff(in)
	}
	s.sessions.release(in, key)
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
		switch {
		case errors.As(err, &tooLarge):
			refuse(w, http.StatusRequestEntityTooLarge, idAtStart(body), wire.CodeInvalidRequest, s.tooLarge())
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuse(w, http.StatusRequestTimeout, nil, wire.CodeInvalidRequest, "The request came too slowly. Send it again, faster.")
		}
		return // otherwise the client is gone
	}
	m, ok := parseMessage(body)
	if !ok {
		refuseNonsense(w, body)
		return
	}
	if m.badID() {
		refuse(w, http.StatusBadRequest, nil, wire.CodeInvalidRequest, badIDText)
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.call() {
		status := http.StatusOK
		if modernHeader(r) {
			status = http.StatusBadRequest
		}
		refuse(w, status, m.ID, wire.CodeInvalidParams, malformed(m, err))
		return
	}
	if modernHeader(r) || p.modern() {
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.serveModern(w, r, m, &p)
		return
	}
	if !knownVersion(w, r, m.ID) {
		return
	}
	if m.Method == methodInitialize && m.request() {
		s.serveInitialize(w, r, m, body)
		return
	}
	in, ok := s.sessionOf(w, r, m.ID)
	if !ok {
		return
	}
	switch {
	case m.Method == methodCancelled && !m.request():
		if key, ok := requestKey(p.RequestID); ok {
			s.sessions.cancel(in, key, p.reason())
		}
		w.WriteHeader(http.StatusAccepted)
	case m.answer():
		in.asks.answered(m)
		w.WriteHeader(http.StatusAccepted)
	case m.call():
		s.serveLegacyCall(w, r, m, &p, in)
	default:
		answer := s.ask(r.Context(), in, m, body)
		if list, ok := toolListOf(m.ID, answer); ok {
			w.Header().Set("Content-Type", "application/json")
			_ = writeBuffered(passed(w), list.writeTo) // a client that is gone needs no answer
			return
		}
		answerHTTP(w, answer)
	}
}

// refuseNonsense answers what is not one JSON-RPC message.
func refuseNonsense(w http.ResponseWriter, body []byte) {
	code, text := nonsense(body)
	refuse(w, http.StatusBadRequest, nil, code, text)
}

// nonsense says what is wrong with bytes that parseMessage did not take.
func nonsense(b []byte) (code int, text string) {
	if !utf8.Valid(b) {
		return wire.CodeParseError, "This is not UTF-8. Send one JSON-RPC message in UTF-8."
	}
	if !json.Valid(b) {
		return wire.CodeParseError, "This is not JSON. Send one JSON-RPC message."
	}
	return wire.CodeInvalidRequest, "This is not one JSON-RPC message. Send one JSON object, with a method that is a string."
}

// serveInitialize begins a session.
func (s *Server) serveInitialize(w http.ResponseWriter, r *http.Request, m message, body []byte) {
	in := s.sessions.open(transportHTTP, credentialOf(r.Context()))
	answer := s.ask(r.Context(), in, m, body)
	if _, ok := answer.(mcp.JSONRPCResponse); !ok || s.mcp.RegisterSession(r.Context(), in.listener) != nil {
		s.sessions.close(in.id)
	} else {
		w.Header().Set(mcp.HeaderSessionID, in.id)
	}
	answerHTTP(w, answer)
}

// ask lets mcp-go serve a message of a session and returns its answer, nil if
// there is none.
func (s *Server) ask(ctx context.Context, in *session, m message, raw []byte) mcp.JSONRPCMessage {
	if err := s.waitReady(ctx, m.Method); err != nil && m.request() {
		return notReady(m.ID, err)
	}
	answer := s.mcp.HandleMessage(s.mcp.WithContext(ctx, in.listener), raw)
	if !m.request() {
		return nil
	}
	// mcp-go reads an id as a float64; the client wants to see its own.
	switch a := answer.(type) {
	case mcp.JSONRPCResponse:
		a.ID = mcp.NewRequestId(m.ID)
		return a
	case mcp.JSONRPCError:
		a.ID = mcp.NewRequestId(m.ID)
		return a
	}
	return answer
}

// answerHTTP writes an answer of mcp-go as JSON.
func answerHTTP(w http.ResponseWriter, answer mcp.JSONRPCMessage) {
	if answer == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	b, err := json.Marshal(answer)
	if err != nil { // a tool's schema that is no JSON; plugins have none
		refuse(w, http.StatusInternalServerError, nil, wire.CodeInternal, "The answer is not JSON. Look at the log of opentabs, then report it.")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = passed(w).Write(b) // a client that is gone needs no answer
}

// tooLarge says that a request is over the limit.
func (s *Server) tooLarge() string {
	return fmt.Sprintf("The request is larger than %d bytes. Send less in one request.", s.opts.MaxRequestBytes)
}

// serveLegacyCall serves a call in a session.
func (s *Server) serveLegacyCall(w http.ResponseWriter, r *http.Request, m message, p *params, in *session) {
	key, _ := requestKey(m.ID) // servePost has looked
	s.serveCall(w, r, m, p, in, key, in.credential.client(in.public(), s.sessions.client(in).Name))
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
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientGone) })
	send := stream.notify
	if !stream.events {
		send = nil
	}
	q := request{method: m.Method, params: p, client: client, session: in, send: send, elicit: in.elicitor(send)}
	modern := in.listener == nil
	q.held = modern && q.mayHold()
	rep := s.serve(ctx, q)
	s.released(r, in, key)
	if ctx.Err() != nil {
		rep.undelivered()
		stream.abandon()
		return
	}
	status := http.StatusOK
	if modern {
		status = modernStatus(rep.code)
	}
	err := stream.answer(status, func(b *bufio.Writer) { rep.writeTo(b, m.ID, modern, s.info) })
	if err != nil {
		rep.undelivered()
		s.opts.Log.Warn().Str("call", rep.callID).Str("client", client.String()).Err(err).Msg("result could not be delivered")
	}
}
