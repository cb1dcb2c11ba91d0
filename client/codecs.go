package client

import (
	"reflect"
	"sync"

	"github.com/bossman-mcp/bossman/internal/plain"
	"github.com/bossman-mcp/bossman/jsonrpc"
)

// codecs are those of the types that arguments came in, made when a type first
// comes. Programs have few such types.
type codecs struct{ byType sync.Map } // of reflect.Type to *plain.Codec, which may be nil

// append appends arguments as JSON: by a codec if their type is plain.
func (cs *codecs) append(dst []byte, arguments any) ([]byte, error) {
	v := reflect.ValueOf(arguments)
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return jsonrpc.AppendValue(dst, arguments)
	}
	if out, ok := cs.of(v.Type()).Append(dst, v); ok {
		return out, nil
	}
	return jsonrpc.AppendValue(dst, arguments)
}

func (cs *codecs) of(t reflect.Type) *plain.Codec {
	if c, ok := cs.byType.Load(t); ok {
		return c.(*plain.Codec)
	}
	c, _ := cs.byType.LoadOrStore(t, plain.Of(t))
	return c.(*plain.Codec)
}
