package relay

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

// The client must receive one response to each request, and only complete JSON messages.
func FuzzRelay(f *testing.F) {
	for _, input := range []string{
		initializeLine + "\n" + initializedLine + "\n", "\xef\xbb\xbf" + initializeLine + "\r\n\r\n\n", `{"id":1,"method":"a"}` + "\n" + `{"id":2,"method":"b"`,
		"nonsense\n{\"id\":1,\"method\":\"ping\"}\n", `[{"id":1,"method":"a"},{"id":"1","method":"tools/call"}]` + "\n", "\xff\xfe\x00\n", "{\n}\n", "[]\n",
	} {
		f.Add([]byte(input), byte(7))
	}
	f.Fuzz(func(t *testing.T, input []byte, size byte) {
		if len(input) > 32<<10 { // the line scanner of the test has a size limit
			return
		}
		synctest.Test(t, func(t *testing.T) { fuzzRelay(t, input, int(size)+1) })
	})
}

func fuzzRelay(t *testing.T, input []byte, size int) {
	toServer, clientWriter := io.Pipe()
	toClient, serverWriter := io.Pipe()
	server := pipeConn{Reader: toClient, w: clientWriter, r: toClient}
	var receivedLines []string
	receiveDone := make(chan struct{})
	go func() {
		defer close(receiveDone)
		input := bufio.NewReader(toServer)
		for {
			line, err := input.ReadString('\n')
			if err != nil {
				break
			}
			receivedLines = append(receivedLines, line)
			for _, id := range parseMessage([]byte(line)).requests {
				fmt.Fprintf(serverWriter, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
			}
		}
		_ = serverWriter.Close()
	}()
	var outBuffer bytes.Buffer
	r := newRelay(relayEndpoints{
		inputReader: chunkReader{bytes.NewReader(input), size}, outWriter: &outBuffer, notef: func(string, ...any) {},
		connectToDaemon: func(context.Context) (conn, error) { return server, nil },
		startDaemon:     func(context.Context) error { return errors.New("a server runs already") },
	})
	if err := r.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	_ = server.Close()
	<-receiveDone
	want := expectedLines(input)
	if strings.Join(receivedLines, "") != strings.Join(want, "") {
		t.Fatalf("the daemon received the lines\n%q\nwant\n%q", receivedLines, want)
	}
	requests := 0
	for _, line := range receivedLines {
		requests += len(parseMessage([]byte(line)).requests)
	}
	responseLines := strings.SplitAfter(outBuffer.String(), "\n")
	if len(responseLines)-1 != requests {
		t.Fatalf("the client received %d responses to %d requests, want one each: %q", len(responseLines)-1, requests, responseLines)
	}
	for _, line := range responseLines[:len(responseLines)-1] {
		if !json.Valid([]byte(line)) {
			t.Fatalf("the client received %q, want valid JSON", line)
		}
	}
}

func expectedLines(input []byte) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimPrefix(string(input), "\ufeff")) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines = append(lines, strings.TrimSuffix(line, "\n")+"\n")
	}
	return lines
}

type chunkReader struct {
	r io.Reader
	n int
}

func (p chunkReader) Read(b []byte) (int, error) { return p.r.Read(b[:min(len(b), p.n)]) }
