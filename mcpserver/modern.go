package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/wire"
)

// serveModern serves a message of protocol version 2026-07-28 or later, which
// has no sessions: a client cancels by closing the response, so a
// notifications/cancelled names nobody's request and is dropped.
func (s *Server) serveModern(w http.ResponseWriter, r *http.Request, m message, p *params) {
	switch {
	case m.Method == methodCancelled && !m.request():
		w.WriteHeader(http.StatusAccepted)
	case m.Method == methodListen && m.request():
		in := s.sessions.open(transportHTTP, credentialOf(r.Context()))
		defer s.sessions.close(in.id)
		s.sessions.describe(in.id, p.Meta.ClientInfo)
		s.serveModernListening(w, r, in, m, p)
	case m.call():
		s.serveModernCall(w, r, m, p)
	default:
		s.passModern(w, r, m)
	}
}

// passModern lets mcp-go serve a message. mcp-go reads an id as a float64: one
// that this could change is exchanged for a string and put back in the answer.
func (s *Server) passModern(w http.ResponseWriter, r *http.Request, m message) {
	if err := s.waitReady(r.Context(), m.Method); err != nil && m.request() {
		refuse(w, http.StatusOK, m.ID, wire.CodeInternal, err.Error())
		return
	}
	if !m.request() || m.ID[0] == '"' || exactID.Match(m.ID) {
		s.modern.ServeHTTP(w, r)
		return
	}
	own := `"opentabs` + s.uniqueKey() + `"`
	wanted := m.ID
	m.ID = json.RawMessage(own)
	body, err := json.Marshal(m)
	if err != nil { // its members were read from JSON
		panic("mcpserver: " + err.Error())
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.modern.ServeHTTP(idWriter{passed(w), []byte(own), wanted}, r)
}

// exactID matches the numbers that are the same as a float64.
var exactID = regexp.MustCompile(`^-?[0-9]{1,15}$`)

// idWriter puts the client's id where mcp-go writes the one that stood for it.
// mcp-go writes a message in one piece.
type idWriter struct {
	passedWriter
	own, wanted []byte
}

// Write implements io.Writer.
func (w idWriter) Write(b []byte) (int, error) {
	if _, err := w.passedWriter.Write(bytes.ReplaceAll(b, w.own, w.wanted)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// serveModernListening serves a subscriptions/listen until the client or the
// server ends. in is the client's session for as long.
func (s *Server) serveModernListening(w http.ResponseWriter, r *http.Request, in *session, m message, p *params) {
	rep := s.checkModernRequest(r, m, p)
	switch {
	case rep.code != 0:
		s.refuseModern(w, r, m, rep)
		return
	case !takesEvents(r):
		refuse(w, http.StatusNotAcceptable, m.ID, wire.CodeInvalidRequest, "Accept text/event-stream to listen.")
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	key := s.uniqueKey()
	if err := s.sessions.begin(in, key, task{cancel: cancel, stream: true}); err != nil {
		s.refuseTask(w, m.ID, err)
		return
	}
	defer s.sessions.finish()
	defer s.sessions.release(in, key)
	in.listener.speaksModern(m)
	if s.mcp.RegisterSession(ctx, in.listener) != nil { // its id is random
		panic("mcpserver: two sessions have one id")
	}
	raw, err := json.Marshal(m)
	if err != nil { // its members were read from JSON
		panic("mcpserver: " + err.Error())
	}
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientGone) })
	defer stream.abandon()
	// mcp-go answers when the client leaves, or at once if there is nothing to
	// listen to.
	listening, over := context.WithCancel(ctx)
	var answer mcp.JSONRPCMessage
	var asking sync.WaitGroup
	asking.Go(func() {
		defer over()
		answer = s.ask(ctx, in, m, raw)
	})
	for listening.Err() == nil {
		stream.tell(in.listener.next(listening))
	}
	asking.Wait()
	if ctx.Err() != nil {
		return
	}
	for len(in.listener.notes) > 0 {
		stream.tell(in.listener.next(ctx))
	}
	b, err := json.Marshal(answer)
	if err != nil { // strings and numbers
		panic("mcpserver: " + err.Error())
	}
	status := http.StatusOK
	if e, ok := answer.(mcp.JSONRPCError); ok {
		status = modernStatus(e.Error.Code)
	}
	_ = stream.answer(status, func(w *bufio.Writer) { w.Write(b) }) // a client that is gone needs no answer
}

// serveModernCall serves a tools/call without a session.
func (s *Server) serveModernCall(w http.ResponseWriter, r *http.Request, m message, p *params) {
	if rep := s.checkModernRequest(r, m, p); rep.code != 0 {
		s.refuseModern(w, r, m, rep)
		return
	}
	credential := credentialOf(r.Context())
	s.serveCall(w, r, m, p, s.sessions.without(credential), s.uniqueKey(), credential.sessionless(p.Meta.ClientInfo.Name))
}

// refuseModern answers a request that was checked and found wrong.
func (s *Server) refuseModern(w http.ResponseWriter, r *http.Request, m message, rep reply) {
	stream := newStream(w, r, s.opts.Heartbeat, func() {})
	_ = stream.answer(http.StatusBadRequest, func(b *bufio.Writer) { rep.writeTo(b, m.ID, false, nil) })
}

// checkModernRequest checks headers and body of a request over HTTP. A reply with
// a code refuses it.
func (s *Server) checkModernRequest(r *http.Request, m message, p *params) reply {
	if rep := s.checkModernHeaders(r, m, p); rep.code != 0 {
		return rep
	}
	return checkModern(p)
}

// checkModern checks what protocol version 2026-07-28 wants in the body of every
// tools/call. A reply with a code refuses the call.
func checkModern(p *params) reply {
	switch version := p.Meta.ProtocolVersion; {
	case !mcp.IsValidProtocolVersion(version):
		f := fault(mcp.UNSUPPORTED_PROTOCOL_VERSION, "The protocol version %q is not supported. Use one of %v.", version, mcp.ValidProtocolVersions)
		f.details = mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version}
		return f
	case len(p.Meta.Capabilities) == 0 || p.Meta.Capabilities[0] != '{':
		return fault(mcp.INVALID_PARAMS, "The _meta field %s is missing or not an object. Send {} if there are none.", mcp.MetaKeyClientCapabilities)
	}
	return reply{}
}

