package browser

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// sensitiveHosts are hosts of common services for mail, identity, passwords, payment and account settings. On sensitive
// hosts and their subdomains, a wildcard rule never replaces an approval.
var sensitiveHosts = []string{
	// These hosts are mail services.
	"mail.google.com", "outlook.live.com", "outlook.office.com", "outlook.office365.com", "mail.yahoo.com", "mail.proton.me", "fastmail.com", "mail.zoho.com", "gmx.net", "web.de", "icloud.com",
	// These hosts are services for identity and accounts.
	"accounts.google.com", "myaccount.google.com", "login.microsoftonline.com", "account.microsoft.com", "login.live.com", "appleid.apple.com", "account.apple.com",
	"auth0.com", "okta.com", "onelogin.com", "id.me", "login.gov", "github.com/settings",
	// These hosts are password managers.
	"passwords.google.com", "1password.com", "bitwarden.com", "lastpass.com", "dashlane.com", "keepersecurity.com", "nordpass.com",
	// These hosts are services for payment and money.
	"paypal.com", "stripe.com", "wise.com", "revolut.com", "venmo.com", "cash.app", "pay.google.com", "klarna.com", "adyen.com", "coinbase.com", "binance.com", "kraken.com",
	"schwab.com", "fidelity.com", "vanguard.com", "robinhood.com", "etrade.com", "interactivebrokers.com",
	"chase.com", "bankofamerica.com", "wellsfargo.com", "citi.com", "citibank.com", "capitalone.com", "usbank.com", "americanexpress.com", "hsbc.com", "barclays.co.uk",
	"lloydsbank.com", "natwest.com", "santander.com", "deutsche-bank.de", "commerzbank.de", "sparkasse.de", "ing.com", "ing.de", "n26.com", "bnpparibas.com", "ubs.com", "monzo.com",
	// These hosts are health services.
	"mychart.org", "mychart.com", "epic.com", "healthcare.gov", "nhs.uk", "doctolib.de", "doctolib.fr", "kaiserpermanente.org",
	"irs.gov", "ssa.gov", "elster.de", "gov.uk", "impots.gouv.fr",
}

// sensitiveWords are host name labels that make any host sensitive, such as "bank" in
// bank.example.com.
var sensitiveWords = []string{"bank", "banking", "onlinebanking", "ebanking", "netbanking", "mail", "webmail", "login", "signin", "sso", "auth", "accounts", "account", "wallet", "pay", "payments", "checkout", "billing", "vault"}

// isSensitive reports whether an address belongs to a sensitive site: banking, mail,
// health, identity, passwords, payment, account settings, this machine, or a private
// network.
func isSensitive(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return true
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if isPrivate(host) {
		return true
	}
	if slices.ContainsFunc(strings.Split(host, "."), func(label string) bool { return slices.Contains(sensitiveWords, label) }) {
		return true
	}
	return slices.ContainsFunc(sensitiveHosts, func(entry string) bool {
		name, path, _ := strings.Cut(entry, "/")
		isHost := host == name || strings.HasSuffix(host, "."+name)
		return isHost && strings.HasPrefix(strings.TrimLeft(u.Path, "/"), path)
	})
}

// sharedAddressSpace is the address range that providers and VPNs use in their internal networks (RFC
// 6598).
var sharedAddressSpace = netip.MustParsePrefix("100.64.0.0/10")

func isPrivate(host string) bool {
	if isLoopback(host) || !strings.Contains(host, ".") && !strings.Contains(host, ":") {
		return true
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		addr = addr.Unmap()
		return sharedAddressSpace.Contains(addr) || addr.IsPrivate() || addr.IsLinkLocalUnicast() || addr.IsUnspecified()
	}
	return slices.ContainsFunc([]string{".local", ".internal", ".lan", ".home", ".home.arpa", ".corp", ".intranet"}, func(suffix string) bool {
		return strings.HasSuffix(host, suffix)
	})
}

func isLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}
