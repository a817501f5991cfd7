package transport

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/internal/lazyregexp"
	"opentabs/wire"
)

// serveModern serves a message of protocol version 2026-07-28 or later, which has
// no sessions. A client cancels by closing the response; a notifications/cancelled
// is dropped.
func (s httpTransport) serveModern(w http.ResponseWriter, r *http.Request, m message, p *Params) {
	switch {
	case m.Method == methodCancelled && !m.request():
		w.WriteHeader(http.StatusAccepted)
	case m.Method == methodListen && m.request():
		in := s.sessions.open(OverHTTP, credentialOf(r.Context()))
		defer s.sessions.close(in.id)
		s.sessions.setClientName(in.id, p.Meta.ClientInfo)
		s.serveModernListening(w, r, in, m, p)
	case m.call():
		s.serveModernCall(w, r, m, p)
	default:
		s.passModern(w, r, m)
	}
}

// passModern passes a message to mcp-go. mcp-go reads an ID as a float64, so an ID
// that would change is replaced by a string and restored in the answer.
func (s httpTransport) passModern(w http.ResponseWriter, r *http.Request, m message) {
	if err := s.handler.Ready(r.Context(), m.Method); err != nil && m.request() {
		refuseRequest(w, http.StatusOK, m.ID, wire.CodeInternal, err.Error())
		return
	}
	if !m.request() || m.ID[0] == '"' || exactID().Match(m.ID) {
		s.modern.ServeHTTP(w, r)
		return
	}
	replacement := `"opentabs` + s.uniqueKey() + `"`
	wanted := m.ID
	m.ID = json.RawMessage(replacement)
	body, err := json.Marshal(m)
	if err != nil { // its members are JSON
		panic("transport: " + err.Error())
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.modern.ServeHTTP(idWriter{newPassedWriter(w), []byte(replacement), wanted}, r)
}

// exactID matches numbers that a float64 represents exactly.
var exactID = lazyregexp.New(`^-?[0-9]{1,15}$`)

// idWriter restores the client's ID in the answer of mcp-go, which writes a message
// in one piece.
type idWriter struct {
	passedWriter
	replacement, wanted []byte
}

// Write implements io.Writer.
func (w idWriter) Write(b []byte) (int, error) {
	if _, err := w.passedWriter.Write(bytes.ReplaceAll(b, w.replacement, w.wanted)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// serveModernListening serves a subscriptions/listen until the client or the server
// ends. in is a session for that time.
func (s httpTransport) serveModernListening(w http.ResponseWriter, r *http.Request, in *session, m message, p *Params) {
	rep := s.checkModernRequest(r, m, p)
	switch {
	case rep != nil:
		s.refuseModern(w, r, m, rep)
		return
	case !takesEvents(r):
		refuseRequest(w, http.StatusNotAcceptable, m.ID, wire.CodeInvalidRequest, "Accept text/event-stream to listen.")
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
	in.listener.useModern(m)
	if s.mcp.RegisterSession(ctx, in.listener) != nil { // its id is random
		panic("transport: two sessions have one id")
	}
	raw, err := json.Marshal(m)
	if err != nil { // its members are JSON
		panic("transport: " + err.Error())
	}
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientGone) })
	defer stream.endUnanswered()
	// mcp-go answers when the client leaves, or at once if the client selects no
	// notifications.
	listening, over := context.WithCancel(ctx)
	var answer mcp.JSONRPCMessage
	var passing sync.WaitGroup
	passing.Go(func() {
		defer over()
		answer = s.passToLibrary(ctx, in, m, raw)
	})
	for listening.Err() == nil {
		stream.sendAll(in.listener.awaitNotifications(listening))
	}
	passing.Wait()
	if ctx.Err() != nil {
		return
	}
	for len(in.listener.notes) > 0 {
		stream.sendAll(in.listener.awaitNotifications(ctx))
	}
	b, err := json.Marshal(answer)
	if err != nil { // strings and numbers
		panic("transport: " + err.Error())
	}
	status := http.StatusOK
	if e, ok := answer.(mcp.JSONRPCError); ok {
		status = modernStatus(e.Error.Code)
	}
	_ = stream.answer(status, func(w *bufio.Writer) { w.Write(b) }) // a client that is gone needs no answer
}

// serveModernCall serves a tools/call without a session.
func (s httpTransport) serveModernCall(w http.ResponseWriter, r *http.Request, m message, p *Params) {
	if rep := s.checkModernRequest(r, m, p); rep != nil {
		s.refuseModern(w, r, m, rep)
		return
	}
	credential := credentialOf(r.Context())
	s.serveCall(w, r, m, p, s.sessions.sessionlessOf(credential), s.uniqueKey(), credential.sessionlessClient(p.Meta.ClientInfo.Name))
}

// refuseModern rejects a request with the error of checkModernRequest.
func (s httpTransport) refuseModern(w http.ResponseWriter, r *http.Request, m message, rep Reply) {
	stream := newStream(w, r, s.opts.Heartbeat, func() {})
	_ = stream.answer(http.StatusBadRequest, func(b *bufio.Writer) { WriteAnswer(b, m.ID, rep, nil) })
}

// checkModernRequest validates headers and body of a request over HTTP.
// checkModernRequest returns the error, nil for a valid request.
func (s httpTransport) checkModernRequest(r *http.Request, m message, p *Params) Reply {
	if rep := s.checkModernHeaders(r, m, p); rep != nil {
		return rep
	}
	return checkModern(p)
}

// checkModern validates the _meta that protocol version 2026-07-28 requires in the body
// of a call. checkModern returns the error, nil for a valid call.
func checkModern(p *Params) Reply {
	switch version := p.Meta.ProtocolVersion; {
	case !mcp.IsValidProtocolVersion(version):
		f := Faultf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "The protocol version %q is not supported. Use one of %v.", version, mcp.ValidProtocolVersions)
		f.Details = mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version}
		return f
	case len(p.Meta.Capabilities) == 0 || p.Meta.Capabilities[0] != '{':
		return Faultf(mcp.INVALID_PARAMS, "The _meta field %s is missing or not an object. Send {} if there are none.", mcp.MetaKeyClientCapabilities)
	}
	return nil
}

