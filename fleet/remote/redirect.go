package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"unicode"
)

// maxRedirects is how many redirects a request follows: the default of http.Client.
const maxRedirects = 10

// errRedirect is matched by the errors for redirects that are not followed.
var errRedirect = errors.New("the redirect is not followed")

// guarded returns a client like c that checks redirects. It does not send the previous URL to the
// target of a redirect, because the query of that URL may be a signature. It refuses redirects to
// addresses that only this machine and its network reach, if the redirect comes from a server
// outside of them. The CheckRedirect of c applies as well.
func guarded(c *http.Client) *http.Client {
	own := *c
	own.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		next.Header.Del("Referer")
		if len(before) >= maxRedirects {
			return fmt.Errorf("%w: there have been %d already", errRedirect, len(before))
		}
		if err := inward(next.Context(), before[0].URL.Hostname(), next.URL.Hostname()); err != nil {
			return err
		}
		if c.CheckRedirect != nil {
			return c.CheckRedirect(next, before)
		}
		return nil
	}
	return &own
}

// inward returns an error for a redirect that leads inward. Such a redirect goes from a server
// elsewhere to this machine or its network, or from this machine to its network. (A port of this
// machine may be forwarded to a server elsewhere.) inward also refuses host names with characters
// outside ASCII. net/http converts such a name before it connects, and may get an address, for
// example from digits in circles.
func inward(ctx context.Context, from, to string) error {
	if strings.ContainsFunc(to, func(r rune) bool { return r > unicode.MaxASCII }) {
		return fmt.Errorf("%w: the host in its address is not in ASCII", errRedirect)
	}
	address, found := closeBy(ctx, to)
	if !found {
		return nil
	}
	if origin, was := closeBy(ctx, from); was && (isLocal(address) || !isLocal(origin)) {
		return nil
	}
	return fmt.Errorf("%w: it leads to %s, which only this machine or its network can reach", errRedirect, address)
}

// closeBy returns an address of a host that belongs to this machine or to its network. It returns
// false if the host has no such address. A host name that does not resolve has none, and cannot be
// reached either.
func closeBy(ctx context.Context, host string) (netip.Addr, bool) {
	addresses, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, a := range addresses {
		if a = a.Unmap(); isCloseBy(a) {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// isLocal reports whether an address is that of this machine itself.
func isLocal(a netip.Addr) bool { return a.IsLoopback() || a.IsUnspecified() }

// isCloseBy reports whether an address belongs to this machine or to its network, or is that of a
// metadata service.
func isCloseBy(a netip.Addr) bool {
	a = embedded(a)
	return isLocal(a) || a.IsLinkLocalUnicast() || a.IsMulticast() || metadata[a]
}

// metadata are the addresses of cloud metadata services, which hand out secrets, unless they are
// link-local: Amazon over IPv6 (instances, and the credentials of pods), Azure, Alibaba and Oracle.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::23"):    true,
	netip.MustParseAddr("fd00:ec2::254"):   true,
	netip.MustParseAddr("168.63.129.16"):   true,
	netip.MustParseAddr("100.100.100.200"): true,
	netip.MustParseAddr("192.0.0.192"):     true,
}

// translated are the prefixes of IPv6 addresses that a gateway or the system translates to the IPv4
// address in their last bytes, or in bytes 2 to 5 for 6to4 (RFC 6052, 8215, 4291, 2765, 3056).
var translated = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12},
	{netip.MustParsePrefix("64:ff9b:1::/48"), 12},
	{netip.MustParsePrefix("::/96"), 12},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), 12},
	{netip.MustParsePrefix("2002::/16"), 2},
}

// embedded returns the IPv4 address to which an IPv6 address is translated, or the address itself
// if it is not translated.
func embedded(a netip.Addr) netip.Addr {
	for _, t := range translated {
		if a.Is6() && t.prefix.Contains(a) && !a.IsLoopback() && !a.IsUnspecified() {
			bytes := a.As16()
			return netip.AddrFrom4([4]byte(bytes[t.at : t.at+4]))
		}
	}
	return a
}
