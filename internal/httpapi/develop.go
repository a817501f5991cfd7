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
)

// develop says that the plugin in the folder dir is being developed, for as long
// as the request is open. So it ends with the program that develops, however that
// ends.
func (a *API) develop(w http.ResponseWriter, r *http.Request) {
	dir := r.URL.Query().Get("dir")
	if !filepath.IsAbs(dir) {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("the parameter dir is %.200q: give the absolute path of a plugin's folder", dir))
		return
	}
	defer a.options.Develop(filepath.Clean(dir))()
	open, end := context.WithCancel(r.Context())
	defer end()
	defer context.AfterFunc(a.stopping, end)()
	out := eventWriter{w: w, c: http.NewResponseController(w)}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	beat := time.NewTicker(a.options.Heartbeat)
	defer beat.Stop()
	for {
		if errors.Join(out.write([]byte(": developing\n\n")), out.c.Flush()) != nil {
			return // the client has gone
		}
		select {
		case <-open.Done():
			return
		case <-beat.C:
		}
	}
}

// Develop says that the plugin in the folder dir, an absolute path, is being
// developed, until ctx ends. begun is called when the server knows. If the server
// ends first the error is ErrEnded.
func (c *Client) Develop(ctx context.Context, dir string, begun func()) error {
	resp, err := c.send(ctx, http.MethodGet, "/plugins/develop?"+url.Values{"dir": {dir}}.Encode(), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	begun()
	_, err = io.Copy(io.Discard, resp.Body)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(ErrEnded, err)
}
