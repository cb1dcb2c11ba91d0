// Package skills is the protocol's skills extension: folders of instructions that
// a server offers to agents.
//
// A skill is a folder with a file SKILL.md, which begins with YAML frontmatter:
// the skill's name, which is also that of the folder, and a description. [Serve]
// offers the skills of a file system. [Skill] is what a client is told of one: its
// frontmatter, and all its files with sizes and digests, by which it checks what it
// reads; package load does that.
//
// The form of a skill is that of agentskills.io; how it travels is described by the
// extension io.modelcontextprotocol/skills (SEP-2640).
package skills
