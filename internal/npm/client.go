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

// Limits of what a registry may send.
const (
	maxPackageBytes = 64 << 20
	maxSearchBytes  = 8 << 20
	maxRedirects    = 5
)

const (
	// answerWait is how long a registry may take to begin its answer.
	answerWait = 30 * time.Second
	// wholeWait is how long one try may take in all.
	wholeWait = 5 * time.Minute
	// tries is how often a request is sent at most.
	tries = 3
	// maxRetryAfter is the longest a registry can make us wait between two tries.
	maxRetryAfter = 20 * time.Second
)

// ErrNotFound is what an error wraps if the registry does not know a package.
var ErrNotFound = errors.New("is not known")

// Options set a client up. The zero value of each field means its default.
type Options struct {
	// UserAgent is what the client calls itself; default "opentabs".
	UserAgent string
	// Backoff is the time before the second try, which doubles for the third;
	// default 300 ms.
	Backoff time.Duration
	// Silence is how long a registry may send nothing in the middle of an answer;
	// default 30 s.
	Silence time.Duration
}

// Client asks registries for packages.
type Client struct {
	config *Config
	http   *http.Client
	opts   Options
}

// New returns a client that follows the settings in config. The error says what
// is wrong with them.
func New(config *Config, o Options) (*Client, error) {
	if o.UserAgent == "" {
		o.UserAgent = "opentabs"
	}
	if o.Silence == 0 {
		o.Silence = answerWait
	}
	if o.Backoff == 0 {
		o.Backoff = 300 * time.Millisecond
	}
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport of HTTP was replaced")
	}
	base = base.Clone()
	base.ResponseHeaderTimeout = answerWait
	if err := config.trust(base); err != nil {
		return nil, err
	}
	if err := config.proxy(base); err != nil {
		return nil, err
	}
	c := &Client{config: config, opts: o}
	c.http = &http.Client{Transport: authorized{config, base}, CheckRedirect: checkRedirect}
	return c, nil
}

// authorized sends with each request what its own address asks for, so that a
// redirect carries nothing along.
type authorized struct {
	config *Config
	next   http.RoundTripper
}

func (a authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Del("Authorization")
	if l, ok := a.config.loginFor(r.URL); ok && l.header != "" {
		r.Header.Set("Authorization", l.header)
	}
	return a.next.RoundTrip(r)
}

// checkRedirect follows a registry to where it sends the reader, but not from an
// encrypted connection to a plain one.
func checkRedirect(r *http.Request, via []*http.Request) error {
	if len(via) > maxRedirects {
		return &errContent{fmt.Sprintf("it redirects more than %d times; see that the registry in .npmrc is the right one", maxRedirects)}
	}
	if r.URL.Scheme != "https" && (r.URL.Scheme != "http" || via[0].URL.Scheme == "https") {
		return &errContent{fmt.Sprintf("it redirects from %s to %s, which is not safe", via[0].URL.Scheme, r.URL.Redacted())}
	}
	return nil
}

// refusal is an answer that is no success.
type refusal struct {
	status int
	text   string
	wait   time.Duration
}

func (r *refusal) Error() string { return r.text }

// get sends a request until it succeeds or there is no use in trying again, and
// hands the answer to take. The error says what to do.
func (c *Client) get(ctx context.Context, address, accept string, take func(*http.Response) error) error {
	wait := c.opts.Backoff
	for try := 1; ; try++ {
		err := c.once(ctx, address, accept, take)
		var refused *refusal
		again := false
		pause := wait
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused):
			again = refused.status >= 500 || refused.status == http.StatusTooManyRequests
			pause = max(pause, min(refused.wait, maxRetryAfter))
		default:
			again = isTransient(err)
		}
		if !again || try == tries {
			return c.explain(address, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		wait *= 2
	}
}

func (c *Client) once(ctx context.Context, address, accept string, take func(*http.Response) error) error {
	ctx, cancel := context.WithTimeout(ctx, wholeWait)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", c.opts.UserAgent)
	r.Header.Set("Accept", accept)
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body := &heardBody{ReadCloser: answer.Body, wait: c.opts.Silence, late: time.AfterFunc(c.opts.Silence, cancel)}
	defer body.late.Stop()
	answer.Body = body
	if answer.StatusCode == http.StatusOK {
		if err := take(answer); err == nil || !body.silent() {
			return err
		}
		return &errContent{fmt.Sprintf("it began to answer and then sent nothing for %v; try again later", c.opts.Silence)}
	}
	seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
	return &refusal{status: answer.StatusCode, text: "it answers " + strconv.Itoa(answer.StatusCode) + reasonOf(answer),
		wait: time.Duration(max(seconds, 0)) * time.Second}
}

