package errtext

import (
	"strings"
	"testing"

	"opentabs/wire"
)

// TestAdvice checks that each code has a next step, and that an unknown code gets the
// next step of an internal error.
func TestAdvice(t *testing.T) {
	for _, code := range wire.ErrorCodes() {
		if _, ok := advice[code]; !ok {
			t.Errorf("error code %s has no advice", code)
		}
	}
	if got := Advice("unheard_of"); got != advice[wire.ErrInternal].nextStep {
		t.Errorf("an unknown code gets %q", got)
	}
	if next, ok := NextStepAfterRequest("user_denied"); !ok || next == "" {
		t.Error("error code user_denied has no next step")
	}
	if _, ok := NextStepAfterRequest("NOT_FOUND"); ok {
		t.Error("an error of a tool has the next step of a request")
	}
}

// TestLoadError checks the explanations of Chrome's network errors, and that an unknown
// error is shown by its name.
func TestLoadError(t *testing.T) {
	for name, want := range map[string]string{
		"net::ERR_CONNECTION_REFUSED":     "refused the connection",
		"net::ERR_CONNECTION_RESET":       "the connection to the server broke",
		"net::ERR_CERT_DATE_INVALID":      "does not accept the site's certificate",
		"net::ERR_SSL_CLIENT_AUTH_NEEDED": "client certificate",
		"net::ERR_FAILED":                 "Chrome reports net::ERR_FAILED",
		wire.LoadErrorNoAnswer:            "has not answered",
	} {
		if got := DescribeLoadError(name); !strings.Contains(got, want) {
			t.Errorf("%s is %q, want %q in it", name, got, want)
		}
	}
}
