package httpapi

import (
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// How long a client may take. None of this limits a call, which may be silent
// for minutes, a stream of events, or a connection of /stdio or /ws.
const (
	// headerTimeout is for the head of a request.
	headerTimeout = 10 * time.Second
	// bodySilence is for the next piece of a request's body, bodyTimeout for
	// all of it.
	bodySilence = 30 * time.Second
	bodyTimeout = 5 * time.Minute
	// lingerTimeout is for the rest of a rejected body, before the error response.
	lingerTimeout = 2 * time.Second
	// writeTimeout is for the client to read a response. Streaming routes set their
	// own limits.
	writeTimeout = 30 * time.Second
	// idleTimeout is for the next request on a connection.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes is the longest head of a request.
	maxHeaderBytes = 64 << 10
	// acceptPause is the minimum time between two log lines about rejected connections.
	acceptPause = time.Minute
)

// NewServer returns a server for handler in which a client that sends or reads
// slowly holds up nobody and is given up in the end. Its errors go to log.
func NewServer(handler http.Handler, out zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           limitTimes(handler),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(&serverLog{out: out}, "", 0),
	}
}

// patient limits the time of a request's body, and of what is left to be
// written when next has returned.
func limitTimes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		body := &timedBody{ReadCloser: r.Body, rc: rc, until: time.Now().Add(bodyTimeout), ended: r.ContentLength == 0}
		if !body.ended {
			r.Body = body
		}
		next.ServeHTTP(w, r)
		if !body.ended { // net/http reads on for a while
			_ = rc.SetReadDeadline(time.Now().Add(lingerTimeout))
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // it fails for a connection that is gone
	})
}

// timedBody gives every read of a body a deadline.
type timedBody struct {
	io.ReadCloser
	rc    *http.ResponseController
	until time.Time
	ended bool // no more of it will come
}

// Read implements io.Reader. At the end of a body net/http takes the deadline
// away and reads on, to see whether the client is still there; a deadline after
// that would end the request.
func (b *timedBody) Read(p []byte) (int, error) {
	if b.ended {
		return b.ReadCloser.Read(p)
	}
	deadline := time.Now().Add(bodySilence)
	if deadline.After(b.until) {
		deadline = b.until
	}
	_ = b.rc.SetReadDeadline(deadline) // a failure is that of the read too
	n, err := b.ReadCloser.Read(p)
	b.ended = err != nil
	return n, err
}

// serverLog receives the log of net/http. net/http logs each second that it cannot
// accept connections; serverLog logs that once in acceptPause.
type serverLog struct {
	out zerolog.Logger

	mu   sync.Mutex // guards last
	last time.Time  // of the last log line about rejected connections
}

// Write implements io.Writer; net/http writes a line at a time.
func (s *serverLog) Write(p []byte) (int, error) {
	line := strings.TrimSpace(string(p))
	reason, ok := strings.CutPrefix(line, "http: Accept error: ")
	if !ok {
		s.out.Warn().Msg(line)
		return len(p), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.last.IsZero() || now.Sub(s.last) >= acceptPause {
		s.last = now
		reason, _, _ = strings.Cut(reason, "; retrying")
		s.out.Error().Str("error", reason).Msg("new connections are rejected; open connections continue. Close programs with many connections, or raise the limit of open files (ulimit -n)")
	}
	return len(p), nil
}
