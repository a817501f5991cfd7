// Package memnet has a listener for tests whose connections stay in the process,
// so that a server and its clients can stand in one bubble of fake time
// (testing/synctest). Start with [Listen].
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

// Listener is a net.Listener whose connections are pipes. A pipe holds nothing
// back: a write waits until it is read.
type Listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// Listen returns a listener. Make it in the bubble where it is used.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener; it looks like an address on loopback.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial connects to the listener, whatever the address. It fits into
// http.Transport.DialContext, and returns ctx's error or net.ErrClosed.
func (l *Listener) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-l.done:
		return nil, net.ErrClosed
	}
}
