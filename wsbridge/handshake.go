package wsbridge

import (
	"bufio"
	"crypto/hmac"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/rs/zerolog"

	"opentabs/internal/httpjson"
	"opentabs/internal/loopback"
	"opentabs/wire"
	"opentabs/wsbridge/inbound"
)

// helloTimeout limits the whole handshake, from the HTTP upgrade to the browser's first frame.
const helloTimeout = 10 * time.Second

// maxCapabilities limits the number of capabilities in a browser's hello frame.
const maxCapabilities = 32

// maxOpenHandshakes limits the handshakes in progress. A browser completes its handshake in a few
// milliseconds, but any program on the machine can open connections. If more handshakes are in
// progress, the server closes the oldest unauthenticated connection.
const maxOpenHandshakes = 64

// maxHelloBytes limits the size of a browser's first frame (hello), so that an unauthenticated
// peer cannot fill the memory.
const maxHelloBytes = 64 << 10

func (h *Hub) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if httpStatus, refusalText := inbound.CheckUpgrade(r, h.opts.Origins); httpStatus != 0 {
		h.refusals.LogRejected(&h.opts.Log, refusalText, func(e *zerolog.Event) {
			e.Int("status", httpStatus).Str("origin", inbound.CleanText(r.Header.Get("Origin"), 200))
		})
		if httpStatus == http.StatusMethodNotAllowed {
			w.Header().Set("Allow", http.MethodGet)
		}
		if httpStatus == http.StatusUpgradeRequired {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
		}
		httpjson.SendError(w, httpStatus, refusalText)
		return
	}
	var connRecorder hijackedConnRecorder
	connRecorder.ResponseWriter = w
	ws, err := websocket.Accept(&connRecorder, r, &websocket.AcceptOptions{
		Subprotocols:   []string{wire.Subprotocol},
		OriginPatterns: h.opts.Origins,
	})
	if err != nil { // websocket.Accept has already answered the HTTP request
		h.refusals.LogRejected(&h.opts.Log, "the WebSocket handshake failed", func(e *zerolog.Event) { e.Str("error", inbound.CleanText(err.Error(), 200)) })
		return
	}
	ws.SetReadLimit(maxHelloBytes) // this limit applies until the server has answered hello
	l := newLink(h, ws, connRecorder.conn)
	if !h.registry.registerLink(l) {
		l.closeWith(websocket.StatusGoingAway, "opentabs is stopping")
		l.finish()
		return
	}
	defer h.registry.unregisterLink(l)
	l.keyID = inbound.FindOfferedKeyID(r.Header)
	key, err := l.readKey()
	if err != nil {
		h.opts.Log.Error().Err(err).Msg("could not read the key of a paired browser")
	}
	if key == "" {
		h.refusals.RecordUnpairedAttempt(l.keyID)
		l.closeWith(wire.CloseUnpaired, "this browser is not paired: run `opentabs pair` with the code in its side panel")
		l.finish()
		return
	}
	l.serve(&handshake{link: l, key: key, port: loopback.Port(r), browserNonce: inbound.FindOfferedNonce(r.Header)})
}

// hijackedConnRecorder remembers the network connection that the WebSocket library hijacks. Only
// closing the hijacked connection ends the link immediately, because the WebSocket close
// handshake takes time.
type hijackedConnRecorder struct {
	http.ResponseWriter
	conn net.Conn
}

// The method Hijack implements http.Hijacker.
func (k *hijackedConnRecorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(k.ResponseWriter).Hijack()
	k.conn = conn
	return conn, rw, err
}

var errHandshakeRefused = errors.New("refused")

// The type handshake is the server's side of the handshake on one link. Only the goroutine
// that reads the link uses a handshake.
type handshake struct {
	link                      *link
	key                       string
	port                      int
	browserNonce, serverNonce string
}

func (s *handshake) sendChallenge() {
	s.serverNonce = s.link.hub.newNonce()
	params := wire.EncodeBody(wire.ChallengeParams{
		Nonce: s.serverNonce,
		Proof: wire.ServerProof(s.key, s.port, s.browserNonce, s.serverNonce),
	})
	newFrameWriter(s.link).writeFrame(wire.AppendNotification(nil, wire.MethodChallenge, params))
}

// isValidProof compares the proofs in constant time, so that response times reveal nothing about the expected proof.
func (s *handshake) isValidProof(proof string) bool {
	want := wire.BrowserProof(s.key, s.port, s.browserNonce, s.serverNonce)
	return hmac.Equal([]byte(proof), []byte(want))
}

