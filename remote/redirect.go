package remote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// maxRedirects is how many a request follows, as many as http.Client does by default.
const maxRedirects = 10

// errRedirect is why a redirect is not followed.
var errRedirect = errors.New("the redirect is not followed")

// guarded returns a client that follows redirects with care: where one leads does not learn the URL
// before, whose query may be a signature, and a server elsewhere cannot send requests to what only
// this machine and its network reach. What the client itself says of redirects holds as well.
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

// inward refuses to go from a host to another one that is closer to this machine.
func inward(ctx context.Context, from, to string) error {
	address, found := closeBy(ctx, to)
	if !found {
		return nil
	}
	if _, was := closeBy(ctx, from); was {
		return nil
	}
	return fmt.Errorf("%w: it leads to %s, which only this machine or its network can reach", errRedirect, address)
}

// closeBy looks for an address of a host that means this machine or a service of the machine's own
// network. A host whose addresses are not to be had has none, and cannot be asked either.
func closeBy(ctx context.Context, host string) (netip.Addr, bool) {
	addresses, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, a := range addresses {
		if a = a.Unmap(); isCloseBy(a) {
			return a, true
		}
	}
	return netip.Addr{}, false
}

func isCloseBy(a netip.Addr) bool {
	return a.IsLoopback() || a.IsUnspecified() || a.IsLinkLocalUnicast() || a.IsMulticast() || metadata[a]
}

// metadata are the addresses of services that tell cloud machines their secrets, as far as they are
// not link-local: of Amazon over IPv6, Azure, Alibaba and Oracle.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("fd00:ec2::254"):   true,
	netip.MustParseAddr("168.63.129.16"):   true,
	netip.MustParseAddr("100.100.100.200"): true,
	netip.MustParseAddr("192.0.0.192"):     true,
}
