// Defines the kinds of secret fields, and the page script operation that finds secret fields.

/** SecretKind is the kind of a field whose value never leaves the page. */
export type SecretKind = 'password' | 'card' | 'code';

export interface InspectArguments {
  /** targets are the refs of the elements into which a call will type. */
  readonly targets: readonly string[];
  /** focused is true if the call will type into the element with the focus. */
  readonly focused: boolean;
}

export interface InspectResult {
  /**
   * shown contains the kinds of the visible secret fields, and typed the kinds of the secret fields into which the
   * call will type.
   */
  readonly shown: readonly SecretKind[];
  readonly typed: readonly SecretKind[];
}
