// Defines the page script operations that the tools of the group devtools use.

export interface LendArguments {
  /** target is the ref of the element to share. Without a target, the whole document is shared. */
  readonly target?: string;
}

export interface LendResult {
  /**
   * name is the name of a CSS highlight whose only range begins in the shared element. The CSS highlight is removed
   * after 10 s.
   */
  readonly name: string;
}

export interface StylesArguments {
  readonly target: string;
  /**
   * properties are the names of CSS properties and custom properties. Without properties, the operation returns a
   * default set.
   */
  readonly properties?: readonly string[];
}

export interface StylesResult {
  readonly line: string;
  readonly values: readonly StyleValue[];
}

/** StyleValue is the computed value of one CSS property. */
export interface StyleValue {
  readonly property: string;
  readonly value: string;
}
