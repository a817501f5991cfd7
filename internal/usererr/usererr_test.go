package usererr

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestErrorUnwrapsCause(t *testing.T) {
	err := Errorf("read %s: %w", "a", fs.ErrNotExist)
	var userErr *Error
	if !errors.As(err, &userErr) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Errorf returned %v, want an *Error that wraps the cause", err)
	}
	if got := err.Error(); got != "read a: file does not exist" {
		t.Errorf("text of the error = %q; want %q", got, "read a: file does not exist")
	}
}

func TestLongArgumentsAreTruncated(t *testing.T) {
	shownText, longText := strings.Repeat("x", maxValueBytes), strings.Repeat("x", maxValueBytes+1)
	for _, testCase := range []struct {
		arg  any
		want string
	}{
		{shownText, shownText},
		{longText, shownText + "..."},
		{errors.New(longText), shownText + "..."},
		{7, "%!s(int=7)"},
	} {
		if got := Errorf("%s.", testCase.arg).Error(); got != testCase.want+"." {
			t.Errorf("argument of %d bytes and type %T: error text of %d bytes, want %d bytes", len(longText), testCase.arg, len(got), len(testCase.want)+1)
		}
	}
}
