package config

import (
	"slices"
	"strings"
	"testing"
)

func TestStoreExtensions(t *testing.T) {
	chromeID, edgeID := strings.Repeat("abcdefgh", 4), strings.Repeat("ponmlkji", 4)
	for urls, want := range map[StoreExtensions][]string{
		"none":                                nil,
		StoreExtensions("chrome=" + chromeID): {"https://chromewebstore.google.com/detail/" + chromeID},
		StoreExtensions("edge=" + edgeID + ", chrome=" + chromeID): {
			"https://microsoftedge.microsoft.com/addons/detail/" + edgeID, "https://chromewebstore.google.com/detail/" + chromeID,
		},
	} {
		var got []string
		for _, page := range urls.Pages() {
			got = append(got, page.URL)
			if !strings.HasSuffix(page.URL, "/"+page.ID) || page.Store == "" {
				t.Errorf("store page of the setting %s = %+v; want a store name, and a URL that ends with the ID", urls, page)
			}
		}
		if _, ok := urls.parse(); !ok || !slices.Equal(got, want) {
			t.Errorf("setting %s: store pages %q, valid = %v; want the pages %q", urls, got, ok, want)
		}
	}
	for _, urls := range []StoreExtensions{
		"", "chrome", StoreExtensions(chromeID), "chrome=", "chrome=abc", "chrome=" + StoreExtensions(strings.Repeat("z", 32)),
		StoreExtensions("safari=" + chromeID), StoreExtensions("chrome=" + chromeID + ",chrome=" + edgeID), StoreExtensions("chrome=" + chromeID + ","),
	} {
		if pages, ok := urls.parse(); ok {
			t.Errorf("the setting %q is valid with the pages %v, want invalid", urls, pages)
		}
	}
}
