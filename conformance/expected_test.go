package conformance_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// wires are the revisions that the suite speaks, one a column of the tables.
var wires = [...]string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// none is for a scenario that is run and has no check that could succeed.
const none = -1

// row is a scenario, and how many of its checks succeed in each revision: 0 where
// it is not run.
type row struct {
	scenario string
	kind     kind
	checks   [len(wires)]int
}

// kind tells which legs have a scenario.
type kind string

const (
	dated kind = ""          // a part of revisions
	extra kind = "extension" // of the protocol: in requirements, but in no leg of one revision
	later kind = "later"     // an extension that came after the requirements
)

// skips are the checks that the suite may skip, by scenario and check: how often,
// and why.
var skips = map[string]struct {
	most   int
	reason string
}{
	"server-tasks-status-notifications tasks-status-notifications":    {1, "the suite always skips it: it looks for a way of notification that was dropped"},
	"http-standard-headers sep-2243-client-includes-standard-headers": {2, "initialize and its notification are no part of the newest revision"},
}

// serverRows are the scenarios that look at a server.
var serverRows = []row{
	{"caching", dated, [...]int{0, 0, 0, 8}},
	{"completion-complete", dated, [...]int{0, 2, 2, 2}},
	{"dns-rebinding-protection", dated, [...]int{0, 0, 2, 2}},
	{"elicitation-sep1034-defaults", dated, [...]int{0, 0, 6, 0}},
	{"elicitation-sep1330-enums", dated, [...]int{0, 0, 6, 0}},
	{"http-custom-header-server-validation", dated, [...]int{0, 0, 0, 10}},
	{"http-header-validation", dated, [...]int{0, 0, 0, 14}},
	{"input-required-result-basic-elicitation", dated, [...]int{0, 0, 0, 3}},
	{"input-required-result-basic-list-roots", dated, [...]int{0, 0, 0, 3}},
	{"input-required-result-basic-sampling", dated, [...]int{0, 0, 0, 3}},
	{"input-required-result-capability-check", dated, [...]int{0, 0, 0, 2}},
	{"input-required-result-ignore-extra-params", dated, [...]int{0, 0, 0, 2}},
	{"input-required-result-missing-input-response", dated, [...]int{0, 0, 0, 2}},
	{"input-required-result-multi-round", dated, [...]int{0, 0, 0, 4}},
	{"input-required-result-multiple-input-requests", dated, [...]int{0, 0, 0, 3}},
	{"input-required-result-non-tool-request", dated, [...]int{0, 0, 0, 3}},
	{"input-required-result-request-state", dated, [...]int{0, 0, 0, 3}},
	{"input-required-result-result-type", dated, [...]int{0, 0, 0, 2}},
	{"input-required-result-tampered-state", dated, [...]int{0, 0, 0, 2}},
	{"input-required-result-unsupported-methods", dated, [...]int{0, 0, 0, 2}},
	{"input-required-result-validate-input", dated, [...]int{0, 0, 0, 3}},
	{"json-schema-2020-12", dated, [...]int{0, 0, 8, 8}},
	{"logging-set-level", dated, [...]int{0, 2, 2, 0}},
	{"ping", dated, [...]int{0, 2, 2, 0}},
	{"prompts-get-embedded-resource", dated, [...]int{0, 2, 2, 2}},
	{"prompts-get-simple", dated, [...]int{0, 2, 2, 2}},
	{"prompts-get-with-args", dated, [...]int{0, 2, 2, 2}},
	{"prompts-get-with-image", dated, [...]int{0, 2, 2, 2}},
	{"prompts-list", dated, [...]int{0, 2, 2, 2}},
	{"resources-list", dated, [...]int{0, 2, 2, 2}},
	{"resources-read-binary", dated, [...]int{0, 2, 2, 2}},
	{"resources-read-text", dated, [...]int{0, 2, 2, 2}},
	{"resources-subscribe", dated, [...]int{0, 2, 2, 0}},
	{"resources-templates-read", dated, [...]int{0, 2, 2, 2}},
	{"resources-unsubscribe", dated, [...]int{0, 2, 2, 0}},
	{"sep-2164-resource-not-found", dated, [...]int{0, 0, 0, 4}},
	{"server-initialize", dated, [...]int{0, 3, 3, 0}},
	{"server-session-lifecycle", dated, [...]int{3, 3, 3, 0}},
	{"server-sse-multiple-streams", dated, [...]int{0, 0, 2, 2}},
	{"server-sse-polling", dated, [...]int{0, 0, 3, 0}},
	{"server-stateless", dated, [...]int{0, 0, 0, 30}},
	{"tools-call-audio", dated, [...]int{0, 2, 2, 2}},
	{"tools-call-elicitation", dated, [...]int{0, 2, 2, 0}},
	{"tools-call-embedded-resource", dated, [...]int{0, 2, 2, 2}},
	{"tools-call-error", dated, [...]int{0, 2, 2, 2}},
	{"tools-call-image", dated, [...]int{0, 2, 2, 2}},
	{"tools-call-mixed-content", dated, [...]int{0, 2, 2, 2}},
	{"tools-call-sampling", dated, [...]int{0, 2, 2, 0}},
	{"tools-call-simple-text", dated, [...]int{0, 2, 2, 2}},
	{"tools-call-with-logging", dated, [...]int{0, 2, 2, 0}},
	{"tools-call-with-progress", dated, [...]int{0, 2, 2, 2}},
	{"tools-list", dated, [...]int{0, 2, 3, 4}},
	// Of the tasks and the skills extension.
	{"tasks-capability-negotiation", extra, [...]int{0, 0, 0, 5}},
	{"tasks-dispatch-and-envelope", extra, [...]int{0, 0, 0, 9}},
	{"tasks-lifecycle", extra, [...]int{0, 0, 0, 9}},
	{"tasks-mrtr-composition", extra, [...]int{0, 0, 0, 2}},
	{"tasks-mrtr-input", extra, [...]int{0, 0, 0, 4}},
	{"tasks-request-headers", extra, [...]int{0, 0, 0, 5}},
	{"tasks-request-state-removal", extra, [...]int{0, 0, 0, 3}},
	{"tasks-required-task-error", extra, [...]int{0, 0, 0, 3}},
	{"tasks-status-notifications", extra, [...]int{0, 0, 0, none}},
	{"tasks-wire-fields", extra, [...]int{0, 0, 0, 4}},
	{"sep-2640-skills-directory", later, [...]int{0, 0, 0, 7}},
	{"sep-2640-skills-enumeration", later, [...]int{0, 0, 0, 32}},
	{"sep-2640-skills-manifest", later, [...]int{0, 0, 0, 6}},
}

