package main

import (
	"fmt"
	"math"
	"strings"
)

// A panel is one diagram of the plot: figures over the number of names, both
// on logarithmic scales.
type panel struct {
	title    string
	low, top float64 // of the vertical axis
	label    func(float64) string
	steps    []float64 // of the axis
}

// A curve is what a panel shows of one table.
type curve struct {
	name, colour string
	dashed       bool
	values       []float64 // by nameSets; NaN where there is none
}

const (
	plotWidth, plotHeight = 860, 420
	panelWidth            = 330
	panelTop, panelHeight = 50, 260
	panelLeft, panelStep  = 70, 430
)

var colours = []string{"#1b6ca8", "#2a9d4e", "#c0392b", "#8e5ea2"}

// plotNames draws lookup times and sizes of the tables of names.
func plotNames(r *results) string {
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)

	times := panel{
		title: "time of a lookup (dashed: of a name that is not there)", low: 10, top: 3e6, label: duration,
		steps: []float64{10, 100, 1_000, 10_000, 100_000, 1_000_000},
	}
	sizes := panel{
		title: "bytes a name", low: 20, top: 80, label: func(v float64) string { return fmt.Sprint(v) },
		steps: []float64{20, 30, 40, 50, 60, 80},
	}
	var timed, sized []curve
	for i, table := range nameTables {
		for _, find := range []string{"hit", "miss"} {
			timed = append(timed, curve{table.what, colours[i], find == "miss", r.curve(table.table, find, processor)})
		}
		sized = append(sized, curve{table.what, colours[i], false, r.curve(table.table, "hit", "table-B/name")})
	}
	sized = append(sized, curve{"the names alone", "#777777", true, r.curve("hash", "hit", "plain-B/name")})
	times.draw(&svg, panelLeft, timed)
	sizes.draw(&svg, panelLeft+panelStep, sized)
	legend(&svg, sized)
	svg.WriteString("</svg>\n")
	return svg.String()
}

func (r *results) curve(table, find, unit string) []float64 {
	values := make([]float64, len(nameSets))
	for i, n := range nameSets {
		v, ok := r.median(lookupOf(n, table, find), unit)
		if !ok {
			v = math.NaN()
		}
		values[i] = v
	}
	return values
}

// along returns where a figure lies between two others on a logarithmic scale, from 0 to 1.
func along(low, v, high float64) float64 { return math.Log(v/low) / math.Log(high/low) }

func (p *panel) draw(svg *strings.Builder, left float64, curves []curve) {
	x := func(n int) float64 { return left + panelWidth*along(7, float64(n), 215_000) }
	y := func(v float64) float64 { return panelTop + panelHeight*(1-along(p.low, v, p.top)) }
	fmt.Fprintf(svg, `<text x="%.0f" y="%d" font-size="14">%s</text>`+"\n", left, panelTop-20, p.title)
	for _, s := range p.steps {
		fmt.Fprintf(svg, `<line x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f" stroke="#dddddd"/>`, left, left+panelWidth, y(s), y(s))
		fmt.Fprintf(svg, `<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n", left-6, y(s)+4, plain(p.label(s)))
	}
	for _, n := range nameSets {
		fmt.Fprintf(svg, `<line x1="%.1f" x2="%.1f" y1="%d" y2="%d" stroke="#dddddd"/>`, x(n), x(n), panelTop, panelTop+panelHeight)
		fmt.Fprintf(svg, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", x(n), panelTop+panelHeight+18, count(float64(n)))
	}
	fmt.Fprintf(svg, `<text x="%.0f" y="%d" text-anchor="middle">names in the table</text>`+"\n", left+panelWidth/2, panelTop+panelHeight+36)
	for _, c := range curves {
		c.draw(svg, x, y)
	}
}

func (c *curve) draw(svg *strings.Builder, x func(int) float64, y func(float64) float64) {
	var points []string
	for i, v := range c.values {
		if math.IsNaN(v) {
			continue
		}
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(nameSets[i]), y(v)))
		if !c.dashed {
			fmt.Fprintf(svg, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`, x(nameSets[i]), y(v), c.colour)
		}
	}
	fmt.Fprintf(svg, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"%s/>`+"\n", strings.Join(points, " "), c.colour, c.dashes())
}

func (c *curve) dashes() string {
	if c.dashed {
		return ` stroke-dasharray="5 4"`
	}
	return ""
}

// legend names the curves below the panels.
func legend(svg *strings.Builder, curves []curve) {
	for i, c := range curves {
		left, top := float64(panelLeft+260*(i%3)), float64(panelTop+panelHeight+68+22*(i/3))
		fmt.Fprintf(svg, `<line x1="%.0f" x2="%.0f" y1="%.0f" y2="%.0f" stroke="%s" stroke-width="2"%s/>`, left, left+28, top-4, top-4, c.colour, c.dashes())
		fmt.Fprintf(svg, `<text x="%.0f" y="%.0f">%s</text>`+"\n", left+36, top, c.name)
	}
}

// plain drops the fraction of round figures: 10.0 ns is 10 ns.
func plain(s string) string {
	number, unit, _ := strings.Cut(s, " ")
	if whole, fraction, ok := strings.Cut(number, "."); ok && strings.Trim(fraction, "0") == "" {
		number = whole
	}
	return strings.TrimSpace(number + " " + unit)
}
