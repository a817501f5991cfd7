package httpapi

import (
	"net/http"
	"net/http/pprof"
)

// profile serves Go's profiles of this process: profile (processor time) and
// trace, each with ?seconds=N, heap, goroutine, allocs, block, mutex and
// threadcreate. They stand behind the token like all that tells something of
// this machine (docs/performance.md). A profile holds names of functions; no
// arguments, no memory.
func profile(w http.ResponseWriter, r *http.Request) {
	switch r.PathValue("name") {
	case "profile":
		pprof.Profile(w, r)
	case "trace":
		pprof.Trace(w, r)
	default:
		pprof.Handler(r.PathValue("name")).ServeHTTP(w, r)
	}
}
