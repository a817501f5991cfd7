package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"opentabs/internal/memnet"
)

type fakeServer struct {
	handleToolCall func(w http.ResponseWriter, r *http.Request, id, token json.RawMessage)

	mu       sync.Mutex // the mutex guards the field requests
	requests []string
}

func (f *fakeServer) recordRequest(method string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests = append(f.requests, method)
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer secret" {
		http.Error(w, `{"error":"the token is wrong"}`, http.StatusUnauthorized)
		return
	}
	if r.Method == http.MethodDelete {
		f.recordRequest("DELETE " + r.Header.Get("Mcp-Session-Id"))
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Cursor string `json:"cursor"`
			Meta   struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
			RequestID json.RawMessage `json:"requestId"`
		} `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  *RPCError       `json:"error"`
	}
	body, _ := io.ReadAll(r.Body)
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	f.recordRequest(strings.Join(strings.Fields(fmt.Sprint(m.Method, " ", r.Header.Get("Mcp-Session-Id"), " ", r.Header.Get("Mcp-Protocol-Version"))), " "))
	switch {
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", "s1")
		writeReply(w, m.ID, `{"protocolVersion":"2025-06-18","serverInfo":{"name":"fake","version":"1"}}`)
	case m.Method == "tools/list" && m.Params.Cursor == "":
		writeReply(w, m.ID, `{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"2"}`)
	case m.Method == "tools/list":
		writeReply(w, m.ID, `{"tools":[{"name":"b"}]}`)
	case m.Method == "tools/call":
		f.handleToolCall(w, r, m.ID, m.Params.Meta.Token)
	case m.Method == "notifications/cancelled":
		f.recordRequest("cancelled " + string(m.Params.RequestID))
		w.WriteHeader(http.StatusAccepted)
	default:
		if m.Error != nil {
			f.recordRequest("error " + m.Error.Message)
		}
		if m.Result != nil {
			f.recordRequest("result " + string(m.Result))
		}
		w.WriteHeader(http.StatusAccepted)
	}
}

func writeReply(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func writeStream(w http.ResponseWriter, messages ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, m := range messages {
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", m)
		w.(http.Flusher).Flush()
	}
}

func runWithClient(t *testing.T, f *fakeServer, test func(t *testing.T, c *Client)) {
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen()
		server := &http.Server{Handler: f}
		var serverGoroutine sync.WaitGroup
		serverGoroutine.Go(func() { _ = server.Serve(l) })
		transport := &http.Transport{DialContext: l.Dial}
		c := New(Options{URL: "http://server/mcp", Token: "secret", Name: "test", Version: "1", Transport: transport})
		if _, err := c.Initialize(t.Context()); err != nil {
			t.Error(err)
		}
		test(t, c)
		transport.CloseIdleConnections()
		_ = server.Close()
		serverGoroutine.Wait()
	})
}

func TestSessionWithServer(t *testing.T) {
	f := &fakeServer{}
	runWithClient(t, f, func(t *testing.T, c *Client) {
		tools, err := c.ListTools(t.Context())
		if err != nil || len(tools) != 2 || tools[0].Name != "a" || tools[1].Name != "b" {
			t.Errorf("ListTools = %v, error %v; want the tools a and b", tools, err)
		}
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	want := []string{
		"initialize",
		"notifications/initialized s1 2025-06-18",
		"tools/list s1 2025-06-18",
		"tools/list s1 2025-06-18",
		"DELETE s1",
	}
	if !slices.Equal(f.requests, want) {
		t.Errorf("the server received the requests %q; want %v", f.requests, want)
	}
}

func TestCallWithProgress(t *testing.T) {
	f := &fakeServer{handleToolCall: func(w http.ResponseWriter, _ *http.Request, id, token json.RawMessage) {
		writeStream(w,
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":4,"message":"one"}}`, token),
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":999,"progress":2}}`,
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":"y"}}`,
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`,
			`{"jsonrpc":"2.0","id":77,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":78,"method":"elicitation/create"}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":3}}`, token),
			fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hi"}],"structuredContent":{"n":9007199254740993},"_meta":{"k":"v"}}}`, id),
			`{"jsonrpc":"2.0","id":1,"result":{}}`,
		)
	}}
	runWithClient(t, f, func(t *testing.T, c *Client) {
		var got []Progress
		callResult, err := c.CallTool(t.Context(), "a", json.RawMessage(`{}`), func(p Progress) { got = append(got, p) })
		if err != nil {
			t.Fatal(err)
		}
		if want := []Progress{{Progress: 1, Total: 4, HasTotal: true, Message: "one"}, {Progress: 3}}; !slices.Equal(got, want) {
			t.Errorf("progress reports = %+v; want %v", got, want)
		}
		if string(callResult.StructuredContent) != `{"n":9007199254740993}` || callResult.Content[0].Text != "hi" || string(callResult.Meta["k"]) != `"v"` {
			t.Errorf("result = %+v, want the number unchanged, the text hi and the metadata k", callResult)
		}
	})
	for _, want := range []string{"result {}", "error this client does not support elicitation/create"} {
		if !slices.Contains(f.requests, want) {
			t.Errorf("the server received the requests %q, want %q among them", f.requests, want)
		}
	}
}

