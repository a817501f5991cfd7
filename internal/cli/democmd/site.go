package democmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"opentabs/internal/httpjson"
)

// Browsers resolve host names that end in ".localhost" to their own machine, so only browsers on this machine can open
// the example site.
const siteHost = "opentabs-demo.localhost"

const (
	pageCount       = 40
	pageMessages    = 25
	answerDelay     = 300 * time.Millisecond
	siteStopTimeout = time.Second
)

// The type site is the example site of the demo: a chat with a few channels, served on a
// loopback address.
type site struct {
	url        string
	server     *http.Server
	stopSignal chan struct{}

	mu           sync.Mutex    // the mutex guards all fields below
	abortedPages []int         // abortedPages are the numbers of the message pages whose requests the browser aborted
	nextRequest  chan struct{} // the channel nextRequest is closed when the next request for messages arrives; nil if nothing waits
}

func startSite(ctx context.Context) (*site, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the example site: %w", err)
	}
	address := listener.Addr().(*net.TCPAddr)
	s := &site{url: fmt.Sprintf("http://%s:%d/", siteHost, address.Port), stopSignal: make(chan struct{})}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /{$}", servePage)
	routes.HandleFunc("GET /open", s.serveOpen)
	routes.HandleFunc("GET /api/channels/{channel}/messages", s.serveMessages)
	s.server = &http.Server{Handler: s.checkHost(routes, address.Port), ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = s.server.Serve(listener) }() // Serve returns http.ErrServerClosed after stop
	return s, nil
}

// Without checkHost, a page of another site could reach the example site through DNS rebinding.
func (s *site) checkHost(nextHandler http.Handler, port int) http.Handler {
	want := net.JoinHostPort(siteHost, strconv.Itoa(port))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != want {
			httpjson.SendError(w, http.StatusMisdirectedRequest, "this is the example site of opentabs: open http://"+want)
			return
		}
		nextHandler.ServeHTTP(w, r)
	})
}

func (s *site) stop() {
	close(s.stopSignal)
	ctx, cancel := context.WithTimeout(context.Background(), siteStopTimeout)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close() // Close aborts the open requests
	}
}

func servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(pageHTML)) // Write fails if the tab is closed
}

// The example page closes its tab when the request of serveOpen ends, even if the demo was killed.
func (s *site) serveOpen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write([]byte(": open\n\n"))
	_ = http.NewResponseController(w).Flush()
	select {
	case <-s.stopSignal:
	case <-r.Context().Done():
	}
}

type chatMessage struct {
	ID     string `json:"id"`
	Author string `json:"author"`
	Text   string `json:"text"`
}

func (s *site) serveMessages(w http.ResponseWriter, r *http.Request) {
	s.wakeRequestWaiter()
	number, err := strconv.Atoi(r.URL.Query().Get("cursor"))
	if err != nil {
		number = 0
	}
	select {
	case <-time.After(answerDelay):
	case <-r.Context().Done():
		s.mu.Lock()
		s.abortedPages = append(s.abortedPages, number+1)
		s.mu.Unlock()
		return
	}
	authors := []string{"Ada", "Grace", "Linus"}
	response := struct {
		Messages   []chatMessage `json:"messages"`
		NextCursor string        `json:"nextCursor,omitempty"`
		TotalPages int           `json:"totalPages"`
	}{TotalPages: pageCount}
	for i := range pageMessages {
		id := number*pageMessages + i + 1
		response.Messages = append(response.Messages, chatMessage{ID: strconv.Itoa(id), Author: authors[(id*id)%len(authors)], Text: fmt.Sprintf("Message %d of #%s", id, r.PathValue("channel"))})
	}
	if number+1 < pageCount {
		response.NextCursor = strconv.Itoa(number + 1)
	}
	httpjson.Send(w, http.StatusOK, response)
}

// nextRequestArrived returns a channel that is closed when the next request for messages arrives.
func (s *site) nextRequestArrived() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nextRequest == nil {
		s.nextRequest = make(chan struct{})
	}
	return s.nextRequest
}

func (s *site) wakeRequestWaiter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nextRequest != nil {
		close(s.nextRequest)
		s.nextRequest = nil
	}
}

func (s *site) lastAbortedPage() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.abortedPages) == 0 {
		return 0
	}
	return s.abortedPages[len(s.abortedPages)-1]
}

const pageHTML = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Example chat (opentabs demo)</title><link rel="icon" href="data:,">
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style></head>
<body><h1>Example chat</h1>
<p>This page belongs to <code>opentabs demo</code>, which runs in your terminal. It has a channel <b>#general</b> with 1,000 messages.</p>
<p id="state">The demo calls tools in this page. The page closes when the demo ends.</p>
<script>
new EventSource('/open').onerror = (event) => {
  event.target.close();
  document.getElementById('state').textContent = 'The demo has ended. You can close this tab.';
  window.close();
};
</script></body></html>
`
