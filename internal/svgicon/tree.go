package svgicon

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The type node is an element of an SVG file, or a piece of text. A node that is a piece
// of text has an empty name.
type node struct {
	name     string
	attrs    []attr
	children []*node
	charData string
}

// The type attr is an attribute of an SVG element. The attribute's name includes the
// namespace prefix, as in xlink:href.
type attr struct{ name, value string }

const maxDepth = 100

// The constant namespace is the XML namespace of SVG, which a standalone SVG file must
// declare.
const namespace = "http://www.w3.org/2000/svg"

// parseSVG drops the parts that browsers do not draw: comments, processing instructions, metadata, and the data of
// drawing programs.
func parseSVG(svg []byte) (*node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(svg, []byte("\ufeff"))))
	var root *node
	var openNodes []*node
	omittedDepth := 0
	for {
		token, err := decoder.RawToken()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(openNodes)+omittedDepth >= maxDepth {
				return nil, fmt.Errorf("its elements are nested more than %d deep", maxDepth)
			}
			name := nameOf(token.Name)
			if omittedDepth > 0 || len(openNodes) > 0 && isOmittedElement(name) {
				omittedDepth++
				continue
			}
			n := &node{name: name, attrs: attrsOf(token.Attr)}
			switch {
			case len(openNodes) > 0:
				openNodes[len(openNodes)-1].children = append(openNodes[len(openNodes)-1].children, n)
			case root != nil:
				return nil, errors.New("the image has more than one root")
			default:
				root = n
			}
			openNodes = append(openNodes, n)
		case xml.EndElement:
			if omittedDepth > 0 {
				omittedDepth--
				continue
			}
			if len(openNodes) == 0 || openNodes[len(openNodes)-1].name != nameOf(token.Name) {
				return nil, fmt.Errorf("</%s> closes nothing", nameOf(token.Name))
			}
			openNodes = openNodes[:len(openNodes)-1]
		case xml.CharData:
			if omittedDepth == 0 && len(openNodes) > 0 {
				openNodes[len(openNodes)-1].addText(string(token))
			}
		case xml.Directive:
			if bytes.Contains(token, []byte("[")) {
				return nil, errors.New("it defines entities; export it without them")
			}
		}
	}
	if root == nil || len(openNodes) > 0 || omittedDepth > 0 {
		return nil, errors.New("it ends too early")
	}
	return root, nil
}

func (n *node) addText(charData string) {
	switch n.name {
	case "text", "tspan", "textPath", "style", "title", "desc":
		n.children = append(n.children, &node{charData: charData})
	}
}

func nameOf(name xml.Name) string {
	if name.Space == "" || name.Space == "svg" {
		return name.Local
	}
	return name.Space + ":" + name.Local
}

func isOmittedElement(name string) bool { return strings.Contains(name, ":") || name == "metadata" }

func attrsOf(xmlAttrs []xml.Attr) []attr {
	var attrs []attr
	for _, a := range xmlAttrs {
		switch a.Name.Space {
		case "", "xlink", "xml":
			attrs = append(attrs, attr{nameOf(a.Name), a.Value})
		case "xmlns":
			if a.Name.Local == "xlink" {
				attrs = append(attrs, attr{"xmlns:xlink", a.Value})
			}
		}
	}
	return attrs
}

func (n *node) attribute(name string) string {
	for _, a := range n.attrs {
		if a.name == name {
			return a.value
		}
	}
	return ""
}

func (n *node) setAttribute(name, value string) {
	for i, a := range n.attrs {
		if a.name == name {
			n.attrs[i].value = value
			return
		}
	}
	n.attrs = append(n.attrs, attr{name, value})
}

func (n *node) walk(visitItem func(*node)) {
	if n.name == "" {
		return
	}
	visitItem(n)
	for _, childNode := range n.children {
		childNode.walk(visitItem)
	}
}

var (
	escapeText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	escapeAttr = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\n", " ", "\t", " ")
)

// String returns the node and its children as SVG text without indentation.
func (n *node) String() string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

func (n *node) write(b *strings.Builder) {
	if n.name == "" {
		b.WriteString(escapeText.Replace(n.charData))
		return
	}
	b.WriteString("<" + n.name)
	for _, a := range n.attrs {
		b.WriteString(" " + a.name + `="` + escapeAttr.Replace(strings.Join(strings.Fields(a.value), " ")) + `"`)
	}
	if len(n.children) == 0 {
		b.WriteString("/>")
		return
	}
	b.WriteString(">")
	for _, childNode := range n.children {
		childNode.write(b)
	}
	b.WriteString("</" + n.name + ">")
}
