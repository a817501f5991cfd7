package terminal

import (
	"fmt"
	"io"
	"time"

	"github.com/rs/zerolog"
)

// NewLogger returns the server's logger, which writes to file, or to stderr if file is
// nil. The argument format is "json", "console" or "auto". The format "auto" selects
// "console" on a terminal and "json" otherwise. Control characters from browsers, clients
// and plugins are escaped.
func (o *Output) NewLogger(file io.Writer, level, format string) (zerolog.Logger, error) {
	minLevel, err := zerolog.ParseLevel(level)
	if err != nil {
		return zerolog.Logger{}, fmt.Errorf("set the log level: %w", err)
	}
	output := file
	if file == nil {
		output = o.stderr
	}
	var w io.Writer = safeJSONWriter{output}
	if format == "console" || format == "auto" && o.stderr.isTerminal && file == nil {
		safeValue := func(v any) string { return escapeText(fmt.Sprintf("%s", v)) }
		w = zerolog.ConsoleWriter{
			Out: output, NoColor: !o.color || file != nil, TimeFormat: time.DateTime,
			FormatPrepare: makeMessageSafe, FormatFieldValue: safeValue, FormatErrFieldValue: safeValue,
		}
	}
	return zerolog.New(w).Level(minLevel).With().Timestamp().Logger(), nil
}

// safeJSONWriter escapes hidden characters in lines of JSON. zerolog itself escapes only
// the control characters of ASCII.
type safeJSONWriter struct{ w io.Writer }

func (s safeJSONWriter) Write(line []byte) (int, error) {
	if _, err := io.WriteString(s.w, escapeJSON(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// makeMessageSafe escapes hidden characters in the message of a log line and removes line
// breaks. zerolog's console writer quotes the values of fields, but not the message.
func makeMessageSafe(line map[string]any) error {
	if logMessage, ok := line[zerolog.MessageFieldName].(string); ok {
		line[zerolog.MessageFieldName] = SafeLine(logMessage)
	}
	return nil
}
