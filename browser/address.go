package browser

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"opentabs/dispatch"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// The user's approval applies to a whole origin, not to a single page.
func originOf(address string) string { return dispatch.OriginOf(address) }

// checkOpenable blocks addresses that are not http or https, or whose host is ambiguous.
func checkOpenable(address string) dispatch.Verdict {
	if !isWebAddress(address) {
		return newInvalidVerdict("%.200q can't be opened: give a whole http or https address, such as https://shop.example/cart", address)
	}
	if problemText := checkHost(address); problemText != "" {
		return newInvalidVerdict("%.200q can't be opened: %s", address, problemText)
	}
	return dispatch.Verdict{}
}

func newInvalidVerdict(format string, args ...any) dispatch.Verdict {
	return dispatch.NewBlockVerdict(wire.ErrInvalidArguments, fmt.Sprintf(format, args...), "")
}

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// checkHost rejects hosts in unusual forms, such as 127.1, which a browser would read as a different host than the site
// rules would.
func checkHost(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the text is not a valid URL"
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	canonicalHost := host
	if strings.Contains(host, ":") {
		canonicalHost = "[" + host + "]"
		if addr, err := netip.ParseAddr(host); err != nil || addr.Is4In6() || addr.String() != host { // as Chrome writes it, and as rules contain it
			return "write an IPv6 address in its short form, such as [2001:db8::1], and an IPv4 address as four decimal numbers"
		}
	}
	if _, err := policy.ParseSite(canonicalHost); err != nil || strings.Contains(host, "*") {
		return "write the host in ASCII letters, digits, hyphens and dots, such as xn--bcher-kva.example"
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || strconv.Itoa(n) != port {
			return "write the port without leading zeros"
		}
	}
	lastHostLabel := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := netip.ParseAddr(host); err != nil && isNumericLabel(lastHostLabel) {
		return "write an IPv4 address as four decimal numbers, such as 192.0.2.1"
	}
	return ""
}

// isNumericLabel reports whether browsers parse the last label of a host as a number, and
// therefore the whole host as an IPv4 address.
func isNumericLabel(label string) bool {
	digits, isHex := strings.CutPrefix(strings.ToLower(label), "0x")
	allowedChars := "0123456789"
	if isHex {
		allowedChars += "abcdef"
	}
	return (digits != "" || isHex) && strings.Trim(digits, allowedChars) == ""
}

// isEmptyPage reports whether a tab shows no page that the user could be using. A script can write a page into a tab
// with the address about:blank.
func isEmptyPage(t dispatch.Target) bool {
	if t.URL == "about:blank" {
		return t.Title == "" || t.Title == t.URL
	}
	return slices.Contains([]string{"", "chrome://newtab/", "chrome://new-tab-page/", "chrome://new-tab-page-third-party/"}, t.URL)
}
