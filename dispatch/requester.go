package dispatch

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

func requesterOf(c Client) Requester {
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
