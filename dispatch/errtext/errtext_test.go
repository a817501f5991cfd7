package errtext

import (
	"strings"
	"testing"

	"opentabs/wire"
)

// The text for users must not contain words that only agents understand, such as tool names.
func TestNextStep(t *testing.T) {
	for _, code := range wire.ErrorCodes() {
		if _, ok := advice[code]; !ok {
			t.Errorf("error code %s has no advice", code)
		}
		nextStep, _ := NextStep(code)
		if nextStep.ForAgent == "" || nextStep.ForUser == "" {
			t.Errorf("error code %s has the next steps %+v, want two texts", code, nextStep)
		}
		for _, word := range []string{"the user", "o not ", "tabId", "browser_", "tools_"} {
			if strings.Contains(nextStep.ForUser, word) {
				t.Errorf("error code %s has %q in the text for the user: %s", code, word, nextStep.ForUser)
			}
		}
		if strings.Contains(nextStep.ForAgent, "--") {
			t.Errorf("error code %s has a flag in the text for the agent: %s", code, nextStep.ForAgent)
		}
	}
	if got, _ := NextStep("unheard_of"); got != advice[wire.ErrInternal].nextStep {
		t.Errorf("an unknown code gets %q", got)
	}
	if nextStep, ok := NextStepAfterRequest("user_denied"); !ok || nextStep.ForAgent == "" || nextStep.ForUser == "" {
		t.Error("error code user_denied has no next step")
	}
	if _, ok := NextStepAfterRequest("NOT_FOUND"); ok {
		t.Error("an error of a tool has the next step of a request")
	}
}

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
