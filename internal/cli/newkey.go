package cli

import (
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bossman-mcp/bossman/oauth/resource"
)

func newNewKey() *cobra.Command {
	return &cobra.Command{
		Use:   "new-key NAME",
		Short: "Make an API key for somebody who may use a server",
		Long: `Make a new API key. The key itself is printed on standard error, once, for its
holder; the line for the file of 'bossman serve --api-key-file', which holds only
the key's hash, is printed on standard output.`,
		Example: `  bossman new-key alice >> keys`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return &usageError{fmt.Errorf("new-key needs the name of the key's holder")}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			secret := rand.Text()
			if _, err := resource.Keys([]resource.Key{{Name: args[0], Secret: secret}}, nil); err != nil {
				return &usageError{err}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "The key of %s, shown only now: %s\n", args[0], secret)
			fmt.Fprintf(cmd.OutOrStdout(), "%s = %s\n", args[0], resource.HashKey(secret))
			return nil
		},
	}
}
