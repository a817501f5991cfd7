// Defines the kinds of secret fields, and the page script operation `inspect`, which finds secret fields.

/** SecretKind is the kind of a secret field, whose value never leaves the page. */
export type SecretKind = 'password' | 'card' | 'code';

export interface InspectArguments {
  readonly targets: readonly string[];
  readonly focused: boolean;
}

export interface InspectResult {
  /**
   * `shown` contains the kinds of the visible secret fields, and `typed` the kinds of the fields into which the call
   * types.
   */
  readonly shown: readonly SecretKind[];
  readonly typed: readonly SecretKind[];
}
