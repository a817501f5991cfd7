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
				t.Errorf("%s: the page %+v has no name, or its address has another ID", urls, page)
			}
		}
		if _, ok := urls.parse(); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: pages %q, valid = %v; want the pages %q", urls, got, ok, want)
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
