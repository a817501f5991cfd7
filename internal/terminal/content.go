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
// content that does not match its type, is formatted as JSON. If isTruncated is true, table cells are
// truncated at 40 columns.
func ContentLines(kind string, content json.RawMessage, isTruncated bool) []string {
	contentText, isText := readText(kind, content)
	switch {
	case isText:
		return textLines(contentText)
	case kind == "table":
		if t, ok := readTable(content); ok {
			return t.renderLines(isTruncated)
		}
	}
	var b bytes.Buffer
	if json.Indent(&b, content, "", "  ") != nil {
		return textLines(string(content))
	}
	return strings.Split(escapeJSON(b.String()), "\n")
}

// JSONLines formats JSON as indented lines without unsafe control characters. If jsonText is
// not valid JSON, for example because it was truncated, JSONLines does not reformat it.
func JSONLines(jsonText string) []string {
	return ContentLines("json", json.RawMessage(jsonText), false)
}

func readText(kind string, content json.RawMessage) (contentText string, ok bool) {
	if json.Unmarshal(content, &contentText) == nil && !isNullJSON(content) {
		return contentText, true
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

func textLines(contentText string) []string {
	contentText = strings.ReplaceAll(strings.TrimRight(contentText, "\r\n"), "\r\n", "\n")
	contentText = strings.ReplaceAll(contentText, "\t", strings.Repeat(" ", tabStop))
	return strings.Split(escapeText(contentText), "\n")
}

const maxCellChars = 40

// The type table is the parsed content of an activity of type "table".
type table struct {
	columns         []string
	tableRows       [][]string
	isNumericColumn []bool
}

func readTable(content json.RawMessage) (t table, ok bool) {
	var rows []json.RawMessage
	if json.Unmarshal(content, &rows) != nil {
		var tableWithColumns struct{ Columns, Rows []json.RawMessage }
		if json.Unmarshal(content, &tableWithColumns) != nil || tableWithColumns.Rows == nil {
			return table{}, false
		}
		for _, name := range tableWithColumns.Columns {
			t.columns = append(t.columns, cellText(name))
		}
		rows = tableWithColumns.Rows
	}
	hasColumns := len(t.columns) > 0
	for _, rowJSON := range rows {
		if !t.addRow(rowJSON, hasColumns) {
			return table{}, false
		}
	}
	return t, len(t.columns) > 0
}

// If the table does not name its columns, the members of the row objects become the columns.
func (t *table) addRow(rowJSON json.RawMessage, hasColumns bool) bool {
	t.tableRows = append(t.tableRows, nil)
	var cells []json.RawMessage
	if hasColumns && json.Unmarshal(rowJSON, &cells) == nil {
		for i, valueJSON := range cells[:min(len(cells), len(t.columns))] {
			t.setCell(i, valueJSON)
		}
		return true
	}
	for m := range rawjson.Members(rowJSON) {
		column := slices.Index(t.columns, SafeLine(m.Key))
		if column < 0 && !hasColumns {
			column = len(t.columns)
			t.columns = append(t.columns, SafeLine(m.Key))
		}
		if column >= 0 {
			t.setCell(column, m.Value)
		}
	}
	return rawjson.KindOf(rowJSON) == rawjson.KindObject
}

func (t *table) setCell(column int, valueJSON json.RawMessage) {
	row := &t.tableRows[len(t.tableRows)-1]
	for len(*row) <= column {
		*row = append(*row, "")
	}
	(*row)[column] = cellText(valueJSON)
	for len(t.isNumericColumn) <= column {
		t.isNumericColumn = append(t.isNumericColumn, true)
	}
	var number json.Number
	if json.Unmarshal(valueJSON, &number) != nil || valueJSON[0] == '"' {
		t.isNumericColumn[column] = false
	}
}

func cellText(valueJSON json.RawMessage) string {
	var cellValue string
	switch {
	case isNullJSON(valueJSON):
		return ""
	case json.Unmarshal(valueJSON, &cellValue) == nil:
		return SafeLine(cellValue)
	}
	var b bytes.Buffer
	if json.Compact(&b, valueJSON) != nil {
		return SafeLine(string(valueJSON))
	}
	return escapeJSON(b.String())
}

func (t table) renderLines(isTruncated bool) []string {
	tableRows := append([][]string{t.columns}, t.tableRows...)
	if isTruncated {
		for _, tableRow := range tableRows {
			for i := range tableRow {
				tableRow[i] = truncateColumns(tableRow[i], maxCellChars)
			}
		}
	}
	return alignColumns(tableRows, t.isNumericColumn)
}
