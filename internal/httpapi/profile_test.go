package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestProfilesNeedTheToken(t *testing.T) {
	f := startFixture(t)
	for _, path := range []string{
		"/debug/pprof/heap", "/debug/pprof/goroutine?debug=1", "/debug/pprof/profile?seconds=1", "/debug/pprof/trace?seconds=1",
	} {
		if res, _ := f.sendRequest(t, http.MethodGet, path, map[string]string{"Authorization": ""}); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s without a token: status %d, want 401", path, res.StatusCode)
		}
	}
	res, body := f.sendRequest(t, http.MethodGet, "/debug/pprof/goroutine?debug=1", map[string]string{"Authorization": "Bearer " + testToken})
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(body, "goroutine profile:") {
		t.Errorf("goroutine profile: status %d, body %.80q; want 200 and the profile", res.StatusCode, body)
	}
}
