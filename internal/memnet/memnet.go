// Package memnet provides an in-memory network listener for tests. The listener allows a
// server and its clients to run in one synctest bubble with fake time. Start with
// [Listen].
//
// # Concurrency
//
// A [Listener] is safe for concurrent use.
package memnet

import (
	"context"
	"net"
	"sync"
)

// Listener is a net.Listener whose connections come from [net.Pipe]. A pipe from
// [net.Pipe] has no buffer: a write blocks until the other end reads.
type Listener struct {
	pendingConns chan net.Conn
	done         chan struct{}
	once         sync.Once
}

// Listen returns a listener that accepts in-memory connections. In a test with fake time,
// call Listen inside the synctest bubble that uses the listener.
func Listen() *Listener {
	return &Listener{pendingConns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept returns the server's end of the next connection, or net.ErrClosed after Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.pendingConns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close stops the listener. Close does not close connections that were already accepted.
// Close may be called more than once.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the fixed address 127.0.0.1:80.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial connects to the listener. Dial has the signature of http.Transport.DialContext,
// but ignores the network and the address. Dial blocks until Accept is called, and
// returns net.ErrClosed after Close.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	clientEnd, serverEnd := net.Pipe()
	select {
	case l.pendingConns <- serverEnd:
		return clientEnd, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, net.ErrClosed
	}
}