// heardBody is the body of an answer that ends if nothing comes for too long.
type heardBody struct {
	io.ReadCloser
	wait time.Duration
	late *time.Timer
	over bool
}

func (b *heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	// A timer that can't be stopped has ended the request.
	if b.over = b.over || !b.late.Stop(); !b.over {
		b.late.Reset(b.wait)
	}
	return n, err
}

// silent reports whether the body was ended because nothing came.
func (b *heardBody) silent() bool { return b.over }

// reasonOf returns what a registry says of a refusal.
func reasonOf(answer *http.Response) string {
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	var said struct {
		Error  string `json:"error"`
		Reason string `json:"reason"`
	}
	if err != nil || json.Unmarshal(text, &said) != nil {
		return ""
	}
	reason := strings.Join(strings.Fields(said.Error+" "+said.Reason), " ")
	if reason == "" {
		return ""
	}
	return " (" + strings.ToValidUTF8(reason[:min(len(reason), 200)], "") + ")"
}

// errContent is an answer that can't be used; asking again would not help.
type errContent struct{ text string }

func (e *errContent) Error() string { return e.text }

// isTransient reports whether an error of a connection may be gone at the next
// try.
func isTransient(err error) bool {
	var content *errContent
	var unknownCA x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var cert *tls.CertificateVerificationError
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled), errors.As(err, &content), errors.As(err, &unknownCA), errors.As(err, &hostname), errors.As(err, &cert):
		return false
	case errors.As(err, &dns):
		return !dns.IsNotFound
	}
	var network net.Error
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network)
}

// explain says what to do about an error of a request.
func (c *Client) explain(address string, err error) error {
	u, parseErr := url.Parse(address)
	if parseErr != nil {
		return err
	}
	where := u.Scheme + "://" + u.Host
	var content *errContent
	var refused *refusal
	var wrapped *url.Error
	var cert *tls.CertificateVerificationError
	switch {
	case errors.As(err, &content):
		return fmt.Errorf("the registry %s: %w", where, content)
	case errors.As(err, &refused):
		return c.explainRefusal(u, where, refused)
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &cert):
		return fmt.Errorf("the certificate of the registry %s is not trusted: %w; name your company's certificates with cafile in .npmrc", where, cert.Err)
	case errors.As(err, &wrapped):
		err = wrapped.Err // without the whole address
	}
	return fmt.Errorf("the registry %s can't be reached: %w; check the network, the registry in .npmrc and the proxy, or install a file with `opentabs plugin install FILE.tgz`", where, err)
}

func (c *Client) explainRefusal(u *url.URL, where string, refused *refusal) error {
	switch refused.status {
	case http.StatusNotFound:
		return fmt.Errorf("the package %w to the registry %s", ErrNotFound, where)
	case http.StatusUnauthorized, http.StatusForbidden:
		l, has := c.config.loginFor(u)
		switch {
		case !has:
			return fmt.Errorf("the registry %s wants to know who asks: %w; add a line such as //%s/:_authToken=${NPM_TOKEN} to ~/.npmrc", where, refused, u.Host)
		case l.problem != "":
			return fmt.Errorf("the registry %s wants to know who asks: %w; but in %s %s", where, refused, l.from, l.problem)
		}
		return fmt.Errorf("the registry %s refuses the login in %s: %w; see that its token is valid and may read this package", where, l.from, refused)
	case http.StatusTooManyRequests:
		return fmt.Errorf("the registry %s is asked too often: %w; try again later", where, refused)
	}
	if refused.status >= 500 {
		return fmt.Errorf("the registry %s has a problem of its own: %w; try again later", where, refused)
	}
	return fmt.Errorf("the registry %s refuses: %w; see that the registry in .npmrc is one of npm packages", where, refused)
}

// decode reads a JSON answer of at most limit bytes into v.
func decode(answer *http.Response, limit int64, v any) error {
	text, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err != nil {
		return err
	}
	if int64(len(text)) > limit {
		return &errContent{fmt.Sprintf("its answer has more than the %d bytes allowed", limit)}
	}
	if err := json.Unmarshal(text, v); err != nil {
		return &errContent{"its answer is not what a registry says: " + err.Error() + "; see that the registry in .npmrc is one of npm packages"}
	}
	return nil
}
