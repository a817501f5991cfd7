package errtext

import (
	"fmt"
	"strings"

	"opentabs/wire"
)

const (
	checkAddress     = "check the site's address and the network connection"
	checkSite        = "check that the site is running"
	checkNetwork     = "check the network connection"
	checkCertificate = "open the tab and read Chrome's warning"
	checkBlock       = "check the tab, and what blocks the page: an extension, a policy or the network"
)

// If several prefixes match an error's name, the first of them applies.
var loadErrors = []struct{ prefix, reason, action string }{
	{"NAME_NOT_RESOLVED", "the name of the site was not found", checkAddress},
	{"NAME_RESOLUTION_FAILED", "the name of the site was not found", checkAddress},
	{"DNS_", "the name of the site was not found", checkAddress},
	{"CONNECTION_REFUSED", "the server refused the connection", checkSite},
	{"CONNECTION_TIMED_OUT", "the server did not answer in time", checkSite},
	{"TIMED_OUT", "the server did not answer in time", checkSite},
	{"CONNECTION_", "the connection to the server broke", checkSite},
	{"EMPTY_RESPONSE", "the server sent no answer", checkSite},
	{"INVALID_RESPONSE", "the server sent an answer that is not valid HTTP", checkSite},
	{"INVALID_HTTP_RESPONSE", "the server sent an answer that is not valid HTTP", checkSite},
	{"HTTP_RESPONSE_CODE_FAILURE", "the server answered with an error and no page", checkSite},
	{"TOO_MANY_REDIRECTS", "the page redirects in a circle", "check the tab: the site may require a login, or that its cookies are deleted"},
	{"ADDRESS_UNREACHABLE", "the server can't be reached", checkNetwork},
	{"INTERNET_DISCONNECTED", "this computer has no network connection", checkNetwork},
	{"NETWORK_", "the network connection changed or failed", checkNetwork},
	{"PROXY_", "the proxy can't be reached", "check Chrome's proxy settings"},
	{"TUNNEL_CONNECTION_FAILED", "the proxy can't reach the site", "check Chrome's proxy settings"},
	{"CERT_", "Chrome does not accept the site's certificate", checkCertificate},
	{"SSL_CLIENT_AUTH_", "the site wants a client certificate", checkCertificate},
	{"SSL_", "no secure connection to the site is possible", checkCertificate},
	{"BLOCKED_", "Chrome blocked the page", checkBlock},
	{"ACCESS_DENIED", "Chrome blocked the page", checkBlock},
	{"UNSAFE_PORT", "Chrome blocks this port", "use another port for the site"},
}

// DescribeLoadError explains why a page can't be loaded, and what to do. The argument
// name is Chrome's name of the error, such as net::ERR_CONNECTION_REFUSED.
func DescribeLoadError(name string) string {
	if name == wire.LoadErrorNoAnswer {
		return fmt.Sprintf("the site has not answered for %d s; %s", wire.SiteTimeoutMs/1000, checkSite)
	}
	for _, loadError := range loadErrors {
		if strings.HasPrefix(name, "net::ERR_"+loadError.prefix) {
			return loadError.reason + " (" + name + "); " + loadError.action
		}
	}
	return "Chrome reports " + name + "; check the tab"
}
