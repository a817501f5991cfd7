import type { ComponentChildren, VNode } from 'preact';

interface ScrollableProps {
  /** The field `class` is a CSS class that limits the height, such as "pre" for text with preserved line breaks. */
  readonly class: string;
  readonly label: string;
  readonly children: ComponentChildren;
}

/** A ScrollableArea can have the keyboard focus, because the arrow keys cannot scroll a box without focus. */
export function ScrollableArea({ class: className, label, children }: ScrollableProps): VNode {
  const attributes = { class: className, role: 'group', 'aria-label': label, tabIndex: 0 } as const;
  return <div {...attributes}>{children}</div>;
}
