package svgicon

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"opentabs/internal/lazyregexp"
)

// These constants name the icon files in a plugin's folder. All icon files are optional,
// but the other icons require icon.svg.
const (
	fileIcon         = "icon.svg"
	fileInactive     = "icon-inactive.svg"
	fileDark         = "icon-dark.svg"
	fileDarkInactive = "icon-dark-inactive.svg"
)

// Files are the names of all icon files that a plugin can have.
var Files = []string{fileIcon, fileInactive, fileDark, fileDarkInactive}

// MaxBytes is the maximum size of one icon file, in bytes.
const MaxBytes = 16 << 10

// Set contains the icons of a plugin as SVG text. The text of an icon that the author did
// not provide is empty.
type Set struct {
	// Surfaces show Icon while the plugin is active, and Inactive while the plugin is
	// inactive.
	Icon, Inactive string
	// Dark and DarkInactive replace Icon and Inactive on a dark background.
	Dark, DarkInactive string
}

// Problem is a problem in an icon file. The text of a Problem continues a sentence that begins with the name of the
// file, and describes how to fix the problem.
type Problem struct{ File, Text string }

// BuildSet checks a plugin's icon files, by file name, and returns the minified icons. The XML
// ids in the icons get the plugin's name as a prefix, so that icons of several plugins do
// not conflict in one HTML document. If a file has a problem, BuildSet returns no icons.
func BuildSet(name string, files map[string][]byte) (Set, []Problem) {
	var problems []Problem
	icons := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		tree, problemText := readIcon(files[file])
		if problemText != "" {
			problems = append(problems, Problem{file, problemText})
			continue
		}
		icons[file] = writeIcon(tree, name+strings.TrimSuffix(strings.TrimPrefix(file, "icon"), ".svg"))
	}
	if len(files) > 0 && files[fileIcon] == nil {
		problems = append(problems, Problem{fileIcon, "is missing, but there are variants of it; add it or remove them"})
	}
	if len(problems) > 0 {
		return Set{}, problems
	}
	return Set{icons[fileIcon], icons[fileInactive], icons[fileDark], icons[fileDarkInactive]}, nil
}

func writeIcon(n *node, prefix string) string {
	n.setAttribute("xmlns", namespace)
	n.renameIDs(prefix + "-")
	return n.String()
}

func readIcon(svg []byte) (*node, string) {
	if len(svg) > MaxBytes {
		return nil, fmt.Sprintf("has %d bytes; make it at most %d, for example with svgo", len(svg), MaxBytes)
	}
	tree, err := parseSVG(svg)
	if err != nil {
		return nil, fmt.Sprintf("can't be read as SVG: %v", err)
	}
	if tree.name != "svg" {
		return nil, fmt.Sprintf("begins with <%s>; make it an SVG file, which begins with <svg>", tree.name)
	}
	if problemText := checkViewBox(tree.attribute("viewBox")); problemText != "" {
		return nil, problemText
	}
	problemText := ""
	tree.walk(func(n *node) {
		if problemText == "" {
			problemText = findUnsafeContent(n)
		}
	})
	return tree, problemText
}

func checkViewBox(viewBox string) string {
	if viewBox == "" {
		return `has no viewBox; add one that is square, as in viewBox="0 0 24 24"`
	}
	textParts := strings.FieldsFunc(viewBox, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) })
	var numbers []float64
	for _, textPart := range textParts {
		n, err := strconv.ParseFloat(textPart, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			break
		}
		numbers = append(numbers, n)
	}
	switch {
	case len(textParts) != 4 || len(numbers) != 4 || numbers[2] <= 0 || numbers[3] <= 0:
		return fmt.Sprintf(`has the viewBox %q; write four numbers, as in viewBox="0 0 24 24"`, viewBox)
	case numbers[2] != numbers[3]:
		return fmt.Sprintf("is not square: its viewBox is %v wide and %v high; make both the same", numbers[2], numbers[3])
	}
	return ""
}

// forbiddenElements are the SVG elements that can run scripts or load other files.
var forbiddenElements = []string{"script", "image", "feImage", "foreignObject", "iframe", "object", "embed", "audio", "video"}

var (
	externalLoad     = lazyregexp.New(`(?i)@import|url\(\s*["']?\s*[^#"'\s)]`)
	referencePattern = lazyregexp.New(`(?i)(url\(\s*["']?\s*#)([^"')\s]+)`)
)

func findUnsafeContent(n *node) string {
	if slices.ContainsFunc(forbiddenElements, func(name string) bool { return strings.EqualFold(n.name, name) }) {
		return fmt.Sprintf("has a <%s>; draw the icon with shapes alone", n.name)
	}
	for _, a := range n.attrs {
		switch {
		case len(a.name) > 2 && strings.EqualFold(a.name[:2], "on"):
			return fmt.Sprintf("has the event handler %s; remove it", a.name)
		case a.name == "href" || a.name == "xlink:href":
			if !strings.HasPrefix(strings.TrimSpace(a.value), "#") {
				return fmt.Sprintf("refers to %q; refer only to ids of the file itself", a.value)
			}
		case externalLoad().MatchString(a.value):
			return fmt.Sprintf("loads something in %s=%q; refer only to ids of the file itself", a.name, a.value)
		}
	}
	for _, childNode := range n.children {
		if n.name == "style" && externalLoad().MatchString(childNode.charData) {
			return "has a style that loads something; refer only to ids of the file itself"
		}
	}
	return ""
}

func (n *node) renameIDs(prefix string) {
	ids := map[string]bool{}
	n.walk(func(n *node) {
		if id := n.attribute("id"); id != "" {
			ids[id] = true
		}
	})
	renameReferences := func(attributeValue string) string {
		return referencePattern().ReplaceAllStringFunc(attributeValue, func(match string) string {
			textParts := referencePattern().FindStringSubmatch(match)
			if !ids[textParts[2]] {
				return match
			}
			return textParts[1] + prefix + textParts[2]
		})
	}
	n.walk(func(n *node) {
		for i, a := range n.attrs {
			switch name, isReference := strings.CutPrefix(strings.TrimSpace(a.value), "#"); {
			case a.name == "id":
				n.attrs[i].value = prefix + a.value
			case isReference && ids[name] && strings.HasSuffix(a.name, "href"):
				n.attrs[i].value = "#" + prefix + name
			case a.name == "aria-labelledby" || a.name == "aria-describedby":
				words := strings.Fields(a.value)
				for w, word := range words {
					if ids[word] {
						words[w] = prefix + word
					}
				}
				n.attrs[i].value = strings.Join(words, " ")
			default:
				n.attrs[i].value = renameReferences(a.value)
			}
		}
		if n.name == "style" {
			for _, childNode := range n.children {
				childNode.charData = renameSelectors(renameReferences(childNode.charData), ids, prefix)
			}
		}
	})
}

var selectorPattern = lazyregexp.New(`[^{}]*\{`)

func renameSelectors(style string, ids map[string]bool, prefix string) string {
	return selectorPattern().ReplaceAllStringFunc(style, func(selectorText string) string {
		for id := range ids {
			selectorText = regexp.MustCompile(`#`+regexp.QuoteMeta(id)+`([\s,.:>+~\[{)]|$)`).ReplaceAllString(selectorText, "#"+strings.ReplaceAll(prefix+id, "$", "$$")+"$1")
		}
		return selectorText
	})
}
