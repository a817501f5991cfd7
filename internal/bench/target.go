package main

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"

	"opentabs/dispatch/hops"
)

// The type target is a server whose speed is measured: an MCP server, or the baseline server
// of `bench floor`, which echoes the bodies of requests.
type target struct {
	url       string
	headers   map[string]string
	lastID    atomic.Int64
	idleConns chan *conn // idleConns contains idle connections, which acquire reuses
	isTraced  bool
}

const maxIdleConns = 1024

// For clients with protocol version 2025-11-25, opentabs omits text that only repeats the structured content of a
// result.
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
	// The server sends its complete list of tools to clients whose names begin with
	// "opentabs ".
	session, err := c.requestHeader([]byte(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{"experimental":{"opentabs/structuredOnly":{}}},"clientInfo":{"name":"opentabs bench","version":"1"}}}`), "Mcp-Session-Id")
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	headers := maps.Clone(t.headers)
	headers["Mcp-Session-Id"], headers["Mcp-Protocol-Version"] = session, "2025-11-25"
	t.headers = headers
	notificationConn, err := t.acquireConn()
	if err != nil {
		return nil, err
	}
	defer t.release(notificationConn)
	_, err = notificationConn.post([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return t, err
}

// traceCalls closes the idle connections, because their requests would lack the new header.
func (t *target) traceCalls() {
	t.isTraced = true
	t.headers = maps.Clone(t.headers)
	t.headers[hops.Header] = "1"
	for len(t.idleConns) > 0 {
		(<-t.idleConns).close()
	}
}

func (t *target) acquireConn() (*conn, error) {
	select {
	case c := <-t.idleConns:
		return c, nil
	default:
		return dialTarget(t.url, t.headers)
	}
}

// The caller of release must first read the whole response from the connection.
func (t *target) release(c *conn) {
	select {
	case t.idleConns <- c:
	default:
		c.close()
	}
}

func (t *target) makeCallRequest(buffer []byte, tool string, args []byte, hasProgress bool) ([]byte, int64) {
	id := t.lastID.Add(1)
	buffer = append(buffer, `{"jsonrpc":"2.0","id":`...)
	buffer = strconv.AppendInt(buffer, id, 10)
	buffer = append(buffer, `,"method":"tools/call","params":{"name":"`...)
	buffer = append(append(buffer, tool...), `","arguments":`...)
	buffer = append(buffer, args...)
	if hasProgress {
		buffer = append(buffer, `,"_meta":{"progressToken":`...)
		buffer = append(strconv.AppendInt(buffer, id, 10), '}')
	}
	return append(buffer, "}}"...), id
}

// responseError does not decode the JSON, because a response may be as large as 100 MB.
func responseError(requestBody []byte) string {
	if bytes.Contains(firstBytes(requestBody), []byte(`"error":{`)) || bytes.Contains(lastBytes(requestBody), []byte(`"isError":true`)) ||
		bytes.Contains(firstBytes(requestBody), []byte(`"isError":true`)) {
		return string(firstBytes(requestBody))
	}
	return ""
}

func firstBytes(b []byte) []byte { return b[:min(len(b), 1000)] }

func lastBytes(b []byte) []byte { return b[max(0, len(b)-1000):] }
