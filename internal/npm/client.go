package npm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxPackageBytes = 64 << 20
	maxSearchBytes  = 8 << 20
	maxRedirects    = 5
)

const (
	// headerTimeout limits how long the client waits for the headers of an HTTP response.
	headerTimeout = 30 * time.Second
	// attemptTimeout limits one attempt of a request, with its redirects and the response
	// body.
	attemptTimeout = 5 * time.Minute
	// maxAttempts counts the first attempt of a request and the retries after errors.
	maxAttempts = 3
	// maxRetryAfter limits the pause that a Retry-After header can cause.
	maxRetryAfter = 20 * time.Second
)

// ErrNotFound is wrapped by the error for a package that the registry does not have.
var ErrNotFound = errors.New("not found")

// Options configure a [Client]. The zero value of a field selects the field's default.
type Options struct {
	// UserAgent is the User-Agent header; the default is "opentabs".
	UserAgent string
	// Backoff is the pause before the second attempt of a request. The pause before the
	// third attempt is twice as long as the pause before the second. The default of the
	// field Backoff is 300 ms.
	Backoff time.Duration
	// SilenceTimeout limits the time without data while a response body is read; the default is
	// 30 s.
	SilenceTimeout time.Duration
}

// Client queries npm registries and downloads packages.
type Client struct {
	config *Config
	http   *http.Client
	opts   Options
}

// New returns a client that connects with the proxy, the certificates and the logins in
// config. New returns an error if an npm setting in config is invalid.
func New(config *Config, o Options) (*Client, error) {
	if o.UserAgent == "" {
		o.UserAgent = "opentabs"
	}
	if o.SilenceTimeout == 0 {
		o.SilenceTimeout = headerTimeout
	}
	if o.Backoff == 0 {
		o.Backoff = 300 * time.Millisecond
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("http.DefaultTransport is not an *http.Transport")
	}
	base = base.Clone()
	base.ResponseHeaderTimeout = headerTimeout
	if err := config.addTrustedCertificates(base); err != nil {
		return nil, err
	}
	if err := config.configureProxy(base); err != nil {
		return nil, err
	}
	c := &Client{config: config, opts: o}
	c.http = &http.Client{Transport: loginTransport{config, base}, CheckRedirect: checkRedirect}
	return c, nil
}

// loginTransport sets the Authorization header of each request according to its address,
// so that a redirect to another host does not forward credentials.
type loginTransport struct {
	config    *Config
	transport http.RoundTripper
}

func (a loginTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	if l, ok := a.config.loginFor(r.URL); ok && l.header != "" {
		r.Header.Set("Authorization", l.header)
	}
	return a.transport.RoundTrip(r)
}

// checkRedirect allows up to 5 redirects, but no redirect from https to http.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &invalidContentError{fmt.Sprintf("the server redirects more than %d times; check the registry in .npmrc", maxRedirects)}
	}
	if r.URL.Scheme != "https" && (r.URL.Scheme != "http" || via[0].URL.Scheme == "https") {
		return &invalidContentError{fmt.Sprintf("the server redirects from %s to %s, which is not safe", via[0].URL.Scheme, r.URL.Redacted())}
	}
	return nil
}

// statusError is the error for a response whose HTTP status is not 200.
type statusError struct {
	httpStatus   int
	responseText string
	retryAfter   time.Duration // retryAfter is 0 without a Retry-After header
}

func (e *statusError) Error() string { return e.responseText }

// After a transient error, getWithRetries repeats the request, with at most 3 attempts in total.
func (c *Client) getWithRetries(ctx context.Context, address, accept string, read func(*http.Response) error) error {
	backoff := c.opts.Backoff
	for attempt := 1; ; attempt++ {
		err := c.getOnce(ctx, address, accept, read)
		var statusErr *statusError
		canRetry := false
		pauseTime := backoff
		switch {
		case err == nil:
			return nil
		case errors.As(err, &statusErr):
			canRetry = statusErr.httpStatus >= 500 || statusErr.httpStatus == http.StatusTooManyRequests
			pauseTime = max(pauseTime, min(statusErr.retryAfter, maxRetryAfter))
		default:
			canRetry = isTransient(err)
		}
		if !canRetry || attempt == maxAttempts {
			return c.explainError(address, err)
		}
		select {
		case <-time.After(pauseTime):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		backoff *= 2
	}
}

func (c *Client) getOnce(ctx context.Context, address, accept string, read func(*http.Response) error) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", c.opts.UserAgent)
	r.Header.Set("Accept", accept)
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body := &timeoutBody{ReadCloser: response.Body, limit: c.opts.SilenceTimeout, timer: time.AfterFunc(c.opts.SilenceTimeout, cancel)}
	defer body.timer.Stop()
	response.Body = body
	if response.StatusCode == http.StatusOK {
		if err := read(response); err == nil || !body.hasTimedOut {
			return err
		}
		return &invalidContentError{fmt.Sprintf("its response stalled for %v; try again later", c.opts.SilenceTimeout)}
	}
	retrySeconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return &statusError{httpStatus: response.StatusCode, responseText: "it returns HTTP " + statusText(response.StatusCode) + networkErrorReason(response),
		retryAfter: time.Duration(max(retrySeconds, 0)) * time.Second}
}

