package httpapi

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

var allRoutes = []string{
	"/healthz", "/status", "/calls", "/calls/x", "/calls/x/cancel", "/events", "/plugins/reload", "/mcp", CommandPath, "/stdio",
	"/", "/nothing", "/debug/pprof/", "/status/", "/%2e%2e/status", "/ws/", "/healthz/",
}

var allMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}

type refusedRequest struct {
	name       string
	header     []string // each entry has the form "Name: value"; names may repeat
	httpStatus int
}

func (f *fixture) send(t *testing.T, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.port))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, ""
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return nil, ""
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body) // a truncated body is compared like a complete body
	return resp, string(body)
}

func requestText(method, path string, header ...string) string {
	return method + " " + path + " HTTP/1.1\r\n" + strings.Join(header, "\r\n") + "\r\nConnection: close\r\n\r\n"
}

// TestAttackByOrigin checks that the server rejects requests that a page of another
// origin can send, and requests with malformed headers.
func TestAttackByOrigin(t *testing.T) {
	f := startFixture(t)
	const host, bearerHeader = "Host: 127.0.0.1", "Authorization: Bearer " + testToken
	untrustedOriginRequests := []refusedRequest{
		{"a rebound name in Host", []string{"Host: evil.example", bearerHeader}, 421},
		{"a rebound name with the port in Host", []string{fmt.Sprintf("Host: evil.example:%d", f.port), bearerHeader}, 421},
		{"a trailing dot in Host", []string{"Host: localhost.", bearerHeader}, 421},
		{"a Host that begins or ends with an allowed name", []string{"Host: 127.0.0.1.evil.example", bearerHeader}, 421},
		{"a user name in Host", []string{"Host: localhost@evil.example", bearerHeader}, 400},
		{"an IPv6 address of another machine in Host", []string{"Host: [2001:db8::1]:80", bearerHeader}, 421},
		{"an IPv4 address inside IPv6 in Host", []string{"Host: [::ffff:127.0.0.1]", bearerHeader}, 421},
		{"the address as a decimal number in Host", []string{"Host: 2130706433", bearerHeader}, 421},
		{"an empty Host", []string{"Host: ", bearerHeader}, 421},
		{"no Host", []string{bearerHeader}, 400},
		{"two Hosts", []string{host, "Host: evil.example", bearerHeader}, 400},
		{"a page's Origin", []string{host, bearerHeader, "Origin: https://evil.example"}, 403},
		{"the Origin of a page on this machine", []string{host, bearerHeader, fmt.Sprintf("Origin: http://127.0.0.1:%d", f.port+1)}, 403},
		{"the server's own Origin under another name", []string{host, bearerHeader, fmt.Sprintf("Origin: http://localhost.evil.example:%d", f.port)}, 403},
		{"the server's own Origin over TLS", []string{host, bearerHeader, fmt.Sprintf("Origin: https://127.0.0.1:%d", f.port)}, 403},
		{"the Origin null of a sandboxed page", []string{host, bearerHeader, "Origin: null"}, 403},
		{"an empty Origin", []string{host, bearerHeader, "Origin: "}, 403},
		{"the Origin of another extension", []string{host, bearerHeader, "Origin: chrome-extension://abd"}, 403},
		{"the extension's Origin in capitals", []string{host, bearerHeader, "Origin: CHROME-EXTENSION://ABC"}, 403},
		{"two Origin headers, one of them allowed", []string{host, bearerHeader, "Origin: " + testOrigin, "Origin: https://evil.example"}, 403},
		{"two origins in one Origin header", []string{host, bearerHeader, "Origin: " + testOrigin + " https://evil.example"}, 403},
		{"a page's GET without an Origin", []string{host, bearerHeader, "Sec-Fetch-Site: cross-site"}, 403},
		{"a page's GET from another port", []string{host, bearerHeader, "Sec-Fetch-Site: same-site"}, 403},
		{"two Sec-Fetch-Site", []string{host, bearerHeader, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"}, 403},
		{"a preflight", []string{host, "Origin: https://evil.example", "Access-Control-Request-Method: POST", "Access-Control-Request-Private-Network: true"}, 403},
	}
	for _, attack := range untrustedOriginRequests {
		t.Run(attack.name, func(t *testing.T) { f.checkRefused(t, attack, allRoutes) })
	}
	invalidTokenRequests := []refusedRequest{
		{"no token", []string{host}, 401},
		{"a wrong token", []string{host, "Authorization: Bearer the-tokem"}, 401},
		{"the beginning of the token", []string{host, "Authorization: Bearer the-toke"}, 401},
		{"the server's own Origin without the token", []string{fmt.Sprintf("Host: 127.0.0.1:%d", f.port), fmt.Sprintf("Origin: http://127.0.0.1:%d", f.port)}, 401},
		{"the token with an extra character", []string{host, "Authorization: Bearer the-token0"}, 401},
		{"a token of 50,000 bytes", []string{host, "Authorization: Bearer " + strings.Repeat("t", 50_000)}, 401},
		{"a token with equally many letters but more bytes", []string{host, "Authorization: Bearer thé-tökén"}, 401},
		{"a token that is not UTF-8", []string{host, "Authorization: Bearer \xff\xfe\x80"}, 401},
		{"the right token beside a wrong one", []string{host, bearerHeader, "Authorization: Bearer wrong"}, 401},
		{"the right token twice", []string{host, bearerHeader, bearerHeader}, 401},
		{"two tokens in one header", []string{host, "Authorization: Bearer wrong, Bearer " + testToken}, 401},
		{"the token without a scheme", []string{host, "Authorization: " + testToken}, 401},
		{"the token with the Basic scheme", []string{host, "Authorization: Basic " + testToken}, 401},
		{"the token in a cookie", []string{host, "Cookie: token=" + testToken + "; Authorization=Bearer " + testToken}, 401},
		{"the token as a subprotocol", []string{host, "Sec-WebSocket-Protocol: opentabs, opentabs.token." + testToken}, 401},
		{"the token in another header", []string{host, "Proxy-Authorization: Bearer " + testToken, "X-Token: " + testToken}, 401},
	}
	var guardedRoutes []string
	for _, path := range allRoutes {
		if path != "/healthz" {
			guardedRoutes = append(guardedRoutes, path, path+"?token="+testToken+"&access_token="+testToken)
		}
	}
	for _, attack := range invalidTokenRequests {
		t.Run(attack.name, func(t *testing.T) { f.checkRefused(t, attack, guardedRoutes) })
	}
	t.Run("request lines with a whole URL", f.attackWithAbsoluteURL)
	t.Run("two requests in one (smuggling)", f.attackWithSmuggledRequest)
	t.Run("HTTP 2 without TLS", f.attackWithHTTP2)
	t.Run("constant-time comparison of tokens", checkConstantTimeComparison)
}

func (f *fixture) checkRefused(t *testing.T, attack refusedRequest, routes []string) {
	for _, path := range routes {
		for _, method := range allMethods {
			resp, body := f.send(t, requestText(method, path, attack.header...))
			if resp == nil {
				t.Errorf("%s %s: no response; want status %d", method, path, attack.httpStatus)
				continue
			}
			if resp.StatusCode != attack.httpStatus {
				t.Errorf("%s %s: status %d, body %s; want status %d", method, path, resp.StatusCode, body, attack.httpStatus)
			}
			checkResponseLeaksNothing(t, method+" "+path, resp, body)
		}
	}
}

func checkResponseLeaksNothing(t *testing.T, attackName string, resp *http.Response, requestBody string) {
	t.Helper()
	for name, headerValues := range resp.Header {
		headerText := strings.Join(headerValues, " ")
		if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" || name == "Location" || strings.Contains(headerText, testToken) {
			t.Errorf("%s: the response has the header %s: %s; want no such header and no token", attackName, name, headerText)
		}
	}
	if strings.Contains(requestBody, testToken) || strings.Contains(requestBody, "evil.example") || strings.Contains(requestBody, "1.2.3") || strings.Contains(requestBody, "proof") {
		t.Errorf("%s: response body = %s; want no token, no proof, no version and no foreign host", attackName, requestBody)
	}
}

func (f *fixture) attackWithAbsoluteURL(t *testing.T) {
	for _, line := range []string{"http://evil.example/status", "http://evil.example:80/healthz", "//evil.example/status", "evil.example:443", "*", "http:///status", "?/status"} {
		for _, method := range []string{"GET", "OPTIONS", "CONNECT"} {
			resp, body := f.send(t, requestText(method, line, "Host: 127.0.0.1"))
			if resp == nil {
				continue // the server closed the connection without a response
			}
			// Even without a token, the mux redirects a path such as //calls to the cleaned path on the same host.
			location := resp.Header.Get("Location")
			isLocalRedirect := strings.HasPrefix(location, "/") && !strings.HasPrefix(location, "//")
			if resp.StatusCode < 400 && !isLocalRedirect && body != "" {
				t.Errorf("%s %s: status %d, body %s; want an error or a local redirect", method, line, resp.StatusCode, body)
			}
		}
	}
}

func (f *fixture) attackWithSmuggledRequest(t *testing.T) {
	const smuggledRequest = "GET /status HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
	requestHead := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer " + testToken + "\r\n"
	for name, request := range map[string]string{
		"two kinds of length":    requestHead + fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", len(smuggledRequest)+5) + smuggledRequest,
		"two Content-Lengths":    requestHead + "Content-Length: 0\r\nContent-Length: " + fmt.Sprint(len(smuggledRequest)) + "\r\n\r\n" + smuggledRequest,
		"a length with a sign":   requestHead + "Content-Length: +0\r\n\r\n" + smuggledRequest,
		"two encodings":          requestHead + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + smuggledRequest,
		"an unknown encoding":    requestHead + "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + smuggledRequest,
		"a folded header":        requestHead + "Transfer-Encoding:\r\n chunked\r\nContent-Length: 0\r\n\r\n" + smuggledRequest,
		"a space after a name":   requestHead + "Content-Length : 0\r\n\r\n" + smuggledRequest,
		"a bare line feed":       requestHead + "X: y\nContent-Length: 0\r\n\r\n" + smuggledRequest,
		"a bare carriage return": requestHead + "X: y\rContent-Length: 5\r\n\r\n" + smuggledRequest,
		"a NUL byte":             requestHead + "X: \x00\r\n\r\n" + smuggledRequest,
	} {
		conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", f.port))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request)
		_ = conn.(*net.TCPConn).CloseWrite()
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
		responseText, _ := io.ReadAll(conn)
		_ = conn.Close()
		if strings.Contains(string(responseText), "1.2.3") {
			t.Errorf("%s: the server answered the smuggled request with the token of the outer request:\n%s", name, responseText)
		}
	}
}

func (f *fixture) attackWithHTTP2(t *testing.T) {
	resp, body := f.send(t, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	if resp != nil && resp.StatusCode < 400 {
		t.Errorf("HTTP/2 without an upgrade: status %d, body %s; want an error", resp.StatusCode, body)
	}
	resp, body = f.send(t, requestText("GET", "/status", "Host: 127.0.0.1", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "Connection: Upgrade, HTTP2-Settings"))
	if resp == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("upgrade to HTTP/2 without a token: response %v, body %s; want status 401", resp, body)
	}
}

// checkConstantTimeComparison checks in the source code that tokens and proofs are
// compared only by constant-time functions.
func checkConstantTimeComparison(t *testing.T) {
	for file, want := range map[string][]string{
		"guard.go":                    {"isAdministrator", "sha256.Sum256", "subtle.ConstantTimeCompare"},
		"../../wsbridge/handshake.go": {"isValidProof", "hmac.Equal", "wire.BrowserProof"},
	} {
		function := want[0]
		fileSet := token.NewFileSet()
		parsedFile, err := parser.ParseFile(fileSet, file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		isFound := false
		ast.Inspect(parsedFile, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				isFound = isFound || n.Name.Name == function && callsFunction(n, want[1]) && callsFunction(n, want[2])
			case *ast.BinaryExpr:
				if (n.Op == token.EQL || n.Op == token.NEQ) && (isSecretName(n.X) || isSecretName(n.Y)) {
					t.Errorf("%v compares a secret with == or !=; use a constant-time function", fileSet.Position(n.Pos()))
				}
			}
			return true
		})
		if !isFound {
			t.Errorf("%s: the function %s does not call %s and %s, which compare in constant time", file, function, want[1], want[2])
		}
	}
}

func isSecretName(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return slices.Contains([]string{"token", "sum", "proof"}, strings.ToLower(e.Name))
	case *ast.SelectorExpr:
		return slices.Contains([]string{"token", "sum", "proof"}, strings.ToLower(e.Sel.Name))
	}
	return false
}

func callsFunction(f *ast.FuncDecl, name string) bool {
	isFound := false
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if p, ok := s.X.(*ast.Ident); ok {
					isFound = isFound || p.Name+"."+s.Sel.Name == name
				}
			}
		}
		return true
	})
	return isFound
}
