package errtext

import (
	"fmt"
	"strings"

	"opentabs/wire"
)

const (
	checkAddressText     = "check the site's address and the network connection"
	checkSiteText        = "check that the site is running"
	checkNetworkText     = "check the network connection"
	checkCertificateText = "open the tab and read Chrome's warning"
	checkBlockerText     = "check the tab, and what blocks the page: an extension, a policy or the network"
)

// If the name of an error begins with several of these prefixes, the first prefix in the list
// applies.
var loadErrors = []struct{ prefix, reason, action string }{
	{"NAME_NOT_RESOLVED", "the name of the site was not found", checkAddressText},
	{"NAME_RESOLUTION_FAILED", "the name of the site was not found", checkAddressText},
	{"DNS_", "the name of the site was not found", checkAddressText},
	{"CONNECTION_REFUSED", "the server refused the connection", checkSiteText},
	{"CONNECTION_TIMED_OUT", "the server did not answer in time", checkSiteText},
	{"TIMED_OUT", "the server did not answer in time", checkSiteText},
	{"CONNECTION_", "the connection to the server broke", checkSiteText},
	{"EMPTY_RESPONSE", "the server sent no answer", checkSiteText},
	{"INVALID_RESPONSE", "the server sent an answer that is not valid HTTP", checkSiteText},
	{"INVALID_HTTP_RESPONSE", "the server sent an answer that is not valid HTTP", checkSiteText},
	{"HTTP_RESPONSE_CODE_FAILURE", "the server answered with an error and no page", checkSiteText},
	{"TOO_MANY_REDIRECTS", "the page redirects in a circle", "check the tab: the site may require a login, or that its cookies are deleted"},
	{"ADDRESS_UNREACHABLE", "the server can't be reached", checkNetworkText},
	{"INTERNET_DISCONNECTED", "this computer has no network connection", checkNetworkText},
	{"NETWORK_", "the network connection changed or failed", checkNetworkText},
	{"PROXY_", "the proxy can't be reached", "check Chrome's proxy settings"},
	{"TUNNEL_CONNECTION_FAILED", "the proxy can't reach the site", "check Chrome's proxy settings"},
	{"CERT_", "Chrome does not accept the site's certificate", checkCertificateText},
	{"SSL_CLIENT_AUTH_", "the site wants a client certificate", checkCertificateText},
	{"SSL_", "no secure connection to the site is possible", checkCertificateText},
	{"BLOCKED_", "Chrome blocked the page", checkBlockerText},
	{"ACCESS_DENIED", "Chrome blocked the page", checkBlockerText},
	{"UNSAFE_PORT", "Chrome blocks this port", "use another port for the site"},
}

// DescribeLoadError explains why a page can't be loaded, and what to do. The argument
// name is Chrome's name of the error, such as net::ERR_CONNECTION_REFUSED.
func DescribeLoadError(name string) string {
	if name == wire.LoadErrorNoAnswer {
		return fmt.Sprintf("the site has not answered for %d s; %s", wire.SiteTimeoutMs/1000, checkSiteText)
	}
	for _, loadError := range loadErrors {
		if strings.HasPrefix(name, "net::ERR_"+loadError.prefix) {
			return loadError.reason + " (" + name + "); " + loadError.action
		}
	}
	return "Chrome reports " + name + "; check the tab"
}
