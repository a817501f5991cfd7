package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestEndedStreamSendsNothing(t *testing.T) {
	var b responseRecorder
	s := newStream(&b, &http.Request{Header: http.Header{}}, time.Hour, func() { t.Error("a write failed") })
	if err := s.notify([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := s.respond(http.StatusOK, func(w *bufio.Writer) { w.WriteString(`{"n":2}`) }); err != nil {
		t.Fatal(err)
	}
	if err := s.notify([]byte(`{"n":3}`)); !errors.Is(err, errStreamEnded) {
		t.Errorf("a notification after the answer returned the error %v; want the error %v", err, errStreamEnded)
	}
	s.sendComment()
	if want := "event: message\ndata: {\"n\":1}\n\nevent: message\ndata: {\"n\":2}\n\n"; b.String() != want {
		t.Errorf("content of the stream = %q; want %v", b.String(), want)
	}
}

type responseRecorder struct {
	bytes.Buffer
	header http.Header
}

func (r *responseRecorder) Header() http.Header {
	if r.header == nil {
		r.header = http.Header{}
	}
	return r.header
}
func (r *responseRecorder) WriteHeader(int) {}
func (r *responseRecorder) Flush()          {}

func TestFailedWriteIsReportedOnce(t *testing.T) {
	failedWrites := 0
	s := newStream(failingResponseWriter{}, &http.Request{Header: http.Header{}}, time.Hour, func() { failedWrites++ })
	for range 3 {
		if err := s.notify([]byte(`{}`)); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	}
	if err := s.respond(http.StatusOK, func(w *bufio.Writer) { w.WriteString(`{}`) }); !errors.Is(err, io.ErrClosedPipe) || failedWrites != 1 {
		t.Errorf("the write returned the error %v, reported %d times; want io.ErrClosedPipe, reported once", err, failedWrites)
	}
}

type failingResponseWriter struct{}

func (failingResponseWriter) Header() http.Header       { return http.Header{} }
func (failingResponseWriter) WriteHeader(int)           {}
func (failingResponseWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
func (failingResponseWriter) Flush()                    {}
