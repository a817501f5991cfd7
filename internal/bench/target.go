package main

import (
	"bytes"
	"fmt"
	"maps"
	"strconv"
	"sync/atomic"
)

// target is what calls are made to: an MCP server, or a floor that takes the
// same bodies and echoes them.
type target struct {
	url     string
	headers map[string]string
	lastID  atomic.Int64
	idle    chan *conn // connections to use again
}

// maxIdle bounds the connections that are kept.
const maxIdle = 1024

// connect returns a target. With a token it is an MCP server, with which a
// session of the protocol 2025-11-25 is begun.
func connect(url, token string) (*target, error) {
	t := &target{url: url, headers: map[string]string{}, idle: make(chan *conn, maxIdle)}
	if token == "" {
		return t, nil
	}
	t.headers["Authorization"] = "Bearer " + token
	c, err := dial(url, t.headers)
	if err != nil {
		return nil, err
	}
	defer c.close()
	session, err := c.header([]byte(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25",`+
		`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`), "Mcp-Session-Id")
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	headers := maps.Clone(t.headers)
	headers["Mcp-Session-Id"], headers["Mcp-Protocol-Version"] = session, "2025-11-25"
	t.headers = headers
	notice, err := t.take()
	if err != nil {
		return nil, err
	}
	defer t.give(notice)
	_, err = notice.post([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return t, err
}

// take returns a connection that nobody uses.
func (t *target) take() (*conn, error) {
	select {
	case c := <-t.idle:
		return c, nil
	default:
		return dial(t.url, t.headers)
	}
}

// give returns a connection whose last exchange went well.
func (t *target) give(c *conn) {
	select {
	case t.idle <- c:
	default:
		c.close()
	}
}

// call is the text of a tools/call under an id of its own, and that id. With
// progress the id is the progress token too.
func (t *target) call(dst []byte, tool string, args []byte, progress bool) ([]byte, int64) {
	id := t.lastID.Add(1)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = strconv.AppendInt(dst, id, 10)
	dst = append(dst, `,"method":"tools/call","params":{"name":"`...)
	dst = append(append(dst, tool...), `","arguments":`...)
	dst = append(dst, args...)
	if progress {
		dst = append(dst, `,"_meta":{"progressToken":`...)
		dst = append(strconv.AppendInt(dst, id, 10), '}')
	}
	return append(dst, "}}"...), id
}

// problem returns what a response says went wrong; "" if nothing did. It looks
// for the two forms a failure has and decodes nothing: a result may be 100 MB.
func problem(body []byte) string {
	if bytes.Contains(head(body), []byte(`"error":{`)) || bytes.Contains(tail(body), []byte(`"isError":true`)) ||
		bytes.Contains(head(body), []byte(`"isError":true`)) {
		return string(head(body))
	}
	return ""
}

func head(b []byte) []byte { return b[:min(len(b), 1000)] }

func tail(b []byte) []byte { return b[max(0, len(b)-1000):] }
