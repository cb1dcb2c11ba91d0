package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bossman-mcp/bossman/schema"
)

type benchInput struct {
	Title    string   `json:"title" doc:"What is to be done" minLen:"1" maxLen:"200"`
	Priority int      `json:"priority" doc:"Higher comes first" min:"0" max:"9"`
	State    string   `json:"state" doc:"Where it stands" enum:"open,closed"`
	Tags     []string `json:"tags,omitempty" doc:"Free labels"`
	Draft    bool     `json:"draft,omitempty" doc:"Not yet ready"`
}

const (
	benchSchema = `{"type":"object","properties":{"title":{"type":"string","minLength":1,"maxLength":200},"priority":{"type":"integer","minimum":0,"maximum":9},"state":{"type":"string","enum":["open","closed"]}},"required":["title","priority","state"],"additionalProperties":false}`
	benchValue  = `{"title":"Fix the parser","priority":3,"state":"open"}`
	benchUnion  = `{"oneOf":[{"$ref":"#/$defs/text"},{"$ref":"#/$defs/image"},{"$ref":"#/$defs/link"}],"unevaluatedProperties":false,"$defs":{
		"text":{"type":"object","properties":{"type":{"const":"text"},"text":{"type":"string"}},"required":["type","text"]},
		"image":{"type":"object","properties":{"type":{"const":"image"},"data":{"type":"string"}},"required":["type","data"]},
		"link":{"type":"object","properties":{"type":{"const":"link"},"uri":{"type":"string"},"size":{"type":"integer","multipleOf":2}},"required":["type","uri"]}}}`
	benchMember = `{"type":"link","uri":"file:///a","size":100}`
	benchWrong  = `{"titel":"Fix the parser","priority":30,"state":"opne"}`
)

func BenchmarkInferFiveFields(b *testing.B) {
	t := reflect.TypeFor[benchInput]()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := schema.Infer(t); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompilePlan(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := schema.MustParse(benchSchema).Compile(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompileOracle(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := newOracle([]byte(benchSchema)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchValidate(b *testing.B, s *schema.Schema, value string, valid bool) {
	text := []byte(value)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := s.Validate(text); (err == nil) != valid {
			b.Fatal(err)
		}
	}
}

// benchOracle shows what another validator takes, decoding included.
func benchOracle(b *testing.B, text, value string, valid bool) {
	o, err := newOracle([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		if err := o.validate(value); (err == nil) != valid {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidateThreeFields(b *testing.B) {
	b.Run("plan", func(b *testing.B) { benchValidate(b, schema.MustParse(benchSchema), benchValue, true) })
	b.Run("oracle", func(b *testing.B) { benchOracle(b, benchSchema, benchValue, true) })
}

func BenchmarkExplainThreeProblems(b *testing.B) {
	b.Run("plan", func(b *testing.B) { benchValidate(b, schema.MustParse(benchSchema), benchWrong, false) })
	b.Run("oracle", func(b *testing.B) { benchOracle(b, benchSchema, benchWrong, false) })
}

// BenchmarkValidateUnion has the form of a message that is one of several.
func BenchmarkValidateUnion(b *testing.B) {
	b.Run("plan", func(b *testing.B) { benchValidate(b, schema.MustParse(benchUnion), benchMember, true) })
	b.Run("oracle", func(b *testing.B) { benchOracle(b, benchUnion, benchMember, true) })
}

// BenchmarkValidateLongString must show the same throughput for both sizes.
func BenchmarkValidateLongString(b *testing.B) {
	const text = `{"type":"object","properties":{"text":{"type":"string","maxLength":10000000}},"additionalProperties":false}`
	for _, size := range []struct {
		name  string
		bytes int
	}{{"64KiB", 64 << 10}, {"1MiB", 1 << 20}} {
		value := `{"text":"` + strings.Repeat("lorem ip", size.bytes/8) + `"}`
		b.Run("plan/"+size.name, func(b *testing.B) { benchValidate(b, schema.MustParse(text), value, true) })
		b.Run("oracle/"+size.name, func(b *testing.B) { benchOracle(b, text, value, true) })
	}
}

func BenchmarkDefaults(b *testing.B) {
	s := schema.MustParse(`{"properties":{"a":{"type":"string"},"limit":{"type":"integer","default":20}}}`)
	for name, value := range map[string]string{"filled": `{"a":"x"}`, "present": `{"a":"x","limit":3}`} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Defaults([]byte(value)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
