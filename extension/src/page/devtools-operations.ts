// Defines the page script operations that the tools of the group devtools use.

export interface ShareArguments {
  readonly target?: string;
}

export interface ShareResult {
  /**
   * The field `name` is the name of the CSS highlight that marks the shared element for 10 s in all JavaScript worlds.
   */
  readonly name: string;
}

export interface StylesArguments {
  readonly target: string;
  /** If `properties` is absent, the operation `styles` returns DefaultProperties. */
  readonly properties?: readonly string[];
}

export interface StylesResult {
  readonly line: string;
  readonly values: readonly StyleValue[];
}

export interface StyleValue {
  readonly property: string;
  readonly value: string;
}
