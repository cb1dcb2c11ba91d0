package schema

import (
	"github.com/bossman-mcp/bossman/internal/jsonscan"
)

func (w *walk) array(n *node, v []byte, seen *seen) bool {
	if !n.looksAtAll {
		return true
	}
	if !w.spend(insidePrice + len(v)) {
		return false
	}
	ok, size, found := true, 0, 0
	for item := range jsonscan.Elements(v) {
		if !w.spend(itemPrice) {
			return false
		}
		sub := n.items
		if size < len(n.prefix) {
			sub = n.prefix[size]
		}
		if sub != nil && sub != always && (sub != never || size < len(n.prefix)) {
			w.enterItem(size)
			ok = w.value(sub, item, nil) && ok
			w.leave()
		}
		if sub != nil {
			seen.add(size)
		}
		if n.contains != nil && w.fits(n.contains.node, item, nil) {
			if found++; n.contains.evaluates {
				seen.add(size)
			}
		}
		if !ok && w.silent() {
			return false
		}
		size++
	}
	if n.items == never && size > len(n.prefix) {
		ok = w.fail(func() string { return tooMany(size, len(n.prefix), "item") })
	}
	ok = w.amount(size, n.minItems, n.maxItems, "item") && ok
	if !ok && w.silent() {
		return false
	}
	if n.contains != nil {
		ok = w.found(n.contains, found) && ok
	}
	if n.unique && size > 1 {
		ok = w.unique(v, size) && ok
	}
	return ok
}

// amount checks the number of parts.
func (w *walk) amount(count, least int, most *int, what string) bool {
	switch {
	case count < least:
		return w.fail(func() string { return tooFew(count, least, what) })
	case most != nil && count > *most:
		return w.fail(func() string { return tooMany(count, *most, what) })
	}
	return true
}

// found checks how many items contains has found.
func (w *walk) found(c *contains, count int) bool {
	switch {
	case count < c.least:
		return w.fail(func() string { return lacksItems(count, c.least) })
	case c.most != nil && count > *c.most:
		return w.fail(func() string { return repeatsForm(count, *c.most) })
	}
	return true
}

// unique checks that no two items are equal.
func (w *walk) unique(v []byte, size int) bool {
	if !w.spend(uniquePrice*size + 4*len(v)) {
		return false
	}
	first := make(map[string]int, size)
	var key []byte
	i := 0
	for item := range jsonscan.Elements(v) {
		key = appendKey(key[:0], item)
		if j, ok := first[string(key)]; ok {
			return w.fail(func() string { return repeated(j, i) })
		}
		first[string(key)] = i
		i++
	}
	return true
}

func (w *walk) object(n *node, v []byte, seen *seen) bool {
	if !n.looksInside {
		return true
	}
	if !w.spend(insidePrice + len(v)) {
		return false
	}
	ok, count, met := true, 0, 0
	for name, member := range jsonscan.Members(v) {
		if !w.spend(memberPrice) {
			return false
		}
		p := n.property(name)
		if p != nil && p.required {
			met++
		}
		known := p != nil && p.node != nil
		if known {
			ok = w.member(p.node, name, member) && ok
		}
		if len(n.patterns) > 0 {
			matched, good := w.patterns(n, name, member)
			known, ok = known || matched, good && ok
		}
		if !known && n.additional != nil {
			ok = w.additional(n, name, member) && ok
		}
		if known || n.additional != nil {
			seen.add(count)
		}
		if n.names != nil {
			ok = w.name(n.names, name) && ok
		}
		if !ok && w.silent() {
			return false
		}
		count++
	}
	if met < n.required {
		if w.silent() {
			return false
		}
		ok = w.missing(n, v)
	}
	ok = w.amount(count, n.minMembers, n.maxMembers, "member") && ok
	for i := range n.dependents {
		if !ok && w.silent() {
			return false
		}
		ok = w.dependent(&n.dependents[i], v, seen) && ok
	}
	return ok
}

func (w *walk) member(n *node, name, v []byte) bool {
	w.enterMember(name)
	ok := w.value(n, v, nil)
	w.leave()
	return ok
}

// patterns checks a member by the patterns that its name matches, if any.
func (w *walk) patterns(n *node, name, v []byte) (matched, ok bool) {
	ok = true
	for i := range n.patterns {
		p := &n.patterns[i]
		if !w.spend(patternPrice * p.steps * len(name)) {
			return matched, false
		}
		if p.Match(name) {
			matched = true
			ok = w.member(p.node, name, v) && ok
		}
	}
	return matched, ok
}

// additional checks a member that the schema does not name.
func (w *walk) additional(n *node, name, v []byte) bool {
	switch n.additional {
	case always:
		return true
	case never:
		return w.fail(func() string { return unknown(string(name), n.properties) })
	}
	return w.member(n.additional, name, v)
}

// name checks the name of a member.
func (w *walk) name(n *node, name []byte) bool {
	text := jsonscan.AppendQuote(nil, string(name))
	if w.fits(n, text, nil) {
		return true
	}
	if w.silent() {
		return false
	}
	for _, f := range w.findings(n, text) {
		w.fail(func() string { return wrongName(string(name), f.Message) })
	}
	return false
}

// missing reports the required members that are not there.
func (w *walk) missing(n *node, v []byte) bool {
	present := make(map[string]bool)
	for name := range jsonscan.Members(v) {
		present[string(name)] = true
	}
	for _, p := range n.properties {
		if p.required && !present[p.name] {
			w.fail(func() string { return missing(p.name) })
		}
	}
	return false
}

// dependent checks what the presence of a member asks for.
func (w *walk) dependent(d *dependent, v []byte, seen *seen) bool {
	if !w.has(v, d.name) {
		return w.left >= 0
	}
	if d.node != nil {
		return w.value(d.node, v, seen)
	}
	var lacking []string
	for _, name := range d.needs {
		if !w.has(v, name) {
			lacking = append(lacking, name)
		}
	}
	if len(lacking) > 0 {
		return w.fail(func() string { return alsoNeeds(d.name, lacking) })
	}
	return true
}

func (w *walk) has(v []byte, name string) bool {
	return w.spend(insidePrice+3*len(v)) && jsonscan.Get(v, name) != nil
}
