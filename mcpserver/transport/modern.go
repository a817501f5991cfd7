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

// Clients of protocol version 2026-07-28 cancel by closing the response, so a notifications/cancelled is dropped.
func (s httpTransport) serveModern(w http.ResponseWriter, r *http.Request, m rpcMessage, p *Params) {
	switch {
	case m.Method == methodCancelled && !m.isRequest():
		w.WriteHeader(http.StatusAccepted)
	case m.Method == methodListen && m.isRequest():
		clientSession := s.sessions.open(TransportHTTP, contextCredential(r.Context()))
		defer s.sessions.closeSession(clientSession.id)
		s.sessions.setClientName(clientSession.id, p.Meta.ClientInfo)
		s.serveModernListening(w, r, clientSession, m, p)
	case m.isForHandler():
		s.serveModernCall(w, r, m, p)
	default:
		s.serveModernWithMCPGo(w, r, m)
	}
}

// mcp-go decodes IDs as float64, so serveModernWithMCPGo sends mcp-go a string for an ID that float64 cannot represent.
func (s httpTransport) serveModernWithMCPGo(w http.ResponseWriter, r *http.Request, m rpcMessage) {
	if err := s.handler.WaitUntilReady(r.Context(), m.Method); err != nil && m.isRequest() {
		refuseRequest(w, http.StatusOK, m.ID, wire.CodeInternal, err.Error())
		return
	}
	if !m.isRequest() || m.ID[0] == '"' || exactFloatIDPattern().Match(m.ID) {
		s.modernHandler.ServeHTTP(w, r)
		return
	}
	replacement := `"opentabs` + s.newUniqueKey() + `"`
	clientID := m.ID
	m.ID = json.RawMessage(replacement)
	body, err := json.Marshal(m)
	if err != nil { // this error is impossible, because all members of m are JSON
		panic("transport: " + err.Error())
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	s.modernHandler.ServeHTTP(idWriter{newMCPGoWriter(w), []byte(replacement), clientID}, r)
}

// exactFloatIDPattern matches integers that a float64 represents exactly.
var exactFloatIDPattern = lazyregexp.New(`^-?[0-9]{1,15}$`)

// idWriter replaces the ID in an answer of mcp-go with the client's ID. mcp-go writes
// each message in one piece.
type idWriter struct {
	mcpGoWriter
	replacement, clientID []byte
}

// The method Write implements io.Writer.
func (w idWriter) Write(b []byte) (int, error) {
	if _, err := w.mcpGoWriter.Write(bytes.ReplaceAll(b, w.replacement, w.clientID)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// The caller of serveModernListening keeps clientSession open until serveModernListening returns.
func (s httpTransport) serveModernListening(w http.ResponseWriter, r *http.Request, clientSession *session, m rpcMessage, p *Params) {
	reply := s.checkModernRequest(r, m, p)
	switch {
	case reply != nil:
		s.refuseModern(w, r, m, reply)
		return
	case !acceptsEvents(r):
		refuseRequest(w, http.StatusNotAcceptable, m.ID, wire.CodeInvalidRequest, "Accept text/event-stream to listen.")
		return
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	key := s.newUniqueKey()
	if err := s.sessions.beginTask(clientSession, key, task{cancel: cancel, isStream: true}); err != nil {
		s.refuseTask(w, m.ID, err)
		return
	}
	defer s.sessions.finishTask()
	defer s.sessions.releaseTask(clientSession, key)
	clientSession.listener.setModernProtocol(m)
	if s.library.RegisterSession(ctx, clientSession.listener) != nil { // impossible, because the ID is random
		panic("transport: two sessions have one id")
	}
	rawJSON, err := json.Marshal(m)
	if err != nil { // impossible: all members of the message are JSON
		panic("transport: " + err.Error())
	}
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientDisconnected) })
	defer stream.endWithoutAnswer()
	// The library mcp-go answers a subscriptions/listen request when the client
	// disconnects, or at once if the client selects no notifications.
	listenCtx, stopListening := context.WithCancel(ctx)
	var response mcp.JSONRPCMessage
	var mcpGoCallGroup sync.WaitGroup
	mcpGoCallGroup.Go(func() {
		defer stopListening()
		response = s.serveWithMCPGo(ctx, clientSession, m, rawJSON)
	})
	for listenCtx.Err() == nil {
		stream.sendNotifications(clientSession.listener.awaitNotifications(listenCtx))
	}
	mcpGoCallGroup.Wait()
	if ctx.Err() != nil {
		return
	}
	for len(clientSession.listener.mcpGoNotifications) > 0 {
		stream.sendNotifications(clientSession.listener.awaitNotifications(ctx))
	}
	b, err := json.Marshal(response)
	if err != nil { // impossible: the answer contains only strings and numbers
		panic("transport: " + err.Error())
	}
	httpStatus := http.StatusOK
	if e, ok := response.(mcp.JSONRPCError); ok {
		httpStatus = modernHTTPStatus(e.Error.Code)
	}
	_ = stream.respond(httpStatus, func(w *bufio.Writer) { w.Write(b) }) // a disconnected client needs no answer
}

func (s httpTransport) serveModernCall(w http.ResponseWriter, r *http.Request, m rpcMessage, p *Params) {
	if reply := s.checkModernRequest(r, m, p); reply != nil {
		s.refuseModern(w, r, m, reply)
		return
	}
	credential := contextCredential(r.Context())
	s.serveCall(w, r, m, p, s.sessions.findSessionless(credential), s.newUniqueKey(), credential.sessionlessClient(p.Meta.ClientInfo.Name))
}

func (s httpTransport) refuseModern(w http.ResponseWriter, r *http.Request, m rpcMessage, reply Reply) {
	stream := newStream(w, r, s.opts.Heartbeat, func() {})
	_ = stream.respond(http.StatusBadRequest, func(b *bufio.Writer) { WriteAnswer(b, m.ID, reply, nil) })
}

func (s httpTransport) checkModernRequest(r *http.Request, m rpcMessage, p *Params) Reply {
	if reply := s.checkModernHeaders(r, m, p); reply != nil {
		return reply
	}
	return checkModernMeta(p)
}

func checkModernMeta(p *Params) Reply {
	switch version := p.Meta.ProtocolVersion; {
	case !mcp.IsValidProtocolVersion(version):
		f := NewFaultf(mcp.UNSUPPORTED_PROTOCOL_VERSION, "The protocol version %q is not supported. Use one of %v.", version, mcp.ValidProtocolVersions)
		f.Details = mcp.UnsupportedProtocolVersionData{Supported: mcp.ValidProtocolVersions, Requested: version}
		return f
	case len(p.Meta.Capabilities) == 0 || p.Meta.Capabilities[0] != '{':
		return NewFaultf(mcp.INVALID_PARAMS, "The _meta field %s is missing or not an object. Send {} if there are none.", mcp.MetaKeyClientCapabilities)
	}
	return nil
}

func (s httpTransport) checkModernHeaders(r *http.Request, m rpcMessage, p *Params) Reply {
	header, body := r.Header.Get(mcp.HeaderProtocolVersion), p.Meta.ProtocolVersion
	switch {
	case r.Header.Get(mcp.HeaderLastEventID) != "":
		return NewFaultf(mcp.HEADER_MISMATCH, "Streams cannot be resumed in protocol version %s. Send the request again with a new id.", mcp.ProtocolVersion20260728)
	case header == "":
		return NewFaultf(mcp.HEADER_MISMATCH, "The header %s is missing. Send the version that the body names.", mcp.HeaderProtocolVersion)
	case body == "":
		return NewFaultf(mcp.INVALID_PARAMS, "The _meta field %s is missing. Send the version that the header names.", mcp.MetaKeyProtocolVersion)
	case header != body:
		return NewFaultf(mcp.HEADER_MISMATCH, "The header %s is %q but the _meta field %s is %q. Send the same version in both.",
			mcp.HeaderProtocolVersion, header, mcp.MetaKeyProtocolVersion, body)
	}
	err := mcp.ValidateStandardHeaders(r.Header.Get, body, mcp.MCPMethod(m.Method), m.Params)
	if err == nil && m.Method == MethodCall {
		if tool := s.handler.FindToolWithHeaders(p.Name); tool != nil {
			err = mcp.ValidateParamHeadersLookup(firstHeaderValue(r.Header), tool, m.Params)
		}
	}
	if err != nil {
		return NewFaultf(mcp.HEADER_MISMATCH, "The headers do not match the body (%v). Send the same values in both.", err)
	}
	return nil
}

// modernHTTPStatus returns the HTTP status that protocol version 2026-07-28 requires for a JSON-RPC error code.
func modernHTTPStatus(code int) int {
	switch code {
	case 0, wire.CodeInternal:
		return http.StatusOK
	case wire.CodeMethodNotFound:
		return http.StatusNotFound
	default:
		return http.StatusBadRequest
	}
}

func firstHeaderValue(h http.Header) func(string) (string, bool) {
	return func(name string) (string, bool) {
		v := h.Values(name)
		if len(v) == 0 {
			return "", false
		}
		return v[0], true
	}
}
