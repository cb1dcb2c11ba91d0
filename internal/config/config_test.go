package config_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/internal/config"
)

func TestPlainBlanksWhatEditorsAllow(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"a line comment", "{} // x\n", "{}     \n"},
		{"a line comment at the end", "{}//", "{}  "},
		{"a block comment keeps its lines", "{/*a\nb*/}", "{   \n   }"},
		{"a comment in a string is text", `{"a":"/* // */"}`, `{"a":"/* // */"}`},
		{"an escaped quote does not end a string", `"a\"//"`, `"a\"//"`},
		{"a trailing comma", "[1, ]", "[1  ]"},
		{"a trailing comma with a comment behind", "{\"a\":1,//x\n}", "{\"a\":1    \n}"},
		{"a comma between values stays", "[1,2]", "[1,2]"},
		{"a string without an end stays", `"a\`, `"a\`},
		{"a slash alone stays", "[1,/]", "[1,/]"},
		{"a byte order mark", "\ufeff{}", "   {}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := config.Plain([]byte(test.in))
			if err != nil || string(got) != test.want {
				t.Errorf("%q, %v; want %q", got, err, test.want)
			}
		})
	}
	if _, err := config.Plain([]byte("{} /* x")); err == nil {
		t.Error("a comment without an end passed")
	}
}

func vars(name string) (string, bool) {
	value, ok := map[string]string{"NAME": "value", "EMPTY": "", "WILD": "${NAME} $(rm)", "_a1": "under"}[name]
	return value, ok
}

func TestExpand(t *testing.T) {
	tests := []struct {
		name, in    string
		want, shell string // elsewhere, and where a shell would expand; "!" starts what an error must say
	}{
		{"plain text", "a b", "a b", "a b"},
		{"braces", "<${NAME}>", "<value>", "<value>"},
		{"env:", "${env:NAME}", "value", "value"},
		{"a default that is not needed", "${NAME:-x}", "value", "value"},
		{"a default for a variable that is not set", "${NO:-x y}", "x y", "x y"},
		{"a default for an empty variable", "${EMPTY:-x}", "x", "x"},
		{"an empty variable", "<${EMPTY}>", "<>", "<>"},
		{"values are not expanded again", "${WILD}", "${NAME} $(rm)", "${NAME} $(rm)"},
		{"not set", "${NO}", "!NO is not set", "!NO is not set"},
		{"an input of VS Code", "${input:key}", `!the input "key"`, `!the input "key"`},
		{"a folder of VS Code", "${workspaceFolder}/a", "!editor only", "!editor only"},
		{"no name", "${}", "!is no variable", "!is no variable"},
		{"a strange name", "${a b}", "!is no variable", "!is no variable"},
		{"no closing brace", "${NAME", "!no closing brace", "!no closing brace"},
		{"a name alone", "$NAME-$_a1", "$NAME-$_a1", "value-under"},
		{"a name alone that is not set", "$NO", "$NO", "!NO is not set"},
		{"a dollar at the end", "5$", "5$", "5$"},
		{"a dollar before a digit", "$5", "$5", "!no variable"},
		{"an escaped dollar", `\$NAME`, `\$NAME`, "$NAME"},
		{"echo", "$(echo Bearer $NAME)", "$(echo Bearer $NAME)", "Bearer value"},
		{"echo with braces and text around", "a$(echo  ${NAME}  b)c", "a$(echo  value  b)c", "avalue bc"},
		{"echo -n", "$(echo -n $NAME)", "$(echo -n $NAME)", "value"},
		{"echo of nothing", "$(echo)", "$(echo)", ""},
		{"echo with quotes", `$(echo "Bearer  $NAME" '$NAME')`, `$(echo "Bearer  $NAME" '$NAME')`, "Bearer  value $NAME"},
		{"another program", "$(cat /etc/passwd)", "$(cat /etc/passwd)", "!would run a program"},
		{"a program that starts like echo", "$(echoes a)", "$(echoes a)", "!would run a program"},
		{"a program behind echo", "$(echo a; rm b)", "$(echo a; rm b)", "!no shell is run"},
		{"a program within echo", "$(echo $(rm b))", "$(echo $(rm b))", "!no closing parenthesis"},
		{"back quotes within echo", "$(echo `rm b`)", "$(echo `rm b`)", "!no shell is run"},
		{"back quotes within quotes", "$(echo \"`rm b`\")", "$(echo \"`rm b`\")", "!no shell is run"},
		{"a pipe", "$(echo a|sh)", "$(echo a|sh)", "!no shell is run"},
		{"a quote without an end", `$(echo "a)`, `$(echo "a)`, "!a quote has no end"},
		{"a single quote without an end", `$(echo 'a)`, `$(echo 'a)`, "!a quote has no end"},
		{"no closing parenthesis", "$(echo", "$(echo", "!no closing parenthesis"},
	}
	for _, test := range tests {
		for shell, want := range map[bool]string{false: test.want, true: test.shell} {
			t.Run(test.name, func(t *testing.T) {
				got, err := (&config.Expander{Lookup: vars, Shell: shell}).Expand(test.in)
				if part, fails := strings.CutPrefix(want, "!"); fails {
					if err == nil || !strings.Contains(err.Error(), part) {
						t.Errorf("shell %t: %q, %v; want an error with %q", shell, got, err, part)
					}
				} else if err != nil || got != want {
					t.Errorf("shell %t: %q, %v; want %q", shell, got, err, want)
				}
			})
		}
	}
	var unset *config.UnsetError
	if _, err := new(config.Expander).Expand("${A}"); !errors.As(err, &unset) || unset.Name != "A" {
		t.Errorf("without a lookup: %v", err)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte("{\"a\": [1, /* two */ 2,], // three\n}"))
	f.Add([]byte(`"\"//`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := config.Plain(text)
		if err != nil {
			return
		}
		if len(got) != len(text) {
			t.Fatalf("%d bytes became %d", len(text), len(got))
		}
		for i := range got {
			if got[i] != text[i] && got[i] != ' ' {
				t.Fatalf("byte %d became %q", i, got[i])
			}
		}
	})
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"$(echo Bearer $NAME)", "${NAME:-x}$", `\$`, "$(echo \"a'b\" 'c')"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shell := range []bool{false, true} {
			got, err := (&config.Expander{Lookup: vars, Shell: shell}).Expand(text)
			if err == nil && !strings.Contains(text, "$") && got != text {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
