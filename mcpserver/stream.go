package mcpserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// errStreamEnded is what a send returns after the answer.
var errStreamEnded = errors.New("the stream has ended")

// buffers holds the buffers that messages are written through.
var buffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

// writeBuffered calls f with a buffer in front of w and returns the first error
// of a write.
func writeBuffered(w io.Writer, f func(*bufio.Writer)) error {
	b, ok := buffers.Get().(*bufio.Writer)
	if !ok {
		panic("mcpserver: a stranger in the pool")
	}
	defer buffers.Put(b)
	b.Reset(w)
	f(b)
	err := b.Flush()
	b.Reset(nil)
	return err
}

// stream is the HTTP response to a tools/call or a GET: plain JSON, or a stream
// of events if something must be said before the answer. It is safe for
// concurrent use.
type stream struct {
	w      http.ResponseWriter
	rc     *http.ResponseController
	events bool          // the client takes text/event-stream
	pulse  time.Duration // time between two signs of life
	lost   func()        // called once, when a write has failed

	mu      sync.Mutex // guards all below and what is written
	timer   *time.Timer
	started bool // the headers of an event stream are sent
	ended   bool
	err     error // the first failed write
}

// newStream begins the response to r. Until it ends, a comment is sent each
// pulse, so that neither the client nor anything between gives it up.
func newStream(w http.ResponseWriter, r *http.Request, pulse time.Duration, lost func()) *stream {
	s := &stream{
		w: w, rc: http.NewResponseController(w), events: takesEvents(r), pulse: pulse, lost: lost,
	}
	if s.events {
		s.mu.Lock()
		s.timer = time.AfterFunc(pulse, s.beat)
		s.mu.Unlock()
	}
	return s
}

// takesEvents reports whether the client accepts an event stream. MCP wants
// each client to, but a plain HTTP client may ask for JSON alone.
func takesEvents(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return accept == "" || strings.Contains(accept, "text/event-stream") ||
		strings.Contains(accept, "*/*") || strings.Contains(accept, "text/*")
}

// open sends the headers of an event stream at once.
func (s *stream) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
	_ = s.write(notifyTimeout, func(*bufio.Writer) {}) // lost tells
}

// notify sends a message ahead of the answer. It waits at most notifyTimeout
// for a client that does not read; after a failed write all others fail.
func (s *stream) notify(message []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return errStreamEnded
	}
	s.timer.Reset(s.pulse)
	return s.event(notifyTimeout, func(b *bufio.Writer) { b.Write(message) })
}

// tell sends notifications; a failure tells lost.
func (s *stream) tell(notes []mcp.JSONRPCNotification) {
	for _, n := range notes {
		b, err := json.Marshal(n)
		if err != nil { // strings and numbers
			panic("mcpserver: " + err.Error())
		}
		_ = s.notify(b)
	}
}

// beat sends a comment, which clients skip.
func (s *stream) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.err != nil {
		return
	}
	s.start()
	if s.write(notifyTimeout, func(b *bufio.Writer) { b.WriteString(":\n\n") }) == nil {
		s.timer.Reset(s.pulse)
	}
}

// answer writes the answer and ends the stream. status is the HTTP status if
// the answer is the first thing that is sent.
func (s *stream) answer(status int, f func(*bufio.Writer)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	if s.started {
		return s.event(writeTimeout, f)
	}
	s.w.Header().Set("Content-Type", "application/json")
	s.w.WriteHeader(status)
	return s.write(writeTimeout, f)
}

// abandon ends the stream without an answer: a call that its client has
// cancelled stays silent.
func (s *stream) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	switch {
	case s.started:
	case s.events:
		s.start()
	default:
		s.w.WriteHeader(http.StatusNoContent)
	}
}

// end makes the stream silent but for what its caller still writes. The caller
// holds mu.
func (s *stream) end() {
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
}

// start sends the headers of an event stream, once. The caller holds mu.
func (s *stream) start() {
	if s.started {
		return
	}
	s.started = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
}

// event sends one message as an event. The caller holds mu.
func (s *stream) event(patience time.Duration, f func(*bufio.Writer)) error {
	s.start()
	return s.write(patience, func(b *bufio.Writer) {
		b.WriteString("event: message\ndata: ")
		f(b)
		b.WriteString("\n\n")
	})
}

// write sends what f writes and flushes it. The caller holds mu.
func (s *stream) write(patience time.Duration, f func(*bufio.Writer)) error {
	if s.err != nil {
		return s.err
	}
	w := patientWriter{w: s.w, limit: s.rc, patience: patience}
	err := writeBuffered(w, f)
	if err == nil && s.started {
		w.arm()
		err = s.rc.Flush()
	}
	// A deadline that is left behind would fail the answer that comes later.
	_ = s.rc.SetWriteDeadline(time.Time{})
	if err != nil {
		s.err = err
		s.lost()
	}
	return err
}

// writeLimit is what can limit the time of a write.
type writeLimit interface{ SetWriteDeadline(time.Time) error }

// patientWriter gives every write a deadline.
type patientWriter struct {
	w        io.Writer
	limit    writeLimit // nil if w has no deadlines
	patience time.Duration
}

// arm sets the deadline of the next write.
func (p patientWriter) arm() {
	if p.limit != nil {
		_ = p.limit.SetWriteDeadline(time.Now().Add(p.patience)) // a writer without deadlines just waits
	}
}

// Write implements io.Writer.
func (p patientWriter) Write(b []byte) (int, error) {
	p.arm()
	return p.w.Write(b)
}

// passedWriter is the response of a request that mcp-go serves: each of its
// writes has a deadline, so that a client which does not read can't hold up
// Shutdown.
type passedWriter struct {
	http.ResponseWriter
	rc *http.ResponseController
}

func passed(w http.ResponseWriter) passedWriter {
	return passedWriter{ResponseWriter: w, rc: http.NewResponseController(w)}
}

// Write implements io.Writer.
func (p passedWriter) Write(b []byte) (int, error) {
	defer p.patient()()
	return p.ResponseWriter.Write(b)
}

// Flush implements http.Flusher, by which mcp-go knows that it can stream.
func (p passedWriter) Flush() {
	defer p.patient()()
	_ = p.rc.Flush() // the next write tells
}

// Unwrap lets an http.ResponseController through.
func (p passedWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// patient sets a deadline and returns what takes it away.
func (p passedWriter) patient() func() {
	_ = p.rc.SetWriteDeadline(time.Now().Add(writeTimeout))
	return func() { _ = p.rc.SetWriteDeadline(time.Time{}) }
}

// rpcError is a JSON-RPC error answer for a request that is refused as a whole.
func rpcError(id json.RawMessage, code int, message string) []byte {
	if len(id) == 0 {
		id = json.RawMessage("null")
	}
	var b strings.Builder
	_ = writeBuffered(&b, func(w *bufio.Writer) { fault(code, "%s", message).writeTo(w, id, false, nil) })
	return []byte(b.String())
}
