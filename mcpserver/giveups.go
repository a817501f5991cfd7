package mcpserver

import (
	"context"
	"errors"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/clients"
	"opentabs/mcpserver/transport"
)

// LearnedTimeouts has the timeouts of clients that are not in the table of clients, or
// that differ from it. LearnedTimeouts must be safe for concurrent use.
type LearnedTimeouts interface {
	// Find returns how long a client waits for a call, and since when this is known. Every
	// call needs this, so Find must be fast.
	Find(clients.ID) (t clients.Timeout, since time.Time, ok bool)
	// Learn receives a call that the client gave up before its end.
	Learn(clients.ID, clients.GiveUp)
}

// clientID returns the name and version of the client of a request.
func (q *request) clientID() clients.ID {
	return clients.ID{Name: q.Info.Name, Version: q.Info.Version}
}

// knownTimeout is the timeout of a client, and how it is known.
type knownTimeout struct {
	clients.Timeout
	// isKnown is set if the client is in the table of clients, or its timeout was learned.
	// Without isKnown, the timeout is that of most clients.
	isKnown bool
	// learnedSince is when the timeout was learned; the zero time for a timeout of the
	// table.
	learnedSince time.Time
}

// timeoutOf returns how long a client waits for a call.
func (j *jobs) timeoutOf(id clients.ID, overHTTP bool) knownTimeout {
	if j.learned != nil {
		if t, since, ok := j.learned.Find(id); ok {
			return knownTimeout{Timeout: t, isKnown: true, learnedSince: since}
		}
	}
	profile := clients.Of(id.Name, id.Version)
	return knownTimeout{Timeout: profile.TimeoutOver(overHTTP), isKnown: profile.IsKnown()}
}

// recordGiveUp passes a request that its client gave up to the learned timeouts. p has
// the progress of the request; nil for none.
func (j *jobs) recordGiveUp(ctx context.Context, q request, p *progressSender) {
	cause := context.Cause(ctx)
	if j.learned == nil || cause == nil || q.Method != transport.MethodCall || strings.HasPrefix(q.Info.Name, dispatch.CommandNamePrefix) ||
		errors.Is(cause, transport.ErrShutdown) || errors.Is(cause, transport.ErrRevoked) {
		return
	}
	g := clients.GiveUp{Waited: time.Since(q.receivedAt)}
	if c := (*dispatch.Cancellation)(nil); errors.As(cause, &c) {
		g.Reason = c.Reason
	}
	p.addTimes(&g, q.receivedAt)
	j.learned.Learn(q.clientID(), g)
}

// isListedWithOutputSchema reports whether the client of a request may have listed the
// tool with its output schema, because the client's timeout was learned later. The
// official SDKs then reject a job as a result, except if the result is marked as an error.
func (l *listedTool) isListedWithOutputSchema(s *Server, q *request) bool {
	if q.metaCall != nil || l.definition.RawOutputSchema == nil || !s.opts.ListsOutputSchemas(q.Info.Name, q.Info.Version) {
		return false
	}
	known := s.jobs.timeoutOf(q.clientID(), false)
	return q.timer.rule.After == 0 && q.Info.ConnectedSince.Before(known.learnedSince)
}
