// Package lazycontext provides a cancellable context.Context that allocates nothing until
// its Done method is called.
//
// # Concurrency
//
// A [Context] is safe for concurrent use. The lock of a Context guards all its fields, and
// no other lock of opentabs is acquired while the lock is held.
package lazycontext

import (
	"context"
	"sync"
)

// Context is a context.Context that ends when its parent ends or when End is called. The method
// Begin sets the parent context. Call Begin before any method of the interface context.Context,
// such as Done. A zero Context has no parent context.
//
// A context from context.WithCancel costs three allocations, and is registered with its parent. A
// Context allocates and registers nothing until Done is first called. Each tool call has a Context,
// but few calls use the method Done.
type Context struct {
	context.Context // the embedded Context is the parent context, which Begin sets

	mu             sync.Mutex // guards all fields below
	isEnded        bool
	waitingContext context.Context
	cancel         context.CancelFunc
}

// Begin sets the parent context, and returns false if End was called before Begin.
func (c *Context) Begin(parent context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Context = parent
	return !c.isEnded
}

// End cancels the Context, and may be called before Begin.
func (c *Context) End() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isEnded = true
	if c.cancel != nil {
		c.cancel()
	}
}

// The method Done implements context.Context.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waitingContext == nil {
		c.waitingContext, c.cancel = context.WithCancel(c.Context)
		if c.isEnded {
			c.cancel()
		}
	}
	return c.waitingContext.Done()
}

// The method Err implements context.Context.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isEnded {
		return context.Canceled
	}
	return c.Context.Err()
}
