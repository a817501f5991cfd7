package events

import (
	"cmp"
	"strings"
)

// Client identifies the client of a call.
type Client struct {
	// Session identifies the MCP session and is not secret. Waiting calls of different
	// sessions take turns.
	Session string
	// IsSessionShared is set if all clients of this name share a Session, because their
	// protocol has no sessions. A permission can't be limited to a shared Session.
	IsSessionShared bool
	// Credential is the client's credential; empty if unknown.
	Credential CredentialKind
	// Token is the name that the user gave to the client's token; set for CredentialToken
	// only. The server has verified the token.
	Token string
	// Name is the client's name for itself, not verified.
	Name string
}

// CredentialKind is the kind of credential that a client has.
type CredentialKind string

const (
	// CredentialToken is a token for one client (opentabs client add).
	CredentialToken CredentialKind = "token"
	// CredentialCommandLine is the administrator token, which `opentabs call` uses.
	CredentialCommandLine CredentialKind = "command line"
	// CredentialStdio is a local program that started `opentabs mcp`.
	CredentialStdio CredentialKind = "stdio"
)

// CommandNamePrefix is the prefix of the client names that the commands of opentabs use.
const CommandNamePrefix = "opentabs "

// VerifiedName returns a name from the client's verified credential. Only clients
// without a token share a name.
func (c Client) VerifiedName() string {
	switch c.Credential {
	case CredentialToken:
		return "client " + c.Token
	case CredentialCommandLine:
		return "the command line"
	case CredentialStdio:
		return "stdio client"
	}
	return ""
}

// Identity returns the key for the stored permissions of the client: the name of its
// token. Identity distinguishes clients without a token by their names.
func (c Client) Identity() string {
	if c.Credential == CredentialToken {
		return c.VerifiedName()
	}
	return c.String()
}

// String names the client for users: its verified credential, then the name that it sent.
func (c Client) String() string {
	verifiedName := c.VerifiedName()
	isOwnCommand := c.Credential == CredentialCommandLine && strings.HasPrefix(c.Name, CommandNamePrefix) // the user need not see the name of the command
	if verifiedName == "" || c.Name == "" || c.Name == c.Token || isOwnCommand {
		return cmp.Or(verifiedName, c.Name)
	}
	return verifiedName + " (" + c.Name + ")"
}

// Requester is the client of a call as surfaces show it. [Requester.ToClient] converts
// a Requester to a [Client].
type Requester struct {
	// Client is the name of the client's token, or without a token the client's name
	// for itself; ClientCredential is the kind of credential. ClaimedName is the name
	// that a client with a token sends.
	Client           string         `json:"client,omitempty"`
	ClientCredential CredentialKind `json:"client_via,omitempty"`
	ClaimedName      string         `json:"client_claims,omitempty"`
	// Session identifies the MCP session of the call. Session is not the session ID,
	// which is secret.
	Session string `json:"session,omitempty"`
}

// Requester returns c as surfaces show it.
func (c Client) Requester() Requester {
	r := Requester{Client: c.Name, ClientCredential: c.Credential, Session: c.Session}
	if c.Credential == CredentialToken {
		r.Client, r.ClaimedName = c.Token, c.Name
	}
	return r
}

// ToClient converts r to a Client.
func (r Requester) ToClient() Client {
	c := Client{Session: r.Session, Credential: r.ClientCredential, Name: r.Client}
	if r.ClientCredential == CredentialToken {
		c.Token, c.Name = r.Client, r.ClaimedName
	}
	return c
}
