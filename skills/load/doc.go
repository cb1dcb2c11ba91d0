// Package load is what a client does with the skills of a server: it lists them,
// opens one when it is needed, and reads its files.
//
// Nothing is read ahead of need, and nothing is handed out that does not match the
// skill's entry: [Open] reads SKILL.md and no other file, and after the first
// mismatch a skill gives nothing more.
//
// A file travels in one message. Transports take 16 MiB of that unless they are told
// otherwise, which is 12 MiB of a file that is no text; a skill may have 16.
//
// What a skill says is the server's word, whatever its digests: show the user where
// it comes from, ask before it is used, and run nothing of it without being told
// to. A decision that is kept belongs to the entry: when that changes, ask again.
package load
