package transport

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
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/dispatch/hops"
	"opentabs/internal/httpjson"
	"opentabs/wire"
)

// httpTransport serves MCP over Streamable HTTP. Protocol versions up to 2025-11-25 have
// sessions; modern.go serves versions without sessions.
type httpTransport struct{ *Server }

// Handler returns the HTTP handler that serves MCP's Streamable HTTP on one path. The handler
// checks no credentials. Before a request reaches the handler, the caller must check the token and
// the headers Host and Origin, and record the client's credential with WithCredential.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(httpTransport{s}.serveHTTP) }

func (s httpTransport) serveHTTP(w http.ResponseWriter, r *http.Request) {
	hops.FromContext(r.Context()).Record(hops.CheckpointAuthorized)
	switch r.Method {
	case http.MethodPost:
		s.servePost(w, r)
	case http.MethodGet, http.MethodDelete:
		s.serveSession(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuseRequest(w, http.StatusMethodNotAllowed, nil, wire.CodeInvalidRequest,
			"The method "+r.Method+" is not supported. Send MCP messages with POST.")
	}
}

func refuseRequest(w http.ResponseWriter, httpStatus int, id json.RawMessage, code int, errorMessage string) {
	sendJSON(w, httpStatus, func(b *bufio.Writer) { b.Write(rpcError(id, code, errorMessage)) })
}

// Each write has a deadline, so that a client that does not read cannot block Shutdown.
func sendJSON(w http.ResponseWriter, httpStatus int, f func(*bufio.Writer)) {
	httpjson.WriteJSONHeader(w, httpStatus)
	_ = writeBuffered(newMCPGoWriter(w), f) // an error means that the client has disconnected and needs no answer
}

func hasModernHeader(r *http.Request) bool {
	return mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
}

func (s httpTransport) findSession(w http.ResponseWriter, r *http.Request, id json.RawMessage) (*session, bool) {
	name := r.Header.Get(mcp.HeaderSessionID)
	if name == "" {
		refuseRequest(w, http.StatusBadRequest, id, wire.CodeInvalidRequest,
			"The header "+mcp.HeaderSessionID+" is missing. Initialize first, then send the session id from the header of the answer.")
		return nil, false
	}
	knownSession, ok := s.sessions.find(name, contextCredential(r.Context()))
	if !ok {
		refuseRequest(w, http.StatusNotFound, id, codeUnknownSession,
			"This server has no such session; it may have been restarted, or the session was idle too long. Initialize again.")
	}
	return knownSession, ok
}

func malformedParamsText(m rpcMessage, err error) string {
	paramsProblem := err.Error()
	var typeErr *json.UnmarshalTypeError // the text of a json.UnmarshalTypeError contains names of Go types
	if errors.As(err, &typeErr) {
		paramsProblem = strings.TrimSuffix("params."+typeErr.Field, ".") + " is a JSON " + typeErr.Value
	}
	return "The params of " + m.Method + " are malformed (" + paramsProblem + "). Correct them, then call again."
}

// These constants are texts for clients about why a request was rejected.
const (
	duplicateIDMessage    = "A request with this id is still running in this session. Give each request its own id."
	ServerStoppingMessage = "opentabs is stopping. Restart it, then retry."
	invalidIDMessage      = "The id of a request must be a string or a number. Give it one."
)

// codeUnknownSession is the JSON-RPC error code that MCP servers send with status 404 for an
// unknown session.
const codeUnknownSession = -32001

// The header MCP-Protocol-Version may be missing, because the oldest clients do not send it.
func checkVersion(w http.ResponseWriter, r *http.Request, id json.RawMessage) bool {
	v := r.Header.Get(mcp.HeaderProtocolVersion)
	if v == "" || mcp.IsValidProtocolVersion(v) {
		return true
	}
	refuseRequest(w, http.StatusBadRequest, id, wire.CodeInvalidRequest,
		fmt.Sprintf("The protocol version %q is not supported. Use one of %v.", v, mcp.ValidProtocolVersions))
	return false
}

func (s httpTransport) serveSession(w http.ResponseWriter, r *http.Request) {
	if hasModernHeader(r) { // mcp-go rejects the request, because its protocol version has no sessions
		s.modernHandler.ServeHTTP(w, r)
		return
	}
	if !checkVersion(w, r, nil) {
		return
	}
	clientSession, ok := s.findSession(w, r, nil)
	switch {
	case !ok:
	case r.Method == http.MethodDelete:
		s.sessions.closeSession(clientSession.id)
		w.WriteHeader(http.StatusOK)
	case !acceptsEvents(r):
		refuseRequest(w, http.StatusNotAcceptable, nil, wire.CodeInvalidRequest, "Accept text/event-stream to listen.")
	default:
		s.serveListening(w, r, clientSession)
	}
}

func (s httpTransport) serveListening(w http.ResponseWriter, r *http.Request, clientSession *session) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	key := s.newUniqueKey()
	if err := s.sessions.beginTask(clientSession, key, task{cancel: cancel, isStream: true}); err != nil {
		s.refuseTask(w, nil, err)
		return
	}
	defer s.sessions.finishTask()
	defer s.releaseTask(r, clientSession, key)
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientDisconnected) })
	defer stream.endWithoutAnswer()
	stream.open()
	for ctx.Err() == nil {
		stream.sendNotifications(clientSession.listener.awaitNotifications(ctx))
	}
}

