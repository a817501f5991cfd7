package httpapi

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"

	"opentabs/internal/httpjson"
	"opentabs/wire"
)

// maxBodyBytes is the maximum size of a request body on all routes except /mcp.
const maxBodyBytes = 64 << 10

// policyRoutes serves the routes for the permissions and settings of a plugin.
type policyRoutes struct{ policy Policy }

// policyChangeBody is the body of all requests that change permissions or settings of a plugin.
// Each route reads only the fields of policyChangeBody that it needs.
type policyChangeBody struct {
	Hash       string          `json:"hash,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Permission wire.Permission `json:"permission,omitempty"`
	Limit      string          `json:"limit,omitempty"`
	// The field Allowed is the new value of a permission that is only on or off, such as
	// the permission of calls to open tabs. If Allowed permits or forbids calls of
	// another plugin's tools, Target is the name of the other plugin.
	Allowed bool   `json:"allowed,omitempty"`
	Target  string `json:"other,omitempty"`
	// The field Values contains the new values of the plugin's settings, by key. The
	// value null removes a setting.
	Values map[string]json.RawMessage `json:"values,omitempty"`
}

func (p policyRoutes) servePermissions(w http.ResponseWriter, r *http.Request) {
	view, err := p.policy.Permissions(r.PathValue("name"))
	if err != nil {
		httpjson.SendError(w, httpStatusOf(err), err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, view)
}

// pluginSettings is the response of GET /plugins/{name}/settings.
type pluginSettings struct {
	Plugin   string             `json:"plugin"`
	Settings []wire.SettingView `json:"settings"`
}

func (p policyRoutes) serveSettings(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	settings, err := p.policy.Settings(name)
	if err != nil {
		httpjson.SendError(w, httpStatusOf(err), err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, pluginSettings{Plugin: name, Settings: append([]wire.SettingView{}, settings...)})
}

func (p policyRoutes) storeReview(plugin string, c policyChangeBody) error {
	return p.policy.Review(plugin, c.Hash, c.Permission, CommandLine)
}

func (p policyRoutes) setPermission(plugin string, c policyChangeBody) error {
	return p.policy.SetPermission(plugin, c.Tool, c.Permission, CommandLine)
}

func (p policyRoutes) setLimit(plugin string, c policyChangeBody) error {
	return p.policy.SetLimit(plugin, c.Tool, c.Limit, CommandLine)
}

func (p policyRoutes) setMayOpenTab(plugin string, c policyChangeBody) error {
	return p.policy.SetMayOpenTab(plugin, c.Allowed, CommandLine)
}

func (p policyRoutes) setCalls(plugin string, c policyChangeBody) error {
	return p.policy.SetCalls(plugin, c.Target, c.Allowed, CommandLine)
}

func (p policyRoutes) setLateStartAccess(plugin string, c policyChangeBody) error {
	return p.policy.SetLateStartAccess(plugin, c.Allowed, CommandLine)
}

func (p policyRoutes) changeSettings(plugin string, c policyChangeBody) error {
	return p.policy.ChangeSettings(plugin, c.Values, CommandLine)
}

func (p policyRoutes) forgetGrants(plugin string, _ policyChangeBody) error {
	return p.policy.Forget(plugin, CommandLine)
}

// siteBody is the body of POST /sites. An empty Permission removes the rule of the site.
type siteBody struct {
	Site       string `json:"site"`
	Permission string `json:"permission"`
}

// siteList is the response of GET /sites.
type siteList struct {
	Sites []Site `json:"sites"`
}

func (p policyRoutes) serveSites(w http.ResponseWriter, _ *http.Request) {
	sites, err := p.policy.Sites()
	if err != nil {
		httpjson.SendError(w, httpStatusOf(err), err.Error())
		return
	}
	httpjson.Send(w, http.StatusOK, siteList{append([]Site{}, sites...)})
}

func (p policyRoutes) setSite(w http.ResponseWriter, r *http.Request) {
	body, ok := decodeBody[siteBody](w, r)
	if !ok {
		return
	}
	if err := p.policy.SetSiteRule(body.Site, body.Permission, CommandLine); err != nil {
		httpjson.SendError(w, httpStatusOf(err), err.Error())
		return
	}
	writeConfirmationHeader(w)
}

func handleChange(apply func(plugin string, c policyChangeBody) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, ok := decodeBody[policyChangeBody](w, r)
		if !ok {
			return
		}
		if err := apply(r.PathValue("name"), c); err != nil {
			httpjson.SendError(w, httpStatusOf(err), err.Error())
			return
		}
		writeConfirmationHeader(w)
	}
}

func decodeBody[T any](w http.ResponseWriter, r *http.Request) (body T, ok bool) {
	return decodeLimitedBody[T](w, r, maxBodyBytes)
}

func decodeLimitedBody[T any](w http.ResponseWriter, r *http.Request, maxBytes int64) (body T, ok bool) {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBytes))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		httpjson.SendError(w, http.StatusBadRequest, "the body is not the expected JSON object: "+strings.TrimPrefix(err.Error(), "json: "))
		return body, false
	}
	if d.More() {
		httpjson.SendError(w, http.StatusBadRequest, "the body has more than one JSON value: send one object")
		return body, false
	}
	return body, true
}

func httpStatusOf(err error) int {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.Is(err, ErrUnknown):
		return http.StatusNotFound
	case errors.As(err, &path), errors.As(err, &link):
		return http.StatusInternalServerError
	}
	return http.StatusConflict
}
