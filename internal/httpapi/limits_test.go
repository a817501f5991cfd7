package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/internal/memnet"
)

type fakeTimeServer struct {
	t      *testing.T
	listen *memnet.Listener
	log    bytes.Buffer
}

func runFakeTimeServer(t *testing.T, handler http.Handler, test func(w *fakeTimeServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &fakeTimeServer{t: t, listen: memnet.Listen()}
		server := NewServer(handler, zerolog.New(&w.log))
		serverDone := make(chan struct{})
		go func() { defer close(serverDone); _ = server.Serve(w.listen) }()
		test(w)
		_ = server.Close()
		<-serverDone
	})
}

func (w *fakeTimeServer) connect() (net.Conn, func() (got string, elapsedTime time.Duration)) {
	w.t.Helper()
	conn, err := w.listen.Dial(w.t.Context(), "", "")
	if err != nil {
		w.t.Fatal(err)
	}
	startTime := time.Now()
	closed := make(chan struct{})
	var got bytes.Buffer
	var closedAt time.Time
	go func() {
		defer close(closed)
		_, _ = got.ReadFrom(conn)
		closedAt = time.Now()
	}()
	return conn, func() (string, time.Duration) {
		<-closed
		return got.String(), closedAt.Sub(startTime)
	}
}

func writeSlowly(conn net.Conn, request string, pauseTime time.Duration) {
	for i := range len(request) {
		if _, err := conn.Write([]byte{request[i]}); err != nil {
			return
		}
		<-time.After(pauseTime)
	}
}

func drainRequestBody(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusRequestTimeout)
	}
	fmt.Fprintf(w, "%d bytes, slow: %v", n, errors.Is(err, os.ErrDeadlineExceeded))
}

// The server disconnects a client that sends any part of a request too slowly.
func TestSlowSenderIsDisconnected(t *testing.T) {
	const requestHead = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
	rejectRequest := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	for _, c := range []struct {
		name       string
		handler    http.HandlerFunc
		sendSlowly func(conn net.Conn)
		want       string
		maxTime    time.Duration
	}{
		{"no bytes at all", drainRequestBody, func(net.Conn) {}, "", 11 * time.Second},
		{"the head byte by byte", drainRequestBody, func(c net.Conn) { writeSlowly(c, requestHead, time.Second) }, "", 11 * time.Second},
		{"a head without an end", drainRequestBody, func(c net.Conn) {
			writeSlowly(c, "GET / HTTP/1.1\r\n"+strings.Repeat("A: b\r\n", 1000), 10*time.Millisecond)
		}, "", 11 * time.Second},
		{"no body", drainRequestBody, func(c net.Conn) { _, _ = io.WriteString(c, requestHead) }, "0 bytes, slow: true", 31 * time.Second},
		{"a body that arrives only in part", drainRequestBody, func(c net.Conn) { _, _ = io.WriteString(c, requestHead+"abc") }, "3 bytes, slow: true", 31 * time.Second},
		{"the body byte by byte", drainRequestBody, func(c net.Conn) {
			_, _ = io.WriteString(c, requestHead)
			writeSlowly(c, strings.Repeat("x", 100000), 29*time.Second)
		}, "bytes, slow: true", bodyTimeout + time.Second},
		{"a body that the handler does not read", rejectRequest, func(c net.Conn) { _, _ = io.WriteString(c, requestHead) }, "401 Unauthorized", 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			runFakeTimeServer(t, c.handler, func(w *fakeTimeServer) {
				conn, awaitResponse := w.connect()
				var wg sync.WaitGroup
				wg.Go(func() { c.sendSlowly(conn) })
				got, elapsedTime := awaitResponse()
				if !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "200") {
					t.Errorf("response to the slow client = %q, want %q", got, c.want)
				}
				if elapsedTime > c.maxTime {
					t.Errorf("the slow client stayed connected for %v, want at most %v", elapsedTime, c.maxTime)
				}
				_ = conn.Close()
				wg.Wait()
			})
		})
	}
}

// The server disconnects a client that does not read the response.
func TestSlowReaderIsDisconnected(t *testing.T) {
	handler := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }
	for _, c := range []struct{ name, requests string }{
		{"a large answer", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		{"many answers", strings.Repeat("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 1000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			runFakeTimeServer(t, http.HandlerFunc(handler), func(w *fakeTimeServer) {
				conn, err := w.listen.Dial(w.t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				startTime := time.Now()
				_, _ = io.WriteString(conn, c.requests) // with many responses, the write fails when the server closes the connection
				// A client that reads only one byte every 10 s is too slow for the
				// server.
				for _, err = conn.Read(make([]byte, 1)); err == nil; _, err = conn.Read(make([]byte, 1)) {
					<-time.After(10 * time.Second)
				}
				if elapsedTime := time.Since(startTime); elapsedTime > time.Minute {
					t.Errorf("the slow reader stayed connected for %v, want at most 1 min", elapsedTime)
				}
				_ = conn.Close()
			})
		})
	}
}

