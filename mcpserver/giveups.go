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

// LearnedTimeouts stores the client timeouts that opentabs has observed, for clients whose
// timeout is missing or wrong in the client table. A LearnedTimeouts must be safe for
// concurrent use.
type LearnedTimeouts interface {
	// Find returns how long a client waits for the answer to a call, and when this timeout was
	// learned. Find must be fast, because every call uses it.
	Find(clients.ID) (t clients.Timeout, since time.Time, ok bool)
	// RecordAbandonedCall records that a client stopped waiting for the answer to a call.
	RecordAbandonedCall(clients.ID, clients.AbandonedCall)
}

func (q *request) clientID() clients.ID {
	return clients.ID{Name: q.Info.Name, Version: q.Info.Version}
}

// knownTimeout is how long a client waits for an answer, and the source of this timeout.
type knownTimeout struct {
	clients.Timeout
	// For an unknown client, the timeout is a guess that suits most clients.
	isKnown       bool
	lastLearnedAt time.Time
}

func (j *jobs) clientTimeout(id clients.ID, isHTTP bool) knownTimeout {
	if j.learnedTimeouts != nil {
		if t, since, ok := j.learnedTimeouts.Find(id); ok {
			return knownTimeout{Timeout: t, isKnown: true, lastLearnedAt: since}
		}
	}
	profile := clients.Of(id.Name, id.Version)
	return knownTimeout{Timeout: profile.TransportTimeout(isHTTP), isKnown: profile.IsKnown()}
}

func (j *jobs) mayLearnTimeout(q *request) bool {
	return j.learnedTimeouts != nil && q.Method == transport.MethodCall && !j.clientTimeout(q.clientID(), false).isKnown
}

// recordClientTimeout reports to LearnedTimeouts that a client stopped waiting for the answer to a request.
func (j *jobs) recordClientTimeout(ctx context.Context, q request, p *progressSender) {
	cause := context.Cause(ctx)
	if j.learnedTimeouts == nil || cause == nil || q.Method != transport.MethodCall || strings.HasPrefix(q.Info.Name, dispatch.CommandNamePrefix) ||
		errors.Is(cause, transport.ErrShutdown) || errors.Is(cause, transport.ErrRevoked) {
		return
	}
	g := clients.AbandonedCall{WaitDuration: time.Since(q.receivedAt)}
	if c := (*dispatch.Cancellation)(nil); errors.As(cause, &c) {
		g.Reason = c.Reason
	}
	p.recordProgressTimes(&g, q.receivedAt)
	j.learnedTimeouts.RecordAbandonedCall(q.clientID(), g)
}

// The official MCP SDKs validate results against the listed output schema. A job does not match a tool's output schema,
// so the SDKs accept it only as an error result.
func (l *listedTool) isListedWithOutputSchema(s *Server, q *request) bool {
	if q.gatewayCall != nil || l.definition.RawOutputSchema == nil || !s.opts.ListsOutputSchemas(q.Info.Name, q.Info.Version) {
		return false
	}
	knownTimeout := s.jobs.clientTimeout(q.clientID(), false)
	return q.timer.rule.After == 0 && q.Info.ConnectedSince.Before(knownTimeout.lastLearnedAt)
}
