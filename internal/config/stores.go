package config

import (
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// StoreExtensions is a setting with the IDs of the extension in the stores: "none", or a
// list such as "chrome=ID, edge=ID".
type StoreExtensions string

// noStores is the value of the setting StoreExtensions if no store has the extension.
const noStores = "none"

// StorePage is the page in a store from which the user installs the extension.
type StorePage struct {
	// Store is the name of the store.
	Store string
	// URL is the address of the store's page, and ID is the ID of the extension.
	URL, ID string
}

// knownStores are the stores that the setting StoreExtensions may name. The address of an
// extension's page consists of the store's address and the ID of the extension.
var knownStores = []struct{ key, name, address string }{
	{"chrome", "Chrome Web Store", "https://chromewebstore.google.com/detail/"},
	{"edge", "Microsoft Edge Add-ons", "https://microsoftedge.microsoft.com/addons/detail/"},
}

// storeIDPattern matches the ID of a Chrome extension.
var storeIDPattern = lazyregexp.New("^[a-p]{32}$")

// Pages returns the pages of the extension in the stores, in the order of the setting.
func (e StoreExtensions) Pages() []StorePage {
	pages, _ := e.parse()
	return pages
}

// parse parses the setting StoreExtensions, and reports whether the setting is well
// formed.
func (e StoreExtensions) parse() ([]StorePage, bool) {
	if e == noStores {
		return nil, true
	}
	var pages []StorePage
	for entry := range strings.SplitSeq(string(e), ",") {
		key, id, _ := strings.Cut(strings.TrimSpace(entry), "=")
		page, err := newStorePage(key, id)
		if err != nil || slices.ContainsFunc(pages, func(p StorePage) bool { return p.Store == page.Store }) {
			return nil, false
		}
		pages = append(pages, page)
	}
	return pages, true
}

func newStorePage(key, id string) (StorePage, error) {
	for _, store := range knownStores {
		if store.key == key && storeIDPattern().MatchString(id) {
			return StorePage{Store: store.name, URL: store.address + id, ID: id}, nil
		}
	}
	return StorePage{}, fmt.Errorf("test setting has no store %q, or no ID %q", key, id)
}
