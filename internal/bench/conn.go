package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Only one goroutine at a time is allowed to use a conn. Requests are written without
// net/http, so that the client's overhead does not distort the measurement.
type conn struct {
	net                      net.Conn
	in                       *bufio.Reader
	requestHead, lastRequest []byte
	body                     bytes.Buffer
}

func dialTarget(target string, headers map[string]string) (*conn, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		return nil, err
	}
	var headerText strings.Builder
	fmt.Fprintf(&headerText, "POST %s HTTP/1.1\r\nHost: %s\r\n", u.RequestURI(), u.Host)
	headerText.WriteString("Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n")
	for name, headerValue := range headers {
		fmt.Fprintf(&headerText, "%s: %s\r\n", name, headerValue)
	}
	headerText.WriteString("Content-Length: ")
	return &conn{net: c, in: bufio.NewReaderSize(c, 256<<10), requestHead: []byte(headerText.String())}, nil
}

func (c *conn) close() { _ = c.net.Close() }

func (c *conn) send(requestBody []byte) error {
	c.lastRequest = append(c.lastRequest[:0], c.requestHead...)
	c.lastRequest = strconv.AppendInt(c.lastRequest, int64(len(requestBody)), 10)
	c.lastRequest = append(c.lastRequest, "\r\n\r\n"...)
	c.lastRequest = append(c.lastRequest, requestBody...)
	_, err := c.net.Write(c.lastRequest)
	return err
}

func (c *conn) readResponseHead() (*http.Response, error) {
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= 300 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		resp.Body.Close()
		return nil, fmt.Errorf("%s: %s", resp.Status, body)
	}
	return resp, nil
}

// The response body that post returns is valid until the next request on the connection.
func (c *conn) post(requestBody []byte) ([]byte, error) {
	if err := c.send(requestBody); err != nil {
		return nil, err
	}
	resp, err := c.readResponseHead()
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	c.body.Reset()
	_, err = c.body.ReadFrom(resp.Body)
	return c.body.Bytes(), err
}

func (c *conn) requestHeader(requestBody []byte, name string) (string, error) {
	if err := c.send(requestBody); err != nil {
		return "", err
	}
	resp, err := c.readResponseHead()
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.Header.Get(name), err
}

// The data that onEvent receives is valid only until onEvent returns.
func (c *conn) requestEvents(requestBody []byte, onEvent func(eventData []byte, arrivalTime time.Time)) error {
	if err := c.send(requestBody); err != nil {
		return err
	}
	resp, err := c.readResponseHead()
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		c.body.Reset()
		_, err := c.body.ReadFrom(resp.Body)
		onEvent(c.body.Bytes(), time.Now())
		return err
	}
	lines := bufio.NewReaderSize(resp.Body, 256<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if eventData, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			onEvent(bytes.TrimSpace(eventData), time.Now())
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
