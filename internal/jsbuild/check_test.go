package jsbuild

import (
	"strings"
	"testing"
)

func TestCheckScript(t *testing.T) {
	for _, good := range []string{"", "(() => { 'use strict' })();", "var a = 1 // a comment to the end"} {
		if err := CheckScript([]byte(good)); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"}); alert(1); (function () {", "} /*", "*/ }", "function f() {", "`${"} {
		if err := CheckScript([]byte(bad)); err == nil || !strings.Contains(err.Error(), "adapter.iife.js:1:") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