// clientRows are the scenarios that look at a client. The numbers of those with a login grow
// with the requests that it takes: they are the fewest that were seen.
var clientRows = []row{
	{"auth/2025-03-26-oauth-endpoint-fallback", dated, [...]int{7, 0, 0, 0}},
	{"auth/2025-03-26-oauth-metadata-backcompat", dated, [...]int{12, 0, 0, 0}},
	{"auth/authorization-server-migration", dated, [...]int{0, 0, 0, 27}},
	{"auth/basic-cimd", dated, [...]int{0, 0, 13, 12}},
	{"auth/client-credentials-basic", extra, [...]int{0, 0, 8, 7}},
	{"auth/client-credentials-jwt", extra, [...]int{0, 0, 8, 7}},
	{"auth/dpop", extra, [...]int{0, 0, 12, 13}},
	{"auth/dpop-nonce", extra, [...]int{0, 0, 14, 15}},
	{"auth/enterprise-managed-authorization", extra, [...]int{0, 0, 9, 8}},
	{"auth/iss-normalized", dated, [...]int{0, 0, 0, 8}},
	{"auth/iss-not-advertised", dated, [...]int{0, 0, 0, 14}},
	{"auth/iss-supported", dated, [...]int{0, 0, 0, 14}},
	{"auth/iss-supported-missing", dated, [...]int{0, 0, 0, 8}},
	{"auth/iss-unexpected", dated, [...]int{0, 0, 0, 8}},
	{"auth/iss-wrong-issuer", dated, [...]int{0, 0, 0, 8}},
	{"auth/metadata-default", dated, [...]int{0, 0, 18, 18}},
	{"auth/metadata-issuer-mismatch", dated, [...]int{0, 0, 0, 3}},
	{"auth/metadata-var1", dated, [...]int{0, 0, 18, 18}},
	{"auth/metadata-var2", dated, [...]int{0, 0, 18, 18}},
	{"auth/metadata-var3", dated, [...]int{0, 0, 18, 18}},
	{"auth/offline-access-not-supported", dated, [...]int{0, 0, 0, 14}},
	{"auth/offline-access-scope", dated, [...]int{0, 0, 0, 12}},
	{"auth/pre-registration", dated, [...]int{0, 0, 13, 12}},
	{"auth/resource-mismatch", dated, [...]int{0, 0, 0, 2}},
	{"auth/scope-from-scopes-supported", dated, [...]int{0, 0, 14, 14}},
	{"auth/scope-from-www-authenticate", dated, [...]int{0, 0, 14, 14}},
	{"auth/scope-omitted-when-undefined", dated, [...]int{0, 0, 14, 14}},
	{"auth/scope-retry-limit", dated, [...]int{0, 0, 12, 13}},
	{"auth/scope-step-up", dated, [...]int{0, 0, 22, 25}},
	{"auth/token-endpoint-auth-basic", dated, [...]int{0, 19, 19, 19}},
	{"auth/token-endpoint-auth-none", dated, [...]int{0, 19, 19, 19}},
	{"auth/token-endpoint-auth-post", dated, [...]int{0, 19, 19, 19}},
	{"auth/wif-jwt-bearer", extra, [...]int{0, 0, 8, 7}},
	{"elicitation-sep1034-client-defaults", dated, [...]int{0, 0, 5, 0}},
	{"http-custom-headers", dated, [...]int{0, 0, 0, 18}},
	{"http-invalid-tool-headers", dated, [...]int{0, 0, 0, 12}},
	{"http-standard-headers", dated, [...]int{0, 0, 0, 9}},
	{"initialize", dated, [...]int{0, 1, 1, 0}},
	{"json-schema-2020-12-preservation", dated, [...]int{0, 0, 9, 9}},
	{"json-schema-ref-no-deref", dated, [...]int{0, 0, 0, 1}},
	{"request-metadata", dated, [...]int{0, 0, 0, 8}},
	{"sep-2322-client-request-state", dated, [...]int{0, 0, 0, 5}},
	{"sse-retry", dated, [...]int{0, 0, 3, 0}},
	{"tools_call", dated, [...]int{0, 2, 2, 2}},
	{"sep-2640-client-no-prefetch", later, [...]int{0, 0, 1, 0}},
	{"sep-2640-client-verify-digest", later, [...]int{0, 0, 1, 0}},
	{"sep-2640-client-verify-size", later, [...]int{0, 0, 1, 0}},
	{"sep-2640-client-verify-frontmatter", later, [...]int{0, 0, 1, 0}},
}

