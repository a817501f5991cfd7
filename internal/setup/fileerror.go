package setup

import (
	"errors"
	"fmt"
	"strings"
)

// FileError is the error for a configuration file that opentabs cannot change.
type FileError struct {
	File string
	// Lines are the lines that the user adds to the file by hand; empty if opentabs could
	// not remove its server.
	Lines string
	// Place describes where the lines belong; empty if the lines are the content of a new
	// file.
	Place string
	// problem is a clause about the file, and remedy is what the user does.
	problem error
	remedy  string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s cannot be changed, because %v: %s", e.File, e.problem, e.remedy)
}

func (e *FileError) Unwrap() error { return e.problem }

// newSetError returns the error for a client's file to which the server opentabs cannot be
// added. The parameter text is the content of the file.
func newSetError(c Client, text []byte, command Command, problem error) error {
	e := &FileError{File: c.File, problem: problem, remedy: "correct the file and run the command again, or add the server by hand"}
	lines, err := c.format.set(nil, c.servers, c.entry(command))
	if errors.Is(problem, errOtherChange) {
		e.remedy = "add the server by hand"
		if values, decodeErr := c.format.decode(text); decodeErr == nil && isInline(values, c.servers) {
			e.Place = "between the braces of " + strings.Join(c.servers, ".") + ", separated by a comma"
			lines, err = c.format.inline(c.entry(command))
		}
	}
	if err != nil {
		return errors.Join(e, err)
	}
	e.Lines = string(lines)
	return e
}

// isInline reports whether the object at the path servers contains other servers. If
// opentabs cannot be added to such an object, the object is on one line.
func isInline(values map[string]any, servers []string) bool {
	for _, name := range servers {
		values, _ = values[name].(map[string]any)
	}
	return len(values) > 0
}

// newRemoveError returns the error for a file from which the server opentabs cannot be
// removed.
func newRemoveError(file string, problem error) error {
	remedy := "correct the file and run the command again, or remove the server opentabs by hand"
	if errors.Is(problem, errOtherChange) {
		remedy = "remove the server opentabs by hand"
	}
	return &FileError{File: file, problem: problem, remedy: remedy}
}

// newSyntaxError returns the clause of a [FileError] about a file that cannot be parsed.
// The parser's messages begin with the name of the parser.
func newSyntaxError(syntax string, err error) error {
	text := err.Error()
	for _, parser := range []string{"hujson", "toml", "yaml"} {
		text = strings.ReplaceAll(text, parser+": ", "")
	}
	return fmt.Errorf("it is not valid %s (%s)", syntax, strings.Join(strings.Fields(text), " "))
}
