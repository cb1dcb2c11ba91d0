package schema_test
import ("testing";"time";"github.com/bossman-mcp/bossman/schema")
type Filter struct { State string `json:"state" enum:"open,closed" doc:"Which"`; Since time.Time `json:"since,omitzero"` }
type Tree struct { Name string `json:"name"`; Kids []Tree `json:"kids,omitempty"` }
type In struct { Title string `json:"title" doc:"The title" minLen:"1" maxLen:"10"`; Body string `json:"body,omitempty" pattern:"^[a-z]+$"`; N int8 `json:"n" default:"3" max:"9"`; Filter *Filter `json:"filter"`; Tags []string `json:"tags" enum:"a,b" minItems:"1"`; T *Tree `json:"tree"`; M map[string]float64 `json:"m,omitempty"`; X any `json:"x,omitempty" doc:"Anything"`; B []byte `json:"b,omitempty"`; R string `json:"r,omitempty" header:"Region" nullable:"true"`}
func TestZZ(t *testing.T) {
 s, err := schema.For[In](); if err!=nil {t.Fatal(err)}
 t.Log(s, s.Planned())
 lib, err := schema.ForceLibrary(s.JSON(), 0)
 if err!=nil {t.Fatal(err)}
 for _, v := range []string{`{"titel":"x","tags":["a"]}`, `{"title":"","tags":["c",1],"n":"5","filter":{"state":"opne","x":1},"tree":{"name":"a","kids":[{"name":1}]}}`, `5`, `{"title":"01234567890","tags":[],"body":"A","n":300,"m":{"a b":null},"filter":"{\"state\":\"open\"}"}`,`{"title":"x","tags":["a"],"r":null}`} {
  t.Log("PLAN", s.Validate([]byte(v)))
  t.Log("LIB ", lib.Validate([]byte(v)))
  d, err := s.Defaults([]byte(v)); t.Log(string(d), err)
 }
 for _, c := range []string{`{"type":"strin"}`,`{"properties":{"a":{"minLength":-1}}, "required":"x"}`,`{"$ref":"http://x.y/z"}`,`{"$ref":"other.json#/a"}`,`{"$ref":"file:///etc/passwd"}`,`{"$ref":"#/nope"}`,`{"$ref":"#nope"}`,`{"$schema":"http://x/y"}`,`{"pattern":"(?=a)"}`,`{"patternProperties":{"(?=a)":{}}}`,`{"$ref":"#"}`,`{"anyOf":[{"$ref":"#"}]}`,`{"maxLength":1e30}`,`{"minimum":1e99999,"not":{}}`,`{"$id":"http://a/b","$ref":"c"}`,`{"$id":"http://a/b","$schema":"http://json-schema.org/draft-07/schema#","properties":{"a":{"$id":"x","$schema":"http://q/r"}}}`,`{"$defs":{"a":{"$id":"x"},"b":{"$id":"x"}}}`,`{"$ref":"#/%zz"}`, `{"type":[]}`, `{"$dynamicRef":"http://x/y#a"}`,`{"$id":5}`} {
   x := schema.MustParse(c); t.Log(c, "=>", x.Compile())
 }
 for _, c := range [][2]string{{`{"anyOf":[{"type":"string"},{"type":"null"}]}`,`5`},{`{"oneOf":[{"properties":{"k":{"const":"a"},"x":{"type":"string"}},"required":["k"]},{"properties":{"k":{"const":"b"},"y":{"type":"string"}},"required":["k"]}]}`,`{"k":"c","y":1}`},{`{"uniqueItems":true}`,`[1,2,1.0]`},{`{"multipleOf":0.01}`,`1.234`},{`{"not":{"type":"string"}}`,`"a"`},{`{"dependentRequired":{"a":["b"]}}`,`{"a":1}`},{`{"propertyNames":{"pattern":"^x"}}`,`{"a":1}`},{`{"properties":{"a":{}},"unevaluatedProperties":false}`,`{"b":1}`},{`{"properties":{"abc":{}},"additionalProperties":false,"minProperties":1,"not":{}}`,`{"abd":1}`},{`{"items":{"multipleOf":2}}`,`[1,3,1e2,2.0]`},{`{"minimum":1e-300,"not":{}}`,`0`},{`{"not":{"minimum":1}}`,`1e999999`},{`{"contains":{"type":"string"}}`,`[1]`}} {
   x := schema.MustParse(c[0]); t.Log(c, "=>", x.Validate([]byte(c[1])))
 }
}
