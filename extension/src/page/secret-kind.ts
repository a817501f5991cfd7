// The kinds of secret fields, and the operation that finds these fields.

/** SecretKind is the kind of a field whose value never leaves the page. */
export type SecretKind = 'password' | 'card' | 'code';

export interface InspectArguments {
  /** Refs of the elements into which a call will type. */
  readonly targets: readonly string[];
  /** True if the call will type into the element with the focus. */
  readonly focused: boolean;
}

export interface InspectResult {
  /** Kinds of the secret fields that are visible, and of those into which the call will type. */
  readonly shown: readonly SecretKind[];
  readonly typed: readonly SecretKind[];
}
