// The operations of the page script for the tools of the group devtools.

export interface LendArguments {
  /** Default the document. */
  readonly target?: string;
}

export interface LendResult {
  /** The name of the CSS highlight whose only range begins in the element. The highlight lasts 10 s. */
  readonly name: string;
}

export interface StylesArguments {
  readonly target: string;
  /** The names of CSS properties and custom properties; default the usual ones. */
  readonly properties?: readonly string[];
}

export interface StylesResult {
  readonly line: string;
  readonly values: readonly StyleValue[];
}

/** StyleValue is the computed value of a CSS property. */
export interface StyleValue {
  readonly property: string;
  readonly value: string;
}
