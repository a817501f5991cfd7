package lazycontext

import (
	"context"
	"testing"
	"time"

	"opentabs/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func TestContextEnds(t *testing.T) {
	for _, testCase := range []struct {
		name       string
		endContext func(c *Context, cancelParent func())
	}{
		{"by End", func(c *Context, _ func()) { c.End() }},
		{"the context ends with its parent", func(_ *Context, cancelParent func()) { cancelParent() }},
	} {
		for _, doneFirst := range []bool{true, false} {
			parent, cancel := context.WithCancel(t.Context())
			var c Context
			if !c.Begin(parent) || c.Err() != nil {
				t.Fatalf("%s: the context ended before Begin", testCase.name)
			}
			var done <-chan struct{}
			if doneFirst {
				done = c.Done()
			}
			testCase.endContext(&c, cancel)
			if !doneFirst {
				done = c.Done()
			}
			<-done
			if c.Err() != context.Canceled {
				t.Errorf("%s: Err is %v", testCase.name, c.Err())
			}
			c.End()
			cancel()
		}
	}
}

func TestEndBeforeBegin(t *testing.T) {
	var c Context
	c.End()
	if c.Begin(t.Context()) {
		t.Error("an ended context began")
	}
	<-c.Done()
}

func TestChildContextsEnd(t *testing.T) {
	var c Context
	c.Begin(t.Context())
	childContext, cancel := context.WithTimeout(&c, time.Hour)
	defer cancel()
	c.End()
	<-childContext.Done()
	if childContext.Err() != context.Canceled {
		t.Errorf("the child ended with %v", childContext.Err())
	}
}
