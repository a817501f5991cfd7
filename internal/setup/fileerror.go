package setup

import (
	"errors"
	"fmt"
	"strings"
)

// FileError reports that opentabs cannot change a configuration file, and what the user
// can do instead.
type FileError struct {
	File string
	// ManualLines are the lines that the user can add to the file by hand. ManualLines is
	// empty if opentabs could not be removed from the file.
	ManualLines string
	// ManualLocation describes where in the file the user must add ManualLines.
	// ManualLocation is empty if ManualLines are the complete content of a new file.
	ManualLocation string
	// cause is a clause about the file, such as "it is read-only".
	cause  error
	remedy string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s cannot be changed, because %v: %s", e.File, e.cause, e.remedy)
}

func (e *FileError) Unwrap() error { return e.cause }

func newSetError(c Client, configText []byte, command Command, cause error) error {
	e := &FileError{File: c.File, cause: cause, remedy: "correct the file and run the command again, or add the server by hand"}
	lines, err := c.format.setServer(nil, c.serversPath, c.entry(command))
	if errors.Is(cause, errUnsupportedLayout) {
		e.remedy = "add the server by hand"
		if configValues, decodeErr := c.format.decode(configText); decodeErr == nil && isInline(configValues, c.serversPath) {
			e.ManualLocation = "between the braces of " + strings.Join(c.serversPath, ".") + ", separated by a comma"
			lines, err = c.format.inlineEntry(c.entry(command))
		}
	}
	if err != nil {
		return errors.Join(e, err)
	}
	e.ManualLines = string(lines)
	return e
}

// Setup can edit a non-empty object on several lines, so isInline only checks that the object contains a server.
func isInline(configValues map[string]any, serversPath []string) bool {
	for _, name := range serversPath {
		configValues, _ = configValues[name].(map[string]any)
	}
	return len(configValues) > 0
}

func newRemoveError(file string, cause error) error {
	remedy := "correct the file and run the command again, or remove the server opentabs by hand"
	if errors.Is(cause, errUnsupportedLayout) {
		remedy = "remove the server opentabs by hand"
	}
	return &FileError{File: file, cause: cause, remedy: remedy}
}

// The error text of newSyntaxError omits the prefix with the parser's name, such as "toml: ".
func newSyntaxError(syntaxName string, err error) error {
	errorMessage := err.Error()
	for _, parser := range []string{"hujson", "toml", "yaml"} {
		errorMessage = strings.ReplaceAll(errorMessage, parser+": ", "")
	}
	return fmt.Errorf("it is not valid %s (%s)", syntaxName, strings.Join(strings.Fields(errorMessage), " "))
}
