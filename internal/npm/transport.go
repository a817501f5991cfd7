package npm

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

func (c *Config) addTrustedCertificates(t *http.Transport) error {
	file := c.settingText("cafile")
	if file == "" {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the certificates that cafile names in %s: %w", c.values["cafile"].source, err)
	}
	certPool, err := x509.SystemCertPool()
	if err != nil {
		certPool = x509.NewCertPool()
	}
	if !certPool.AppendCertsFromPEM(pem) {
		return fmt.Errorf("%s, which cafile names in %s, contains no certificate; set cafile to a file in PEM format", file, c.values["cafile"].source)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: certPool, MinVersion: tls.VersionTLS12}
	return nil
}

// Without a proxy setting, the transport uses the proxy in the environment variable HTTPS_PROXY.
func (c *Config) configureProxy(t *http.Transport) error {
	key := "https-proxy"
	if c.isUnsetOrDisabled(key) {
		key = "proxy"
	}
	if c.isUnsetOrDisabled(key) {
		return nil
	}
	u, err := url.Parse(c.settingText(key))
	if err != nil || u.Host == "" {
		return fmt.Errorf("%s in %s is not a URL; use one such as http://proxy.example.com:8080", key, c.values[key].source)
	}
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if c.bypassesProxy(r.URL.Hostname()) {
			return nil, nil
		}
		return u, nil
	}
	return nil
}

func (c *Config) isUnsetOrDisabled(key string) bool {
	settingText := c.settingText(key)
	return settingText == "" || settingText == "null" || settingText == "false"
}

func (c *Config) bypassesProxy(host string) bool {
	host = strings.ToLower(host)
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	for domain := range strings.SplitSeq(c.settingText("noproxy"), ",") {
		domain = strings.ToLower(strings.TrimPrefix(strings.TrimSpace(domain), "."))
		if domain != "" && (host == domain || strings.HasSuffix(host, "."+domain)) {
			return true
		}
	}
	return false
}
