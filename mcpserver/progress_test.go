package mcpserver

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
)

func TestNumbersKeepAllDigits(t *testing.T) {
	for f, want := range map[float64]string{
		0: "0", 1: "1", 0.1: "0.1", 1000000: "1000000", 1e20: "100000000000000000000", 1e21: "1e+21", 1e-7: "1e-07",
		math.Nextafter(3, 4): "3.0000000000000004", math.MaxFloat64: "1.7976931348623157e+308", 5e-324: "5e-324",
	} {
		got := string(appendNumber(nil, f))
		parsedNumber, err := strconv.ParseFloat(got, 64)
		if got != want || err != nil || parsedNumber != f || !json.Valid([]byte(got)) {
			t.Errorf("appendNumber(%v) = %s, want %s", f, got, want)
		}
	}
}

// FuzzProgressToken checks that a valid notification is sent for each accepted progress
// token.
func FuzzProgressToken(f *testing.F) {
	for _, seed := range []string{`1`, `"t"`, `[]`, `-`, `1e999`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		var p transport.Params
		if json.Unmarshal([]byte(`{"_meta":{"progressToken":`+string(token)+`}}`), &p) != nil {
			return
		}
		progress := dispatch.Progress{Progress: 1, Message: "m", StatusWord: "indexing", Audience: "user"}
		if token := p.Token(); token != nil && !json.Valid(appendProgress(nil, token, progress)) {
			t.Fatalf("notification with the progress token %s is not JSON; want valid JSON", token)
		}
	})
}