// rows returns the table of a side.
func rows(side string) []row {
	if side == "server" {
		return serverRows
	}
	return clientRows
}

// home is the column of the revision in which a scenario runs when none is named.
func (r *row) home(side string) int {
	const handshake, newest = 2, 3
	switch {
	case r.kind != dated && side == "server", r.checks[handshake] == 0 && r.checks[newest] != 0:
		return newest
	case r.checks[handshake] != 0:
		return handshake
	}
	return slices.IndexFunc(r.checks[:], func(n int) bool { return n != 0 })
}

// expectation is what a leg must come to.
func expectation(l *leg) expected {
	want := make(expected)
	for _, r := range rows(l.side) {
		column := slices.Index(wires[:], l.wire)
		if l.wire == "" {
			column = r.home(l.side)
		}
		in := l.wire == "" || r.kind == dated || r.kind == extra && l.frozen
		if !in || r.checks[column] == 0 {
			continue
		}
		name := r.scenario
		if l.side == "server" {
			name = "server-" + name // as the suite names the folder
		}
		want[name] = max(r.checks[column], 0)
	}
	return want
}

// listed is a line of the suite's list: a scenario and its revisions.
var listed = regexp.MustCompile(`^  - (\S+) \[(\S+)\]$`)

// compareList finds the differences between the tables and the suite's list.
func compareList(text string) (problems []string) {
	side, found := "", make(map[string]bool)
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if heading, _, ok := strings.Cut(line, " scenarios ("); ok {
			side = strings.ToLower(heading)
		}
		match := listed.FindStringSubmatch(line)
		if match == nil || side != "server" && side != "client" {
			continue
		}
		found[side+" "+match[1]] = true
		if problem := compareRow(side, match[1], match[2]); problem != "" {
			problems = append(problems, problem)
		}
	}
	for _, side := range []string{"server", "client"} {
		for _, r := range rows(side) {
			if !found[side+" "+r.scenario] {
				problems = append(problems, fmt.Sprintf("%s %s: the suite does not list it", side, r.scenario))
			}
		}
	}
	return problems
}

// compareRow compares the revisions of a scenario in the suite's list, such as
// "2025-11-25,2026-07-28" or "extension", with its row.
func compareRow(side, scenario, revisions string) string {
	all := rows(side)
	i := slices.IndexFunc(all, func(r row) bool { return r.scenario == scenario })
	if i < 0 {
		return fmt.Sprintf("%s %s: the table does not have it", side, scenario)
	}
	if revisions == "extension" {
		if all[i].kind == dated {
			return fmt.Sprintf("%s %s: it is an extension", side, scenario)
		}
		return ""
	}
	var have []string
	for column, n := range all[i].checks {
		if n != 0 {
			have = append(have, wires[column])
		}
	}
	if strings.Join(have, ",") != revisions || all[i].kind != dated {
		return fmt.Sprintf("%s %s: the suite runs it in %s, the table has %v", side, scenario, revisions, have)
	}
	return ""
}
