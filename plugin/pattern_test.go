package plugin

import (
	"strings"
	"testing"
)

func TestParsePatternRejectsInvalid(t *testing.T) {
	for patternText, problemText := range map[string]string{
		"<all_urls>":                  "every site",
		"*://*/*":                     "every host",
		"https://*/x":                 "every host",
		"*://*:80/*":                  "every host",
		"*://*.com/*":                 "top-level domain",
		"*://*.localhost/*":           "top-level domain",
		"":                            "no scheme",
		"example.com/*":               "no scheme",
		"ftp://example.com/*":         `the scheme "ftp"`,
		"file:///*":                   `the scheme "file"`,
		"HTTP://example.com/*":        `the scheme "HTTP"`,
		"javascript://example.com/*":  `the scheme "javascript"`,
		"https://example.com":         "no path",
		"https:///x":                  "every host",
		"https://example/*":           "full domain",
		"https://exa*mple.com/*":      "wildcard inside",
		"https://a.*.com/*":           "wildcard inside",
		"https://*example.com/*":      "wildcard inside",
		"https://example..com/*":      "the host",
		"https://example.com./*":      "the host",
		"https://-a.com/*":            "the host",
		"https://ünï.com/*":           "punycode",
		"https://user@example.com/*":  "the host",
		"https://[::1]/*":             "the port",
		"https://256.1.1.1/*":         "four numbers",
		"https://1.2.3/*":             "four numbers",
		"https://1.2.3.4.5/*":         "four numbers",
		"https://01.2.3.4/*":          "four numbers",
		"*://*.1.2.3.4/*":             "no wildcard",
		"https://example.com:0/*":     "the port",
		"https://example.com:65536/*": "the port",
		"https://example.com:x/*":     "the port",
		"https://example.com:/*":      "the port",
		"https://a.com/*/*/*/*/*/*":   "6 wildcards",
		"https://a.com/x#y":           "fragments",
		"https://a.com/x y":           "space",
	} {
		p, err := ParsePattern(patternText)
		if err == nil || !strings.Contains(err.Error(), problemText) {
			t.Errorf("ParsePattern(%q) = %v, error %v; want an error with %q", patternText, p, err, problemText)
		}
		if p.Match("https://example.com/") {
			t.Errorf("the rejected pattern %q matches https://example.com/; want no match", patternText)
		}
	}
}

func TestPatternMatchesURL(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"*://example.com/*", "http://example.com/", true},
		{"*://example.com/*", "https://example.com/a/b?c=d#e", true},
		{"*://example.com/*", "https://EXAMPLE.com/", true},
		{"*://EXAMPLE.com/*", "https://example.com/", true},
		{"*://example.com/*", "https://example.com", true},
		{"*://example.com/*", "https://example.com./", true},
		{"*://example.com/*", "ftp://example.com/", false},
		{"*://example.com/*", "https://a.example.com/", false},
		{"*://example.com/*", "https://example.com.evil.org/", false},
		{"*://example.com/*", "https://evil.org/https://example.com/", false},
		{"*://example.com/*", "https://example.com@evil.org/", false},
		{"*://example.com/*", `https://evil.org\@example.com/`, false},
		{"*://example.com/*", `https://evil.org?\@example.com/`, false},
		{"*://example.com/*", `https://evil.org#\@example.com/`, false},
		{"*://example.com/*", `https://example.com/?path=C:\a#b\c d`, true},
		{"*://example.com/*", "https://user:pw@example.com/", true},
		{"*://example.com/*", "about:blank", false},
		{"*://example.com/*", "", false},
		{"http://example.com/*", "https://example.com/", false},
		{"https://example.com/*", "https://example.com/", true},
		{"*://*.example.com/*", "https://example.com/", true},
		{"*://*.example.com/*", "https://a.b.example.com/", true},
		{"*://*.example.com/*", "https://notexample.com/", false},
		{"*://localhost/*", "http://localhost:8080/", true},
		{"*://localhost:*/*", "http://localhost:8080/", true},
		{"*://localhost:8080/*", "http://localhost:8080/", true},
		{"*://localhost:8080/*", "http://localhost/", false},
		{"*://localhost:80/*", "http://localhost/", true},
		{"*://localhost:443/*", "https://localhost/", true},
		{"*://localhost:80/*", "https://localhost/", false},
		{"*://127.0.0.1:0080/*", "http://127.0.0.1/", true},
		{"*://localhost/*", "http://[::1]:80/", false},
		{"*://a.com/x?id=*", "https://a.com/x?id=1", true},
		{"*://a.com/x", "https://a.com/x?id=1", false},
		{"*://a.com/x*", "https://a.com/x?id=1", true},
		{"*://a.com/x", "https://a.com/x#y", true},
		{"*://a.com/*", "https://a.com?q", true},
		{"*://a.com/x/*", "https://a.com/x", true},
		{"*://a.com/x/*", "https://a.com/x/", true},
		{"*://a.com/x/*", "https://a.com/xy", false},
		{"*://a.com/*/b/*/c", "https://a.com/1/b/2/3/c", true},
		{"*://a.com/*/b/*/c", "https://a.com/1/b/c", false},
		{"*://a.com/ab*ba", "https://a.com/aba", false},
		{"*://a.com/a.c", "https://a.com/abc", false},
		{"*://a.com/X", "https://a.com/x", false},
		{"*://a.com/%20", "https://a.com/%20", true},
	} {
		p, err := ParsePattern(c.pattern)
		if err != nil {
			t.Errorf("ParsePattern(%q): error %v; want none", c.pattern, err)
			continue
		}
		if got := p.Match(c.url); got != c.want {
			t.Errorf("match of the pattern %s with the URL %s = %v; want %v", c.pattern, c.url, got, c.want)
		}
		if p.String() != c.pattern {
			t.Errorf("String of the pattern %s = %s; want the same text", c.pattern, p)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("*://*.example.com:8080/a*b", "https://x.example.com:8080/ab")
	f.Fuzz(func(t *testing.T, patternText, url string) {
		p, err := ParsePattern(patternText)
		if err != nil {
			return
		}
		reparsedPattern, err := ParsePattern(p.String())
		if err != nil || reparsedPattern != p {
			t.Fatalf("pattern %q parsed from its own text = %v, error %v; want the same pattern", patternText, reparsedPattern, err)
		}
		if p.Match(url) && !strings.HasPrefix(strings.ToLower(url), "http") {
			t.Fatalf("pattern %q matches the URL %q; want only http and https URLs", patternText, url)
		}
	})
}

// In the query and the fragment of a URL, browsers do not replace backslashes with slashes.
func TestPatternIgnoresQueryAndFragment(t *testing.T) {
	p, err := ParsePattern("http://a.com/x*")
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]bool{
		`http://a.com/x?q=a\b`:       true,
		`http://a.com/x#\ @evil.com`: true,
		`http://a.com\@evil.com/x`:   false,
		`http://evil.com\@a.com/x`:   false,
		"http://a.com/\tx":           false,
	} {
		if got := p.Match(url); got != want {
			t.Errorf("match with the URL %q = %t; want %v", url, got, want)
		}
	}
}
