package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/rs/zerolog"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
)

// Options configure a [Server].
type Options struct {
	// The field Log is the log for messages about sessions and errors. By default,
	// nothing is logged.
	Log zerolog.Logger
	// SessionIdle is how long an HTTP session without calls, streams and requests is
	// kept. The field SessionIdle is required.
	SessionIdle time.Duration
	// Heartbeat is the interval of keep-alive comments on a silent stream. The field
	// Heartbeat is required.
	Heartbeat time.Duration
	// MaxRequestBytes is the maximum size of a request, in bytes. The field
	// MaxRequestBytes is required.
	MaxRequestBytes int64
	// Identity is the server's name and version as JSON, for the results of protocol
	// version 2026-07-28. The field Identity is required.
	Identity json.RawMessage
	// OnSessionEnd receives the client of each ended session. For a client without sessions, OnSessionEnd is called
	// when its token is removed. By default, ended sessions are not reported.
	OnSessionEnd func(dispatch.Client)
	// Resources manages subscriptions. By default, the server has no resources.
	Resources Resources
}

// Server connects MCP clients to a [Handler]. Create a Server with [New].
type Server struct {
	opts          Options
	handler       Handler
	library       *server.MCPServer // the field library answers the requests that are not for handler
	sessions      *sessions
	modernHandler *server.StreamableHTTPServer
	lastTaskKey   atomic.Uint64
}

// New returns a Server for a handler and a library. The handler answers the requests
// tools/call, prompts/get and resources/read. The library mcp-go answers all requests
// that the handler does not answer.
func New(handler Handler, library *server.MCPServer, o Options) *Server {
	s := &Server{opts: o, handler: handler, library: library}
	if s.opts.OnSessionEnd == nil {
		s.opts.OnSessionEnd = func(dispatch.Client) {}
	}
	s.sessions = newSessions(o.SessionIdle, o.Resources, s.removeEndedSession)
	s.modernHandler = server.NewStreamableHTTPServer(library,
		server.WithStreamableHTTPLogger(slog.New(zerolog.NewSlogHandler(o.Log))))
	return s
}

// Clients returns the sessions of connected clients, oldest first. An HTTP client counts
// as disconnected after it closed a response early, or after 10 minutes without a stream
// or request. The session of a client that has disconnected may still exist. A client of
// protocol version 2026-07-28 has no session over HTTP, and is listed only while it
// listens for changes.
func (s *Server) Clients() []ClientInfo { return s.sessions.clientInfos() }

// Shutdown rejects new requests, ends all streams without a call at once, and waits for
// running calls. If ctx ends first, Shutdown cancels the calls and returns ctx's error.
func (s *Server) Shutdown(ctx context.Context) error { return s.sessions.shutdown(ctx) }

// RevokeToken ends the sessions, streams and calls of the client whose token was removed.
// Before the caller calls RevokeToken, it must make sure that new requests with the token
// are rejected.
func (s *Server) RevokeToken(token string) {
	revokedCredential := Credential{Kind: dispatch.CredentialToken, Token: token}
	s.sessions.revokeCredential(revokedCredential)
	s.opts.OnSessionEnd(revokedCredential.sessionlessClient(""))
}

// Log sends a log message to each client whose log level includes the message, without
// blocking. A client that does not read loses messages, the oldest first.
func (s *Server) Log(level mcp.LoggingLevel, n mcp.JSONRPCNotification) {
	for _, l := range s.sessions.allListeners() {
		l.queueLog(level, n)
	}
}

func (s *Server) serveWithMCPGo(ctx context.Context, clientSession *session, m rpcMessage, rawJSON []byte) mcp.JSONRPCMessage {
	if err := s.handler.WaitUntilReady(ctx, m.Method); err != nil && m.isRequest() {
		return newNotReadyAnswer(m.ID, err)
	}
	response := s.library.HandleMessage(s.library.WithContext(ctx, clientSession.listener), rawJSON)
	if !m.isRequest() {
		return nil
	}
	// mcp-go decodes an ID as a float64, but the client expects exactly the ID that it
	// sent.
	switch a := response.(type) {
	case mcp.JSONRPCResponse:
		if m.Method == methodInitialize {
			s.recordClientName(clientSession, m)
		}
		a.ID = mcp.NewRequestId(m.ID)
		return a
	case mcp.JSONRPCError:
		a.ID = mcp.NewRequestId(m.ID)
		return a
	}
	return response
}

func newNotReadyAnswer(id any, err error) mcp.JSONRPCMessage {
	return mcp.NewJSONRPCError(mcp.NewRequestId(id), mcp.INTERNAL_ERROR, err.Error(), nil)
}

func (s *Server) recordClientName(clientSession *session, m rpcMessage) {
	var p struct {
		ProtocolVersion string         `json:"protocolVersion"`
		ClientInfo      reportedClient `json:"clientInfo"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.sessions.setClientName(clientSession.id, p.ClientInfo)
	s.opts.Log.Info().Str("client", p.ClientInfo.Name).Str("client_version", p.ClientInfo.Version).
		Str("protocol", p.ProtocolVersion).Msg("client connected")
}

func (s *Server) removeEndedSession(in *session) {
	s.library.UnregisterSession(context.Background(), in.id)
	if s.opts.Resources != nil {
		s.opts.Resources.Drop(in.listener.Subscriber)
	}
	clientInfo := s.sessions.clientInfo(in)
	s.opts.Log.Info().Str("client", clientInfo.Name).Str("transport", clientInfo.Transport).Msg("client gone")
	s.opts.OnSessionEnd(in.credential.dispatchClient(in.displayName, clientInfo.Name))
}

// newUniqueKey returns a key for a task that no client can cancel by its ID.
func (s *Server) newUniqueKey() string { return "-" + strconv.FormatUint(s.lastTaskKey.Add(1), 10) }

func (s *Server) newRequest(clientSession *session, m rpcMessage, p *Params, client dispatch.Client, sendMessage Send) Request {
	r := Request{
		Method: m.Method, Params: p, Client: client, Info: s.sessions.clientInfo(clientSession), Send: sendMessage,
		server: s, session: clientSession,
	}
	if p.IsModern() {
		r.Info.Name, r.Info.Version = p.Meta.ClientInfo.Name, p.Meta.ClientInfo.Version
		r.CanAskInReply = m.Method != MethodRead && showsForms(p.Meta.Capabilities)
		r.ReadsOnlyStructuredContent = declaresStructuredOnly(p.Meta.Capabilities)
	} else {
		r.Ask = clientSession.newAskFunc(sendMessage)
		if clientSession.listener != nil {
			_, r.ReadsOnlyStructuredContent = clientSession.listener.GetClientCapabilities().Experimental[structuredOnlyCapability]
		}
	}
	return r
}

func declaresStructuredOnly(capabilities json.RawMessage) bool {
	if !bytes.Contains(capabilities, []byte(structuredOnlyCapability)) {
		return false
	}
	return rawjson.Get(rawjson.Get(capabilities, "experimental"), structuredOnlyCapability) != nil
}

func (s *Server) tooLargeText() string {
	return fmt.Sprintf("The request is larger than %d bytes. Send less in one request.", s.opts.MaxRequestBytes)
}

func encodeJSON(v any) []byte { return rawjson.Encode(v) }
