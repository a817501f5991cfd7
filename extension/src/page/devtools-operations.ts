// Defines the page script operations that the tools of the group devtools use.

export interface LendArguments {
  /** target is the ref of the element to share. If target is absent, the page script shares the whole document. */
  readonly target?: string;
}

export interface LendResult {
  /**
   * name is the name of the CSS highlight by which other JavaScript worlds find the shared element: the highlight's
   * only range begins in the element. After 10 s, the page script removes the highlight.
   */
  readonly name: string;
}

export interface StylesArguments {
  readonly target: string;
  /**
   * properties are the names of CSS properties and custom properties. If properties is absent, the operation returns
   * DefaultProperties.
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
