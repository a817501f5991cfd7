// Package lazycontext provides a context that can be ended and costs nothing unless
// something waits for its end.
//
// # Concurrency
//
// A [Context] is safe for concurrent use. The lock of a Context guards all its fields,
// and no other lock of opentabs is taken while the lock of a Context is held.
package lazycontext

import (
	"context"
	"sync"
)

// Context ends with its parent or with End. Begin sets the parent and precedes all
// methods of context.Context. The zero Context has not begun.
//
// context.WithCancel makes three allocations and adds itself to its parent; a Context
// does so only at the first Done. Each call has a Context, and almost no call uses
// Done.
type Context struct {
	context.Context // the parent

	mu      sync.Mutex // guards all fields below
	isEnded bool       // End was called
	waiting context.Context
	cancel  context.CancelFunc
}

// Begin sets the parent and returns false if End was called before.
func (c *Context) Begin(parent context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Context = parent
	return !c.isEnded
}

// End ends the context. End may precede Begin.
func (c *Context) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isEnded = true
	if c.cancel != nil {
		c.cancel()
	}
}

// Done implements context.Context.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting, c.cancel = context.WithCancel(c.Context)
		if c.isEnded {
			c.cancel()
		}
	}
	return c.waiting.Done()
}

// Err implements context.Context.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isEnded {
		return context.Canceled
	}
	return c.Context.Err()
}