func TestCallWithoutProgressSendsNoToken(t *testing.T) {
	f := &fakeServer{handleToolCall: func(w http.ResponseWriter, _ *http.Request, id, token json.RawMessage) {
		if token != nil {
			t.Errorf("the request contains the progress token %s, want none", token)
		}
		writeReply(w, id, `{"content":[]}`)
	}}
	runWithClient(t, f, func(t *testing.T, c *Client) {
		if _, err := c.CallTool(t.Context(), "a", json.RawMessage(`{}`), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestCallErrorsAreReturned(t *testing.T) {
	for name, c := range map[string]struct {
		handleToolCall func(w http.ResponseWriter, r *http.Request, id, token json.RawMessage)
		want           string
		wantErr        error
	}{
		"an error": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, id, _ json.RawMessage) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no such tool"}}`, id)
		}, want: "no such tool"},
		"an error with a status": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"bad session"}}`)
		}, want: "bad session"},
		"no answer": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			writeStream(w, `{"jsonrpc":"2.0","method":"notifications/message"}`)
		}, want: "tools/call: the server ended the connection before it answered", wantErr: ErrNoResponse},
		"a broken connection": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			writeStream(w, `{}`)
			panic(http.ErrAbortHandler)
		}, wantErr: ErrNoResponse},
		"no answer at all": {handleToolCall: func(http.ResponseWriter, *http.Request, json.RawMessage, json.RawMessage) {
			panic(http.ErrAbortHandler)
		}, wantErr: ErrNoResponse},
		"no message": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			writeStream(w, `nonsense`)
		}, want: "the server sent a malformed message"},
		"a status": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			http.Error(w, `{"error":"slow down"}`, http.StatusTooManyRequests)
		}, want: "tools/call: the server answered 429 Too Many Requests: slow down"},
		"text": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			http.Error(w, "boom", http.StatusInternalServerError)
		}, want: "the server answered 500 Internal Server Error: boom"},
		"another's answer": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, _, _ json.RawMessage) {
			writeReply(w, json.RawMessage(`55`), `{}`)
		}, want: "the server answered 200"},
		"a wrong result": {handleToolCall: func(w http.ResponseWriter, _ *http.Request, id, _ json.RawMessage) {
			writeReply(w, id, `{"content":1}`)
		}, want: "read the answer of tools/call"},
	} {
		t.Run(name, func(t *testing.T) {
			runWithClient(t, &fakeServer{handleToolCall: c.handleToolCall}, func(t *testing.T, client *Client) {
				_, err := client.CallTool(t.Context(), "a", json.RawMessage(`{}`), nil)
				if err == nil || !strings.Contains(err.Error(), c.want) || c.wantErr != nil && !errors.Is(err, c.wantErr) {
					t.Errorf("error of the call = %v, want an error that contains %q", err, c.want)
				}
			})
		})
	}
}

// MCP requires the server to close the event stream of a cancelled call. One of the two test servers violates MCP: the
// server keeps the event stream of a cancelled call open.
func TestCancel(t *testing.T) {
	for _, c := range []struct {
		name     string
		endDelay time.Duration
		want     time.Duration
	}{
		{"the server ends the stream", 300 * time.Millisecond, 300 * time.Millisecond},
		{"the server does not", time.Hour, cancelTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakeServer{handleToolCall: func(w http.ResponseWriter, r *http.Request, _, _ json.RawMessage) {
				writeStream(w, `{"jsonrpc":"2.0","method":"notifications/message"}`)
				select {
				case <-time.After(10*time.Second + c.endDelay):
				case <-r.Context().Done():
				}
			}}
			runWithClient(t, f, func(t *testing.T, client *Client) {
				ctx, cancel := context.WithCancel(t.Context())
				startTime := time.Now()
				time.AfterFunc(10*time.Second, cancel)
				_, err := client.CallTool(ctx, "a", json.RawMessage(`{}`), nil)
				if !errors.Is(err, context.Canceled) {
					t.Errorf("got %v; want the error %v", err, context.Canceled)
				}
				if cancelTime := time.Since(startTime) - 10*time.Second; cancelTime != c.want {
					t.Errorf("CallTool returned %v after the cancellation, want %v", cancelTime, c.want)
				}
			})
			if !slices.Contains(f.requests, "cancelled 2") {
				t.Errorf("the server received the requests %q, want a cancellation of request 2", f.requests)
			}
		})
	}
}

func TestResultAfterCancel(t *testing.T) {
	var cancel context.CancelFunc
	f := &fakeServer{handleToolCall: func(w http.ResponseWriter, _ *http.Request, id, _ json.RawMessage) {
		writeStream(w, `{"jsonrpc":"2.0","method":"notifications/message"}`)
		cancel()
		<-time.After(100 * time.Millisecond)
		writeStream(w, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id))
	}}
	runWithClient(t, f, func(t *testing.T, c *Client) {
		var ctx context.Context
		ctx, cancel = context.WithCancel(t.Context())
		if _, err := c.CallTool(ctx, "a", json.RawMessage(`{}`), nil); err != nil {
			t.Errorf("CallTool that was cancelled too late: error %v, want the result of the call", err)
		}
	})
}

func TestInitializeWithoutServer(t *testing.T) {
	c := New(Options{URL: "http://127.0.0.1:1/mcp"}) // no program listens on port 1
	if _, err := c.Initialize(t.Context()); !errors.Is(err, ErrNoServer) {
		t.Errorf("got %v; want the error %v", err, ErrNoServer)
	}
}

// A server that sends a comment every 25 s stays connected.
func TestSilentServer(t *testing.T) {
	f := &fakeServer{handleToolCall: func(w http.ResponseWriter, r *http.Request, _, _ json.RawMessage) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 60 {
			fmt.Fprint(w, ":\n\n")
			w.(http.Flusher).Flush()
			<-time.After(25 * time.Second)
		}
		<-r.Context().Done()
	}}
	runWithClient(t, f, func(t *testing.T, c *Client) {
		startTime := time.Now()
		_, err := c.CallTool(t.Context(), "a", json.RawMessage(`{}`), nil)
		if !errors.Is(err, ErrServerUnresponsive) {
			t.Errorf("got %v; want the error %v", err, ErrServerUnresponsive)
		}
		if waitTime, want := time.Since(startTime), 60*25*time.Second+maxStreamSilence; waitTime < want-25*time.Second || waitTime > want {
			t.Errorf("the client gave up after %v, want %v", waitTime, want)
		}
	})
}

func TestWrongToken(t *testing.T) {
	runWithClient(t, &fakeServer{}, func(t *testing.T, c *Client) {
		c.options.Token = "guess"
		var statusErr *statusError
		if _, err := c.ListTools(t.Context()); !errors.As(err, &statusErr) || statusErr.Status != 401 || statusErr.ReasonText != "the token is wrong" {
			t.Errorf("ListTools with a wrong token: error %v, want status 401 with the server's message", err)
		}
	})
}
