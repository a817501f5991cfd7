package httpapi

import (
	"net/http"
	"net/http/pprof"
)

// profiles are the routes of Go's profiler, behind the token like all that
// tells something of this machine: go tool pprof can't send the token, so fetch
// with curl first (docs/performance.md). A profile holds names of functions, no
// arguments and no memory.
func profiles() map[string]map[string]http.HandlerFunc {
	return map[string]map[string]http.HandlerFunc{
		"/debug/pprof/":        {http.MethodGet: pprof.Index}, // heap, goroutine, allocs, block, mutex, threadcreate
		"/debug/pprof/profile": {http.MethodGet: pprof.Profile},
		"/debug/pprof/trace":   {http.MethodGet: pprof.Trace},
	}
}
