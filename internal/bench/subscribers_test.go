package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
)

func TestFollowEventsCountsEvents(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer T" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		flush := http.NewResponseController(w).Flush
		fmt.Fprint(w, ": following\nid: x-0\n\n")
		_ = flush()
		stream := "event: missed\ndata: {}\n\n" + strings.Repeat("event: progress\nid: x-1\ndata: {\"long\":\""+strings.Repeat("x", 1000)+"\"}\n\n", 100)
		for len(stream) > 0 {
			n := min(len(stream), 333)
			fmt.Fprint(w, stream[:n])
			_ = flush()
			stream = stream[n:]
		}
		<-r.Context().Done()
	}))
	defer server.Close()
	_, portText, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		t.Fatal(err)
	}
	stdin, requestPipe := io.Pipe()
	answers, outWriter := io.Pipe()
	followErr := make(chan error, 1)
	go func() { followErr <- readEventStreams(port, "T", 3, false, stdin, outWriter) }()
	lines := bufio.NewScanner(answers)
	if !lines.Scan() || lines.Text() != "3" {
		t.Fatalf("first line of the subscribers = %q; want \"3\", the number of connected subscribers", lines.Text())
	}
	for want := `{"least":100,"most":100,"missed":3,`; !strings.HasPrefix(lines.Text(), want); {
		if _, err := io.WriteString(requestPipe, "\n"); err != nil {
			t.Fatal(err)
		}
		lines.Scan()
	}
	_ = requestPipe.Close()
	if err := <-followErr; err != nil {
		t.Error(err)
	}
	if err := readEventStreams(port, "wrong", 1, false, strings.NewReader(""), io.Discard); err == nil {
		t.Error("readEventStreams with a wrong token returned no error; want an error")
	}
}
