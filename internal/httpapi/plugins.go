package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"time"

	"opentabs/internal/httpjson"
	"opentabs/wire"
)

// developRoute serves /plugins/develop.
type developRoute struct {
	startDevelopment func(dir string, permission wire.Permission) (endDevelopment func(), err error)
	eventStreams     *eventStreams
}

// If the client's process is killed, its request ends. The end of the request also ends development mode.
func (d developRoute) serveDevelopment(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	dir := query.Get("dir")
	if !filepath.IsAbs(dir) {
		httpjson.SendError(w, http.StatusBadRequest, fmt.Sprintf("the parameter dir is %.200q: give the absolute path of a plugin's folder", dir))
		return
	}
	endDevelopment, err := d.startDevelopment(filepath.Clean(dir), wire.Permission(query.Get("permission")))
	if err != nil {
		httpjson.SendError(w, http.StatusBadRequest, err.Error())
		return
	}
	defer endDevelopment()
	outWriter, streamCtx, closeStream := d.eventStreams.open(w, r)
	defer closeStream()
	heartbeat := time.NewTicker(d.eventStreams.heartbeat)
	defer heartbeat.Stop()
	for outWriter.writeComment("developing") == nil { // a write error means that the client has disconnected
		select {
		case <-streamCtx.Done():
			return
		case <-heartbeat.C:
		}
	}
}

// PluginsClient reloads the plugins of a running server, and starts development mode. The
// methods of PluginsClient return the errors listed at [Client].
type PluginsClient struct{ client *Client }

// Reload makes the server reload all plugins from disk.
func (c PluginsClient) Reload(ctx context.Context) error {
	return c.client.sendWithTimeout(ctx, reloadTimeout, http.MethodPost, "/plugins/reload", nil)
}

// DevelopPlugin puts the plugin in a folder into development mode until ctx ends. In
// development mode, every version of the plugin counts as reviewed. The argument dir is
// an absolute path. If the plugin has no permission, the server sets the given
// permission. The function onStreamStart is called when the server has confirmed the request.
// DevelopPlugin returns [ErrStreamEnded] if the server stops before ctx ends.
func (c PluginsClient) DevelopPlugin(ctx context.Context, dir string, permission wire.Permission, onStreamStart func()) error {
	query := url.Values{"dir": {dir}, "permission": {string(permission)}}
	resp, err := c.client.send(ctx, http.MethodGet, "/plugins/develop?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	onStreamStart()
	_, err = io.Copy(io.Discard, resp.Body)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(ErrStreamEnded, err)
}
