//go:build ignore

// Draws the extension's icons: an open tab with a spark. To draw the icons of the
// extension, run this program in its folder: go run draw.go
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

// draw renders the icon with size by size pixels, each the average of several samples.
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
	clear = color.NRGBA{}
	body  = color.NRGBA{0x1a, 0x6b, 0x54, 0xff}
	spark = color.NRGBA{0xf4, 0xc9, 0x4b, 0xff}
)

// at returns the drawing at a point: a tab's outline, a rounded card below, and a
// four-pointed spark cut into the card.
func at(u, v float64) color.NRGBA {
	dx, dy := math.Abs(u-0.5), math.Abs(v-0.58)
	if math.Sqrt(dx)+math.Sqrt(dy) < math.Sqrt(0.27) {
		return spark
	}
	if isInRoundedBox(u, v, 0.06, 0.26, 0.94, 0.94, 0.12) || isInRoundedBox(u, v, 0.06, 0.08, 0.56, 0.5, 0.12) {
		return body
	}
	return clear
}

// isInRoundedBox reports whether a point is in a box with round corners.
func isInRoundedBox(u, v, left, top, right, bottom, radius float64) bool {
	x := math.Max(math.Max(left+radius-u, u-(right-radius)), 0)
	y := math.Max(math.Max(top+radius-v, v-(bottom-radius)), 0)
	return x*x+y*y <= radius*radius
}
