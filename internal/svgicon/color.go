package svgicon

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// color is an sRGB color; each part is from 0 to 1.
type color struct{ r, g, b, alpha float64 }

// darkSurface is the background of dark icons. minContrast is the contrast that they
// need on it, from WCAG 2.2, 1.4.11.
var darkSurface = color{28.0 / 255, 28.0 / 255, 28.0 / 255, 1}

const minContrast = 3

// parseColor reads a color of CSS: hex, a name, rgb() or hsl(). The other words
// that are valid as a color's value (none, currentColor, url(#a)) are not colors.
func parseColor(text string) (color, bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if hex, ok := namedColors[text]; ok {
		text = "#" + hex
	}
	if hex, ok := strings.CutPrefix(text, "#"); ok {
		return parseHex(hex)
	}
	name, rest, ok := strings.Cut(text, "(")
	rest, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return color{}, false
	}
	parts := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(", /\t\n", r) })
	if len(parts) != 3 && len(parts) != 4 {
		return color{}, false
	}
	switch strings.TrimSuffix(name, "a") {
	case "rgb":
		return parseRGB(parts)
	case "hsl":
		return parseHSL(parts)
	}
	return color{}, false
}

func parseHex(hex string) (color, bool) {
	if len(hex) == 3 || len(hex) == 4 {
		var long strings.Builder
		for _, digit := range hex {
			long.WriteString(strings.Repeat(string(digit), 2))
		}
		hex = long.String()
	}
	if len(hex) == 6 {
		hex += "ff"
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil || len(hex) != 8 {
		return color{}, false
	}
	part := func(shift int) float64 { return float64(n>>shift&0xff) / 255 }
	return color{part(24), part(16), part(8), part(0)}, true
}

func parseRGB(parts []string) (color, bool) {
	var v [4]float64
	v[3] = 1
	for i, text := range parts {
		whole := 255.0
		if i == 3 {
			whole = 1
		}
		n, ok := parseNumber(text, whole)
		if !ok {
			return color{}, false
		}
		v[i] = n
	}
	return color{v[0], v[1], v[2], v[3]}, true
}

func parseHSL(parts []string) (color, bool) {
	hue, err := strconv.ParseFloat(strings.TrimSuffix(parts[0], "deg"), 64)
	saturation, okS := parseNumber(parts[1], 100)
	light, okL := parseNumber(parts[2], 100)
	alpha, okA := 1.0, true
	if len(parts) == 4 {
		alpha, okA = parseNumber(parts[3], 1)
	}
	if err != nil || !okS || !okL || !okA || math.IsNaN(hue) || math.IsInf(hue, 0) {
		return color{}, false
	}
	c := fromHSL(math.Mod(math.Mod(hue, 360)+360, 360)/60, saturation, light)
	c.alpha = alpha
	return c, true
}

// parseNumber reads a number from 0 to whole, or a percentage, and returns it scaled
// to 0 to 1.
func parseNumber(text string, whole float64) (float64, bool) {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		text, whole = percent, 100
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		return 0, false
	}
	return min(max(n/whole, 0), 1), true
}

// String writes the color as CSS hex.
func (c color) String() string {
	part := func(v float64) int { return int(math.Round(v * 255)) }
	text := fmt.Sprintf("#%02x%02x%02x", part(c.r), part(c.g), part(c.b))
	if c.alpha < 1 {
		text += fmt.Sprintf("%02x", part(c.alpha))
	}
	return text
}

// achromatic reports whether the color is a grey, with the precision of hex.
func (c color) achromatic() bool {
	const step = 1.5 / 255
	return math.Abs(c.r-c.g) < step && math.Abs(c.g-c.b) < step && math.Abs(c.r-c.b) < step
}

// luminance is the relative luminance of WCAG 2.
func (c color) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the contrast ratio of WCAG 2, from 1 to 21.
func contrast(a, b color) float64 {
	light, dark := max(a.luminance(), b.luminance()), min(a.luminance(), b.luminance())
	return (light + 0.05) / (dark + 0.05)
}

// grey returns the grey that is as light as the color.
func (c color) grey() color {
	v := c.luminance()
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return color{v, v, v, c.alpha}
}

// onDark returns the color, lightened until it is visible on a dark surface.
func (c color) onDark() color {
	if contrast(c, darkSurface) >= minContrast {
		return c
	}
	hue, saturation, low := c.hsl()
	high := 1.0
	for range 20 {
		middle := (low + high) / 2
		if contrast(fromHSL(hue, saturation, middle), darkSurface) < minContrast {
			low = middle
		} else {
			high = middle
		}
	}
	lighter := fromHSL(hue, saturation, min(high+0.005, 1)) // hex rounds
	lighter.alpha = c.alpha
	return lighter
}

// hsl returns hue (0 to 6), saturation and lightness (0 to 1).
func (c color) hsl() (hue, saturation, light float64) {
	high, low := max(c.r, c.g, c.b), min(c.r, c.g, c.b)
	light = (high + low) / 2
	span := high - low
	if span == 0 {
		return 0, 0, light
	}
	saturation = span / (1 - math.Abs(2*light-1))
	switch high {
	case c.r:
		hue = math.Mod((c.g-c.b)/span+6, 6)
	case c.g:
		hue = (c.b-c.r)/span + 2
	default:
		hue = (c.r-c.g)/span + 4
	}
	return hue, saturation, light
}

func fromHSL(hue, saturation, light float64) color {
	chroma := (1 - math.Abs(2*light-1)) * saturation
	x := chroma * (1 - math.Abs(math.Mod(hue, 2)-1))
	m := light - chroma/2
	c := [...]color{
		{chroma, x, 0, 1}, {x, chroma, 0, 1}, {0, chroma, x, 1}, {0, x, chroma, 1}, {x, 0, chroma, 1}, {chroma, 0, x, 1},
	}[int(hue)%6]
	return color{c.r + m, c.g + m, c.b + m, 1}
}

// paints are the properties whose value is a color.
const paints = `fill|stroke|stop-color|flood-color|lighting-color|color`

var (
	isPaint = regexp.MustCompile(`^(?:` + paints + `)$`)
	// declarations finds them in a style.
	declarations = regexp.MustCompile(`(?i)((?:^|[;{\s])(?:` + paints + `)\s*:\s*)([^;}!]+)`)
)

// eachColor replaces every color in the tree by what change returns.
func (n *node) eachColor(change func(color) color) {
	value := func(text string) string {
		c, ok := parseColor(text)
		if !ok {
			return text
		}
		return change(c).String()
	}
	style := func(text string) string {
		return declarations.ReplaceAllStringFunc(text, func(found string) string {
			parts := declarations.FindStringSubmatch(found)
			return parts[1] + value(parts[2])
		})
	}
	n.walk(func(n *node) {
		for i, a := range n.attrs {
			switch {
			case isPaint.MatchString(a.name):
				n.attrs[i].value = value(a.value)
			case a.name == "style":
				n.attrs[i].value = style(a.value)
			}
		}
		if n.name == "style" {
			for _, child := range n.children {
				child.text = style(child.text)
			}
		}
	})
}
