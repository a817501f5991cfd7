package plugin_test

import (
	"testing"

	"opentabs/plugin"
	"opentabs/plugin/plugintest"
	"opentabs/wire"
)

func TestStartsLate(t *testing.T) {
	for _, testCase := range []struct {
		name   string
		plugin plugin.Plugin
		want   bool
	}{
		{"plugin of the opentabs SDK", plugin.Plugin{World: wire.WorldMain}, false},
		{"plugin of the opentabs SDK with onActivate", plugin.Plugin{World: wire.WorldMain, HasActivateHook: true}, true},
		{"plugin of the opentabs SDK with onActivate that starts at once", plugin.Plugin{World: wire.WorldMain, HasActivateHook: true, Start: plugin.StartAtDocumentStart}, false},
		{"plugin of the opentabs SDK at document_idle", plugin.Plugin{World: wire.WorldMain, Start: plugin.StartAtDocumentIdle}, true},
		{"plugin of the original SDK", plugin.Plugin{World: wire.WorldMain, IsForOriginalSDK: true}, true},
		{"plugin of the original SDK that starts at once", plugin.Plugin{World: wire.WorldMain, IsForOriginalSDK: true, Start: plugin.StartAtDocumentStart}, true},
		{"isolated", plugin.Plugin{World: wire.WorldIsolated, IsForOriginalSDK: true, Start: plugin.StartAtDocumentIdle, HasActivateHook: true}, false},
	} {
		if got := testCase.plugin.StartsAfterPageScripts(); got != testCase.want {
			t.Errorf("%s: StartsAfterPageScripts = %t; want %v", testCase.name, got, testCase.want)
		}
	}
}

// Four properties determine whether an adapter starts late: its SDK version, its world,
// its declared start and its onActivate hook.
func TestStartsLateForPackages(t *testing.T) {
	for _, testCase := range []struct {
		name        string
		testPackage plugintest.Package
		want        bool
	}{
		{"plugin of the opentabs SDK", plugintest.Package{Code: "1;"}, false},
		{"adapter with an onActivate hook", plugintest.Package{Code: "class A { onActivate() { } }"}, true},
		{"adapter that calls a function onActivate", plugintest.Package{Code: "a.onActivate();"}, false},
		{"adapter of the original SDK", plugintest.Package{SDKVersion: "0.0.105"}, true},
	} {
		if got := plugintest.Load(t, testCase.testPackage).StartsAfterPageScripts(); got != testCase.want {
			t.Errorf("%s: StartsAfterPageScripts = %t; want %v", testCase.name, got, testCase.want)
		}
	}
}
