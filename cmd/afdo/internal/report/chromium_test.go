package report

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/go-afdo/afdo/internal/testkit/testenv"
)

// A browser is a Chromium without a window. It is driven through a pipe by the
// DevTools protocol: messages of JSON, each ended by a NUL.
type browser struct {
	write *os.File

	mu      sync.Mutex
	latest  int
	answers map[int]chan message
	said    []string    // console messages, exceptions, and URLs that the page tried to load
	loaded  chan string // loader IDs of documents that have loaded
	broken  error
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    any             `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// answerTime is how long a test waits for an answer of the browser, enough for a busy machine.
const answerTime = 60 * time.Second

// needBrowser returns the path of Chromium. It skips the test if Chromium is missing, or fails it
// in CI.
func needBrowser(t *testing.T) string {
	t.Helper()
	return testenv.Tool(t, "chromium", "chromium-browser", "google-chrome")
}

// running is the browser that all tests share, after the first one has started it. endBrowser ends
// it.
var (
	running    *browser
	endBrowser = func() {}
)

func TestMain(m *testing.M) {
	status := m.Run()
	endBrowser()
	os.Exit(status)
}

// startBrowser returns the browser that all tests share. It skips the test if Chromium is missing
// or long tests are disabled.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	testenv.NeedSweep(t)
	if running == nil {
		running, endBrowser = newBrowser(t)
	}
	running.mu.Lock()
	defer running.mu.Unlock()
	running.said = nil
	return running
}

func newBrowser(t *testing.T) (b *browser, end func()) {
	t.Helper()
	path := needBrowser(t)
	in, write, err := os.Pipe()
	require.NoError(t, err)
	read, out, err := os.Pipe()
	require.NoError(t, err)
	profileDir, err := os.MkdirTemp("", "afdo-chromium")
	require.NoError(t, err)
	cmd := exec.Command(path,
		"--headless", "--remote-debugging-pipe", "--user-data-dir="+profileDir,
		"--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--hide-scrollbars", "about:blank")
	cmd.ExtraFiles = []*os.File{in, out} // 3 and 4
	require.NoError(t, cmd.Start())
	require.NoError(t, errors.Join(in.Close(), out.Close()))
	b = &browser{write: write, answers: map[int]chan message{}, loaded: make(chan string, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.read(read)
	}()
	return b, func() {
		_ = write.Close() // which ends it
		exited := make(chan error, 1)
		go func() { exited <- cmd.Wait() }()
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			_ = cmd.Process.Kill()
			<-exited
		}
		_ = read.Close()
		<-done
		_ = os.RemoveAll(profileDir)
	}
}

func (b *browser) read(from *os.File) {
	r := bufio.NewReader(from)
	for {
		data, err := r.ReadBytes(0)
		var m message
		var params json.RawMessage
		m.Params = &params
		if err == nil {
			err = json.Unmarshal(data[:len(data)-1], &m)
		}
		b.mu.Lock()
		if err != nil {
			b.broken = err
			for _, answer := range b.answers {
				close(answer)
			}
			b.answers = nil
			b.mu.Unlock()
			return
		}
		switch {
		case m.ID != 0:
			b.answers[m.ID] <- m
			delete(b.answers, m.ID)
		case m.Method == "Runtime.consoleAPICalled", m.Method == "Runtime.exceptionThrown", m.Method == "Log.entryAdded":
			b.said = append(b.said, m.Method+" "+string(params))
		case m.Method == "Network.requestWillBeSent":
			var request struct{ Request struct{ URL string } }
			if json.Unmarshal(params, &request) == nil {
				b.said = append(b.said, "request "+request.Request.URL)
			}
		case m.Method == "Page.lifecycleEvent":
			var event struct{ LoaderID, Name string }
			if json.Unmarshal(params, &event) == nil && event.Name == "load" {
				b.loaded <- event.LoaderID
			}
		}
		b.mu.Unlock()
	}
}

// call calls a method of the protocol and decodes what it gives.
func (b *browser) call(t *testing.T, session, method string, params, result any) {
	t.Helper()
	b.mu.Lock()
	require.NoError(t, b.broken)
	b.latest++
	answer := make(chan message, 1)
	b.answers[b.latest] = answer
	data, err := json.Marshal(message{ID: b.latest, SessionID: session, Method: method, Params: params})
	b.mu.Unlock()
	require.NoError(t, err)
	_, err = b.write.Write(append(data, 0))
	require.NoError(t, err)
	select {
	case m, ok := <-answer:
		require.True(t, ok, "the browser is gone")
		require.Nil(t, m.Error, "%s", method)
		if result != nil {
			require.NoError(t, json.Unmarshal(m.Result, result))
		}
	case <-time.After(answerTime):
		t.Fatalf("no answer to %s", method)
	}
}

// A tab is a page in a browser.
type tab struct {
	*browser
	session string
}

// open opens a file in a new tab of some width, in the light or dark colours, and waits until it
// has loaded.
func (b *browser) open(t *testing.T, path, colours string, width int) *tab {
	t.Helper()
	return b.openAt(t, path, "", colours, width)
}

// openAt opens a file at a fragment, which begins with "#".
func (b *browser) openAt(t *testing.T, path, fragment, colours string, width int) *tab {
	t.Helper()
	var target struct{ TargetID string }
	b.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	t.Cleanup(func() { b.call(t, "", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil) })
	var session struct{ SessionID string }
	b.call(t, "", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	p := &tab{b, session.SessionID}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.do(t, domain+".enable", nil)
	}
	p.do(t, "Page.setLifecycleEventsEnabled", map[string]any{"enabled": true})
	p.do(t, "Emulation.setEmulatedMedia", map[string]any{
		"features": []any{map[string]any{"name": "prefers-color-scheme", "value": colours}},
	})
	p.do(t, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false,
	})
	absolute, err := filepath.Abs(path)
	require.NoError(t, err)
	var loader struct{ LoaderID string }
	b.call(t, p.session, "Page.navigate", map[string]any{"url": "file://" + absolute + fragment}, &loader)
	for timeout := time.After(answerTime); ; {
		select {
		case id := <-b.loaded:
			if id == loader.LoaderID {
				return p
			}
		case <-timeout:
			t.Fatalf("%s does not load", path)
		}
	}
}

func (p *tab) do(t *testing.T, method string, params map[string]any) {
	t.Helper()
	if params == nil {
		params = map[string]any{}
	}
	p.call(t, p.session, method, params, nil)
}

// eval evaluates an expression in the page, and decodes its value.
func (p *tab) eval(t *testing.T, expression string, into any) {
	t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails json.RawMessage
	}
	p.call(t, p.session, "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true,
	}, &answer)
	require.Nil(t, answer.ExceptionDetails, "%s: %s", expression, answer.ExceptionDetails)
	if into != nil {
		require.NoError(t, json.Unmarshal(answer.Result.Value, into), "%s", expression)
	}
}

func (p *tab) text(t *testing.T, expression string) string {
	t.Helper()
	var s string
	p.eval(t, expression, &s)
	return s
}

func (p *tab) texts(t *testing.T, expression string) []string {
	t.Helper()
	var s []string
	p.eval(t, expression, &s)
	return s
}

func (p *tab) number(t *testing.T, expression string) float64 {
	t.Helper()
	var n float64
	p.eval(t, expression, &n)
	return n
}

// wait waits until an expression is true.
func (p *tab) wait(t *testing.T, expression string) {
	t.Helper()
	var ok bool
	p.eval(t, fmt.Sprintf(`new Promise(resolve => {
		const until = Date.now() + 20000;
		const look = () => (%s) ? resolve(true) : Date.now() > until ? resolve(false) : setTimeout(look, 10);
		look();
	})`, expression), &ok)
	require.True(t, ok, "%s", expression)
}

// key presses a key.
func (p *tab) key(t *testing.T, key string) {
	t.Helper()
	for _, typ := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": typ, "key": key}
		if key == "Enter" && typ == "keyDown" {
			params["text"] = "\r"
		}
		p.do(t, "Input.dispatchKeyEvent", params)
	}
}

// search types something into the search field and waits until it has been searched for.
func (p *tab) search(t *testing.T, text string) {
	t.Helper()
	p.eval(t, `document.getElementById('search').focus(); document.getElementById('search').select()`, nil)
	p.do(t, "Input.insertText", map[string]any{"text": text})
	p.wait(t, `document.getElementById('found').textContent !== ''`)
}

// screenshot writes a picture of the page into the folder $AFDO_SCREENSHOTS, if it is set.
func (p *tab) screenshot(t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("AFDO_SCREENSHOTS")
	if folder == "" {
		return
	}
	height := p.number(t, "document.documentElement.scrollHeight")
	width := p.number(t, "innerWidth")
	p.do(t, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": int(width), "height": int(height), "deviceScaleFactor": 1, "mobile": false,
	})
	var shot struct{ Data string }
	p.call(t, p.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".png"), png, 0o666))
	p.do(t, "Emulation.setDeviceMetricsOverride", map[string]any{
		"width": int(width), "height": 900, "deviceScaleFactor": 1, "mobile": false,
	})
}

// loadTime returns how long the page took to load and to paint something, in milliseconds.
func (p *tab) loadTime(t *testing.T) (load, paint float64) {
	t.Helper()
	p.wait(t, `performance.getEntriesByName('first-contentful-paint').length > 0`)
	return p.number(t, `performance.getEntriesByType('navigation')[0].loadEventEnd`),
		p.number(t, `performance.getEntriesByName('first-contentful-paint')[0].startTime`)
}

// quiet checks that the page has loaded nothing but itself, and has written nothing to the console.
func (p *tab) quiet(t *testing.T, path string) {
	t.Helper()
	p.quietAt(t, path, "")
}

// quietAt is quiet for a page that was opened at a fragment.
func (p *tab) quietAt(t *testing.T, path, fragment string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	absolute, err := filepath.Abs(path)
	require.NoError(t, err)
	for _, s := range p.said {
		if s != "request file://"+absolute && s != "request file://"+absolute+fragment && s != "request data:," {
			t.Errorf("the page says: %s", s)
		}
	}
	p.said = nil
}