func (s httpTransport) releaseTask(r *http.Request, clientSession *session, key string) {
	if r.Context().Err() != nil {
		s.sessions.recordAbortedResponse(clientSession)
	}
	s.sessions.releaseTask(clientSession, key)
}

func (s httpTransport) refuseTask(w http.ResponseWriter, id json.RawMessage, err error) {
	switch {
	case errors.Is(err, errDuplicateID):
		refuseRequest(w, http.StatusOK, id, wire.CodeInvalidRequest,
			duplicateIDMessage)
	case errors.Is(err, ErrShutdown):
		refuseRequest(w, http.StatusServiceUnavailable, id, wire.CodeInternal, ServerStoppingMessage)
	default:
		refuseRequest(w, http.StatusNotFound, id, codeUnknownSession, "The session has ended. Initialize again.")
	}
}

func (s httpTransport) servePost(w http.ResponseWriter, r *http.Request) {
	if !hasJSONContentType(r) {
		refuseRequest(w, http.StatusUnsupportedMediaType, nil, wire.CodeInvalidRequest, "Send MCP messages with Content-Type: application/json.")
		return
	}
	body, err := s.readBody(w, r)
	if err != nil {
		var bodyTooLargeErr *http.MaxBytesError
		switch {
		case errors.As(err, &bodyTooLargeErr):
			refuseRequest(w, http.StatusRequestEntityTooLarge, findIDAtStart(body), wire.CodeInvalidRequest, s.tooLargeText())
		case errors.Is(err, os.ErrDeadlineExceeded):
			refuseRequest(w, http.StatusRequestTimeout, nil, wire.CodeInvalidRequest, "The request arrived too slowly. Send it again, faster.")
		}
		return // any other read error means that the client has disconnected
	}
	m, ok := parseMessage(body)
	if !ok {
		rejectInvalidMessage(w, body)
		return
	}
	if m.hasInvalidID() {
		refuseRequest(w, http.StatusBadRequest, nil, wire.CodeInvalidRequest, invalidIDMessage)
		return
	}
	p, err := parseParams(m.Params)
	if err != nil && m.isForHandler() {
		httpStatus := http.StatusOK
		if hasModernHeader(r) {
			httpStatus = http.StatusBadRequest
		}
		refuseRequest(w, httpStatus, m.ID, wire.CodeInvalidParams, malformedParamsText(m, err))
		return
	}
	if hasModernHeader(r) || p.IsModern() {
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.serveModern(w, r, m, &p)
		return
	}
	if !checkVersion(w, r, m.ID) {
		return
	}
	if m.Method == methodInitialize && m.isRequest() {
		s.serveInitialize(w, r, m, body)
		return
	}
	clientSession, ok := s.findSession(w, r, m.ID)
	if !ok {
		return
	}
	switch {
	case m.Method == methodCancelled && !m.isRequest():
		if key, ok := requestKey(p.RequestID); ok {
			s.sessions.cancelTask(clientSession, key, p.cancelReason())
		}
		w.WriteHeader(http.StatusAccepted)
	case m.isAnswer():
		clientSession.requests.handleAnswer(m)
		w.WriteHeader(http.StatusAccepted)
	case m.isForHandler():
		s.serveLegacyCall(w, r, m, &p, clientSession)
	default:
		response := s.serveWithMCPGo(r.Context(), clientSession, m, body)
		if tools, ok := toToolList(m.ID, response); ok {
			sendJSON(w, http.StatusOK, tools.writeTo)
			return
		}
		answerHTTP(w, response)
	}
}

