// Defines the kinds of secret fields, and the page script operation `inspect`, which finds secret fields.

/** SecretKind is the kind of a secret field, whose value never leaves the page. */
export type SecretKind = 'password' | 'card' | 'code';

export interface InspectArguments {
  /** targets are the refs of the elements into which the call will type. */
  readonly targets: readonly string[];
  /** focused is true if the tool call will type into the focused element. */
  readonly focused: boolean;
}

export interface InspectResult {
  /**
   * `shown` contains the kinds of visible secret fields. `typed` contains the kinds of secret fields into which the
   * call will type.
   */
  readonly shown: readonly SecretKind[];
  readonly typed: readonly SecretKind[];
}
