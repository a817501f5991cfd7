package content

import (
	"strings"
	"testing"
)

func BenchmarkContentScan(b *testing.B) {
	one := `{"id":"C123/1","type":"message","text":"a message that is as long as most are","author":"ada"},`
	output := []byte(`[` + strings.Repeat(one, 10<<20/len(one)) + `0]`)
	b.SetBytes(int64(len(output)))
	for b.Loop() {
		if mayContainBlocks(output) {
			b.Fatal("the result has no content blocks; want some")
		}
	}
}
