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
	// headerPatience is for the head of a request.
	headerPatience = 10 * time.Second
	// bodySilence is for the next piece of a request's body, bodyPatience for
	// all of it.
	bodySilence  = 30 * time.Second
	bodyPatience = 5 * time.Minute
	// lingerPatience is for the rest of a body that is not wanted, before the
	// answer that says so.
	lingerPatience = 2 * time.Second
	// writePatience is for taking an answer; what answers in parts sets limits
	// of its own.
	writePatience = 30 * time.Second
	// idlePatience is for the next request on a connection.
	idlePatience = 2 * time.Minute
	// maxHeaderBytes is the longest head of a request.
	maxHeaderBytes = 64 << 10
	// acceptPause is the time between two log lines that nobody can connect.
	acceptPause = time.Minute
)

// NewServer returns a server for handler in which a client that sends or reads
// slowly holds up nobody and is given up in the end. Its errors go to log.
func NewServer(handler http.Handler, out zerolog.Logger) *http.Server {
	return &http.Server{
		Handler:           patient(handler),
		ReadHeaderTimeout: headerPatience,
		IdleTimeout:       idlePatience,
		WriteTimeout:      writePatience,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          log.New(&serverLog{out: out}, "", 0),
	}
}

// patient limits the time of a request's body, and of what is left to be
// written when next has returned.
func patient(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rc := http.NewResponseController(w)
		body := &patientBody{ReadCloser: r.Body, rc: rc, until: time.Now().Add(bodyPatience), ended: r.ContentLength == 0}
		if !body.ended {
			r.Body = body
		}
		next.ServeHTTP(w, r)
		if !body.ended { // net/http reads on for a while
			_ = rc.SetReadDeadline(time.Now().Add(lingerPatience))
		}
		_ = rc.SetWriteDeadline(time.Now().Add(writePatience)) // it fails for a connection that is gone
	})
}

// patientBody gives every read of a body a deadline.
type patientBody struct {
	io.ReadCloser
	rc    *http.ResponseController
	until time.Time
	ended bool // no more of it will come
}

// Read implements io.Reader. At the end of a body net/http takes the deadline
// away and reads on, to see whether the client is still there; a deadline after
// that would end the request.
func (b *patientBody) Read(p []byte) (int, error) {
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

// serverLog takes what net/http logs. It says seldom that connections can't be
// accepted, which net/http tells each second.
type serverLog struct {
	out zerolog.Logger

	mu   sync.Mutex // guards last
	last time.Time  // when it was said that nobody can connect
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
		s.out.Error().Str("error", reason).Msg("nobody can connect at the moment; what is connected goes on. Close what holds connections, or raise the limit of open files (ulimit -n)")
	}
	return len(p), nil
}
