package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/dispatch/shape"
	"opentabs/internal/filestore"
	"opentabs/internal/plaintext"
	"opentabs/internal/rawjson"
	"opentabs/wire"
)

// These constants are the URIs of the server's MCP resources: the list of calls, each
// call, and the files that the client's tools wrote.
const (
	callsURI          = "opentabs://calls"
	callURITemplate   = callsURI + "/{id}"
	fileURITemplate   = "opentabs://files/{id}"
	resourceMediaType = "application/json"
)

// maxListedCalls limits the number of calls in the resource opentabs://calls.
const maxListedCalls = 500

// Watcher provides calls and their events; *dispatch.Dispatcher implements it. An implementation of
// Watcher must be safe for concurrent use.
type Watcher interface {
	// Calls returns the running and waiting calls, then the most recently ended calls.
	Calls() []dispatch.View
	// Find returns the call with the given ID, with its activities.
	Find(callID string) (dispatch.View, bool)
	Subscribe(o dispatch.SubscribeOptions) *dispatch.Subscriber
}

func callIDFromURI(uri string) (string, bool) {
	id, ok := strings.CutPrefix(uri, callsURI+"/")
	return id, ok && id != "" && !strings.Contains(id, "/")
}

func (r *resources) read(q request) reply {
	uri := q.Params.URI
	if id, ok := filestore.IDFromURI(uri); ok {
		return r.readFile(q, id)
	}
	value, ok := r.findContent(uri)
	if !ok {
		return newUnknownResourceReply(q, unknownResource(uri).Error())
	}
	encodedJSON, err := json.Marshal(value)
	if err != nil { // impossible: the numbers in views are finite
		return newProtocolErrorReply(wire.CodeInternal, "The resource %s could not be written as JSON. Check the log of opentabs, then report the error.", uri)
	}
	encodedJSON = plaintext.CleanJSON(encodedJSON) // most of the text was written by tools and clients
	return newResourceReply(q, resourceMediaType, "text", string(encodedJSON))
}

// readFile serves a file to the client whose calls wrote the file, and to no other client.
func (r *resources) readFile(q request, id string) reply {
	if r.files == nil {
		return newUnknownResourceReply(q, "This server stores no files.")
	}
	file, content, err := r.files.Read(id, q.Client.Identity())
	if err != nil {
		return newUnknownResourceReply(q, fmt.Sprintf("You have no file %q. opentabs removes old files; call the tool again.", q.Params.URI))
	}
	isText := strings.HasPrefix(file.MediaType, "text/") || file.MediaType == resourceMediaType
	if isText && utf8.Valid(content) {
		return newResourceReply(q, file.MediaType, "text", string(content))
	}
	return newResourceReply(q, file.MediaType, "blob", base64.StdEncoding.EncodeToString(content))
}

func newResourceReply(q request, mediaType, member, content string) reply {
	b := fmt.Appendf(nil, `"contents":[{"uri":%s,"mimeType":%s,%s:`, rawjson.Encode(q.Params.URI), rawjson.Encode(mediaType), rawjson.Encode(member))
	b = append(rawjson.AppendString(b, content), `}]`...)
	if q.Params.IsModern() { // modern protocol versions require the time for which a result may be cached
		b = append(b, `,"ttlMs":0,"cacheScope":"private"`...)
	}
	return reply{members: b}
}

func newUnknownResourceReply(q request, errorText string) reply {
	code := mcp.RESOURCE_NOT_FOUND
	if q.Params.IsModern() {
		code = wire.CodeInvalidParams
	}
	f := newProtocolErrorReply(code, "%s", errorText)
	f.Details = map[string]string{"uri": q.Params.URI}
	return f
}

// findContent omits the results of calls, because only the calling client and the user may see a result.
func (r *resources) findContent(uri string) (any, bool) {
	if uri == callsURI {
		callList := shape.List{Calls: r.calls.Calls()}
		if n := len(callList.Calls) - maxListedCalls; n > 0 {
			callList.Calls, callList.OmittedCount = callList.Calls[:maxListedCalls], n
		}
		callList.Calls = slices.Clone(callList.Calls)
		for i := range callList.Calls {
			hideCallResult(&callList.Calls[i])
		}
		return callList, true
	}
	id, ok := callIDFromURI(uri)
	if !ok {
		return nil, false
	}
	callView, ok := r.calls.Find(id)
	hideCallResult(&callView)
	return callView, ok
}

func hideCallResult(v *dispatch.View) { v.Result, v.Status = "", v.Status.ProgressStatus() }

// unknownResource is the error for the URI of a resource that does not exist.
type unknownResource string

func (uri unknownResource) Error() string {
	return fmt.Sprintf("There is no resource %q. Read %s for the current calls; of ended calls the last 200 are kept.", string(uri), callsURI)
}
