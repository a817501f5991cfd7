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
		for _, readsDoneFirst := range []bool{true, false} {
			parent, cancel := context.WithCancel(t.Context())
			var c Context
			if !c.Begin(parent) || c.Err() != nil {
				t.Fatalf("%s: the context ended before Begin, want a context that is not done", testCase.name)
			}
			var done <-chan struct{}
			if readsDoneFirst {
				done = c.Done()
			}
			testCase.endContext(&c, cancel)
			if !readsDoneFirst {
				done = c.Done()
			}
			<-done
			if c.Err() != context.Canceled {
				t.Errorf("%s: error of the ended context = %v, want context.Canceled", testCase.name, c.Err())
			}
			c.End()
			cancel()
		}
	}
}

func TestContextEndedBeforeBegin(t *testing.T) {
	var c Context
	c.End()
	if c.Begin(t.Context()) {
		t.Error("Begin returned true for an ended context, want false")
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
		t.Errorf("error of the child context = %v, want context.Canceled", childContext.Err())
	}
}
