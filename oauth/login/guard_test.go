package login

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"sync/atomic"
	"testing"
)

func guardOf(t *testing.T, server string, networks ...netip.Prefix) *guard {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	return newGuard(u, networks)
}

// Names that lead to this machine are stopped when the address is dialled, before
// anything is sent: a listener sees nobody.
func TestNamesAreStoppedAtTheAddress(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var visitors atomic.Int32
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visitors.Add(1)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	public := guardOf(t, "https://mcp.example.com/mcp")
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "0x7f.1", "2130706433", "0177.0.0.1", "127.1", "::ffff:127.0.0.1", "0.0.0.0"} {
		c, err := public.dial(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			c.Close()
			t.Errorf("%s was reached", host)
		}
	}
	if _, err := public.dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port)); !errors.Is(err, ErrBlocked) {
		t.Errorf("%v", err)
	}
	if n := visitors.Load(); n != 0 {
		t.Errorf("%d visitors", n)
	}
	local := guardOf(t, "http://localhost:1/mcp")
	c, err := local.dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Errorf("a server on this machine: %v", err)
	} else {
		c.Close()
	}
	public.name("https://127.0.0.1:" + port + "/token")
	if c, err = public.dial(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", port)); err != nil {
		t.Errorf("an address that the caller named: %v", err)
	} else {
		c.Close()
	}
	l.Close()
	<-done
}

func TestGuard(t *testing.T) {
	const (
		internet = iota
		machine
		private
		never
	)
	kinds := map[string]int{
		"1.1.1.1": internet, "93.184.216.34": internet, "2606:4700::1": internet, "::ffff:1.1.1.1": internet,
		"172.15.255.255": internet, "172.32.0.1": internet, "100.63.255.255": internet, "100.128.0.1": internet,
		"127.0.0.1": machine, "127.9.9.9": machine, "::1": machine, "::ffff:127.0.0.1": machine,
		"10.1.2.3": private, "172.16.0.1": private, "172.31.255.255": private, "192.168.0.1": private,
		"100.64.0.1": private, "100.127.255.255": private, "fc00::1": private, "fdff::1": private, "::ffff:10.0.0.1": private, "::ffff:6440:1": private,
		"169.254.169.254": never, "fe80::1": never, "fe80::1%eth0": never, "0.0.0.0": never, "::": never, "224.0.0.1": never, "ff02::1": never,
		"255.255.255.255": never, "198.18.0.1": never, "64:ff9b::a00:1": never, "2002:a00:1::1": never, "::10.0.0.1": never, "::ffff:169.254.169.254": never,
		"fd00:ec2::254": private, "192.0.0.192": never, "fec0::1": never, "2001::1": never, "2001:db8::1": never,
	}
	for _, g := range []struct {
		name, server string
		open         []int
	}{
		{"a server on the internet", "https://mcp.example.com/", []int{internet}},
		{"a server on this machine", "http://localhost/", []int{internet, machine}},
		{"a server on this machine, by address", "http://[::1]/", []int{internet, machine}},
		{"a server in a private network", "https://10.0.0.1/", []int{internet, private}},
	} {
		guard := guardOf(t, g.server)
		for text, kind := range kinds {
			open := false
			for _, k := range g.open {
				open = open || k == kind
			}
			if err := guard.allow(netip.MustParseAddr(text)); (err == nil) != open {
				t.Errorf("%s: %s: %v", g.name, text, err)
			}
		}
	}
	g := guardOf(t, "https://mcp.example.com/", netip.MustParsePrefix("10.0.0.0/8"))
	if g.allow(netip.MustParseAddr("::ffff:10.1.1.1")) != nil || g.allow(netip.MustParseAddr("192.168.1.1")) == nil {
		t.Error("a network that the caller opened")
	}
}
