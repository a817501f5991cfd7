package httpapi

import (
	"context"
	"net/http"
	"time"

	"opentabs/internal/httpjson"
)

// browserBody is a request body with the ID of a browser.
type browserBody struct {
	Browser string `json:"browser"`
}

// pingedBrowser is the response to /browsers/ping. RoundTripMs is the time from the
// request to the extension's answer, in milliseconds.
type pingedBrowser struct {
	RoundTripMs float64 `json:"round_trip_ms"`
}

func (a *API) servePing(w http.ResponseWriter, r *http.Request) {
	body, ok := bodyOf[browserBody](w, r)
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

// PingBrowser returns how long a request from the server to a browser's extension and its
// answer take.
func (c *Client) PingBrowser(ctx context.Context, browserID string) (time.Duration, error) {
	var pinged pingedBrowser
	err := c.post(ctx, "/browsers/ping", browserBody{browserID}, &pinged)
	return time.Duration(pinged.RoundTripMs * float64(time.Millisecond)), err
}

// KnownBrowser is a browser that is connected or was connected before.
type KnownBrowser struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// IsGiven is true if the user gave the browser its name.
	IsGiven   bool      `json:"given"`
	Connected bool      `json:"connected"`
	LastSeen  time.Time `json:"last_seen"`
	// DefaultFor are the names of the clients whose default browser this is; "" means all
	// clients without a separate default browser.
	DefaultFor []string `json:"default_for,omitempty"`
}

// BrowserNames reads and changes the names of browsers and the default browsers. The
// errors of BrowserNames are sentences for the user. The parameter browser is an ID or a
// name.
type BrowserNames interface {
	// List returns all browsers that are or were connected, sorted by name.
	List() ([]KnownBrowser, error)
	// Rename gives a browser a new name. An empty name restores the default name. Rename
	// returns the browser with its new name.
	Rename(browser, name string) (KnownBrowser, error)
	// SetDefault sets the default browser of a client, or of all other clients for an
	// empty client. An empty browser removes the default browser.
	SetDefault(client, browser string) (KnownBrowser, error)
	// Forget removes a browser that is not connected from the list of browsers.
	Forget(browser string) error
}

// browserNameBody is the request body of the routes that change the names of browsers and
// the default browsers.
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

// changeBrowser runs change, and sends the changed browser or the error as the response.
func changeBrowser(w http.ResponseWriter, r *http.Request, change func(browserNameBody) (KnownBrowser, error)) {
	body, ok := bodyOf[browserNameBody](w, r)
	if !ok {
		return
	}
	changed, err := change(body)
	if err != nil {
		httpjson.SendError(w, http.StatusConflict, err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, changed)
}

// BrowserNames returns access to the names of browsers at the server. The requests of
// BrowserNames end with ctx.
func (c *Client) BrowserNames(ctx context.Context) BrowserNames { return remoteNames{ctx, c} }

// remoteNames implements BrowserNames with requests to a server.
type remoteNames struct {
	ctx    context.Context
	client *Client
}

// List implements BrowserNames.
func (n remoteNames) List() (browsers []KnownBrowser, err error) {
	err = n.client.exchange(n.ctx, requestTimeout, http.MethodGet, "/browsers", &browsers)
	return browsers, err
}

// Rename implements BrowserNames.
func (n remoteNames) Rename(browser, name string) (changed KnownBrowser, err error) {
	err = n.client.post(n.ctx, "/browsers/name", browserNameBody{Browser: browser, Name: name}, &changed)
	return changed, err
}

// SetDefault implements BrowserNames.
func (n remoteNames) SetDefault(client, browser string) (changed KnownBrowser, err error) {
	err = n.client.post(n.ctx, "/browsers/default", browserNameBody{Browser: browser, Client: client}, &changed)
	return changed, err
}

// Forget implements BrowserNames.
func (n remoteNames) Forget(browser string) error {
	return n.client.post(n.ctx, "/browsers/forget", browserNameBody{Browser: browser}, nil)
}