// checkModernHeaders checks that headers and body have the same values.
func (s httpTransport) checkModernHeaders(r *http.Request, m message, p *Params) Reply {
	header, body := r.Header.Get(mcp.HeaderProtocolVersion), p.Meta.ProtocolVersion
	switch {
	case r.Header.Get(mcp.HeaderLastEventID) != "":
		return Faultf(mcp.HEADER_MISMATCH, "Streams cannot be resumed in protocol version %s. Send the request again with a new id.", mcp.ProtocolVersion20260728)
	case header == "":
		return Faultf(mcp.HEADER_MISMATCH, "The header %s is missing. Send the version that the body names.", mcp.HeaderProtocolVersion)
	case body == "":
		return Faultf(mcp.INVALID_PARAMS, "The _meta field %s is missing. Send the version that the header names.", mcp.MetaKeyProtocolVersion)
	case header != body:
		return Faultf(mcp.HEADER_MISMATCH, "The header %s is %q but the _meta field %s is %q. Send the same version in both.",
			mcp.HeaderProtocolVersion, header, mcp.MetaKeyProtocolVersion, body)
	}
	err := mcp.ValidateStandardHeaders(r.Header.Get, body, mcp.MCPMethod(m.Method), m.Params)
	if err == nil && m.Method == MethodCall {
		if tool := s.handler.HeaderTool(p.Name); tool != nil {
			err = mcp.ValidateParamHeadersLookup(firstValue(r.Header), tool, m.Params)
		}
	}
	if err != nil {
		return Faultf(mcp.HEADER_MISMATCH, "The headers do not match the body (%v). Send the same values in both.", err)
	}
	return nil
}

// modernStatus returns the HTTP status of an answer with this JSON-RPC code in
// protocol version 2026-07-28. The code is 0 for a result.
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

// firstValue returns a function that returns the first value of a header.
func firstValue(h http.Header) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v := h.Values(name)
		if len(v) == 0 {
			return "", false
		}
		return v[0], true
	}
}
