package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opentabs/wire"
)

func TestToolsNeedCapabilities(t *testing.T) {
	for _, tt := range []struct {
		tool         string
		capabilities []string
		isAllowed    bool
	}{
		{"browser_handle_dialog", nil, false},
		{"browser_handle_dialog", []string{"downloads"}, false},
		{"browser_handle_dialog", []string{"downloads", "debugger"}, true},
		{"browser_click", nil, true},
		{"unknown", nil, true},
	} {
		if err := CheckCapability(tt.tool, tt.capabilities); (err == nil) != tt.isAllowed {
			t.Errorf("check of the tool %s with the capabilities %q: error = %v, want allowed: %v", tt.tool, tt.capabilities, err, tt.isAllowed)
		}
	}
	for _, toolGroup := range toolGroups() {
		for _, d := range toolGroup.tools {
			if d.capability != "" && capabilityTexts[d.capability].userText == "" {
				t.Errorf("%s needs the capability %q, want texts that explain the missing capability", d.name, d.capability)
			}
		}
	}
}

func TestMissingChromePermissionFailsCall(t *testing.T) {
	f := newFixture(t)
	f.decision = allowOnce
	const origin = `{"origin":"https://shop.example"}`
	for _, tt := range []struct {
		capabilities []string
		want         string
	}{
		{nil, `browser_clear_site_data needs Chrome's permissions "browsingData" and "cookies". Ask the user to open the side panel of opentabs and to switch on "Deleting the data of sites" and "Cookies" under Browser`},
		{[]string{"cookies"}, `browser_clear_site_data needs Chrome's permission "browsingData". Ask the user`},
	} {
		f.capabilities = tt.capabilities
		f.wantError(wire.ErrToolError, tt.want, "claude", "browser_clear_site_data", origin)
		if len(f.approvalReasons) > 0 {
			t.Errorf("requests for approval of a call that lacks a Chrome permission = %q, want none", f.approvalReasons)
		}
	}
	f.capabilities = []string{"cookies", "browsingData"}
	f.mustRun(1, "claude", "browser_clear_site_data", origin)
}

func TestExtensionAndServerListSamePermissions(t *testing.T) {
	fileContent, err := os.ReadFile(filepath.Join("..", "extension", "src", "worker", "browser", "permissions.ts"))
	if err != nil {
		t.Fatal(err)
	}
	toolCount := 0
	for _, toolGroup := range toolGroups() {
		for _, d := range toolGroup.tools {
			if len(d.permissions) == 0 {
				continue
			}
			toolCount++
			row := fmt.Sprintf("['%s', ['%s']],", d.name, strings.Join(d.permissions, "', '"))
			if !strings.Contains(string(fileContent), row) {
				t.Errorf("permissions.ts lacks the row %s, want one row for each tool with optional permissions", row)
			}
		}
	}
	if rowCount := strings.Count(string(fileContent), "\n  ['browser_"); rowCount != toolCount {
		t.Errorf("permissions.ts has %d tools with permissions, want %d as in the server", rowCount, toolCount)
	}
	for name, title := range permissionTitles {
		if label := fmt.Sprintf("\n  %s: '%s',", name, title); !strings.Contains(string(fileContent), label) {
			t.Errorf("permissions.ts lacks the label %q, want the server's titles of permissions", label)
		}
	}
}
