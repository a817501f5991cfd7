package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
)

// subscriberCounts contains the lowest and the highest number of events that a subscriber has
// read so far. For each line of stdin, the program bench prints one subscriberCounts as
// JSON.
type subscriberCounts struct {
	// The fields MinEvents and MaxEvents are the lowest and the highest number of events that one
	// subscriber has read. The field MissedEvents is how many times the server reported to a
	// subscriber that events were lost.
	MinEvents    int64 `json:"least"`
	MaxEvents    int64 `json:"most"`
	MissedEvents int64 `json:"missed"`
	Bytes        int64 `json:"bytes"`
}

// eventSubscribers is a group of HTTP clients that read the event stream of the route
// /events.
type eventSubscribers struct {
	conns         []net.Conn
	events        []atomic.Int64
	missedReports atomic.Int64
	bytes         atomic.Int64
}

// The clients of a stuck subscriber group never read their streams, like clients that hang.
func readEventStreams(port int, token string, n int, readsNothing bool, stdin io.Reader, stdout io.Writer) error {
	c := &eventSubscribers{events: make([]atomic.Int64, n)}
	defer func() {
		for _, conn := range c.conns {
			_ = conn.Close()
		}
	}()
	for i := range n {
		body, err := c.open(port, token)
		if err != nil {
			return fmt.Errorf("subscriber %d: %w", i, err)
		}
		if !readsNothing {
			go c.read(i, body)
		}
	}
	if _, err := fmt.Fprintln(stdout, n); err != nil {
		return err
	}
	encoder := json.NewEncoder(stdout)
	for lines := bufio.NewScanner(stdin); lines.Scan(); {
		if err := encoder.Encode(c.countEvents()); err != nil {
			return err
		}
	}
	return nil
}

func (c *eventSubscribers) open(port int, token string) (io.Reader, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c.conns = append(c.conns, conn)
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/events", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 4<<10), req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	_, err = io.ReadFull(resp.Body, make([]byte, len(": following\n")))
	return resp.Body, err
}

func (c *eventSubscribers) read(i int, body io.Reader) {
	eventMarker, missedMarker := []byte("\ndata: "), []byte("\nevent: missed")
	var buffer [32 << 10]byte
	keptBytes := 0 // keptBytes counts bytes of the previous read, which may have ended in the middle of an event
	for {
		n, err := body.Read(buffer[keptBytes:])
		unparsedBytes := buffer[:keptBytes+n]
		lineEnd := bytes.LastIndexByte(unparsedBytes, '\n')
		if lineEnd > 0 {
			// The last line feed stays in the buffer for the next read, because the
			// markers eventMarker and missedMarker begin with a line feed.
			missedCount := bytes.Count(unparsedBytes[:lineEnd], missedMarker)
			c.events[i].Add(int64(bytes.Count(unparsedBytes[:lineEnd], eventMarker) - missedCount))
			c.missedReports.Add(int64(missedCount))
			keptBytes = copy(buffer[:], unparsedBytes[lineEnd:])
		} else if keptBytes = len(unparsedBytes); keptBytes == len(buffer) {
			keptBytes = 0 // the buffer is full and contains only a part of a long line
		}
		c.bytes.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func (c *eventSubscribers) countEvents() subscriberCounts {
	counts := subscriberCounts{MinEvents: -1, MissedEvents: c.missedReports.Load(), Bytes: c.bytes.Load()}
	for i := range c.events {
		n := c.events[i].Load()
		counts.MaxEvents = max(counts.MaxEvents, n)
		if counts.MinEvents < 0 || n < counts.MinEvents {
			counts.MinEvents = n
		}
	}
	return counts
}
