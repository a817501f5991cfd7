package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"opentabs/extension"
	"opentabs/internal/httpapi"
	"opentabs/internal/humanize"
	"opentabs/internal/mcpclient"
	"opentabs/internal/setup"
	"opentabs/internal/terminal"
	"opentabs/internal/version"
)

// protocolCheck checks the responses of the running server to HTTP requests and MCP
// messages.
type protocolCheck struct{ *healthCheck }

const probeTimeout = 10 * time.Second

// securityProbe is a test request and the HTTP status that a secure server returns.
type securityProbe struct {
	request      string
	method, path string
	host         string
	header       http.Header
	httpStatus   int
}

func listSecurityProbes() []securityProbe {
	ownOrigin := "chrome-extension://" + extension.ID()
	return []securityProbe{
		{"a request to another host name", http.MethodGet, "/healthz", "opentabs.example", nil, http.StatusMisdirectedRequest},
		{"a request from a web page", http.MethodGet, "/healthz", "", http.Header{"Origin": {"https://page.example"}}, http.StatusForbidden},
		{"a request without a token", http.MethodGet, "/status", "", nil, http.StatusUnauthorized},
		{"an MCP request without a token", http.MethodPost, "/mcp", "", nil, http.StatusUnauthorized},
		{"the link of a web page", http.MethodGet, "/ws", "", http.Header{"Origin": {"https://page.example"}}, http.StatusForbidden},
		{"the link of the extension", http.MethodGet, "/ws", "", http.Header{"Origin": {ownOrigin}}, http.StatusUpgradeRequired},
	}
}

func (c protocolCheck) checkHTTPSecurity(ctx context.Context) {
	client, err := c.client()
	if c.status == nil || err != nil {
		return
	}
	transport := client.Transport()
	defer transport.CloseIdleConnections()
	hasFailed := false
	for _, rule := range listSecurityProbes() {
		httpStatus, err := sendProbe(ctx, &http.Client{Transport: transport, CheckRedirect: doNotFollowRedirect}, client, rule)
		remedy := "restart the server with `opentabs restart`; if the line appears again, look for a proxy or security program between programs on this computer"
		switch {
		case err != nil:
			c.reportFailure("http rules", fmt.Sprintf("%s got no answer: %v", rule.request, err), remedy)
		case httpStatus != rule.httpStatus:
			c.reportFailure("http rules", fmt.Sprintf("%s to %s was answered with status %d; %d is right", rule.request, rule.path, httpStatus, rule.httpStatus), remedy)
		default:
			continue
		}
		hasFailed = true
	}
	if !hasFailed {
		c.reportOK("http rules", "requests of web pages, to other host names and without a token are rejected")
	}
}

func doNotFollowRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func sendProbe(ctx context.Context, httpClient *http.Client, client *httpapi.Client, rule securityProbe) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, rule.method, client.URL(rule.path), nil)
	if err != nil {
		return 0, err
	}
	for name, headerValues := range rule.header {
		req.Header[name] = headerValues
	}
	req.Host = rule.host
	resp, err := httpClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode, err
}

func (c protocolCheck) checkMCPSessions(ctx context.Context) {
	client, err := c.client()
	if c.status == nil || err != nil {
		return
	}
	startedAt := time.Now()
	toolCount, err := countTools(ctx, client)
	if err != nil {
		c.reportFailure("mcp http", fmt.Sprintf("an MCP session over HTTP failed: %v", err), "restart the server with `opentabs restart`; `opentabs logs` may show why")
	} else {
		c.reportOK("mcp http", "the server lists %s, in %s", terminal.CountNoun(toolCount, "tool"), humanize.Duration(time.Since(startedAt)))
	}
	if c.Program == "" {
		return
	}
	startedAt = time.Now()
	command := setup.Command{Path: c.Program, Args: []string{"mcp"}}
	if toolCount, err = setup.Verify(ctx, command); err != nil {
		c.reportFailure("mcp stdio", fmt.Sprintf("`opentabs mcp` failed: %s", firstLine(err)), "run `opentabs mcp` in a terminal, which shows why; then `opentabs restart`")
		return
	}
	c.reportOK("mcp stdio", "`opentabs mcp` lists %s, in %s", terminal.CountNoun(toolCount, "tool"), humanize.Duration(time.Since(startedAt)))
}

func countTools(ctx context.Context, client *httpapi.Client) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	transport := client.Transport()
	defer transport.CloseIdleConnections()
	session := mcpclient.New(mcpclient.Options{
		URL: client.URL(httpapi.CommandPath), Token: client.Token(), Name: "opentabs doctor", Version: version.Version, Transport: transport,
	})
	if _, err := session.Initialize(ctx); err != nil {
		return 0, err
	}
	tools, err := session.ListTools(ctx)
	if closeErr := session.Close(ctx); err == nil {
		err = closeErr
	}
	return len(tools), err
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return strings.TrimSpace(line)
}
