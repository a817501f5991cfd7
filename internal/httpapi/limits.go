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

// The constants in limits.go limit how slowly clients may send requests and read
// responses. The time limits of clients do not apply to calls, to streams of events, or
// to connections of /stdio and /ws.
const (
	// headerTimeout is the limit for reading the header of a request.
	headerTimeout = 10 * time.Second
	// maxBodyPause is the longest pause within a request's body, bodyTimeout the limit
	// for the whole body.
	maxBodyPause = 30 * time.Second
	bodyTimeout  = 5 * time.Minute
	// lingerTimeout is the limit for reading the rest of a body that the handler did
	// not read.
	lingerTimeout = 2 * time.Second
	// writeTimeout is the limit for writing a response to the client. Streaming routes
	// set their own limits for writing.
	writeTimeout = 30 * time.Second
	// idleTimeout is the longest pause between two requests on a connection.
	idleTimeout = 2 * time.Minute
	// maxHeaderBytes is the maximum size of a request's header.
	maxHeaderBytes = 64 << 10
	// rejectLogInterval is the minimum time between two log lines about rejected connections.
	rejectLogInterval = time.Minute
)

// NewServer returns a server for handler that disconnects clients which send or read
// too slowly. The server logs its errors to out.
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

// limitTimes limits the time for reading a request's body, and for writing the rest of
// the response after next has returned.
func limitTimes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		body := &timedBody{ReadCloser: r.Body, rc: rc, deadline: time.Now().Add(bodyTimeout), hasEnded: r.ContentLength == 0}
		if !body.hasEnded {
			r.Body = body
		}
		next.ServeHTTP(w, r)
		if !body.hasEnded { // net/http reads the rest of the body
			_ = rc.SetReadDeadline(time.Now().Add(lingerTimeout))
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // setting the deadline fails if the connection is closed
	})
}

// timedBody gives every read of a body a deadline.
type timedBody struct {
	io.ReadCloser
	rc       *http.ResponseController
	deadline time.Time
	hasEnded bool // the body was read to its end, or a read failed
}

// Read implements io.Reader. At the end of a body, net/http removes the deadline and
// keeps reading to notice when the client disconnects. A deadline set after the end of
// the body would cancel the request, so Read sets none after the end.
func (b *timedBody) Read(p []byte) (int, error) {
	if b.hasEnded {
		return b.ReadCloser.Read(p)
	}
	deadline := time.Now().Add(maxBodyPause)
	if deadline.After(b.deadline) {
		deadline = b.deadline
	}
	_ = b.rc.SetReadDeadline(deadline) // if setting the deadline fails, the read fails too
	n, err := b.ReadCloser.Read(p)
	b.hasEnded = err != nil
	return n, err
}

// serverLog receives the log of net/http. While net/http cannot accept connections,
// net/http logs a line per second; serverLog writes one line per rejectLogInterval.
type serverLog struct {
	out zerolog.Logger

	mu          sync.Mutex // guards lastLogTime
	lastLogTime time.Time  // time of the last line about rejected connections
}

// Write logs one line from net/http and implements io.Writer.
func (s *serverLog) Write(p []byte) (int, error) {
	line := strings.TrimSpace(string(p))
	reason, ok := strings.CutPrefix(line, "http: Accept error: ")
	if !ok {
		s.out.Warn().Msg(line)
		return len(p), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.lastLogTime.IsZero() || now.Sub(s.lastLogTime) >= rejectLogInterval {
		s.lastLogTime = now
		reason, _, _ = strings.Cut(reason, "; retrying")
		s.out.Error().Str("error", reason).Msg("new connections are rejected; open connections continue. Close programs with many connections, or raise the limit of open files (ulimit -n)")
	}
	return len(p), nil
}