// The server closes idle connections.
func TestIdleConnectionsAreClosed(t *testing.T) {
	runFakeTimeServer(t, http.HandlerFunc(drainRequestBody), func(w *fakeTimeServer) {
		var awaitResponses []func() (string, time.Duration)
		for range 100 {
			conn, awaitResponse := w.connect()
			go func() { _, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") }()
			awaitResponses = append(awaitResponses, awaitResponse)
		}
		for _, awaitResponse := range awaitResponses {
			if got, elapsedTime := awaitResponse(); !strings.Contains(got, "200 OK") || elapsedTime > idleTimeout+time.Second {
				t.Errorf("idle connection: response %q, closed after %v; want status 200, closed after about %v", got, elapsedTime, idleTimeout)
			}
		}
	})
}

// TestSlowRequestsAreServed checks that the limits for slow clients do not interrupt slow but legitimate requests.
func TestSlowRequestsAreServed(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call", func(w http.ResponseWriter, r *http.Request) {
		for range 2 { // the second read is after the end of the body
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-time.After(10 * time.Minute):
		case <-r.Context().Done():
			t.Errorf("the server cancelled a long call: %v; want a call of 10 min", context.Cause(r.Context()))
		}
		_, _ = io.WriteString(w, "done")
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		outWriter := eventWriter{w: w, c: http.NewResponseController(w)}
		for range 40 {
			if err := outWriter.writeHeartbeat("still here", 0); err != nil {
				t.Error(err)
			}
			<-time.After(15 * time.Second)
		}
	})
	mux.HandleFunc("POST /upload", drainRequestBody)
	runFakeTimeServer(t, mux, func(w *fakeTimeServer) {
		transport := &http.Transport{DialContext: w.listen.Dial}
		client := &http.Client{Transport: transport}
		defer transport.CloseIdleConnections()
		sendRequest := func(method, path string, body io.Reader) string {
			req, err := http.NewRequestWithContext(w.t.Context(), method, "http://x"+path, body)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatalf("request to %s failed: %v", path, err)
			}
			defer resp.Body.Close()
			responseBody, err := io.ReadAll(bufio.NewReader(resp.Body))
			if err != nil {
				t.Errorf("reading the response of %s failed: %v", path, err)
			}
			return string(responseBody)
		}
		for range 2 { // the second request reuses a connection whose deadlines were set
			if got := sendRequest("POST", "/call", strings.NewReader("{}")); got != "done" {
				t.Errorf("response of the long call = %q; want %q", got, "done")
			}
			if got := sendRequest("GET", "/events", nil); strings.Count(got, "still here") != 40 {
				t.Errorf("the event stream sent %d heartbeats; want 40: %q", strings.Count(got, "still here"), got)
			}
			// The uploaded body is 16 MiB long and arrives at 64 KiB per second.
			if got := sendRequest("POST", "/upload", &slowReader{remainingBytes: 16 << 20, bytesPerSecond: 64 << 10}); got != "16777216 bytes, slow: false" {
				t.Errorf("response of the slow upload = %q; want %q", got, "16777216 bytes, slow: false")
			}
		}
	})
}

type slowReader struct{ remainingBytes, bytesPerSecond int }

func (s *slowReader) Read(p []byte) (int, error) {
	if s.remainingBytes == 0 {
		return 0, io.EOF
	}
	n := min(len(p), s.bytesPerSecond, s.remainingBytes)
	s.remainingBytes -= n
	<-time.After(time.Second * time.Duration(n) / time.Duration(s.bytesPerSecond))
	return n, nil
}

// TestServerLogLimitsRepeatedErrors checks that the server logs one line per minute while net/http cannot accept connections.
func TestServerLogLimitsRepeatedErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var outBuffer bytes.Buffer
		s := &serverLog{log: zerolog.New(&outBuffer)}
		for range 70 {
			fmt.Fprintln(s, "http: Accept error: accept tcp 127.0.0.1:1: too many open files; retrying in 1s")
			<-time.After(time.Second)
		}
		fmt.Fprintln(s, "http: panic serving")
		fmt.Fprintln(s, "http: panic serving")
		if n := strings.Count(outBuffer.String(), "new connections are rejected"); n != 2 || !strings.Contains(outBuffer.String(), "too many open files") {
			t.Errorf("lines about rejected connections = %d; want 2, with the reason:\n%s", n, outBuffer.String())
		}
		if n := strings.Count(outBuffer.String(), "panic serving"); n != 2 {
			t.Errorf("lines about a panic = %d; want 2", n)
		}
	})
}
