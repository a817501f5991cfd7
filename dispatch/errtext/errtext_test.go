package errtext

import (
	"strings"
	"testing"

	"opentabs/wire"
)

// The text for users must not contain words that only agents understand, such as tool names.
func TestEveryErrorCodeHasAdvice(t *testing.T) {
	for _, code := range wire.ErrorCodes() {
		if _, ok := advice[code]; !ok {
			t.Errorf("the error code %s has no advice, want advice for every code", code)
		}
		nextStep, _ := NextStep(code)
		if nextStep.ForAgent == "" || nextStep.ForUser == "" {
			t.Errorf("advice for the error code %s = %+v, want a text for the agent and a text for the user", code, nextStep)
		}
		for _, word := range []string{"the user", "o not ", "tabId", "browser_", "tools_"} {
			if strings.Contains(nextStep.ForUser, word) {
				t.Errorf("text for the user about the error code %s = %q, want a text without %q", code, nextStep.ForUser, word)
			}
		}
		if strings.Contains(nextStep.ForAgent, "--") {
			t.Errorf("text for the agent about the error code %s = %q, want a text without command line flags", code, nextStep.ForAgent)
		}
	}
	if got, _ := NextStep("unheard_of"); got != advice[wire.ErrInternal].nextStep {
		t.Errorf("advice for an unknown error code = %q, want the advice for internal errors", got)
	}
	if nextStep, ok := NextStepAfterFailedRequest("user_denied"); !ok || nextStep.ForAgent == "" || nextStep.ForUser == "" {
		t.Error("the error code user_denied has no advice, want advice for agent and user")
	}
	if _, ok := NextStepAfterFailedRequest("NOT_FOUND"); ok {
		t.Error("the error code NOT_FOUND of a tool has advice for failed requests, want none")
	}
}

func TestDescribeLoadError(t *testing.T) {
	for name, want := range map[string]string{
		"net::ERR_CONNECTION_REFUSED":     "refused the connection",
		"net::ERR_CONNECTION_RESET":       "the connection to the server broke",
		"net::ERR_CERT_DATE_INVALID":      "does not accept the site's certificate",
		"net::ERR_SSL_CLIENT_AUTH_NEEDED": "client certificate",
		"net::ERR_FAILED":                 "Chrome reports net::ERR_FAILED",
		wire.LoadErrorNoAnswer:            "has not answered",
	} {
		if got := DescribeLoadError(name); !strings.Contains(got, want) {
			t.Errorf("description of the load error %s = %q, want a text that contains %q", name, got, want)
		}
	}
}