func statusText(httpStatus int) string {
	return strings.TrimSpace(strconv.Itoa(httpStatus) + " " + http.StatusText(httpStatus))
}

// timeoutBody is a response body with a time limit for each read. If a read does not return
// within limit, a timer cancels the HTTP request.
type timeoutBody struct {
	io.ReadCloser
	limit       time.Duration
	timer       *time.Timer
	hasTimedOut bool
}

func (b *timeoutBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	// The method Stop of the timer returns false if the timer has already fired and
	// cancelled the HTTP request.
	if b.hasTimedOut = b.hasTimedOut || !b.timer.Stop(); !b.hasTimedOut {
		b.timer.Reset(b.limit)
	}
	return n, err
}

func networkErrorReason(response *http.Response) string {
	responseBody, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	var body struct {
		Error  string `json:"error"`
		Reason string `json:"reason"`
	}
	if err != nil || json.Unmarshal(responseBody, &body) != nil {
		return ""
	}
	reason := strings.Join(strings.Fields(body.Error+" "+body.Reason), " ")
	if reason == "" {
		return ""
	}
	return " (" + strings.ToValidUTF8(reason[:min(len(reason), 200)], "") + ")"
}

// invalidContentError is the error for a registry's response that the client rejects, such as
// a response that is too large. A request that fails with an invalidContentError is not
// retried.
type invalidContentError struct{ errorMessage string }

func (e *invalidContentError) Error() string { return e.errorMessage }

func isTransient(err error) bool {
	var contentErr *invalidContentError
	var unknownCA x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var certErr *tls.CertificateVerificationError
	var dnsErr *net.DNSError
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &contentErr), errors.As(err, &unknownCA), errors.As(err, &hostname), errors.As(err, &certErr):
		return false
	case errors.As(err, &dnsErr):
		return !dnsErr.IsNotFound
	}
	var netErr net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &netErr)
}

func (c *Client) explainError(address string, err error) error {
	u, parseErr := url.Parse(address)
	if parseErr != nil {
		return err
	}
	registryURL := u.Scheme + "://" + u.Host
	var contentErr *invalidContentError
	var statusErr *statusError
	var urlErr *url.Error
	var certErr *tls.CertificateVerificationError
	switch {
	case errors.As(err, &contentErr):
		return fmt.Errorf("the registry %s: %w", registryURL, contentErr)
	case errors.As(err, &statusErr):
		return c.explainStatus(u, registryURL, statusErr)
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &certErr):
		return fmt.Errorf("the certificate of the registry %s is not trusted: %w; name your company's certificates with cafile in .npmrc", registryURL, certErr.Err)
	case errors.As(err, &urlErr):
		err = urlErr.Err // url.Error would add the full address to the message
	}
	return fmt.Errorf("the registry %s can't be reached: %w; check the network, the registry in .npmrc and the proxy, or install a file with `opentabs plugin install FILE.tgz`", registryURL, err)
}

func (c *Client) explainStatus(u *url.URL, registryURL string, statusErr *statusError) error {
	switch statusErr.httpStatus {
	case http.StatusNotFound:
		return fmt.Errorf("package %w on the registry %s (HTTP %s)", ErrNotFound, registryURL, statusText(statusErr.httpStatus))
	case http.StatusUnauthorized, http.StatusForbidden:
		l, ok := c.config.loginFor(u)
		switch {
		case !ok:
			return fmt.Errorf("the registry %s requires a login: %w; add a line such as //%s/:_authToken=${NPM_TOKEN} to ~/.npmrc", registryURL, statusErr, u.Host)
		case l.problemText != "":
			return fmt.Errorf("the registry %s requires a login: %w; but in %s %s", registryURL, statusErr, l.source, l.problemText)
		}
		return fmt.Errorf("the registry %s rejected the login in %s: %w; check that its token is valid and may read this package", registryURL, l.source, statusErr)
	case http.StatusTooManyRequests:
		return fmt.Errorf("the registry %s limits the rate of requests: %w; try again later", registryURL, statusErr)
	}
	if statusErr.httpStatus >= 500 {
		return fmt.Errorf("the registry %s failed: %w; try again later", registryURL, statusErr)
	}
	return fmt.Errorf("the registry %s rejected the request: %w; check that the registry in .npmrc serves npm packages", registryURL, statusErr)
}

func decodeJSON(response *http.Response, limit int64, v any) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		return err
	}
	if int64(len(body)) > limit {
		return &invalidContentError{fmt.Sprintf("its response is larger than the %d MB allowed", limit>>20)}
	}
	if err := json.Unmarshal(body, v); err != nil {
		return &invalidContentError{"its response is not valid registry metadata: " + err.Error() + "; check that the registry in .npmrc serves npm packages"}
	}
	return nil
}
