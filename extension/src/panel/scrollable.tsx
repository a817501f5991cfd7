import type { ComponentChildren, VNode } from 'preact';

interface ScrollableProps {
  /** class is "pre" for text with its line ends, or another class with a limited height. */
  readonly class: string;
  /** label names the content for screen readers. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/**
 * Scrollable is a box with a limited height, which the user scrolls with the mouse or the arrow keys. Without a tab stop,
 * the keyboard cannot scroll the box.
 */
export function Scrollable({ class: className, label, children }: ScrollableProps): VNode {
  const attributes = { class: className, role: 'group', 'aria-label': label, tabIndex: 0 } as const;
  return <div {...attributes}>{children}</div>;
}
