package transport

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

type rejectingHandler struct{}

func (rejectingHandler) WaitUntilReady(context.Context, string) error { return nil }
func (rejectingHandler) Serve(context.Context, Request) Reply {
	return NewFaultf(mcp.INTERNAL_ERROR, "no calls")
}
func (rejectingHandler) FindToolWithHeaders(string) *mcp.Tool { return nil }
func newTestServer(o Options) (*Server, *server.MCPServer) {
	library := server.NewMCPServer("test", "1", server.WithToolCapabilities(true))
	return New(rejectingHandler{}, library, o), library
}

func initializeSession(t *testing.T, s *Server) {
	t.Helper()
	postRequest := func(session, requestBody string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(requestBody))
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set(mcp.HeaderSessionID, session)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		return w
	}
	w := postRequest("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	session := w.Header().Get(mcp.HeaderSessionID)
	if session == "" {
		t.Fatalf("the response to initialize has no session ID, want one: %s", w.Body)
	}
	if w := postRequest(session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); w.Code != http.StatusAccepted {
		t.Fatalf("notifications/initialized: status %d; want 202", w.Code)
	}
}

func TestEndedSessionsAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, library := newTestServer(Options{SessionIdle: time.Hour, Heartbeat: 25 * time.Second, MaxRequestBytes: 1 << 20})
		const n = 200
		for range n {
			initializeSession(t, s)
		}
		var allSessions []*session
		s.sessions.mu.Lock()
		for _, openSession := range s.sessions.sessionsByID {
			allSessions = append(allSessions, openSession)
		}
		s.sessions.mu.Unlock()
		library.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
		if len(allSessions) != n || len(allSessions[0].listener.mcpGoNotifications) != 1 {
			t.Errorf("%d sessions, %d notifications for the first; want %d and 1", len(allSessions), len(allSessions[0].listener.mcpGoNotifications), n)
		}
		<-time.After(2 * time.Hour)
		library.SendNotificationToAllClients(mcp.MethodNotificationToolsListChanged, nil)
		for _, endedSession := range allSessions {
			if len(endedSession.listener.mcpGoNotifications) != 1 {
				t.Fatal("mcp-go notified a session that has ended; want no notification")
			}
		}
		s.sessions.mu.Lock()
		defer s.sessions.mu.Unlock()
		if sessionCount := len(s.sessions.sessionsByID); sessionCount != 0 || s.sessions.sweepTimer != nil {
			t.Errorf("the server still has %d sessions and the timer %v; want 0 and nil", sessionCount, s.sessions.sweepTimer)
		}
	})
}

// TestNoRequestAfterContextEnds checks that a request to the client is not sent if its
// context has ended.
func TestNoRequestAfterContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sendMessage := func([]byte) error {
		t.Error("the client received a request whose context had already ended; want none")
		return nil
	}
	if _, err := (&clientRequests{}).sendAndWait(ctx, sendMessage, "elicitation/create", nil); err == nil {
		t.Error("sendAndWait sent the request; want an error")
	}
}
