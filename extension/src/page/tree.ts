// The tree that a walk builds and a snapshot prints.

/** TreeNode is an element with a role. */
export interface TreeNode {
  readonly kind: 'node';
  readonly element: Element;
  readonly role: string;
  readonly name: string;
  /** The states, such as ' [checked]', and ' [ref=e12]'. */
  readonly marks: string;
  readonly value: string | undefined;
  readonly ref: string;
  readonly children: TreePart[];
  /** The rows of a list or table, and how many of them the tree contains; 0 if nothing was folded. */
  rows: number;
  shownRows: number;
}

/** TextPart is text between elements. `element` is the element around the text. */
export interface TextPart {
  readonly kind: 'text';
  readonly element: Element;
  text: string;
}

/** FoldPart marks elements that were left out. `element` contains them. */
export interface FoldPart {
  readonly kind: 'fold';
  readonly element: Element;
  readonly text: string;
}

export type TreePart = TreeNode | TextPart | FoldPart;

/** makeNode returns a node without children. */
export function makeNode(fields: Pick<TreeNode, 'element' | 'role' | 'name' | 'marks' | 'value' | 'ref'>): TreeNode {
  return { kind: 'node', ...fields, children: [], rows: 0, shownRows: 0 };
}
