package home

import (
	"context"
	"slices"

	"opentabs/internal/browsernames"
	"opentabs/internal/httpapi"
)

// OpenBrowserNames returns an [httpapi.BrowserNames] that uses the running server. If no
// server runs, the returned BrowserNames itself reads and writes the file with the
// browser names.
func OpenBrowserNames(ctx context.Context, h *Home) (httpapi.BrowserNames, error) {
	client, err := h.runningClient(ctx)
	if err != nil {
		return nil, err
	}
	if client != nil {
		return client.BrowserNames(ctx), nil
	}
	store, warning := browsernames.Open(h.BrowsersFile())
	if warning != "" {
		h.warn(warning)
	}
	return NewBrowserNames(store, func() []string { return nil }, func(string) {}), nil
}

// NewBrowserNames returns an [httpapi.BrowserNames] that reads and changes a store. The
// function connectedBrowsers returns the IDs of the connected browsers. The function
// onRename is called with the ID of each renamed browser.
func NewBrowserNames(store *browsernames.Store, connectedBrowsers func() []string, onRename func(browserID string)) httpapi.BrowserNames {
	return browserNameStore{store, connectedBrowsers, onRename}
}

// browserNameStore implements httpapi.BrowserNames with a store in this process.
type browserNameStore struct {
	store             *browsernames.Store
	connectedBrowsers func() []string
	onRename          func(browserID string)
}

func (n browserNameStore) List() ([]httpapi.KnownBrowser, error) {
	browsers, clientNames := n.store.List()
	var knownBrowsers []httpapi.KnownBrowser
	for _, b := range browsers {
		k := n.describe(b)
		k.DefaultFor = clientNames(b.ID)
		knownBrowsers = append(knownBrowsers, k)
	}
	return knownBrowsers, nil
}

func (n browserNameStore) describe(b browsernames.Browser) httpapi.KnownBrowser {
	return httpapi.KnownBrowser{ID: b.ID, Name: b.Name, IsUserGiven: b.IsUserGiven, LastSeen: b.LastSeen, Connected: slices.Contains(n.connectedBrowsers(), b.ID)}
}

func (n browserNameStore) Rename(browser, name string) (httpapi.KnownBrowser, error) {
	b, err := n.store.Rename(browser, name, n.connectedBrowsers())
	if err != nil {
		return httpapi.KnownBrowser{}, err
	}
	n.onRename(b.ID)
	return n.describe(b), nil
}

func (n browserNameStore) SetDefault(client, browser string) (httpapi.KnownBrowser, error) {
	b, err := n.store.SetDefault(client, browser)
	return n.describe(b), err
}

func (n browserNameStore) Forget(browser string) error {
	return n.store.Forget(browser, n.connectedBrowsers())
}
