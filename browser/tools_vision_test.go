package browser

import (
	"testing"

	"opentabs/plugin/policy"
	"opentabs/wire"
)

func TestToolsAtCoordinatesNeedPermission(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	tools := map[string]string{
		"browser_mouse_click_xy": `{"x":1,"y":2}`, "browser_mouse_move_xy": `{"x":1,"y":2}`, "browser_mouse_wheel": `{"x":1,"y":2,"deltaY":3}`,
		"browser_mouse_drag_xy": `{"startX":1,"startY":2,"endX":3,"endY":4}`,
	}
	for tool, args := range tools {
		f.mustRun(1, "claude", tool, args)
	}
	if err := f.rules.Set("shop.example", policy.SiteRead, "x"); err != nil {
		t.Fatal(err)
	}
	f.mustRun(0, "claude", "browser_pdf_save", `{}`)
	for tool, args := range tools {
		f.wantError(wire.ErrDenied, "but not to act", "claude", tool, args)
		if err := CheckCapability(tool, []string{"cookies"}); err == nil || err.Code != wire.ErrNoBrowser {
			t.Errorf("error of %s in a browser without the debugger = %v, want no_browser", tool, err)
		}
	}
}
