package mcpserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// MCP clients can read these resources: the list of calls, and each call.
const (
	callsURI          = "opentabs://calls"
	callURITemplate   = callsURI + "/{id}"
	resourceMediaType = "application/json"
)

// maxListedCalls is the most calls in the list of calls.
const maxListedCalls = 500

// Watcher returns calls and their events; *dispatch.Dispatcher implements Watcher.
// Watcher must be safe for concurrent use.
type Watcher interface {
	// Calls returns the running and waiting calls, then the last ended calls.
	Calls() []dispatch.View
	// Find returns the call with the given ID, with its activities.
	Find(callID string) (dispatch.View, bool)
	Follow(o dispatch.FollowOptions) *dispatch.Follower
}

// callIDFromURI returns the ID of the call that a URI names, and reports false for any
// other URI.
func callIDFromURI(uri string) (string, bool) {
	id, ok := strings.CutPrefix(uri, callsURI+"/")
	return id, ok && id != "" && !strings.Contains(id, "/")
}

// read serves a resources/read.
func (r *resources) read(q request) reply {
	uri := q.Params.URI
	value, ok := r.findContent(uri)
	if !ok {
		code := mcp.RESOURCE_NOT_FOUND
		if q.Params.IsModern() {
			code = wire.CodeInvalidParams
		}
		f := newFaultReply(code, "%v", unknownResource(uri))
		f.Details = map[string]string{"uri": uri}
		return f
	}
	text, err := json.Marshal(value)
	if err != nil { // impossible: the numbers in views are finite
		return newFaultReply(wire.CodeInternal, "The resource %s could not be written as JSON. Check the log of opentabs, then report the error.", uri)
	}
	text = plaintext.CleanJSON(text) // most of the text was written by tools and clients
	b := fmt.Appendf(nil, `"contents":[{"uri":%s,"mimeType":"application/json","text":`, rawjson.Encode(uri))
	b = append(rawjson.AppendString(b, string(text)), `}]`...)
	if q.Params.IsModern() { // modern protocol versions require the time for which a result may be cached
		b = append(b, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	return reply{members: b}
}

// findContent returns the content of a resource. The content has no results of calls,
// because these are for the client that called, and for the user.
func (r *resources) findContent(uri string) (any, bool) {
	if uri == callsURI {
		list := shape.List{Calls: r.calls.Calls()}
		if n := len(list.Calls) - maxListedCalls; n > 0 {
			list.Calls, list.OmittedCount = list.Calls[:maxListedCalls], n
		}
		list.Calls = slices.Clone(list.Calls)
		for i := range list.Calls {
			list.Calls[i].Result = ""
		}
		return list, true
	}
	id, ok := callIDFromURI(uri)
	if !ok {
		return nil, false
	}
	view, ok := r.calls.Find(id)
	view.Result = ""
	return view, ok
}

// unknownResource is the error for the URI of a resource that does not exist.
type unknownResource string

// Error implements error.
func (uri unknownResource) Error() string {
	return fmt.Sprintf("There is no resource %q. Read %s for the current calls; of ended calls the last 200 are kept.", string(uri), callsURI)
}
