package terminal

import (
	"slices"
	"strings"
)

// lastColumn is how many columns of a terminal the last column of a table needs.
const lastColumn = 24

// PrintTable writes rows with their cells aligned, each row after indent. rows[0]
// names the columns.
//
// On a terminal the last column of the table is cut at the edge. In a narrow terminal,
// PrintTable omits the columns in optionalColumns one after the other, in that order,
// until the table fits. A pipe gets all columns of the table.
func (o *Output) PrintTable(indent string, rows [][]string, optionalColumns ...string) {
	columns, _ := o.Size()
	for _, name := range optionalColumns {
		if !o.stdout.isTerminal || tableWidth(indent, rows) <= columns {
			break
		}
		if i := slices.Index(rows[0], name); i >= 0 {
			for n, row := range rows {
				rows[n] = slices.Delete(slices.Clone(row), i, i+1)
			}
		}
	}
	for _, row := range rows {
		for i, cell := range row {
			nesting := len(cell) - len(strings.TrimLeft(cell, " "))
			row[i] = cell[:nesting] + SafeLine(cell)
		}
	}
	lines := alignColumns(rows, nil)
	for i, line := range lines {
		lines[i] = strings.TrimRight(indent+line, " ")
		if o.stdout.isTerminal {
			lines[i] = truncateColumns(lines[i], columns)
		}
	}
	o.PrintSafeLines(lines...)
}

// tableWidth returns how many columns of a terminal the rows need.
func tableWidth(indent string, rows [][]string) int {
	width := len(indent)
	for i := range rows[0] {
		widestRow := 0
		for _, row := range rows {
			widestRow = max(widestRow, textWidth(row[i]))
		}
		if i == len(rows[0])-1 {
			return width + min(widestRow, lastColumn)
		}
		width += widestRow + 2
	}
	return width
}

// alignColumns returns rows of safe cells as lines with aligned columns. The columns
// in alignRight are aligned at their right edge.
func alignColumns(rows [][]string, alignRight []bool) []string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], textWidth(cell))
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			cellPadding := strings.Repeat(" ", widths[i]-textWidth(cell))
			if i < len(alignRight) && alignRight[i] {
				cell, cellPadding = cellPadding+cell, ""
			}
			b.WriteString(cell + cellPadding + "  ")
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