func hasJSONContentType(r *http.Request) bool {
	contentType := r.Header.Get("Content-Type")
	if contentType == "application/json" {
		return true
	}
	t, _, err := mime.ParseMediaType(contentType)
	return err == nil && t == "application/json"
}

// maxPreallocatedBytes is the largest Content-Length, in bytes, for which memory is allocated
// before the body arrives.
const maxPreallocatedBytes = 64 << 10

// If the body exceeds the size limit, the error is *http.MaxBytesError, and the result is the beginning of the body.
func (s httpTransport) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if n := r.ContentLength; n > 0 && n <= maxPreallocatedBytes && n <= s.opts.MaxRequestBytes {
		body := make([]byte, n)
		read, err := io.ReadFull(r.Body, body)
		return body[:read], err
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxRequestBytes))
}

func rejectInvalidMessage(w http.ResponseWriter, requestBody []byte) {
	code, errorText := invalidMessageText(requestBody)
	refuseRequest(w, http.StatusBadRequest, nil, code, errorText)
}

func invalidMessageText(b []byte) (code int, errorText string) {
	if !utf8.Valid(b) {
		return wire.CodeParseError, "This is not UTF-8. Send one JSON-RPC message in UTF-8."
	}
	if !json.Valid(b) {
		return wire.CodeParseError, "This is not JSON. Send one JSON-RPC message."
	}
	return wire.CodeInvalidRequest, "This is not one JSON-RPC message. Send one JSON object, with a method that is a string."
}

func (s httpTransport) serveInitialize(w http.ResponseWriter, r *http.Request, m rpcMessage, requestBody []byte) {
	clientSession := s.sessions.open(TransportHTTP, contextCredential(r.Context()))
	response := s.serveWithMCPGo(r.Context(), clientSession, m, requestBody)
	if _, ok := response.(mcp.JSONRPCResponse); !ok || s.library.RegisterSession(r.Context(), clientSession.listener) != nil {
		s.sessions.closeSession(clientSession.id)
	} else {
		w.Header().Set(mcp.HeaderSessionID, clientSession.id)
	}
	answerHTTP(w, response)
}

func answerHTTP(w http.ResponseWriter, response mcp.JSONRPCMessage) {
	if response == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	b, err := json.Marshal(response)
	if err != nil { // impossible: all schemas of plugins are valid JSON
		refuseRequest(w, http.StatusInternalServerError, nil, wire.CodeInternal, "The answer is not JSON. Check the log of opentabs, then report the error.")
		return
	}
	sendJSON(w, http.StatusOK, func(w *bufio.Writer) { w.Write(b) })
}

func (s httpTransport) serveLegacyCall(w http.ResponseWriter, r *http.Request, m rpcMessage, p *Params, clientSession *session) {
	key, _ := requestKey(m.ID) // servePost rejects an invalid ID
	s.serveCall(w, r, m, p, clientSession, key, clientSession.credential.dispatchClient(clientSession.displayName, s.sessions.clientInfo(clientSession).Name))
}

func (s httpTransport) serveCall(w http.ResponseWriter, r *http.Request, m rpcMessage, p *Params, clientSession *session, key string, client dispatch.Client) {
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if err := s.sessions.beginTask(clientSession, key, task{cancel: cancel}); err != nil {
		s.refuseTask(w, m.ID, err)
		return
	}
	defer s.sessions.finishTask()
	stream := newStream(w, r, s.opts.Heartbeat, func() { cancel(errClientDisconnected) })
	sendMessage := Send(stream.notify)
	if !stream.acceptsEvents {
		sendMessage = nil
	}
	hops.FromContext(ctx).Record(hops.CheckpointParsed)
	reply := s.handler.Serve(ctx, s.newRequest(clientSession, m, p, client, sendMessage))
	s.releaseTask(r, clientSession, key)
	if ctx.Err() != nil {
		reply.HandleUndelivered()
		stream.endWithoutAnswer()
		return
	}
	httpStatus := http.StatusOK
	var serverIdentity json.RawMessage
	if p.IsModern() {
		httpStatus, serverIdentity = modernHTTPStatus(reply.ErrorCode()), s.opts.Identity
	}
	err := stream.respond(httpStatus, func(b *bufio.Writer) { WriteAnswer(b, m.ID, reply, serverIdentity) })
	if err != nil {
		reply.HandleUndelivered()
		s.opts.Log.Warn().Str("call", reply.CallID()).Str("client", client.String()).Err(err).Msg("result could not be delivered")
	}
}
