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
		{"ours", plugin.Plugin{World: wire.WorldMain}, false},
		{"ours with onActivate", plugin.Plugin{World: wire.WorldMain, Activates: true}, true},
		{"ours with onActivate that starts at once", plugin.Plugin{World: wire.WorldMain, Activates: true, Start: plugin.StartAtOnce}, false},
		{"ours at document_idle", plugin.Plugin{World: wire.WorldMain, Start: plugin.StartIdle}, true},
		{"the original SDK's", plugin.Plugin{World: wire.WorldMain, IsForOriginalSDK: true}, true},
		{"the original SDK's that starts at once", plugin.Plugin{World: wire.WorldMain, IsForOriginalSDK: true, Start: plugin.StartAtOnce}, true},
		{"isolated", plugin.Plugin{World: wire.WorldIsolated, IsForOriginalSDK: true, Start: plugin.StartIdle, Activates: true}, false},
	} {
		if got := testCase.plugin.StartsLate(); got != testCase.want {
			t.Errorf("%s: %t; want %v", testCase.name, got, testCase.want)
		}
	}
}

// Four properties determine whether an adapter starts late: its SDK version, its world,
// its declared start and its onActivate hook.
func TestStartsLateOfAPackage(t *testing.T) {
	for _, testCase := range []struct {
		name        string
		testPackage plugintest.Package
		want        bool
	}{
		{"ours", plugintest.Package{Code: "1;"}, false},
		{"with onActivate", plugintest.Package{Code: "class A { onActivate() { } }"}, true},
		{"that calls an onActivate", plugintest.Package{Code: "a.onActivate();"}, false},
		{"of the original SDK", plugintest.Package{SDKVersion: "0.0.105"}, true},
	} {
		if got := plugintest.Load(t, testCase.testPackage).StartsLate(); got != testCase.want {
			t.Errorf("%s: %t; want %v", testCase.name, got, testCase.want)
		}
	}
}
