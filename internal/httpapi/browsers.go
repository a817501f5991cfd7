package httpapi

import (
	"context"
	"net/http"
	"time"

	"opentabs/internal/httpjson"
)

// browserBody is the body of a request that concerns one browser.
type browserBody struct {
	Browser string `json:"browser"`
}

// pingedBrowser is the response of /browsers/ping. RoundTripMs is the time between a
// request to the Chrome extension and the extension's response, in milliseconds.
type pingedBrowser struct {
	RoundTripMs float64 `json:"round_trip_ms"`
}

func (a *API) servePing(w http.ResponseWriter, r *http.Request) {
	body, ok := decodeBody[browserBody](w, r)
	if !ok {
		return
	}
	roundTrip, err := a.options.PingBrowser(r.Context(), body.Browser)
	if err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, pingedBrowser{float64(roundTrip) / float64(time.Millisecond)})
}

// PingBrowser sends a request to the extension in a browser, and returns the time until
// the response arrived at the server.
func (c *Client) PingBrowser(ctx context.Context, browserID string) (time.Duration, error) {
	var pingResult pingedBrowser
	err := c.post(ctx, "/browsers/ping", browserBody{browserID}, &pingResult)
	return time.Duration(pingResult.RoundTripMs * float64(time.Millisecond)), err
}

// KnownBrowser is a browser that is or was connected to the server.
type KnownBrowser struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// IsUserGiven is true if the user has named the browser, and false if Name is the default
	// name.
	IsUserGiven bool      `json:"given"`
	Connected   bool      `json:"connected"`
	LastSeen    time.Time `json:"last_seen"`
	// DefaultFor are the names of the MCP clients that use this browser by default. An
	// empty string in DefaultFor means all clients for which no other browser is set.
	DefaultFor []string `json:"default_for,omitempty"`
}

// BrowserNames reads and changes the names of browsers, and which browser each MCP client
// uses by default. Each error message of a BrowserNames is a sentence for the user. In all
// methods, the parameter browser is the ID or the name of a browser.
type BrowserNames interface {
	// List returns the browsers that are or were connected to the server, sorted by name.
	List() ([]KnownBrowser, error)
	// Rename renames a browser, and returns the browser with its new name. An empty name
	// restores the default name of the browser.
	Rename(browser, name string) (KnownBrowser, error)
	// SetDefault sets the browser that a client uses by default. If client is empty,
	// SetDefault sets the default browser of all clients for which no browser is set. If
	// browser is empty, SetDefault removes the default browser of the client.
	SetDefault(client, browser string) (KnownBrowser, error)
	// Forget removes a browser from the list of known browsers. A connected browser
	// cannot be removed.
	Forget(browser string) error
}

// browserNameBody is the request body of /browsers/name, /browsers/default and
// /browsers/forget.
type browserNameBody struct {
	Browser string `json:"browser"`
	Name    string `json:"name,omitempty"`
	Client  string `json:"client,omitempty"`
}

func (a *API) serveBrowsers(w http.ResponseWriter, _ *http.Request) {
	browsers, err := a.options.BrowserNames.List()
	if err != nil {
		httpjson.SendError(w, http.StatusInternalServerError, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, append([]KnownBrowser{}, browsers...))
}

func (a *API) serveBrowserName(w http.ResponseWriter, r *http.Request) {
	changeBrowser(w, r, func(body browserNameBody) (KnownBrowser, error) {
		return a.options.BrowserNames.Rename(body.Browser, body.Name)
	})
}

func (a *API) serveBrowserDefault(w http.ResponseWriter, r *http.Request) {
	changeBrowser(w, r, func(body browserNameBody) (KnownBrowser, error) {
		return a.options.BrowserNames.SetDefault(body.Client, body.Browser)
	})
}

func (a *API) serveBrowserForget(w http.ResponseWriter, r *http.Request) {
	changeBrowser(w, r, func(body browserNameBody) (KnownBrowser, error) {
		return KnownBrowser{}, a.options.BrowserNames.Forget(body.Browser)
	})
}

func changeBrowser(w http.ResponseWriter, r *http.Request, change func(browserNameBody) (KnownBrowser, error)) {
	body, ok := decodeBody[browserNameBody](w, r)
	if !ok {
		return
	}
	changedBrowser, err := change(body)
	if err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, changedBrowser)
}

// BrowserNames returns a client for the names of browsers, which sends each operation to
// the server. When ctx ends, BrowserNames cancels its requests that are still open.
func (c *Client) BrowserNames(ctx context.Context) BrowserNames { return browserNamesClient{ctx, c} }

// browserNamesClient implements [BrowserNames] with requests to a running server.
type browserNamesClient struct {
	ctx    context.Context
	client *Client
}

func (n browserNamesClient) List() (browsers []KnownBrowser, err error) {
	err = n.client.sendWithTimeout(n.ctx, requestTimeout, http.MethodGet, "/browsers", &browsers)
	return browsers, err
}

func (n browserNamesClient) Rename(browser, name string) (changedBrowser KnownBrowser, err error) {
	err = n.client.post(n.ctx, "/browsers/name", browserNameBody{Browser: browser, Name: name}, &changedBrowser)
	return changedBrowser, err
}

func (n browserNamesClient) SetDefault(client, browser string) (changedBrowser KnownBrowser, err error) {
	err = n.client.post(n.ctx, "/browsers/default", browserNameBody{Browser: browser, Client: client}, &changedBrowser)
	return changedBrowser, err
}

func (n browserNamesClient) Forget(browser string) error {
	return n.client.post(n.ctx, "/browsers/forget", browserNameBody{Browser: browser}, nil)
}
