package transport

import (
	"context"

	"opentabs/dispatch"
)

// Credential is the verified credential of a client. If a client's credential is unknown,
// the Credential is the zero value.
type Credential struct {
	Kind dispatch.CredentialKind
	// Token is the name of the client's token, which is set only for
	// dispatch.CredentialToken.
	Token string
}

type credentialKey struct{}

// WithCredential returns a context that contains the credential of a client.
func WithCredential(ctx context.Context, c Credential) context.Context {
	return context.WithValue(ctx, credentialKey{}, c)
}

// contextCredential returns the credential of a request's client.
func contextCredential(ctx context.Context) Credential {
	c, _ := ctx.Value(credentialKey{}).(Credential)
	return c
}

// dispatchClient returns the dispatch.Client for a client that reports the given name.
func (c Credential) dispatchClient(session, name string) dispatch.Client {
	return dispatch.Client{Session: session, Credential: c.Kind, Token: c.Token, Name: name}
}

// sessionlessClient returns the dispatch.Client for a client whose protocol version has
// no sessions.
func (c Credential) sessionlessClient(name string) dispatch.Client {
	client := c.dispatchClient("", name)
	client.IsSessionShared = true
	client.Session = "without session: " + name
	if c.Token != "" { // another client may report the same name
		client.Session = "without session: " + client.VerifiedName()
	}
	return client
}
