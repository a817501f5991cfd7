package transport

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

	"opentabs/internal/httpjson"
)

// A large result has a longer write timeout than a notification, because a slow client may need time to read.
const (
	notifyTimeout = 5 * time.Second
	writeTimeout  = 30 * time.Second
)

var errStreamEnded = errors.New("the stream has ended")

var bufferPool = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 64<<10) }}

func writeBuffered(w io.Writer, f func(*bufio.Writer)) error {
	b, ok := bufferPool.Get().(*bufio.Writer)
	if !ok {
		panic("transport: the pool contains another type")
	}
	defer bufferPool.Put(b)
	b.Reset(w)
	f(b)
	err := b.Flush()
	b.Reset(nil)
	return err
}

// The type stream is the server's HTTP response to a client's call or GET request. The
// HTTP response is plain JSON, or an event stream if the server sends messages before the
// answer. A stream is safe for concurrent use.
type stream struct {
	w             http.ResponseWriter
	controller    *http.ResponseController
	acceptsEvents bool          // acceptsEvents is true if the client accepts text/event-stream
	heartbeat     time.Duration // the field heartbeat is the time between two keep-alive comments
	onWriteError  func()        // onWriteError is called once, after the first failed write

	mu             sync.Mutex // the mutex guards all fields below and keeps messages whole
	heartbeatTimer *time.Timer
	isStarted      bool // isStarted is true if the headers of an event stream are sent
	isEnded        bool
	writeErr       error // writeErr is the error of the first failed write
}

// A silent stream sends a comment at each heartbeat, so that the client and proxies keep the stream open.
func newStream(w http.ResponseWriter, r *http.Request, heartbeat time.Duration, onWriteError func()) *stream {
	s := &stream{
		w: w, controller: http.NewResponseController(w), acceptsEvents: acceptsEvents(r), heartbeat: heartbeat, onWriteError: onWriteError,
	}
	if s.acceptsEvents {
		s.mu.Lock()
		s.heartbeatTimer = time.AfterFunc(heartbeat, s.sendComment)
		s.mu.Unlock()
	}
	return s
}

// MCP requires that clients accept event streams, but a plain HTTP client may accept only JSON.
func acceptsEvents(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	return accept == "" || strings.Contains(accept, "text/event-stream") ||
		strings.Contains(accept, "*/*") || strings.Contains(accept, "text/*")
}

func (s *stream) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
	_ = s.write(notifyTimeout, func(*bufio.Writer) {}) // after a failed write, onWriteError is called
}

// A write fails after notifyTimeout if the client does not read.
func (s *stream) notify(notificationJSON []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isEnded {
		return errStreamEnded
	}
	s.heartbeatTimer.Reset(s.heartbeat)
	return s.sendEvent(notifyTimeout, func(b *bufio.Writer) { b.Write(notificationJSON) })
}

func (s *stream) sendNotifications(notifications []mcp.JSONRPCNotification) {
	for _, n := range notifications {
		b, err := json.Marshal(n)
		if err != nil { // this error is impossible, because a notification contains only strings and numbers
			panic("transport: " + err.Error())
		}
		_ = s.notify(b)
	}
}

func (s *stream) sendComment() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isEnded || s.writeErr != nil {
		return
	}
	s.start()
	if s.write(notifyTimeout, func(b *bufio.Writer) { b.WriteString(":\n\n") }) == nil {
		s.heartbeatTimer.Reset(s.heartbeat)
	}
}

// The status of answer becomes the HTTP status only if no message was sent before the answer.
func (s *stream) respond(httpStatus int, f func(*bufio.Writer)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endStream()
	if s.isStarted {
		return s.sendEvent(writeTimeout, f)
	}
	httpjson.WriteJSONHeader(s.w, httpStatus)
	return s.write(writeTimeout, f)
}

// smallAnswerBytes is the length in bytes up to which net/http buffers a response until the handler returns.
const smallAnswerBytes = 2 << 10

