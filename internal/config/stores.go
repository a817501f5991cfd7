package config

import (
	"fmt"
	"slices"
	"strings"

	"opentabs/internal/lazyregexp"
)

// StoreExtensions is the setting with the IDs of the extension in the extension stores.
// StoreExtensions is "none", or a list of stores and extension IDs such as "chrome=ID,
// edge=ID".
type StoreExtensions string

const noStoresWord = "none"

// StorePage is the page of an extension store from which the user installs the extension.
type StorePage struct {
	// Store is the name of the store, such as "Chrome Web Store".
	Store string
	// URL is the address of the extension's page in the store. ID is the extension's ID
	// in the store.
	URL, ID string
}

var knownStores = []struct{ key, name, address string }{
	{"chrome", "Chrome Web Store", "https://chromewebstore.google.com/detail/"},
	{"edge", "Microsoft Edge Add-ons", "https://microsoftedge.microsoft.com/addons/detail/"},
}

var storeIDPattern = lazyregexp.New("^[a-p]{32}$")

// Pages returns the store pages of the extension, in the order of the setting.
func (e StoreExtensions) Pages() []StorePage {
	pages, _ := e.parse()
	return pages
}

func (e StoreExtensions) parse() ([]StorePage, bool) {
	if e == noStoresWord {
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
