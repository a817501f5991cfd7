package dispatch

// Requester is the client of a call as surfaces show it. [Requester.Who] is the [Client].
type Requester struct {
	// Client is the name of the client's token, or without a token the client's name for
	// itself; ClientVia is the kind of credential. ClientClaims is the name for itself of
	// a client with a token.
	Client       string `json:"client,omitempty"`
	ClientVia    Via    `json:"client_via,omitempty"`
	ClientClaims string `json:"client_claims,omitempty"`
	// Session identifies the MCP session of the call. Session is not the session ID,
	// which is secret.
	Session string `json:"session,omitempty"`
}

func requesterOf(c Client) Requester {
	r := Requester{Client: c.Name, ClientVia: c.Via, Session: c.Session}
	if c.Via == ViaToken {
		r.Client, r.ClientClaims = c.Token, c.Name
	}
	return r
}

// Who returns the client.
func (r Requester) Who() Client {
	c := Client{Session: r.Session, Via: r.ClientVia, Name: r.Client}
	if r.ClientVia == ViaToken {
		c.Token, c.Name = r.Client, r.ClientClaims
	}
	return c
}
