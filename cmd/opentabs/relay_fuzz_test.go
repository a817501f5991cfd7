package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// FuzzRelay has a client of `opentabs mcp` write anything in any pieces: each
// line reaches the server as it is, in order and once, and the client gets only
// whole JSON messages, an answer to each of its requests among them.
func FuzzRelay(f *testing.F) {
	for _, text := range []string{
		initializeLine + "\n" + initializedLine + "\n", "\xef\xbb\xbf" + initializeLine + "\r\n\r\n\n", `{"id":1,"method":"a"}` + "\n" + `{"id":2,"method":"b"`,
		"nonsense\n{\"id\":1,\"method\":\"ping\"}\n", `[{"id":1,"method":"a"},{"id":"1","method":"tools/call"}]` + "\n", "\xff\xfe\x00\n", "{\n}\n", "[]\n",
	} {
		f.Add([]byte(text), byte(7))
	}
	f.Fuzz(func(t *testing.T, text []byte, size byte) {
		if len(text) > 32<<10 { // the lines' scanner has its limit
			return
		}
		synctest.Test(t, func(t *testing.T) { relayAnything(t, text, int(size)+1) })
	})
}

func relayAnything(t *testing.T, text []byte, size int) {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	conn := pipeSession{Reader: toClient, w: fromClient, r: toClient}
	var heard []string
	heardAll := make(chan struct{})
	go func() {
		defer close(heardAll)
		in := bufio.NewReader(toServer)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				break
			}
			heard = append(heard, line)
			for _, id := range parseLine([]byte(line)).requests {
				fmt.Fprintf(fromServer, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
			}
		}
		_ = fromServer.Close()
	}()
	var out bytes.Buffer
	r := newRelay(relayOptions{
		in: pieces{bytes.NewReader(text), size}, out: &out, say: func(string, ...any) {},
		join:  func(context.Context) (session, error) { return conn, nil },
		start: func(context.Context) error { return errors.New("there is a server already") },
	})
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	<-heardAll
	want := wantedLines(text)
	if strings.Join(heard, "") != strings.Join(want, "") {
		t.Fatalf("the server got\n%q\nwant\n%q", heard, want)
	}
	requests := 0
	for _, line := range heard {
		requests += len(parseLine([]byte(line)).requests)
	}
	answers := strings.SplitAfter(out.String(), "\n")
	if len(answers)-1 != requests {
		t.Fatalf("%d answers to %d requests: %q", len(answers)-1, requests, answers)
	}
	for _, line := range answers[:len(answers)-1] {
		if !json.Valid([]byte(line)) {
			t.Fatalf("the client got %q", line)
		}
	}
}

// wantedLines are the lines of text that are passed on.
func wantedLines(text []byte) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines = append(lines, strings.TrimSuffix(line, "\n")+"\n")
	}
	return lines
}

// pieces reads at most n bytes at a time.
type pieces struct {
	r io.Reader
	n int
}

func (p pieces) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }
