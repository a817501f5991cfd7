//go:build ignore

// This program draws the extension's icons, which show a browser window with one active
// tab. Run the program in its folder: go run draw.go
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"
)

// samplesPerSide is how many samples each pixel takes along one side.
const samplesPerSide = 8

func main() {
	for _, size := range []int{16, 32, 48, 128} {
		f, err := os.Create(fmt.Sprintf("%d.png", size))
		if err != nil {
			log.Fatal(err)
		}
		if err := png.Encode(f, draw(size)); err != nil {
			log.Fatal(err)
		}
		if err := f.Close(); err != nil {
			log.Fatal(err)
		}
	}
}

// The function draw renders the icon with size by size pixels, each the average of
// several samples.
func draw(size int) image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			var r, g, b, a float64
			for i := range samplesPerSide * samplesPerSide {
				u := (float64(x) + (float64(i%samplesPerSide)+0.5)/samplesPerSide) / float64(size)
				v := (float64(y) + (float64(i/samplesPerSide)+0.5)/samplesPerSide) / float64(size)
				c := at(u, v)
				w := float64(c.A)
				r, g, b, a = r+float64(c.R)*w, g+float64(c.G)*w, b+float64(c.B)*w, a+w
			}
			if a > 0 {
				img.SetNRGBA(x, y, color.NRGBA{uint8(r / a), uint8(g / a), uint8(b / a), uint8(a / (samplesPerSide * samplesPerSide))})
			}
		}
	}
	return img
}

var (
	clear   = color.NRGBA{}
	strip   = color.NRGBA{0xa8, 0xdc, 0xc6, 0xff}
	tab     = color.NRGBA{0x14, 0x6c, 0x50, 0xff}
	favicon = color.NRGBA{0xff, 0xc8, 0x3d, 0xff}
	title   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
)

// The function at returns the color of the drawing at a point. The drawing shows a strip with round
// corners, and on it a tab that widens at the foot, with a favicon and a title. The drawing has 16
// units on each side. All edges of the drawing are at whole units, so that the edges are sharp in
// an icon of 16 pixels.
func at(u, v float64) color.NRGBA {
	x, y := 16*u, 16*v
	side := math.Min(x, 16-x) // the drawing of the tab is symmetric
	isFoot := side < 2 && y > 11 && math.Hypot(side, y-11) >= 2
	switch {
	case !isInRoundedBox(x, y, 0, 0, 16, 16, 3.5):
		return clear
	case math.Hypot(x-5.5, y-8.5) <= 1.5:
		return favicon
	case isInRoundedBox(x, y, 8, 8, 12, 9, 0.3):
		return title
	case y >= 13, isFoot, isInRoundedBox(x, y, 2, 4, 14, 20, 2):
		return tab
	}
	return strip
}

// isInRoundedBox reports whether a point is in a box with round corners.
func isInRoundedBox(u, v, left, top, right, bottom, radius float64) bool {
	x := math.Max(math.Max(left+radius-u, u-(right-radius)), 0)
	y := math.Max(math.Max(top+radius-v, v-(bottom-radius)), 0)
	return x*x+y*y <= radius*radius
}
