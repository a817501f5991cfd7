package policy

import (
	"encoding/json"
	"reflect"
	"testing"

	"opentabs/internal/statedoc"
	"opentabs/wire"
)

// The policy must not return a permission that is not in permissions.json. A change of one plugin's permissions must
// keep the permissions of all other plugins.
func FuzzPermissions(f *testing.F) {
	for _, seed := range []string{
		`{"version":1}`, `{"version":1,"plugins":{"a":{"reviewed":{"hash":"h"},"permission":"auto","tools":{"t":{"permission":"off","limit":"1/1m"}}}}}`,
		`{"version":1,"plugins":{"a":null,"b":[],"c":{"tools":null}}}`, `{"version":1,"plugins":{"a":{"permission":"auto","permission":"off"}}}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, fileContent []byte) {
		p, err := statedoc.ParsePlugins(fileContent)
		if err != nil {
			return
		}
		rulesBefore := readRules(p)
		for name, s := range rulesBefore.plugins {
			permissions := []wire.Permission{s.Permission}
			for _, tool := range s.Tools {
				permissions = append(permissions, tool.Permission)
			}
			for _, permission := range permissions {
				if _, err := ParsePermission(string(permission)); permission != "" && err != nil {
					t.Errorf("%s: error of ParsePermission = %v; want none", name, err)
				}
			}
		}
		p.EditPlugin("mine", func(entry statedoc.Object) {
			editTool(entry, "t", func(toolEntry statedoc.Object) { setPermission(toolEntry, wire.PermissionOff, "x") })
		})
		redecodedFile, err := statedoc.ParsePlugins(p.Encode())
		if err != nil {
			t.Fatalf("reading the written permissions.json: error %v; want none", err)
		}
		redecodedRules := readRules(redecodedFile)
		if got := redecodedRules.plugins["mine"].Tools["t"].Permission; got != wire.PermissionOff {
			t.Errorf("permission after it was set to off = %q; want off", got)
		}
		for name, s := range rulesBefore.plugins {
			if name != "mine" && !reflect.DeepEqual(redecodedRules.plugins[name], s) {
				oldJSON, _ := json.Marshal(s)
				t.Errorf("permissions of the other plugin %q were %s and are %+v; want them unchanged", name, oldJSON, redecodedRules.plugins[name])
			}
		}
	})
}
