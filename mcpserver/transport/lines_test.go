package transport

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLineReader(t *testing.T) {
	longText := strings.Repeat("x", 200_000)
	inputText := "a\n\r\n  \nb\r\n" + longText + "\n" + longText[:100_000] + "\nc\n" + longText + "\nlast"
	want := "[a b long 100000 c long last EOF]"
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(inputText), "bytes": iotest.OneByteReader(strings.NewReader(inputText)), "data and error": iotest.DataErrReader(strings.NewReader(inputText)),
	} {
		l := newLineReader(r, 100_001)
		var got []string
		for {
			line, err := l.nextLine()
			var lineTooLongErr *lineTooLong
			switch {
			case errors.As(err, &lineTooLongErr):
				got = append(got, "long")
				continue
			case err != nil:
				got = append(got, err.Error())
			case len(line) > 10:
				got = append(got, fmt.Sprint(len(line)))
			default:
				got = append(got, string(line))
			}
			if err != nil {
				break
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: lines = %v\nwant %s", name, got, want)
		}
	}
}
