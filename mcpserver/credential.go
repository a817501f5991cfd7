package mcpserver

import (
	"context"

	"opentabs/dispatch"
)

// Credential is the credential with which a client came, as whoever serves the
// connection has checked it. The zero value says that nothing is known.
type Credential struct {
	Via dispatch.Via
	// Token is the name of the client's token; set for dispatch.ViaToken only.
	Token string
}

type credentialKey struct{}

// WithCredential returns a context for the requests of a caller.
func WithCredential(ctx context.Context, c Credential) context.Context {
	return context.WithValue(ctx, credentialKey{}, c)
}

// credentialOf returns the caller of a request.
func credentialOf(ctx context.Context) Credential {
	c, _ := ctx.Value(credentialKey{}).(Credential)
	return c
}

// client returns the caller as the dispatcher knows it; name is what it calls
// itself.
func (c Credential) client(session, name string) dispatch.Client {
	return dispatch.Client{Session: session, Via: c.Via, Token: c.Token, Name: name}
}

// sessionless names a caller whose protocol has no sessions, as dispatch.Client
// has it.
func (c Credential) sessionless(name string) dispatch.Client {
	client := c.client("", name)
	client.Shared = true
	client.Session = "without session: " + name
	if c.Token != "" { // what it calls itself may be another client's name
		client.Session = "without session: " + client.Known()
	}
	return client
}

// Revoke ends all that a client has here whose token was removed: sessions,
// streams, calls and jobs. Refuse its requests before.
func (s *Server) Revoke(token string) {
	s.sessions.revoke(Credential{Via: dispatch.ViaToken, Token: token})
	if s.opts.Jobs == nil {
		return
	}
	for _, v := range s.opts.Jobs.List() {
		if job, ok := s.opts.Jobs.Find(v.CallID); ok && v.Who().Token == token {
			job.Cancel(dispatch.Cancellation{By: "the removal of its client's token"})
		}
	}
}
