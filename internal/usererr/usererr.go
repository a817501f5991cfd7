// Package usererr defines the error for invalid input from the user, such as a wrong flag,
// argument or setting.
package usererr

import "fmt"

const maxValueBytes = 1000

// Error is an error in the user's input, as opposed to a failure of opentabs.
type Error struct{ err error }

func (e *Error) Error() string { return e.err.Error() }
func (e *Error) Unwrap() error { return e.err }

// Errorf formats an [Error] as [fmt.Errorf] does, but shortens texts in args that exceed
// 1,000 bytes.
func Errorf(format string, args ...any) error {
	for i, arg := range args {
		errorMessage := ""
		switch arg := arg.(type) {
		case string:
			errorMessage = arg
		case error:
			errorMessage = arg.Error()
		}
		if len(errorMessage) > maxValueBytes {
			args[i] = errorMessage[:maxValueBytes] + "..."
		}
	}
	return &Error{fmt.Errorf(format, args...)}
}
