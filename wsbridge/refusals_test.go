package wsbridge

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"opentabs/wsbridge/refusallog"
)

func TestRefusalLogIsRateLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		h := New(Options{Key: testKey, Origins: []string{testOrigin}, Log: zerolog.New(&log)})
		defer h.Close()
		try := func(n int, host, origin string) {
			for range n {
				r := httptest.NewRequest(http.MethodGet, "http://"+host+"/ws", nil)
				r.Header.Set("Origin", origin)
				h.Handler().ServeHTTP(httptest.NewRecorder(), r)
			}
		}
		const page = "https://evil.example\x1b[31m"
		try(1000, "127.0.0.1", page)
		try(1000, "evil.example", page)
		<-time.After(refusallog.Interval - time.Nanosecond)
		try(1, "127.0.0.1", page)
		<-time.After(time.Nanosecond)
		try(5, "127.0.0.1", page)
		<-time.After(refusallog.Interval)
		try(1, "127.0.0.1", page)
		line := func(extraFields string, rejectionReason string) string {
			return fmt.Sprintf(`{"level":"warn","status":403,"origin":"https://evil.example[31m"%s,"message":"connection refused: %s"}`, extraFields, rejectionReason)
		}
		const origin = "This origin is not allowed; only the opentabs extension may connect."
		want := strings.Join([]string{
			line("", origin),
			line("", "This host name is not allowed; use 127.0.0.1."),
			line(`,"more_before":1000`, origin),
			line(`,"more_before":4`, origin),
		}, "\n") + "\n"
		if log.String() != want {
			t.Errorf("log lines about rejected connections:\n%swant:\n%s", log.String(), want)
		}
	})
}
