// Package usererr has the error for invalid input of the user, such as a wrong flag,
// argument or setting.
package usererr

import "fmt"

// maxShownBytes is how much of one argument an error shows.
const maxShownBytes = 1000

// Error is an error in the user's input.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Errorf formats an error. Errorf truncates long texts among args.
func Errorf(format string, args ...any) error {
	for i, arg := range args {
		text := ""
		switch arg := arg.(type) {
		case string:
			text = arg
		case error:
			text = arg.Error()
		}
		if len(text) > maxShownBytes {
			args[i] = text[:maxShownBytes] + "..."
		}
	}
	return &Error{fmt.Errorf(format, args...)}
}
