package main

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"

	"opentabs/dispatch/hops"
)

// target is the receiver of calls: an MCP server, or `bench floor`, which echoes the
// bodies of requests.
type target struct {
	url       string
	headers   map[string]string
	lastID    atomic.Int64
	idleConns chan *conn // idle connections, which acquire reuses
	isTraced  bool       // set if the results of calls have hops
}

// maxIdleConns is the maximum number of idle connections that are kept for reuse.
const maxIdleConns = 1024

// connectTarget returns a target at url, without connecting to it if token is empty. If
// token is not empty, the target is an MCP server, and connectTarget starts a session
// of protocol version 2025-11-25. The session declares that it needs no text that repeats
// the structured content, so that a large result arrives once, as from the floor.
func connectTarget(url, token string) (*target, error) {
	t := &target{url: url, headers: map[string]string{}, idleConns: make(chan *conn, maxIdleConns)}
	if token == "" {
		return t, nil
	}
	t.headers["Authorization"] = "Bearer " + token
	c, err := dialTarget(url, t.headers)
	if err != nil {
		return nil, err
	}
	defer c.close()
	// Clients whose names begin with "opentabs " list all tools.
	session, err := c.requestHeader([]byte(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{"experimental":{"opentabs/structuredOnly":{}}},"clientInfo":{"name":"opentabs bench","version":"1"}}}`), "Mcp-Session-Id")
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	headers := maps.Clone(t.headers)
	headers["Mcp-Session-Id"], headers["Mcp-Protocol-Version"] = session, "2025-11-25"
	t.headers = headers
	noticeConn, err := t.acquire()
	if err != nil {
		return nil, err
	}
	defer t.release(noticeConn)
	_, err = noticeConn.post([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return t, err
}

// traceCalls requests the hops of all later calls. traceCalls closes the idle
// connections, whose requests do not have the header.
func (t *target) traceCalls() {
	t.isTraced = true
	t.headers = maps.Clone(t.headers)
	t.headers[hops.Header] = "1"
	for len(t.idleConns) > 0 {
		(<-t.idleConns).close()
	}
}

// acquire returns an idle or new connection.
func (t *target) acquire() (*conn, error) {
	select {
	case c := <-t.idleConns:
		return c, nil
	default:
		return dialTarget(t.url, t.headers)
	}
}

// release makes a connection idle after a successful exchange.
func (t *target) release(c *conn) {
	select {
	case t.idleConns <- c:
	default:
		c.close()
	}
}

// makeCallRequest returns the text of a tools/call with a new id, and the id. With hasProgress, the
// id is also the progress token.
func (t *target) makeCallRequest(dst []byte, tool string, args []byte, hasProgress bool) ([]byte, int64) {
	id := t.lastID.Add(1)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":"tools/call","params":{"name":"`...)
	dst = append(append(dst, tool...), `","arguments":`...)
	dst = append(dst, args...)
	if hasProgress {
		dst = append(dst, `,"_meta":{"progressToken":`...)
		dst = append(strconv.AppendInt(dst, id, 10), '}')
	}
	return append(dst, "}}"...), id
}

// responseError returns the error in a response, or "". responseError does not decode
// the response, which may have 100 MB.
func responseError(body []byte) string {
	if bytes.Contains(firstBytes(body), []byte(`"error":{`)) || bytes.Contains(lastBytes(body), []byte(`"isError":true`)) ||
		bytes.Contains(firstBytes(body), []byte(`"isError":true`)) {
		return string(firstBytes(body))
	}
	return ""
}

// firstBytes returns at most the first 1,000 bytes of b.
func firstBytes(b []byte) []byte { return b[:min(len(b), 1000)] }

// lastBytes returns at most the last 1,000 bytes of b.
func lastBytes(b []byte) []byte { return b[max(0, len(b)-1000):] }
