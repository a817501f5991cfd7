package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestClientDetectsPortTaken checks that a client distinguishes a foreign program from a server that hangs.
func TestClientDetectsPortTaken(t *testing.T) {
	writeEndlessHeaders := func(c net.Conn) {
		for {
			if _, err := io.WriteString(c, strings.Repeat("HTTP/1.1 200 OK\r\nX: y\r\n", 1000)); err != nil {
				return
			}
		}
	}
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		want  error
	}{
		{"never answers", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, ErrServerUnresponsive},
		{"answers byte by byte", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n")
			writeSlowly(c, strings.Repeat(" ", 999), 100*time.Millisecond)
		}, ErrServerUnresponsive},
		{"answers without an end", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{")
			_, _ = io.Copy(io.Discard, c)
		}, ErrServerUnresponsive},
		{"no HTTP", func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9\r\n"); _ = c.Close() }, ErrPortTaken},
		{"a head without an end", writeEndlessHeaders, ErrPortTaken},
		{"another HTTP server", func(c net.Conn) {
			_, _ = io.WriteString(c, "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
			_ = c.Close()
		}, ErrPortTaken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, stop := context.WithCancel(t.Context())
			serverDone := make(chan struct{})
			go func() {
				defer close(serverDone)
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
				// The test server reads all input, so that the client's writes do not
				// block.
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				c.serve(conn)
				<-ctx.Done()
			}()
			startTime := time.Now()
			_, err = NewClient(listener.Addr().(*net.TCPAddr).Port, "token").Health(t.Context())
			if !errors.Is(err, c.want) {
				t.Errorf("Health returned the error %v, want %v", err, c.want)
			}
			// The client's timeout must apply to the whole response.
			if waitTime := time.Since(startTime); waitTime > time.Minute {
				t.Errorf("Health waited %v for the other program, want at most 1 min", waitTime)
			}
			stop()
			_ = listener.Close()
			<-serverDone
		})
	}
}

// If the health timeout fires late, as after a sleep of the machine, the client sends its request once more.
func TestClientSendsAgainAfterStall(t *testing.T) {
	for _, tt := range []struct {
		name            string
		delayPerReading time.Duration // each reading of the client's clock advances the clock by delayPerReading
		wantErr         error
		wantPID         int
	}{
		{"the timeout fires in time", 0, ErrServerUnresponsive, 0},
		{"the timeout fires late", time.Hour, nil, 7},
	} {
		for _, token := range []string{"", testToken} {
			t.Run(tt.name+", token "+token, func(t *testing.T) {
				t.Parallel()
				var requestCount atomic.Int32
				var port int
				server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if requestCount.Add(1) == 1 {
						<-r.Context().Done()
						return
					}
					proof := computeProof(testToken, port, r.URL.Query().Get("challenge"))
					_ = json.NewEncoder(w).Encode(Health{OK: true, Version: "1", PID: 7, Proof: proof})
				}))
				port = server.Listener.Addr().(*net.TCPAddr).Port
				server.Start()
				defer server.Close()
				c := NewClient(port, token)
				var readingCount atomic.Int64
				c.now = func() time.Time { return time.Unix(0, 0).Add(time.Duration(readingCount.Add(1)) * tt.delayPerReading) }
				h, err := c.Health(t.Context())
				if !errors.Is(err, tt.wantErr) || (err == nil) != (tt.wantErr == nil) || h.PID != tt.wantPID {
					t.Errorf("Health returned the process ID %d, error %v; want %d, error %v", h.PID, err, tt.wantPID, tt.wantErr)
				}
			})
		}
	}
}
