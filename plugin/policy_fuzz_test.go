package plugin

import (
	"encoding/json"
	"reflect"
	"testing"

	"opentabs/wire"
)

// FuzzPermissions holds that whatever stands in permissions.json allows nothing
// by mistake: what is read is a permission there is, and a change of one plugin
// leaves what is said of the others as it was.
func FuzzPermissions(f *testing.F) {
	for _, seed := range []string{
		`{"version":1}`, `{"version":1,"plugins":{"a":{"reviewed":{"hash":"h"},"permission":"auto","tools":{"t":{"permission":"off","limit":"1/1m"}}}}}`,
		`{"version":1,"plugins":{"a":null,"b":[],"c":{"tools":null}}}`, `{"version":1,"plugins":{"a":{"permission":"auto","permission":"off"}}}`, `[]`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := parsePerPlugin(text)
		if err != nil {
			return
		}
		before := p.rules()
		for name, s := range before.plugins {
			permissions := []wire.Permission{s.Permission}
			for _, tool := range s.Tools {
				permissions = append(permissions, tool.Permission)
			}
			for _, permission := range permissions {
				if _, err := ParsePermission(string(permission)); permission != "" && err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		p.edit("mine", func(entry object) {
			editTool(entry, "t", func(own object) { setPermission(own, wire.PermissionOff, "x") })
		})
		again, err := parsePerPlugin(p.encode())
		if err != nil {
			t.Fatalf("what was written is not read: %v", err)
		}
		after := again.rules()
		if got := after.plugins["mine"].Tools["t"].Permission; got != wire.PermissionOff {
			t.Errorf("what was set is %q", got)
		}
		for name, s := range before.plugins {
			if name != "mine" && !reflect.DeepEqual(after.plugins[name], s) {
				old, _ := json.Marshal(s)
				t.Errorf("%q was %s, is %+v", name, old, after.plugins[name])
			}
		}
	})
}
