package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/profile"
)

func TestParseInput(t *testing.T) {
	for text, want := range map[string]Input{
		"a.afdo":       {Path: "a.afdo", Weight: one},
		"a=3":          {Path: "a", Weight: profile.Ratio{Num: 3, Den: 1}},
		"a=0.5":        {Path: "a", Weight: profile.Ratio{Num: 1, Den: 2}},
		"a=3/4":        {Path: "a", Weight: profile.Ratio{Num: 3, Den: 4}},
		"a=25%":        {Path: "a", Weight: profile.Ratio{Num: 1, Den: 4}},
		"a=1=2":        {Path: "a=1", Weight: profile.Ratio{Num: 2, Den: 1}},
		"v=1/x.afdo":   {Path: "v=1/x.afdo", Weight: one},
		"v=1/x=2":      {Path: "v=1/x", Weight: profile.Ratio{Num: 2, Den: 1}},
		"a=b":          {Path: "a=b", Weight: one},
		"a=":           {Path: "a=", Weight: one},
		"a=-1":         {Path: "a=-1", Weight: one},
		"=3":           {Path: "=3", Weight: one},
		"":             {Path: "", Weight: one},
		"x y=10":       {Path: "x y", Weight: profile.Ratio{Num: 10, Den: 1}},
		"a=v1.2/p=1/2": {Path: "a=v1.2/p", Weight: profile.Ratio{Num: 1, Den: 2}},
	} {
		got, err := ParseInput(text)
		assert.NoError(t, err, "%q", text)
		assert.Equal(t, want, got, "%q", text)
	}
	for _, text := range []string{"a=0", "a=.", "a=1.2.3", "a=/", "a=1/2/3", "a=%", "a=99999999999999999999"} {
		_, err := ParseInput(text)
		assert.ErrorContains(t, err, "weight of a: bad ratio", "%q", text)
	}
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestReadList(t *testing.T) {
	const list = "# all of today\r\n\n  a.afdo=2 \r\n" +
		"b c.afdo\thost=web 7\tage=36h\n" +
		"d=1/3\t time=2026-05-04T13:00:00+02:00 \t\n" +
		"e\tweight=50%\thost=\tage=2w\n#"
	got, err := ReadList("list", strings.NewReader(list), noon)
	require.NoError(t, err)
	want := []Input{
		{Path: "a.afdo", Weight: profile.Ratio{Num: 2, Den: 1}},
		{Path: "b c.afdo", Weight: one, Host: "web 7", Time: noon.Add(-36 * time.Hour)},
		{Path: "d", Weight: profile.Ratio{Num: 1, Den: 3}, Time: noon.Add(-time.Hour)},
		{Path: "e", Weight: profile.Ratio{Num: 1, Den: 2}, Time: noon.Add(-14 * 24 * time.Hour)},
	}
	require.Len(t, got, len(want))
	for i := range want {
		assert.True(t, want[i].Time.Equal(got[i].Time), "%v", got[i])
		got[i].Time = want[i].Time
	}
	assert.Equal(t, want, got)
}

func TestReadListErrors(t *testing.T) {
	for line, want := range map[string]string{
		"a=0":                          `weight of a: bad ratio "0": want more than 0`,
		"a=2\tweight=2":                "a second weight of a",
		"a\tweight=2\tweight=2":        "a second weight of a",
		"a\tage=1h\ttime=x":            "a second time of a",
		"a\tage=1y":                    `age of a: bad duration "1y": want one like 7d, 36h or 90m`,
		"a\tage=-1h":                   `age of a: bad duration "-1h": want one like 7d, 36h or 90m`,
		"a\ttime=yesterday":            `time of a: bad time "yesterday": want one like 2026-01-31T04:00:00Z`,
		"a\tweight=":                   `weight of a: bad ratio "": want a number like 3, 0.5, 3/4 or 99.99%`,
		"a\t3":                         "3 of a: no such column: want weight=, host=, time= or age=",
		"a \x1b\tHost=x":               `Host of "a \x1b": no such column: want weight=, host=, time= or age=`,
		strings.Repeat("x", maxLine+1): "bufio.Scanner: token too long",
	} {
		t.Run(line, func(t *testing.T) {
			_, err := ReadList("list", strings.NewReader("good\n"+line), noon)
			assert.EqualError(t, err, "list:2: "+want)
		})
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "7d": 7 * 24 * time.Hour, "2w": 14 * 24 * time.Hour, "1h30m": 90 * time.Minute, "106751d": 106751 * 24 * time.Hour,
	} {
		got, err := ParseDuration(text)
		assert.NoError(t, err)
		assert.Equal(t, want, got)
	}
	for _, text := range []string{"", "d", "1.5d", "-1d", "106752d", "18446744073709551615w", "1", "-1s", "x"} {
		_, err := ParseDuration(text)
		assert.ErrorContains(t, err, "bad duration", "%q", text)
	}
}