func (s *stream) endWithoutAnswer() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endStream()
	switch {
	case s.isStarted:
	case s.acceptsEvents:
		s.start()
	default:
		s.w.WriteHeader(http.StatusNoContent)
	}
}

// The caller of end holds stream.mu, and can still write the answer.
func (s *stream) endStream() {
	s.isEnded = true
	if s.heartbeatTimer != nil {
		s.heartbeatTimer.Stop()
	}
}

// The caller of start holds stream.mu.
func (s *stream) start() {
	if s.isStarted {
		return
	}
	s.isStarted = true
	h := s.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	s.w.WriteHeader(http.StatusOK)
}

// The caller of sendEvent holds stream.mu.
func (s *stream) sendEvent(timeout time.Duration, f func(*bufio.Writer)) error {
	s.start()
	return s.write(timeout, func(b *bufio.Writer) {
		b.WriteString("event: message\ndata: ")
		f(b)
		b.WriteString("\n\n")
	})
}

// The caller of write holds stream.mu.
func (s *stream) write(timeout time.Duration, f func(*bufio.Writer)) error {
	if s.writeErr != nil {
		return s.writeErr
	}
	w := deadlineWriter{w: s.w, deadlineSetter: s.controller, timeout: timeout}
	if !s.isStarted {
		w.bufferedBytes = smallAnswerBytes
	}
	err := writeBuffered(&w, f)
	if err == nil && s.isStarted {
		w.extendDeadline()
		err = s.controller.Flush()
	}
	if w.hasDeadline {
		// Without a write deadline, the server can send the answer at any later time.
		_ = s.controller.SetWriteDeadline(time.Time{})
	}
	if err != nil {
		s.writeErr = err
		s.onWriteError()
	}
	return err
}

// writeDeadliner is an output whose writes can have a deadline.
type writeDeadliner interface{ SetWriteDeadline(time.Time) error }

// deadlineWriter sets a deadline for every write that may block.
type deadlineWriter struct {
	w              io.Writer
	deadlineSetter writeDeadliner // the field deadlineSetter is nil if w has no deadlines
	timeout        time.Duration
	// bufferedBytes is how many bytes w accepts without waiting for the client, and therefore without a deadline.
	bufferedBytes int
	hasDeadline   bool
}

func (p *deadlineWriter) extendDeadline() {
	if p.deadlineSetter != nil {
		p.hasDeadline = true
		_ = p.deadlineSetter.SetWriteDeadline(time.Now().Add(p.timeout)) // without support for deadlines, the write may block
	}
}

// The method Write implements io.Writer.
func (p *deadlineWriter) Write(b []byte) (int, error) {
	if p.bufferedBytes -= len(b); p.bufferedBytes < 0 {
		p.extendDeadline()
	}
	return p.w.Write(b)
}

// mcpGoWriter is the response to a request that mcp-go serves. Each write has a
// deadline, so that a client that does not read cannot block Shutdown.
type mcpGoWriter struct {
	http.ResponseWriter
	controller *http.ResponseController
}

func newMCPGoWriter(w http.ResponseWriter) mcpGoWriter {
	return mcpGoWriter{ResponseWriter: w, controller: http.NewResponseController(w)}
}

// The method Write implements io.Writer.
func (p mcpGoWriter) Write(b []byte) (int, error) {
	defer p.setDeadline()()
	return p.ResponseWriter.Write(b)
}

// The method Flush implements http.Flusher, which mcp-go requires for streams.
func (p mcpGoWriter) Flush() {
	defer p.setDeadline()()
	_ = p.controller.Flush() // after a failed Flush, the next write returns the error
}

// Unwrap returns the wrapped http.ResponseWriter, as http.ResponseController requires.
func (p mcpGoWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p mcpGoWriter) setDeadline() func() {
	_ = p.controller.SetWriteDeadline(time.Now().Add(writeTimeout))
	return func() { _ = p.controller.SetWriteDeadline(time.Time{}) }
}
