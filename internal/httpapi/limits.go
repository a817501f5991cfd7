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

// The limits for slow clients do not apply to calls, event streams, and connections of /stdio and /ws.
const (
	headerTimeout = 10 * time.Second
	// bodyReadTimeout is the longest pause within the body of a request.
	bodyReadTimeout = 30 * time.Second
	bodyTimeout     = 5 * time.Minute
	// discardBodyTimeout limits reading the rest of a request body that the handler did not read.
	discardBodyTimeout = 2 * time.Second
	// The routes of event streams replace writeTimeout with a deadline for each write.
	writeTimeout = 30 * time.Second
	// idleTimeout is the longest pause between two requests on a connection.
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	rejectLogInterval = time.Minute
)

// NewServer returns an HTTP server that disconnects clients which send or read too
// slowly. The parameter logger receives the server's errors.
func NewServer(handler http.Handler, logger zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           limitBodyReadTime(handler),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		WriteTimeout:      writeTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(&serverLog{log: logger}, "", 0),
	}
}

func limitBodyReadTime(nextHandler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		body := &deadlineBody{ReadCloser: r.Body, rc: rc, deadline: time.Now().Add(bodyTimeout), hasEnded: r.ContentLength == 0}
		if !body.hasEnded {
			r.Body = body
		}
		nextHandler.ServeHTTP(w, r)
		if !body.hasEnded { // net/http reads the rest of the request body
			_ = rc.SetReadDeadline(time.Now().Add(discardBodyTimeout))
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // SetWriteDeadline fails if the connection is closed
	})
}

// deadlineBody is a request body that sets a read deadline for each read.
type deadlineBody struct {
	io.ReadCloser
	rc       *http.ResponseController
	deadline time.Time
	hasEnded bool // hasEnded is true if the body was read to its end, or a read failed
}

// Read sets no deadline after the end of the body, because net/http keeps reading to detect a disconnect.
func (b *deadlineBody) Read(p []byte) (int, error) {
	if b.hasEnded {
		return b.ReadCloser.Read(p)
	}
	deadline := time.Now().Add(bodyReadTimeout)
	if deadline.After(b.deadline) {
		deadline = b.deadline
	}
	_ = b.rc.SetReadDeadline(deadline) // if SetReadDeadline fails, the read fails too
	n, err := b.ReadCloser.Read(p)
	b.hasEnded = err != nil
	return n, err
}

// serverLog receives the error log of net/http. While the process has no free file
// descriptors, net/http logs one line per second. serverLog logs only one of these lines
// per rejectLogInterval.
type serverLog struct {
	log zerolog.Logger

	mu          sync.Mutex // the mutex guards the field lastLogTime
	lastLogTime time.Time
}

func (s *serverLog) Write(p []byte) (int, error) {
	line := strings.TrimSpace(string(p))
	reason, ok := strings.CutPrefix(line, "http: Accept error: ")
	if !ok {
		s.log.Warn().Msg(line)
		return len(p), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.lastLogTime.IsZero() || now.Sub(s.lastLogTime) >= rejectLogInterval {
		s.lastLogTime = now
		reason, _, _ = strings.Cut(reason, "; retrying")
		s.log.Error().Str("error", reason).Msg("new connections are rejected; open connections continue. Close programs with many connections, or raise the limit of open files (ulimit -n)")
	}
	return len(p), nil
}
