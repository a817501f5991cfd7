package terminal

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"opentabs/internal/rawjson"
)

// ContentLines formats the content of an activity as lines without unsafe control characters.
// Content of type "text" or "code" is not reformatted. Content of type "table" is a list of
// objects, or an object with the members "columns" and "rows". Content of any other type, and
// content that does not match its type, is formatted as JSON. If shorten is true, table cells are
// truncated at 40 columns.
func ContentLines(kind string, content json.RawMessage, shorten bool) []string {
	text, isText := readText(kind, content)
	switch {
	case isText:
		return textLines(text)
	case kind == "table":
		if t, ok := readTable(content); ok {
			return t.renderLines(shorten)
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, content, "", "  ") != nil {
		return textLines(string(content))
	}
	return strings.Split(escapeJSON(b.String()), "\n")
}

// JSONLines formats JSON as indented lines without unsafe control characters. If text is not valid
// JSON, for example because it was truncated, JSONLines does not reformat it.
func JSONLines(text string) []string {
	return ContentLines("json", json.RawMessage(text), false)
}

func readText(kind string, content json.RawMessage) (text string, ok bool) {
	if json.Unmarshal(content, &text) == nil && !isNullJSON(content) {
		return text, true
	}
	var code struct {
		Code *string `json:"code"`
	}
	if kind == "code" && json.Unmarshal(content, &code) == nil && code.Code != nil {
		return *code.Code, true
	}
	return "", false
}

func isNullJSON(content json.RawMessage) bool {
	return bytes.Equal(bytes.TrimSpace(content), []byte("null"))
}

const tabStop = 4

func textLines(text string) []string {
	text = strings.ReplaceAll(strings.TrimRight(text, "\r\n"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\t", strings.Repeat(" ", tabStop))
	return strings.Split(escapeText(text), "\n")
}

const maxCell = 40

// The type table is the parsed content of an activity of type "table".
type table struct {
	columns []string
	rows    [][]string
	numeric []bool
}

func readTable(content json.RawMessage) (t table, ok bool) {
	var rows []json.RawMessage
	if json.Unmarshal(content, &rows) != nil {
		var namedTable struct{ Columns, Rows []json.RawMessage }
		if json.Unmarshal(content, &namedTable) != nil || namedTable.Rows == nil {
			return table{}, false
		}
		for _, name := range namedTable.Columns {
			t.columns = append(t.columns, cellText(name))
		}
		rows = namedTable.Rows
	}
	hasColumns := len(t.columns) > 0
	for _, row := range rows {
		if !t.addRow(row, hasColumns) {
			return table{}, false
		}
	}
	return t, len(t.columns) > 0
}

// If the table does not name its columns, the members of the row objects become the columns.
func (t *table) addRow(row json.RawMessage, hasColumns bool) bool {
	t.rows = append(t.rows, nil)
	var cells []json.RawMessage
	if hasColumns && json.Unmarshal(row, &cells) == nil {
		for i, value := range cells[:min(len(cells), len(t.columns))] {
			t.setCell(i, value)
		}
		return true
	}
	for m := range rawjson.Members(row) {
		column := slices.Index(t.columns, SafeLine(m.Key))
		if column < 0 && !hasColumns {
			column = len(t.columns)
			t.columns = append(t.columns, SafeLine(m.Key))
		}
		if column >= 0 {
			t.setCell(column, m.Value)
		}
	}
	return rawjson.KindOf(row) == rawjson.KindObject
}

func (t *table) setCell(column int, value json.RawMessage) {
	row := &t.rows[len(t.rows)-1]
	for len(*row) <= column {
		*row = append(*row, "")
	}
	(*row)[column] = cellText(value)
	for len(t.numeric) <= column {
		t.numeric = append(t.numeric, true)
	}
	var number json.Number
	if json.Unmarshal(value, &number) != nil || value[0] == '"' {
		t.numeric[column] = false
	}
}

func cellText(value json.RawMessage) string {
	var text string
	switch {
	case isNullJSON(value):
		return ""
	case json.Unmarshal(value, &text) == nil:
		return SafeLine(text)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return SafeLine(string(value))
	}
	return escapeJSON(b.String())
}

func (t table) renderLines(shorten bool) []string {
	rows := append([][]string{t.columns}, t.rows...)
	if shorten {
		for _, row := range rows {
			for i := range row {
				row[i] = truncateColumns(row[i], maxCell)
			}
		}
	}
	return alignColumns(rows, t.numeric)
}