// The method run performs the handshake: it proves that the server has the key, and checks the proof in the browser's
// first frame.
func (s *handshake) run() (*browser, error) {
	timer := time.AfterFunc(helloTimeout, func() {
		s.logRefusal("hello did not arrive within 10 s")
		s.link.closeWith(websocket.StatusPolicyViolation, "hello must arrive within 10 s")
	})
	defer timer.Stop()
	s.sendChallenge()
	frame, err := s.link.read()
	if errors.Is(err, errBinaryFrame) {
		frame, err = nil, nil // hello must be a text frame, so the code below rejects the empty frame
	}
	if err != nil {
		return nil, err
	}
	if !timer.Stop() {
		return nil, errHandshakeRefused
	}
	e, err := wire.Parse(frame)
	if err != nil || e.Method != wire.MethodHello || e.ID == "" {
		const refusalText = "the first frame must be the request hello"
		if err == nil && e.ID != "" && e.Method != "" {
			newFrameWriter(s.link).writeFrame(wire.AppendError(nil, e.ID, &wire.RPCError{Code: wire.CodeInvalidRequest, Message: refusalText}))
		}
		return nil, s.rejectHandshake(websocket.StatusPolicyViolation, refusalText)
	}
	protocol, err := wire.DecodeProtocol(e.Params)
	if err != nil {
		return nil, s.refuseHello(e.ID, wire.CodeInvalidParams, websocket.StatusPolicyViolation, "hello is malformed: protocol must be an integer")
	}
	if protocol != wire.Version {
		return nil, s.refuseHello(e.ID, wire.CodeVersion, wire.CloseVersion, inbound.FormatVersionMismatch(protocol))
	}
	var p wire.HelloParams
	if err := wire.DecodeBody(e.Params, &p); err != nil {
		return nil, s.refuseHello(e.ID, wire.CodeInvalidParams, websocket.StatusPolicyViolation, "hello is malformed: "+inbound.CleanText(err.Error(), 80))
	}
	if !s.isValidProof(p.Proof) {
		return nil, s.refuseHello(e.ID, wire.CodeInvalidParams, websocket.StatusPolicyViolation,
			"The proof in hello is missing or wrong. Run `opentabs extension install`, then reload the extension.")
	}
	if !inbound.IsID(p.BrowserID) || !inbound.IsID(p.BootID) {
		return nil, s.refuseHello(e.ID, wire.CodeInvalidParams, websocket.StatusPolicyViolation,
			"hello needs a browserId and a bootId of 1 to 128 visible ASCII characters")
	}
	s.link.ws.SetReadLimit(wire.MaxFrameBytes)
	p.BrowserName = inbound.CleanText(p.BrowserName, inbound.MaxBrowserNameChars)
	p.ExtensionVersion = inbound.CleanText(p.ExtensionVersion, inbound.MaxBrowserNameChars)
	p.Capabilities = inbound.CleanTexts(p.Capabilities, maxCapabilities, inbound.MaxBrowserNameChars)
	if s.link.keyID != "" {
		var err error
		if s.link.pairingKey, err = s.link.hub.opts.Pairings.Confirm(s.link.keyID, p.BrowserName); err != nil {
			s.link.hub.opts.Log.Error().Err(err).Msg("could not record that a browser was paired")
			return nil, s.rejectHandshake(wire.CloseUnpaired, "the server could not record the pairing; its log has the reason")
		}
	}
	b := s.link.hub.registry.attachLink(s.link, e.ID, p)
	if b == nil {
		return nil, s.rejectHandshake(websocket.StatusGoingAway, "opentabs is stopping")
	}
	s.link.hub.refusals.SetRefusedHello("")
	return b, nil
}

// The message about failed handshakes is rate limited, because any program on the machine can cause failed handshakes.
func (s *handshake) logRefusal(refusalText string) {
	s.link.hub.refusals.LogRejected(&s.link.hub.opts.Log, "the handshake failed", func(e *zerolog.Event) { e.Str("reason", refusalText) })
}

func (s *handshake) rejectHandshake(code websocket.StatusCode, refusalText string) error {
	s.logRefusal(refusalText)
	s.link.closeWith(code, inbound.Truncate(refusalText, inbound.MaxCloseReasonBytes))
	return errHandshakeRefused
}

func (s *handshake) refuseHello(id string, code int, status websocket.StatusCode, refusalText string) error {
	newFrameWriter(s.link).writeFrame(wire.AppendError(nil, id, &wire.RPCError{Code: code, Message: refusalText}))
	s.link.hub.refusals.SetRefusedHello(refusalText)
	return s.rejectHandshake(status, refusalText)
}
