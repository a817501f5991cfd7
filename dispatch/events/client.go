package events

import (
	"cmp"
	"strings"
)

// Client identifies the MCP client or command that makes a call.
type Client struct {
	// Session is a public ID of the MCP session. The queue runs the waiting calls of
	// different sessions in turn.
	Session string
	// IsSessionShared is true if the client's protocol has no sessions, so all clients with its name share one Session.
	// The user can't limit an approval to a shared Session.
	IsSessionShared bool
	// Credential is how the client authenticated, or empty if unknown.
	Credential CredentialKind
	// Token is the name that the user gave to the client's verified token. Only a client with
	// CredentialToken has a Token.
	Token string
	// Name is the unverified name that the client itself sent.
	Name string
}

// CredentialKind is the kind of credential with which a client authenticates.
type CredentialKind string

const (
	// CredentialToken is a token for one MCP client, which the user creates with `opentabs
	// client add`.
	CredentialToken CredentialKind = "token"
	// CredentialCommandLine is the administrator token, which `opentabs call` uses.
	CredentialCommandLine CredentialKind = "command line"
	// CredentialStdio is the credential of a local program that started `opentabs mcp`.
	CredentialStdio CredentialKind = "stdio"
)

// CommandNamePrefix is the prefix of the client names that the commands of opentabs use.
const CommandNamePrefix = "opentabs "

// VerifiedName returns a name that is derived from the client's verified credential. Only
// clients without a token can have equal names.
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

// Identity returns the name under which opentabs stores the client's permissions. The name
// of a client with a token is the token's name. The name of any other client includes the
// unverified name that the client sent.
func (c Client) Identity() string {
	if c.Credential == CredentialToken {
		return c.VerifiedName()
	}
	return c.String()
}

// String returns the client's name for users: the name from its verified credential,
// followed by the name that it sent.
func (c Client) String() string {
	verifiedName := c.VerifiedName()
	isOwnCommand := c.Credential == CredentialCommandLine && strings.HasPrefix(c.Name, CommandNamePrefix) // the name of an opentabs command is of no use to the user
	if verifiedName == "" || c.Name == "" || c.Name == c.Token || isOwnCommand {
		return cmp.Or(verifiedName, c.Name)
	}
	return verifiedName + " (" + c.Name + ")"
}

// Requester is the client that made a call, in the JSON form that surfaces show.
type Requester struct {
	// Client is the name of the client's token, or without a token the name that the client
	// sent. ClientCredential is the kind of credential with which the client authenticated.
	// ClaimedName is the unverified name that a client with a token sent.
	Client           string         `json:"client,omitempty"`
	ClientCredential CredentialKind `json:"client_via,omitempty"`
	ClaimedName      string         `json:"client_claims,omitempty"`
	// Session is a public ID of the MCP session, unlike the secret session ID of MCP.
	Session string `json:"session,omitempty"`
}

// Requester describes the client that made a call, for the JSON of call snapshots.
func (c Client) Requester() Requester {
	r := Requester{Client: c.Name, ClientCredential: c.Credential, Session: c.Session}
	if c.Credential == CredentialToken {
		r.Client, r.ClaimedName = c.Token, c.Name
	}
	return r
}

// ToClient converts a Requester back to the Client from which it was made.
func (r Requester) ToClient() Client {
	c := Client{Session: r.Session, Credential: r.ClientCredential, Name: r.Client}
	if r.ClientCredential == CredentialToken {
		c.Token, c.Name = r.Client, r.ClaimedName
	}
	return c
}
