// Defines the tree of visible content that a snapshot prints.

export interface TreeNode {
  readonly kind: 'node';
  readonly element: Element;
  readonly role: string;
  readonly name: string;
  /** The field `marks` contains the states of the element and its ref, such as ' [checked] [ref=e12]'. */
  readonly marks: string;
  readonly value: string | undefined;
  readonly ref: string;
  readonly children: TreePart[];
  /**
   * The field `rows` is the number of rows of a list or table; `shownRows` is how many of these rows the tree contains.
   */
  rows: number;
  shownRows: number;
}

export interface TextPart {
  readonly kind: 'text';
  readonly element: Element;
  /**
   * The field `elements` contains the elements whose texts were joined, in the order of the page; `element` is the
   * first of them.
   */
  readonly elements: Element[];
  text: string;
}

/** FoldMarkerPart marks the place where a snapshot leaves out child elements of `element`. */
export interface FoldMarkerPart {
  readonly kind: 'fold';
  readonly element: Element;
  readonly text: string;
}

export type TreePart = TreeNode | TextPart | FoldMarkerPart;

export function makeNode(fields: Pick<TreeNode, 'element' | 'role' | 'name' | 'marks' | 'value' | 'ref'>): TreeNode {
  const { element, role, name, marks, value, ref } = fields;
  return { kind: 'node', element, role, name, marks, value, ref, children: [], rows: 0, shownRows: 0 };
}
