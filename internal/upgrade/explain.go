package upgrade

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
)

func explainError(address string, err error) error {
	host := address
	if u, parseErr := url.Parse(address); parseErr == nil {
		host = u.Host
	}
	var certErr *tls.CertificateVerificationError
	var dnsErr *net.DNSError
	var opErr *net.OpError
	var urlErr *url.Error
	isTimeout := errors.Is(err, context.DeadlineExceeded)
	if errors.As(err, &urlErr) {
		isTimeout = isTimeout || urlErr.Timeout()
		err = urlErr.Err // url.Error would add the address and the method to the message
	}
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errNoArchive), errors.Is(err, errNoRelease):
		return fmt.Errorf("%s %w", address, err)
	case errors.Is(err, errRefusedRedirect):
		return fmt.Errorf("%s: %w", address, err)
	case errors.As(err, &certErr):
		return fmt.Errorf("the certificate of %s is not trusted (%w): check the clock of this computer, and add the certificate of your company's proxy to the system", host, certErr.Err)
	case errors.As(err, &dnsErr) && dnsErr.IsNotFound:
		return fmt.Errorf("the server %s was not found: check the network and the address in %s", host, URLVariable)
	case isTimeout:
		return fmt.Errorf("%s did not answer in time: check the network and the proxy, then run the command again", host)
	case errors.As(err, &opErr):
		err = opErr.Err // net.OpError would add IP addresses to the message
	}
	return fmt.Errorf("%s cannot be reached (%w): check the network, the proxy and the address in %s", host, err, URLVariable)
}

func explainStatus(address string, httpStatus int) error {
	statusText := fmt.Sprintf("%d %s", httpStatus, http.StatusText(httpStatus))
	if httpStatus == http.StatusNotFound {
		return fmt.Errorf("there is no file %s (HTTP %s): check the address in %s", address, statusText, URLVariable)
	}
	return fmt.Errorf("%s cannot be downloaded (HTTP %s): run the command again later", address, statusText)
}
