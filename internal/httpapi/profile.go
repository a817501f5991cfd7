package httpapi

import (
	"net/http"
	"net/http/pprof"
)

// serveProfile serves profile (CPU time), trace, heap, goroutine, allocs, block, mutex and threadcreate. A profile has
// function names, but no arguments and no memory contents.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	switch r.PathValue("name") {
	case "profile":
		pprof.Profile(w, r)
	case "trace":
		pprof.Trace(w, r)
	default:
		pprof.Handler(r.PathValue("name")).ServeHTTP(w, r)
	}
}