// checkModernHeaders checks that the headers say what the body says.
func (s *Server) checkModernHeaders(r *http.Request, m message, p *params) reply {
	header, body := r.Header.Get(mcp.HeaderProtocolVersion), p.Meta.ProtocolVersion
	switch {
	case r.Header.Get(mcp.HeaderLastEventID) != "":
		return fault(mcp.HEADER_MISMATCH, "Streams can't be resumed in protocol version %s. Send the request again with a new id.", mcp.ProtocolVersion20260728)
	case header == "":
		return fault(mcp.HEADER_MISMATCH, "The header %s is missing. Send the version that the body names.", mcp.HeaderProtocolVersion)
	case body == "":
		return fault(mcp.INVALID_PARAMS, "The _meta field %s is missing. Send the version that the header names.", mcp.MetaKeyProtocolVersion)
	case header != body:
		return fault(mcp.HEADER_MISMATCH, "The header %s is %q but the _meta field %s is %q. Send the same version in both.",
			mcp.HeaderProtocolVersion, header, mcp.MetaKeyProtocolVersion, body)
	}
	err := mcp.ValidateStandardHeaders(r.Header.Get, body, mcp.MCPMethod(m.Method), m.Params)
	if l, ok := (*s.tools.Load())[p.Name]; ok && l.mirrors && err == nil && m.Method == methodCall {
		err = mcp.ValidateParamHeadersLookup(lookup(r.Header), &l.shown, m.Params)
	}
	if err != nil {
		return fault(mcp.HEADER_MISMATCH, "The headers do not match the body (%v). Send the same values in both.", err)
	}
	return reply{}
}

// modernStatus is the HTTP status that protocol version 2026-07-28 wants for an
// answer with this JSON-RPC code, 0 for a result.
func modernStatus(code int) int {
	switch code {
	case 0, wire.CodeInternal:
		return http.StatusOK
	case wire.CodeMethodNotFound:
		return http.StatusNotFound
	default:
		return http.StatusBadRequest
	}
}

// lookup returns a function that finds the first value of a header.
func lookup(h http.Header) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v := h.Values(name)
		if len(v) == 0 {
			return "", false
		}
		return v[0], true
	}
}
