// Package memnet has an in-memory listener for tests, so that a server and its
// clients can run in one bubble of fake time (testing/synctest). Start with
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

// Listener is a net.Listener whose connections are pipes. A pipe has no buffer: a
// write blocks until the other end reads.
type Listener struct {
	pendingConns chan net.Conn
	done         chan struct{}
	once         sync.Once
}

// Listen returns a listener. In a test with fake time, call Listen in the synctest
// bubble that uses the listener.
func Listen() *Listener {
	return &Listener{pendingConns: make(chan net.Conn), done: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.pendingConns:
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

// Addr implements net.Listener. Addr returns a loopback address.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// Dial connects to the listener and ignores the address. Use Dial as
// http.Transport.DialContext. Dial returns ctx's error or net.ErrClosed.
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
