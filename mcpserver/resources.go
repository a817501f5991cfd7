package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/wire"
)

// The resources that are offered: the list of calls, and each call.
const (
	callsURI     = "opentabs://calls"
	callTemplate = callsURI + "/{id}"
)

// maxCallsShown is how many calls the list has at most.
const maxCallsShown = 500

// Watcher shows the calls there are; *dispatch.Dispatcher is one. It must be
// safe for concurrent use.
type Watcher interface {
	// Calls returns the calls that run or wait, then the last that ended.
	Calls() []dispatch.View
	// Find returns one of these, with its activities.
	Find(callID string) (dispatch.View, bool)
	Follow(o dispatch.FollowOptions) *dispatch.Follower
}

// addResources lists the resources. They are read here (readResource), because
// mcp-go has no way to say that a call is not known.
func (s *Server) addResources() {
	const mime = "application/json"
	never := func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		return nil, errors.New("resources/read came to mcp-go")
	}
	s.mcp.AddResource(mcp.NewResource(callsURI, "calls", mcp.WithMIMEType(mime),
		mcp.WithResourceDescription("The calls of tools that run or wait, and the last that ended, each with its progress.")), never)
	s.mcp.AddResourceTemplates(server.ServerResourceTemplate{
		Template: mcp.NewResourceTemplate(callTemplate, "call", mcp.WithTemplateMIMEType(mime),
			mcp.WithTemplateDescription("One call: its progress, what it waits for, its activities and how it ended. Subscribe to it to hear when it changes.")),
		Handler: never,
	})
}

// callOf returns the id of the call that a resource is; false if it is none.
func callOf(uri string) (string, bool) {
	id, ok := strings.CutPrefix(uri, callsURI+"/")
	return id, ok && id != "" && !strings.Contains(id, "/")
}

// callList is the JSON of the list of calls.
type callList struct {
	Calls []dispatch.View `json:"calls"`
	// More counts the calls that were left out of the list.
	More int `json:"more,omitempty"`
}

// readResource serves a resources/read.
func (s *Server) readResource(q request) reply {
	uri := q.params.URI
	var value any
	if uri == callsURI {
		list := callList{Calls: s.watch.calls.Calls()}
		if n := len(list.Calls) - maxCallsShown; n > 0 {
			list.Calls, list.More = list.Calls[:maxCallsShown], n
		}
		list.Calls = slices.Clone(list.Calls)
		for i := range list.Calls {
			list.Calls[i].Result = "" // it is for the client that called, and for people
		}
		value = list
	} else {
		id, ok := callOf(uri)
		if ok {
			var view dispatch.View
			view, ok = s.watch.calls.Find(id)
			view.Result = ""
			value = view
		}
		if !ok {
			code := mcp.RESOURCE_NOT_FOUND
			if q.params.modern() {
				code = wire.CodeInvalidParams
			}
			f := fault(code, "%v", noResource(uri))
			f.details = map[string]string{"uri": uri}
			return f
		}
	}
	text, err := json.Marshal(value)
	if err != nil { // views hold numbers that were checked
		return fault(wire.CodeInternal, "The resource %s is no JSON. Look at the log of opentabs, then report it.", uri)
	}
	text = plaintext.CleanJSON(text) // tools and clients wrote most of it
	b := fmt.Appendf(nil, `"contents":[{"uri":%s,"mimeType":"application/json","text":`, appendString(nil, uri))
	b = append(appendString(b, string(text)), `}]`...)
	if q.params.modern() { // which wants to be told how long a result may be kept
		b = append(b, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	return reply{members: b}
}

// noResource is the URI of a resource that there is not, as an error for clients.
type noResource string

// Error implements error.
func (uri noResource) Error() string {
	return fmt.Sprintf("There is no resource %q. Read %s for the calls there are; of those that ended the last 200 are known.", string(uri), callsURI)
}
